"""How the procedures of parts that move in one step become one list of things to do, and what the built-in procedures must never say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compat import Matrix
from compat.errors import KnowledgeError
from planner import ClusterState
from planner.plan import Plan, Step
from planner.planning import plan
from planner.procedures import PHASES
from planner.validate import validate
from tests.conftest import DAY
from tests.planner.test_planning import make

AGENT = """    - do:
      - {text: Drain, command: kubectl drain NODE, phase: drain}
      - {text: 'Agent {to}'}
      - {text: Put back, command: kubectl uncordon NODE, phase: return}
"""
DRIVER = """
  procedures:
  - do:
    - {text: Drain, command: kubectl drain NODE, phase: drain}
    - {text: 'Driver {to}'}
    - {text: 'Check {to}', phase: check}
    - {text: Put back, command: kubectl uncordon NODE, phase: return}
"""
POOL = "{{name: {name}, nodes: 2, kubelet: 1.2.0, os: duck-2, driver: 510.1.1, driver_managed_by: gpu-operator, allocation: {mode}, gpu: {{per_node: {gpus}}}}}"


def state(*pools: str) -> str:
    return f"kubernetes: 1.2.0\ncomponents: {{operator: 11.1.0}}\npools: [{', '.join(pools)}]\n"


def pool(name: str, gpus: int = 8, mode: str = "device-plugin") -> str:
    return POOL.format(name=name, gpus=gpus, mode=mode)


Build = Callable[..., Matrix]


@pytest.fixture
def build(small_copy: Path) -> Build:
    """The small knowledge base with procedures of kubelet and driver."""

    def make_matrix(agent: str = AGENT, driver: str = DRIVER, operator: str = "") -> Matrix:
        path = small_copy / "kubernetes.yaml"
        text = path.read_text()
        start, end = text.index('    - do: [{text: "Drain NODE'), text.index("sources:\n")
        path.write_text(text[:start] + agent + text[end:])
        path = small_copy / "driver.yaml"
        text = path.read_text()
        flat = re.search(r"component: \{(.*)\}\n", text)
        assert flat
        keys = "".join(f"  {item.strip()}\n" for item in re.split(r", (?=\w+: )", flat[1]))
        path.write_text(text.replace(flat[0], f"component:\n{keys}{driver.lstrip(chr(10))}"))
        if operator:
            path = small_copy / "operator.yaml"
            path.write_text(path.read_text().replace("  - do: [{text:", f"{operator}  - do: [{{text:", 1))
        return Matrix.load(as_of=DAY, data=small_copy)

    return make_matrix


def of_pool(found: Plan, name: str, moves: str) -> Step:
    """The step of a pool in which a component moves."""
    return next(step for step in found.steps if step.pool == name and any(change.component == moves for change in step.changes))


def doing(step: Step) -> list[str]:
    return [action.text for action in step.requires if action.when == "during"]


def test_nodes_are_emptied_once_and_put_back_last(build: Build) -> None:
    """Whatever moves in a step does so between one drain and one return; what was checked was checked before the return."""
    step = of_pool(make(build(), state(pool("a"))), "a", "driver")
    assert {change.component for change in step.changes} == {"kubelet", "driver"}
    agent, driver = (next(change.to for change in step.changes if change.component == name) for name in ("kubelet", "driver"))
    assert doing(step) == ["Drain", f"Agent {agent}", f"Driver {driver}", f"Check {driver}", "Put back"]
    assert [action.phase for action in step.requires if action.when == "during"] == ["drain", "change", "change", "check", "return"]


def test_an_action_with_a_scope(build: Build) -> None:
    """What depends on how GPUs are allocated is asked for there only, and under a condition where nobody said it."""
    agent = AGENT + "      verify:\n      - {text: GPUs, scope: {allocation: device-plugin}}\n      - {text: Slices, scope: {allocation: dra}}\n"
    matrix = build(agent)
    for given, expected in (
        (pool("a"), [("GPUs", "")]),
        (pool("a", mode="dra"), [("Slices", "")]),
        (pool("a", gpus=0), []),
        (pool("a").replace(", allocation: device-plugin", ""), [("GPUs", "allocation is device-plugin"), ("Slices", "allocation is dra")]),
    ):
        step = of_pool(make(matrix, state(given)), "a", "kubelet")
        assert [(action.text, action.condition) for action in step.verify] == expected


def test_pools_that_share_a_setting(build: Build) -> None:
    """The first and the last step of several are told apart, and a pool whose driver is older than what another one runs by then, too."""
    driver = """
  procedures:
  - do:
    - {text: 'switch off', only: [first]}
    - {text: 'set {to}; others {others}', only: [newest]}
    - {text: 'not {to}; others {others}', only: [behind]}
    - {text: 'switch on', only: [last, even]}
    - {text: 'leave off', only: [last, split]}
"""
    found = make(build(driver=driver), state(pool("a"), pool("b")))
    steps = [step for step in found.steps if any(change.component == "driver" for change in step.changes)]
    said = [text for step in steps for text in doing(step) if text.split(" ")[0] in ("switch", "set", "not", "leave")]
    ends = {key: version for key, version in found.end.items() if key.startswith("driver@")}
    even = len(set(ends.values())) == 1
    assert said[0] == "switch off"
    assert said.count("switch off") == 1
    assert said[-1] == ("switch on" if even else "leave off")
    first, second = steps[0].pool, steps[-1].pool
    assert f"set {ends[f'driver@{first}']}; others {second} 510.1.1" in said


def test_a_duty_that_the_procedure_fulfils_is_said_once(build: Build, small_copy: Path) -> None:
    """A claim that an action cites is not asked for a second time; of another way of installing it is not asked for at all."""
    duty = (
        "- {id: NAME, kind: upgrade, versions: '>=10', to_versions: '>=11', rule: needs-action, action: Do NAME, scope: {install: helm}, "
        "said: 2025-01-01, source: {url: 'https://example.com/x'}, summary: About NAME.}\n"
    )
    path = small_copy / "operator.yaml"
    more = duty.replace("NAME", "crds") + duty.replace("NAME", "hooks")
    path.write_text(path.read_text().replace("\nclaims:\n", f"\nclaims:\n{more}", 1))

    def asked(matrix: Matrix) -> list[str]:
        found = make(matrix, state(pool("a")))
        return [action.text for step in found.steps if step.component == "operator" for action in step.requires]

    plain = asked(build())
    assert "About crds. Do crds." in plain
    cited = asked(build_again(small_copy, "  - do: [{text: Put the CRDs, claims: [crds]}]\n"))
    assert "Put the CRDs" in cited
    assert "About crds. Do crds." not in cited
    assert "About hooks. Do hooks." in cited
    other = asked(build_again(small_copy, "  - means: {install: shelf}\n    do: [{text: From the shelf}]\n"))
    assert [text for text in other if text.startswith("About")] == []


def build_again(folder: Path, operator: str) -> Matrix:
    """The small knowledge base with another first procedure of the operator."""
    path = folder / "operator.yaml"
    kept = re.sub(
        r"  procedures:\n(.*?)  - do: \[\{text: \"Upgrade operator", '  procedures:\n  - do: [{text: "Upgrade operator', path.read_text(), flags=re.DOTALL
    )
    path.write_text(kept.replace("  procedures:\n", f"  procedures:\n{operator}", 1))
    return Matrix.load(as_of=DAY, data=folder)


def test_a_claim_that_does_not_exist(build: Build) -> None:
    """An action that cites nothing that is known is a fault of the data."""
    with pytest.raises(KnowledgeError, match="cites the claim 'nowhere'"):
        build(operator="  - do: [{text: Move, claims: [nowhere]}]\n")


# -- what is built in

TWO = """
provider: kubeadm
kubernetes: 1.34.3
components: {gpu-operator: 25.10.1, dra-driver: 25.8.0}
pools:
- {name: b200, nodes: 6, kubelet: 1.34.3, os: ubuntu-24.04, runtime: containerd 2.2.1, gpu: {product: NVIDIA-B200, per_node: 8},
   driver: DRIVER, driver_managed_by: gpu-operator, allocation: device-plugin}
- {name: other, nodes: 10, kubelet: 1.34.3, os: ubuntu-22.04, runtime: containerd 1.7.28, gpu: {product: PRODUCT, per_node: 8},
   driver: 580.95.05, driver_managed_by: gpu-operator, allocation: device-plugin}
- {name: cpu, nodes: 4, kubelet: 1.34.3, os: ubuntu-24.04, runtime: containerd 2.2.1, gpu: {per_node: 0}}
"""


def settings(step: Step) -> list[str]:
    """Driver versions that a step's commands set for all pools at once."""
    commands = [action.command or "" for action in step.requires]
    patched = [found for command in commands if "clusterpolic" in command for found in re.findall(r'"version":"([^"]+)"', command)]
    return patched + [found for command in commands for found in re.findall(r"driver\.version=(\S+)", command)]


@pytest.mark.parametrize(("driver", "product"), [("580.105.08", "NVIDIA-A100-SXM4-40GB"), ("590.48.01", "Tesla-V100-SXM2-32GB")])
@pytest.mark.parametrize("allocation", [{}, {"b200": "dra"}])
def test_what_a_gpu_cluster_is_told(real: Matrix, driver: str, product: str, allocation: dict[str, str]) -> None:
    """No command takes a driver back; nodes are drained once; GPUs are checked in the way in which they are allocated after the step."""
    given = TWO.replace("DRIVER", driver).replace("PRODUCT", product)
    found = plan(real, ClusterState.parse(given), "1.37", allocation=allocation)
    assert not validate(real, found.to_dict())
    running = {"b200": driver, "other": "580.95.05"}
    mode = {"b200": "device-plugin", "other": "device-plugin", "cpu": "none"}
    for step in found.steps:
        for change in step.changes:
            if step.pool and change.component == "nvidia-driver":
                running[step.pool] = change.to
            if step.pool and change.component == "allocation-mode":
                mode[step.pool] = change.to
        newest = max(running.values(), key=lambda text: [int(part) for part in text.split(".")])
        assert set(settings(step)) <= {newest}, step.id
        deeds = [action for action in step.requires if action.when == "during"]
        assert [PHASES.index(action.phase) for action in deeds] == sorted(PHASES.index(action.phase) for action in deeds)
        commands = [action.command or "" for action in deeds]
        assert sum("kubectl drain" in command for command in commands) <= 1
        assert sum("kubectl uncordon" in command for command in commands) <= 1
        if step.pool and step.changes:
            shown = {action.text.replace(step.pool, "POOL") for action in step.verify}
            assert ("The nodes of pool POOL offer nvidia.com/gpu again" in shown) == (mode[step.pool] == "device-plugin"), step.id
    ends = {found.end[f"nvidia-driver@{name}"] for name in ("b200", "other")}
    texts = " ".join(action.text for step in found.steps for action in step.requires)
    assert ("NVIDIADriver resource of pool" in texts) == (len(ends) > 1)


def test_drivers_of_the_host(real: Matrix) -> None:
    """Where nodes bring their drivers the operator is told to leave them alone, once, and pins nothing."""
    given = (
        TWO.replace("DRIVER", "580.105.08").replace("PRODUCT", "NVIDIA-A100-SXM4-40GB").replace("driver_managed_by: gpu-operator", "driver_managed_by: host")
    )
    found = plan(real, ClusterState.parse(given), "1.37")
    steps = [step for step in found.steps if step.component == "gpu-operator" and step.kind != "hold"]
    assert steps
    for step in steps:
        texts = [action.text for action in step.requires]
        assert not [text for text in texts if "nvidia-driver to" in text or "never upgrades drivers" in text]
        assert settings(step) == []
        assert sum("driver.enabled=false" in (action.command or "") for action in step.requires) == 1
