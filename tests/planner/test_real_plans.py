"""Plans on the built-in knowledge: what the vendors' pages make of the way from 1.33 to 1.37. All of them pass the validator."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from compat import Matrix
from planner import Plan, plan
from planner.assume import assumed_state
from planner.validate import validate

ROOT = Path(__file__).parents[2]


def make(matrix: Matrix, start: str = "1.33", to: str = "1.37", given: Mapping[str, str] | None = None, **options: object) -> Plan:
    state = assumed_state(matrix, start, given or {})
    found = plan(matrix, state, to, **options)  # type: ignore[arg-type]
    assert validate(matrix, json.loads(found.to_json())) == []
    return found


def line(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def test_the_main_job(real: Matrix) -> None:
    """1.33 to 1.37, ending with GPU Operator 26.7: NVIDIA lists 1.37 for it since 2026-09-04; containerd's table does not reach 1.37 yet."""
    found = make(real)
    assert found.exit_code == 30
    (hold,) = found.holds
    assert hold.before == found.steps[-1].id
    assert [pair.id.partition("@")[0] for pair in hold.pairs] == ["unknown:containerd"]
    assert found.optimal
    assert line(found.end["kubernetes"]) == (1, 37)
    assert line(found.end["kubelet@gpu"]) == (1, 37)
    assert line(found.end["gpu-operator"]) == (26, 7)
    assert [step.to for step in found.steps if step.component == "kubernetes"] == sorted(step.to for step in found.steps if step.component == "kubernetes")
    assert [line(step.to) for step in found.steps if step.component == "kubernetes"] == [(1, 34), (1, 35), (1, 36), (1, 37)]
    weak = [finding.text for finding in found.findings if finding.id == "weaker-than-tested"]
    assert any("kueue" in text for text in weak)
    assert any("os is one of" in text for text in found.conditions)
    assert {entry for step in found.steps for entry in step.claims} <= set(found.claims)
    assert all(claim.source.get("link") for claim in found.claims.values() if claim.grade != "inferred")


def test_the_operator_goes_from_major_to_major_where_both_neighbours_are_tested(real: Matrix) -> None:
    """NVIDIA's tables: 25.3 for 1.29-1.33, 25.10 for 1.29-1.35, 26.3 for 1.32-1.36, 26.7 for 1.33-1.37; hops to the next major only."""
    common = {((25, 3), (25, 10)): ((1, 30), (1, 33)), ((25, 10), (26, 3)): ((1, 32), (1, 35)), ((26, 3), (26, 7)): ((1, 33), (1, 36))}
    found = make(real)
    assert found.start["components"]["gpu-operator"] == "25.3.2"
    control = "1.33"
    hops = []
    for step in found.steps:
        if step.component == "kubernetes":
            control = step.to
        elif step.component == "gpu-operator":
            hop = (line(step.from_), line(step.to))
            hops.append(hop)
            low, high = common[hop]
            assert low <= line(control) <= high
    assert hops == list(common)


def test_kubelet_skew_saves_drains(real: Matrix) -> None:
    """Kubelets may be three minors behind: 1.33 -> 1.36 -> 1.37 drains twice, and once is enough if they may end on 1.36."""
    target, supported = make(real), make(real, nodes="supported")
    assert [(line(s.from_), line(s.to)) for s in target.steps if s.component == "kubelet" and s.kind != "hold"] == [((1, 33), (1, 36)), ((1, 36), (1, 37))]
    assert target.cost.gpu_nodes_drained == 2
    kubelets = [s for s in supported.steps if s.component == "kubelet"]
    assert len(kubelets) == 1
    assert line(kubelets[0].to) >= (1, 34)
    assert supported.cost.gpu_nodes_drained == 1
    assert line(supported.end["kubernetes"]) == (1, 37)


def test_a_driver_change_rides_along(real: Matrix) -> None:
    """Whatever moves the driver does so in a step that drains the pool for its kubelet."""
    found = make(real)
    moved = [step for step in found.steps if any(change.component == "nvidia-driver" for change in step.changes)]
    assert moved
    assert {step.component for step in moved} == {"kubelet"}


def test_before_nvidia_listed_1_37_the_plan_holds(real: Matrix) -> None:
    """On 2026-08-25 the 26.7.0 page ended at 1.36, so that nothing said that the operator works with 1.37."""
    found = make(real.on(date(2026, 8, 25)))
    assert found.exit_code == 30
    hold = found.holds[0]
    step = next(step for step in found.steps if step.id == hold.before)
    assert (step.component, line(step.to)) == ("kubernetes", (1, 37))
    assert any(pair.a.startswith("gpu-operator") or pair.b.startswith("gpu-operator") for pair in hold.pairs)
    accepted = make(real.on(date(2026, 8, 25)), accept=[pair.id for pair in found.open_pairs])
    assert accepted.exit_code == 10


@pytest.mark.parametrize(
    "given",
    [
        {"containerd": "1.7.27"},
        {"dra-driver": "25.3.2"},
        {"dra-driver": "absent"},
        {"cri-o": "1.33.2"},
        {"kueue": "0.15.0", "gpu-operator": "25.10.0"},
        {"device-plugin": "0.17.1", "gpu-operator": "absent"},
    ],
    ids="+".join,
)  # fmt: skip
def test_more_parts_can_be_brought_in(real: Matrix, given: Mapping[str, str]) -> None:
    """Whatever is brought in, the result is a plan that the validator passes, or a conflict that names claims."""
    found = make(real, given=given)
    present = {key.partition("@")[0] for key in found.end}
    for name, version in given.items():
        assert (name in present) is (version != "absent")
        assert not any(name in finding.text for finding in found.findings if finding.id == "not-considered" and "nothing is known" in finding.text)
    assert found.exit_code in (0, 20, 30)
    if found.conflict:
        assert found.conflict.claims


def test_containerd_1_7_has_to_go_before_1_36(real: Matrix) -> None:
    """containerd's table lists 1.36 for 2.2 and newer alone, so the runtime moves in the drain that takes the nodes there; it has no row for
    1.37 yet, so the plan holds before the nodes go on.
    """
    found = make(real, given={"containerd": "1.7.27"})
    assert found.exit_code == 30
    (hold,) = found.holds
    (pair,) = hold.pairs
    assert (pair.a.partition(" ")[0], line(pair.b.partition(" ")[2])) == ("containerd", (1, 37))
    moved = [(step.component, change.to) for step in found.steps for change in step.changes if change.component == "containerd"]
    assert moved
    assert {component for component, _ in moved} == {"kubelet"}
    assert line(moved[-1][1]) >= (2, 2)
    assert found.cost.gpu_nodes_drained == 2


@pytest.mark.parametrize("mode", ["era", "newest", "none"])
def test_every_start_and_assumption_gives_a_checked_answer(real: Matrix, mode: str) -> None:
    """From each minor that has an era in the knowledge base."""
    for start in ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36", "1.37"):
        found = plan(real, assumed_state(real, start, {}, mode=mode), "1.37")
        assert validate(real, json.loads(found.to_json())) == []


def test_no_product_is_named_in_code(real: Matrix) -> None:
    """What is specific to a product is data: no string in the code is the id or the alias of a subject, but for the state's own keys."""
    names = {name for subject in real.subjects.values() for name in (subject.id, *subject.aliases)}
    allowed = {"kubernetes", "kubelet", "gpu-operator", "provider", "host", "dra", "device-plugin", "control-plane", "driver", "cgroup"}
    """Keys and values of compat.cluster/v1, and roles."""
    for path in sorted(file for folder in ("compat", "planner", "cli") for file in (ROOT / folder).rglob("*.py")):
        found = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        assert (found & names) - allowed == set(), path
