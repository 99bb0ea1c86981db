"""What is unknown, mixed, without a version or half done is never taken for fine. All plans pass the validator."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from compat import Matrix
from compat.errors import InputError
from planner import ClusterState, Plan, plan
from planner.assume import assumed_state
from planner.checking import check_state
from planner.errors import GoalError
from planner.validate import validate
from tests.conftest import DAY, state_of

GPU = "nodes: 4, os: duck-2, runtime: runtime 2.0.0, driver_managed_by: gpu-operator, allocation: device-plugin"


def make(matrix: Matrix, text: str, to: str, **options: object) -> Plan:
    found = plan(matrix, state_of(text), to, **options)  # type: ignore[arg-type]
    assert validate(matrix, json.loads(found.to_json())) == []
    return found


def check(matrix: Matrix, text: str, **bumps: str) -> str:
    return check_state(matrix, state_of(text), bumps).grade


def held(found: Plan) -> list[str]:
    return [pair.id for hold in found.holds for pair in hold.pairs]


@pytest.mark.parametrize(
    "text",
    ["components: {queue: null}", "components: {queue: }", "pools: [{name: a}]", "components: {operator: null}"],
)  # fmt: skip
def test_an_unknown_version_holds_every_step_that_depends_on_it(small: Matrix, text: str) -> None:
    """There, but in which version nobody said: no move beside it is vouched for."""
    found = make(small, f"kubernetes: 1.1.0\n{text}", "1.3", nodes="supported")
    assert found.exit_code == 30
    assert len(held(found)) >= 2
    assert "version-unknown" in {finding.id for finding in found.findings}
    assert check(small, f"kubernetes: 1.1.0\n{text}") == "unknown"


def test_what_is_absent_holds_nothing(small: Matrix) -> None:
    """Absent is known."""
    found = make(small, "kubernetes: 1.1.0\ncomponents: {queue: absent, operator: absent}", "1.3")
    assert found.exit_code == 0
    assert found.status == "tested"


def test_hardware_counts(small: Matrix) -> None:
    """520 drops birds: a pool with one never lands there, and is broken if it is there."""
    bird = f"gpu: {{product: Mallard, per_node: 1}}, {GPU}"
    state = f"kubernetes: 1.1.0\ncomponents: {{operator: 10.0.0}}\npools: [{{name: gpu, kubelet: 1.1.0, driver: 510.1.1, {bird}}}]"
    found = make(small, state, "1.4")
    assert found.end["driver@gpu"] == "510.1.1"
    assert make(small, state.replace("Mallard", "Other"), "1.4").end["driver@gpu"] == "520.1.1"
    assert check(small, state, driver="520.1.1") == "broken"


@pytest.mark.parametrize(
    ("kubernetes", "kubelet", "grade"),
    [
        ("1.3.0", "[1.1.0, 1.3.0]", "tested"),
        ("1.2.0", "[1.1.0, 1.3.0]", "broken"),  # one leads
        ("1.4.0", "[1.1.0, 1.3.0]", "broken"),  # one is three minors behind
        ("[1.2.0, 1.3.0]", "1.3.0", "broken"),  # leads one of the API servers
        ("[1.2.0, 1.3.0]", "1.2.0", "tested"),
    ],
)
def test_all_of_a_mix_count(small: Matrix, kubernetes: str, kubelet: str, grade: str) -> None:
    """The newest as well as the oldest, whichever is the worse."""
    assert check(small, f"kubernetes: {kubernetes}\npools: [{{name: a, kubelet: {kubelet}}}]") == grade


def test_a_mix_is_never_turned_back(small: Matrix) -> None:
    """A roll-out under way is finished or overtaken."""
    found = make(small, "kubernetes: 1.3.0\npools: [{name: a, kubelet: [1.1.0, 1.3.0]}]", "1.4")
    moved = [step for step in found.steps if step.component == "kubelet"]
    assert [step.to for step in moved] == ["1.4.0"] or all(step.to >= "1.3.0" for step in moved)


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_pools_changes_nothing(small: Matrix, order: int) -> None:
    """A pool whose operating system is open leaves a condition, wherever it stands."""
    pools = [f"{{name: {name}, kubelet: 1.1.0, driver: 510.1.1, {GPU if name == 'a' else GPU.replace('os: duck-2, ', '')}}}" for name in "ab"]
    found = make(small, f"kubernetes: 1.1.0\ncomponents: {{operator: 10.0.0}}\npools: [{', '.join(pools[::order])}]", "1.3")
    assert any("os is" in text for text in found.conditions)


@pytest.mark.parametrize("manager", ["host", "provider"])
def test_a_driver_that_nobody_vouches_for_stays(small: Matrix, manager: str) -> None:
    """Nobody asked to move it, and no list says what it goes with."""
    pool = f"{{name: gpu, kubelet: 1.1.0, driver: 510.1.1, {GPU.replace('gpu-operator', manager)}}}"
    found = make(small, f"kubernetes: 1.1.0\ncomponents: {{operator: 10.0.0}}\npools: [{pool}]", "1.3")
    assert found.end["driver@gpu"] == "510.1.1"


def test_nodes_that_are_not_ready_come_first(small: Matrix) -> None:
    """Unfinished work of a pool is the first step, before anything moves; it costs nothing that a plan could save."""
    found = make(small, "kubernetes: 1.1.0\npools: [{name: a, nodes: 3, kubelet: 1.1.0, conditions: {upgrade-required: 3, not-ready: 0}}]", "1.3")
    plain = make(small, "kubernetes: 1.1.0\npools: [{name: a, nodes: 3, kubelet: 1.1.0}]", "1.3")
    first = found.steps[0]
    assert (first.id, first.kind, first.pool, first.changes, first.drains.gpu_nodes) == ("s1", "prepare", "a", (), 0)
    assert "(3 upgrade-required)" in first.requires[0].text
    assert found.cost == plain.cost
    assert [step.id for step in found.steps] == [f"s{number + 1}" for number in range(len(found.steps))]


def test_a_roll_out_under_way_is_finished_first(small: Matrix) -> None:
    """A mix of kubelets, and of API servers, is named with where it goes, and with the step that overtakes it."""
    found = make(small, "kubernetes: [1.2.0, 1.3.0]\npools: [{name: a, nodes: 3, kubelet: [1.2.0, 1.1.0]}]", "1.3")
    prepared = [step for step in found.steps if step.kind == "prepare"]
    assert [(step.id, step.component, step.pool, step.from_, step.to) for step in prepared] == [
        ("s1", "kubernetes", None, "1.2.0", "1.3.0"),
        ("s2", "kubelet", "a", "1.1.0", "1.2.0"),
    ]
    assert "the step to 1.3.1 overtakes it" in prepared[0].requires[0].text


def test_giving_gpus_out_twice_is_broken(small: Matrix) -> None:
    """Whatever the versions are."""
    assert check(small, "kubernetes: 1.1.0\npools: [{name: a, kubelet: 1.1.0, allocation: [device-plugin, dra]}]") == "broken"


def test_an_api_that_goes_for_good_is_asked_for_in_the_step_that_takes_it(small_copy: Path) -> None:
    """Where nothing of its group replaces it: not before, not after; and if it is gone already the state is wrong."""
    file = small_copy / "kubernetes.yaml"
    file.write_text(file.read_text().replace("  replacement: pond.example/v1\n", ""))
    small = Matrix.load(as_of=DAY, data=small_copy)
    found = make(small, "kubernetes: 1.1.0\napis: [pond.example/v1beta1/Duck]", "1.4")
    asked = [step.to for step in found.steps if any("pond.example/v1beta1" in action.text for action in step.requires)]
    assert asked == ["1.3.1"]
    assert check(small, "kubernetes: 1.3.1\napis: [pond.example/v1beta1/Duck]") == "broken"


def test_no_way_back_is_taken_for_granted(small: Matrix) -> None:
    """No rule speaks of it, so it is unknown."""
    assert check(small, "kubernetes: 1.3.0", kubernetes="1.2.0") == "unknown"
    assert check(small, "kubernetes: 1.2.0", kubernetes="1.3.0") == "tested"


def test_one_bump_under_two_names_is_an_error(small: Matrix) -> None:
    """k8s is kubernetes."""
    with pytest.raises(InputError, match="given twice"):
        check_state(small, ClusterState.parse("kubernetes: 1.2.0"), {"kubernetes": "1.3", "k8s": "1.3"})


def test_a_release_that_is_not_known(small: Matrix) -> None:
    """As a goal an error; in a state a warning, since a cluster may be newer than the knowledge."""
    with pytest.raises(GoalError, match=r"1\.3\.9 is no release that is known; the newest known of its line is 1\.3\.1"):
        make(small, "kubernetes: 1.2.0", "1.3.9")
    found = make(small, "kubernetes: 1.2.7", "1.3")
    assert "release-unknown" in {finding.id for finding in found.findings}


@pytest.mark.parametrize("version", ["1.4.0-rc.0", "v1.3.0-5-g0123abc"])
def test_a_list_of_releases_vouches_for_no_other_build(small: Matrix, version: str) -> None:
    """Pre-releases and builds between releases lie inside ranges, and are none of what was tested."""
    assert small.verdict(("operator", "12.0.0"), ("kubernetes", version)).grade == "unknown"
    assert small.verdict(("queue", "25.1.0"), ("kubernetes", version)).grade == "broken"  # what forbids, forbids


def test_without_a_tested_operator_the_stack_is_unknown_not_absent(small: Matrix) -> None:
    """On the day on which 1.4 came out no operator was tested with it, but an assumed GPU cluster on it still has one."""
    early = small.on(date(2026, 1, 21))
    state = assumed_state(early, "1.4", {}, mode="newest")
    assert state.components["operator"].version is None
    assert check_state(early, state, {}).grade == "unknown"


def test_pools_without_gpus_have_nothing_to_do_with_the_gpu_stack(real: Matrix) -> None:
    """The GPU Operator's list of runtimes says nothing about a node without a GPU."""
    pools = "[{name: gpu, kubelet: 1.33.5, driver: 580.65.06, driver_managed_by: gpu-operator, allocation: device-plugin}, {name: cpu, kubelet: 1.33.5, os: al2023, runtime: containerd 1.7.27, gpu: {per_node: 0}}]"
    found = make(real, f"kubernetes: 1.33.5\ncomponents: {{gpu-operator: 25.3.2}}\npools: {pools}", "1.34")
    assert not any("containerd" in pair.a + pair.b for step in found.steps for pair in step.pairs if "gpu-operator" in pair.a + pair.b)


@pytest.mark.parametrize(
    ("product", "driver", "grade"),
    [("NVIDIA-V100-SXM2-32GB", "595.71.05", "broken"), ("NVIDIA-B200", "535.183.01", "broken"), ("NVIDIA-H100-80GB-HBM3", "580.65.06", "tested")],
)
def test_drivers_that_do_not_drive_the_gpu(real: Matrix, product: str, driver: str, grade: str) -> None:
    """NVIDIA's architecture matrix: R580 is the last branch for Volta, R570 the first for Blackwell."""
    pool = f"{{name: a, kubelet: 1.33.5, driver: {driver}, driver_managed_by: host, runtime: containerd 2.1.5, gpu: {{product: {product}, per_node: 8}}}}"
    assert check(real, f"kubernetes: 1.33.5\npools: [{pool}]") == grade


def test_cgroup_v1_hosts_stop_at_1_35(real: Matrix) -> None:
    """kubernetes pull request 134298: from 1.35 on the kubelet does not start there by default."""
    found = make(real, "kubernetes: 1.34.8\npools: [{name: a, kubelet: 1.34.8, os: rocky-8.6, runtime: containerd 2.1.5}]", "1.35")
    assert found.exit_code == 20
    assert found.conflict is not None
    assert "kubelet-1.35-needs-cgroup-v2" in found.conflict.claims
    assert make(real, "kubernetes: 1.34.8\npools: [{name: a, kubelet: 1.34.8, cgroup: v2, runtime: containerd 2.1.5}]", "1.35").exit_code == 0


def test_a_third_component_decides(real: Matrix) -> None:
    """GPU Operator 26.3's page asks for driver 580 beside DRA driver 0.4; the project's own prerequisites ask for 565."""
    pool = "{name: a, kubelet: 1.34.5, driver: 570.211.01, driver_managed_by: host, runtime: containerd 2.1.5, allocation: dra}"
    with_operator = f"kubernetes: 1.34.5\ncomponents: {{dra-driver: 0.4.1, gpu-operator: 26.3.3}}\npools: [{pool}]"
    assert check(real, with_operator) == "broken"
    assert check(real, with_operator.replace("gpu-operator: 26.3.3", "gpu-operator: absent")) == "declared"


def test_duties_belong_to_the_border_they_name(real: Matrix) -> None:
    """The CRDs of 25.12.0 are due when one goes there, not between two patches of 25.3."""
    result = check_state(real, ClusterState.parse("kubernetes: 1.33.5\ncomponents: {dra-driver: 25.3.1}"), {"dra-driver": "25.3.2"})
    assert "dra-upgrade-25.8-to-25.12-crd" not in {duty.claim.id for _, found in result.hops for duty in found.duties}
    result = check_state(real, ClusterState.parse("kubernetes: 1.34.5\ncomponents: {dra-driver: 25.8.1}"), {"dra-driver": "25.12.0"})
    assert "dra-upgrade-25.8-to-25.12-crd" in {duty.claim.id for _, found in result.hops for duty in found.duties}


@pytest.mark.parametrize(
    "driver", ["570.211.01-grid", "NVIDIA-Linux-x86_64-570.211.01-grid-azure.run", "mcr.microsoft.com/aks/aks-gpu-grid:570.211.01-20260522192315"]
)
def test_another_flavour_of_driver_is_not_what_was_tested(real: Matrix, driver: str) -> None:
    """NVIDIA's component matrix lists data-center drivers; a GRID driver of the same number is another product, and stays one."""
    assert real.verdict(("gpu-operator", "25.3.4"), ("nvidia-driver", "570.211.01"), {"driver_managed_by": ("gpu-operator",)}).is_safe
    assert real.verdict(("gpu-operator", "25.3.4"), ("nvidia-driver", driver), {"driver_managed_by": ("gpu-operator",)}).grade == "unknown"
    pool = f"{{name: a, kubelet: 1.33.5, driver: '{driver}', driver_managed_by: gpu-operator, allocation: device-plugin}}"
    state = f"kubernetes: 1.33.5\ncomponents: {{gpu-operator: 25.3.4}}\npools: [{pool}]"
    assert check(real, state) == "unknown"
    assert make(real, state, "1.35").end["nvidia-driver@a"] == real.version("nvidia-driver", driver).release


def test_lists_of_compiled_drivers_say_nothing_about_precompiled_ones(real: Matrix) -> None:
    """Precompiled images have lists of their own, by operating system and kernel."""
    scope = {"driver_managed_by": ("gpu-operator",), "os": ("ubuntu-22.04",), "kernel": ("6.11",)}
    pair = (("gpu-operator", "25.10.1"), ("nvidia-driver", "580.105.08"))
    assert real.verdict(*pair, scope).grade == "tested"
    assert real.verdict(*pair, {**scope, "driver_image": ("precompiled",)}).grade == "unknown"


def test_what_is_unknown_now_and_stays_so_has_to_be_accepted(small: Matrix) -> None:
    """The plan adds no risk, and does not hide the one that is there: 30, or 10 once it is accepted by its id."""
    state = f"kubernetes: 1.3.0\ncomponents: {{operator: 12.0.0}}\npools: [{{name: a, kubelet: 1.3.0, driver: 500.1.1, {GPU.replace('os: duck-2, ', '')}}}]"
    found = make(small, state.replace("operator: 12.0.0", "queue: null, operator: absent"), "1.3")
    assert found.exit_code == 30
    assert not found.steps or found.status == "unknown"
    ids = [pair.id for pair in found.open_pairs]
    assert ids
    assert make(small, state.replace("operator: 12.0.0", "queue: null, operator: absent"), "1.3", accept=ids[:-1]).exit_code == 30
    assert make(small, state.replace("operator: 12.0.0", "queue: null, operator: absent"), "1.3", accept=ids).exit_code == 10


@pytest.mark.parametrize(
    ("field", "says"), [("os: ubuntu22.04", "ubuntu22.04; did you mean ubuntu-22.04?"), ("gpu: {product: NVIDIA-H1000, per_node: 8}", "NVIDIA-H1000")]
)
def test_a_name_that_is_not_known_is_said(real: Matrix, field: str, says: str) -> None:
    """A slip in the name of an operating system turns every list silent, so the plan names it."""
    found = make(real, f"kubernetes: 1.33.5\npools: [{{name: a, kubelet: 1.33.5, {field}}}]", "1.34")
    assert any(says in finding.text for finding in found.findings if finding.id == "word-unknown")


def test_what_the_plan_does_not_know_of_the_provider_is_said(real: Matrix) -> None:
    """Naming a provider whose limits are not in the knowledge base does not make them known."""
    found = make(real, "kubernetes: 1.33.5\nprovider: microk8s", "1.34")
    assert any("the limits of microk8s itself" in finding.text for finding in found.findings)


def test_a_runtime_that_no_list_names_is_not_taken_for_better(real: Matrix) -> None:
    """containerd's table stops short of 1.37 for 2.3 and does not know 2.4 at all."""
    state = "kubernetes: 1.34.2\npools: [{name: a, kubelet: 1.34.2, os: ubuntu-22.04, runtime: containerd 1.7.28, gpu: {per_node: 0}}]"
    assert make(real, state, "1.37").end["containerd@a"].startswith("2.3.")


def test_nothing_said_of_nodes_is_not_no_nodes(small: Matrix) -> None:
    """Without pools the kubelets are unknown, and every step of the control plane asks for them; an empty list says that there are none."""
    unsaid = plan(small, ClusterState.parse("kubernetes: 1.1.0"), "1.2")
    assert validate(small, json.loads(unsaid.to_json())) == []
    assert unsaid.exit_code == 30
    assert "pools: [] if there are none" in unsaid.holds[0].pairs[0].question
    assert make(small, "kubernetes: 1.1.0\npools: []", "1.2").exit_code == 0
    assert ClusterState.from_value(unsaid.start).lists_pools is False


def test_a_partner_in_an_unknown_version_that_no_release_fits(small_copy: Path) -> None:
    """Whichever release of the operator it is, it is broken there: that is no question."""
    ban = "- id: never\n  kind: conflict\n  object: kubernetes\n  object_versions: '>=1.4'\n  said: 2026-01-21\n  source: {repo: example/operator}\n  summary: Never on 1.4.\n"
    file = small_copy / "operator.yaml"
    file.write_text(file.read_text().replace("also:\n", ban + "also:\n"))
    found = make(Matrix.load(as_of=DAY, data=small_copy), "kubernetes: 1.1.0\ncomponents: {operator: null}\npools: []", "1.4")
    assert found.conflict is not None
    assert found.conflict.claims == ("never",)


def test_dra_without_its_driver(small_copy: Path) -> None:
    """What a pool cannot do without is asked for where nobody names it, and is wrong where it is said to be absent."""
    (small_copy / "dra.yaml").write_text(
        "subject: dra\ntitle: A DRA driver\nas_of: 2026-01-31\ncomponent:\n  role: addon\n  needed_in: {allocation: dra}\n"
        "  relies_on: {kubernetes: {question: its notes}}\nreleases:\n- {version: 1.0.0, released: 2025-01-01}\n"
    )
    matrix = Matrix.load(as_of=DAY, data=small_copy)
    state = "kubernetes: 1.2.0\ncomponents: {{{}}}\npools: [{{name: a, kubelet: 1.2.0, allocation: dra}}]"
    assert check_state(matrix, ClusterState.parse(state.format("dra: absent")), {}).grade == "broken"
    assert check_state(matrix, ClusterState.parse(state.format("")), {}).grade == "unknown"
    assert [pair.a for hold in make(matrix, state.format(""), "1.3").holds for pair in hold.pairs if "dra" in pair.a] == ["dra ?"]
    assert check_state(matrix, ClusterState.parse(state.replace("allocation: dra", "allocation: device-plugin").format("")), {}).grade != "unknown"


@pytest.mark.parametrize(("gate", "to", "bites"), [("false", "1.35", True), ("true", "1.35", False), ("false", "1.34", False)])
def test_a_gate_that_is_locked(real: Matrix, gate: str, to: str, bites: bool) -> None:
    """versioned_feature_list.yaml: JobManagedBy is stable and locked on from 1.35; before that it may be switched off."""
    state = f"kubernetes: 1.33.5\nfeatures: {{JobManagedBy: {gate}}}\npools: []"
    found = [finding.text for finding in make(real, state, to).findings if finding.id == "locked-gate"]
    assert bool(found) == bites
    assert all("kubernetes 1.35" in text and "JobManagedBy=false" in text for text in found)
    assert check(real, state.replace("1.33.5", f"{to}.1")) == ("broken" if bites else "tested")


def test_dra_with_its_gate_off(real: Matrix) -> None:
    """With the core gate off nothing serves claims, whichever driver is there."""
    pool = "{name: a, kubelet: 1.34.5, runtime: containerd 2.1.5, driver: 580.105.08, driver_managed_by: host, allocation: dra}"
    state = f"kubernetes: 1.34.5\ncomponents: {{dra-driver: 0.4.1}}\npools: [{pool}]\n"
    assert check(real, state + "features: {DynamicResourceAllocation: false}") == "broken"
    assert check(real, state + "features: {DynamicResourceAllocation: true}") == "declared"


def test_apis_that_nobody_knows_and_that_are_wholly_gone(real: Matrix, small: Matrix) -> None:
    """A group and version of which all kinds are gone cannot be in use; one of which nothing is known is said to be."""
    assert check(real, "kubernetes: 1.33.5\napis: [flowcontrol.apiserver.k8s.io/v1beta3]\npools: []") == "broken"
    found = make(small, "kubernetes: 1.1.0\napis: [lake.example/v9/Carp]\npools: []", "1.2")
    assert any("Nothing is known of the API lake.example/v9/Carp" in finding.text for finding in found.findings)


def test_systems_that_come_with_cgroup_v1(real: Matrix) -> None:
    """kubernetes.io names RHEL 9 as the first with v2: on RHEL 8 a kubelet of 1.35 does not start, unless the state says that v2 is on."""
    pool = "{{name: a, kubelet: 1.34.8, os: rhel-8.10, runtime: containerd 2.1.5{}}}"
    state = "kubernetes: 1.34.8\npools: [{}]"
    assert make(real, state.format(pool.format("")), "1.35").exit_code == 20
    assert make(real, state.format(pool.format(", cgroup: v2")), "1.35").exit_code != 20


def test_a_driver_of_an_image_beside_gpus(real: Matrix) -> None:
    """Which driver the image brings is not known, so neither is whether it drives the GPUs: that is asked."""
    pool = "{name: a, kubelet: 1.34.5, provisioning: managed, runtime: containerd 2.1.5, driver: 580.126.20, driver_managed_by: provider, gpu: {product: Tesla-V100-SXM2-16GB, per_node: 8}}"
    found = make(real, f"kubernetes: 1.34.5\nprovider: gke\npools: [{pool}]", "1.35")
    asked = [pair for hold in found.holds for pair in hold.pairs if pair.a == "nvidia-driver ?"]
    assert asked
    assert "Does it drive their GPUs?" in asked[0].question


def test_what_a_component_relies_on_is_absent(real: Matrix) -> None:
    """Kubeflow Trainer runs its jobs as JobSets."""
    state = "kubernetes: 1.34.5\ncomponents: {kubeflow-trainer: 2.1.0, jobset: JOBSET}\npools: []\n"
    assert check(real, state.replace("JOBSET", "absent")) == "broken"
    assert check(real, state.replace("JOBSET", "0.10.1")) != "broken"


def test_a_pool_whose_gpus_nobody_hands_out(real: Matrix) -> None:
    """The device plugin is said to be absent, by itself or as part of an operator, and the pool counts on it."""
    pool = "{name: a, kubelet: 1.34.5, runtime: containerd 2.1.5, driver: 580.105.08, driver_managed_by: host, allocation: device-plugin}"
    state = f"kubernetes: 1.34.5\ncomponents: {{gpu-operator: absent, device-plugin: PLUGIN}}\npools: [{pool}]\n"
    assert check(real, state.replace("PLUGIN", "absent")) == "broken"
    assert check(real, state.replace("PLUGIN", "0.18.0")) != "broken"
