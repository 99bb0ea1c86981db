"""Plans on the small knowledge base: order, drains, holds, findings, conflicts; every plan passes the validator."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat import Matrix
from compat.documents import read_document
from planner import ClusterState, Plan, plan
from planner.assume import assumed_state, with_components
from planner.errors import GoalError
from planner.schemas import cluster_schema, plan_schema
from planner.validate import validate
from tests.conftest import DAY, SMALL, state_of
from tests.planner.test_state import FULL

STATE = """
kubernetes: 1.1.0
provider: pond
components: {operator: 10.0.0, queue: 25.2.0}
pools:
- {name: gpu, nodes: 4, kubelet: 1.1.0, os: duck-2, runtime: runtime 2.0.0, driver: 510.1.1, driver_managed_by: gpu-operator, allocation: device-plugin}
- {name: cpu, nodes: 7, kubelet: 1.1.0, os: duck-2, gpu: {per_node: 0}}
"""


def make(matrix: Matrix, text: str = STATE, to: str = "1.4", **options: object) -> Plan:
    """Plan and validate: no test sees a plan that the validator has not passed."""
    found = plan(matrix, state_of(text), to, **options)  # type: ignore[arg-type]
    assert validate(matrix, json.loads(found.to_json())) == []
    return found


def path(found: Plan) -> list[str]:
    return [f"{step.component}{'@' + step.pool if step.pool else ''} {step.to}" for step in found.steps if step.kind != "hold"]


def test_an_ordered_path(small: Matrix) -> None:
    """Operator before the control plane that it has to know, kubelets after it, each at a version that both neighbours are tested for."""
    found = make(small)
    assert path(found) == [
        "kubernetes 1.2.0",
        "operator 11.1.0",
        "kubernetes 1.3.1",
        "operator 12.0.0",
        "kubelet@gpu 1.3.1",
        "kubelet@cpu 1.3.1",
        "kubernetes 1.4.0",
        "kubelet@gpu 1.4.0",
        "kubelet@cpu 1.4.0",
    ]
    assert found.optimal
    assert (found.cost.gpu_nodes_drained, found.cost.other_nodes_drained, found.cost.unknown_pairs) == (8, 14, 0)
    assert found.exit_code == 0


def test_runtime_and_driver_ride_along_in_a_node_drain(small: Matrix) -> None:
    """The runtime must leave 2 before the kubelet leaves 1.2, the driver may move to one that is longer supported: no drain of their own."""
    found = make(small)
    changes = [[change.component for change in step.changes] for step in found.steps if step.pool == "gpu"]
    assert "runtime" in changes[0]
    assert sum("driver" in names for names in changes) == 1


def test_nodes_may_stay_behind_within_the_skew(small: Matrix) -> None:
    """One drain instead of two where nodes need not end on the target."""
    found = make(small, nodes="supported")
    assert (found.cost.gpu_nodes_drained, found.cost.other_nodes_drained) == (4, 7)


def test_as_of_an_earlier_day_the_plan_holds(small: Matrix) -> None:
    """Before the operator's table named 1.4, the plan stops in front of it and asks."""
    found = make(small.on(date(2026, 1, 24)))
    assert found.exit_code == 30
    (hold,) = found.holds
    held = next(step for step in found.steps if step.id == hold.before)
    assert (held.component, held.to) == ("kubernetes", "1.4.0")
    assert [(pair.a, pair.b, pair.verdict) for pair in hold.pairs] == [("operator 11.1.0", "kubernetes 1.4.0", "unknown")]
    assert "the operator's support table" in hold.pairs[0].question
    assert found.steps[[step.id for step in found.steps].index(hold.before) - 1].kind == "hold"


def test_an_accepted_risk_changes_the_exit_code_and_is_recorded(small: Matrix) -> None:
    """--accept names the pair; the plan says so."""
    early = small.on(date(2026, 1, 24))
    name = make(early).holds[0].pairs[0].id
    found = make(early, accept=[name])
    assert found.exit_code == 10
    assert found.holds[0].pairs[0].accepted


def test_the_driver_is_pinned_where_the_operators_default_would_move_it(small: Matrix) -> None:
    """10 ships 500.1.1, 11 would bring 510.1.1 under running jobs."""
    found = make(small, STATE.replace("driver: 510.1.1", "driver: 500.1.1").replace("operator: 10.0.0", "operator: 10.0.0"), to="1.2")
    texts = [action.text for step in found.steps for action in step.requires]
    assert path(found)[0] == "kubernetes 1.2.0"
    later = make(small, STATE.replace("driver: 510.1.1", "driver: 510.1.1"))
    texts = [action.text for step in later.steps for action in step.requires]
    assert any(text.startswith("Pin driver to 5") and "would move it to 520.1.1" in text for text in texts)


def test_duties_are_asked_for_once_and_only_where_they_apply(small: Matrix) -> None:
    """The gate of 1.3 is due at the step to 1.3; the other one only if it is on."""
    found = make(small)
    due = [(step.to, action.text, action.condition) for step in found.steps for action in step.requires if "gate" in action.text]
    assert due == [
        ("1.3.1", "Quack is gone in 1.3. Remove the gate Quack.", ""),
        ("1.3.1", "Honk is gone in 1.3. Remove the gate Honk.", "feature is Honk=true"),
    ]
    off = make(small, STATE + "features: {Honk: false}\n")
    assert not any("Honk" in action.text for step in off.steps for action in step.requires)


def test_every_step_says_why(small: Matrix) -> None:
    """What it enables, what it has to come after, or that the goal asks for it."""
    found = make(small)
    assert all(step.why for step in found.steps)
    operator = next(step for step in found.steps if (step.component, step.to) == ("operator", "11.1.0"))
    step = {step.id: step for step in found.steps}
    enabled = next(reason for reason in operator.why if reason.relation == "enables")
    assert (step[enabled.step or ""].component, step[enabled.step or ""].to) == ("kubernetes", "1.3.1")
    after = next(reason for reason in operator.why if reason.relation == "after")
    assert (step[after.step or ""].component, step[after.step or ""].to) == ("kubernetes", "1.2.0")


def test_a_violation_of_the_start_is_reported_and_mended(small: Matrix) -> None:
    """A kubelet too far behind is a finding, is moved first, and no reason to refuse."""
    found = make(small, "kubernetes: 1.4.0\npools: [{name: gpu, nodes: 2, kubelet: 1.1.0, driver: 530.1.1}]\n")
    assert ("broken-now", "error") in [(finding.id, finding.severity) for finding in found.findings]
    assert path(found) == ["kubelet@gpu 1.4.0"]
    assert found.exit_code == 0


def test_a_violation_that_no_move_mends_is_carried_with_a_hold(small_copy: Path) -> None:
    """The plan may go on breaking what is broken, never break more, and says so."""
    queue = small_copy / "queue.yaml"
    queue.write_text(queue.read_text().replace("object_versions: '>=1.1'", "object_versions: '>=1.3'"))
    found = make(Matrix.load(as_of=DAY, data=small_copy), "kubernetes: 1.1.0\ncomponents: {queue: 0.2.0}\n", to="1.3")
    assert path(found) == ["kubernetes 1.2.0", "kubernetes 1.3.1"]
    assert [(hold.before, [pair.verdict for pair in hold.pairs]) for hold in found.holds] == [("s2", ["broken"])]
    assert found.exit_code == 30


def test_an_impossible_goal_is_explained(small_copy: Path) -> None:
    """A smallest set of claims that forbids it, the way as far as it goes, and what would open it."""
    operator = small_copy / "operator.yaml"
    ban = "- id: no-14\n  kind: conflict\n  object: kubernetes\n  object_versions: '>=1.4'\n  said: 2026-01-21\n  source: {repo: example/operator}\n  summary: Never on 1.4.\n"
    operator.write_text(operator.read_text().replace("claims:\n", "claims:\n" + ban))
    found = make(Matrix.load(as_of=DAY, data=small_copy))
    assert (found.status, found.exit_code) == ("impossible", 20)
    assert found.conflict is not None
    assert found.conflict.claims == ("no-14",)
    assert "Never on 1.4" in found.conflict.text
    assert found.conflict.unlock
    assert found.end["kubernetes"] == "1.3.1"


def test_each_claim_of_a_conflict_is_needed(small_copy: Path) -> None:
    """Two bans, each alone enough to stop: the set has one of them only."""
    operator = small_copy / "operator.yaml"
    ban = "- id: no-{0}\n  kind: conflict\n  object: kubernetes\n  object_versions: '==1.{0}.*'\n  said: 2026-01-21\n  source: {{repo: example/operator}}\n  summary: Never on 1.{0}.\n"
    operator.write_text(operator.read_text().replace("claims:\n", "claims:\n" + ban.format(3) + ban.format(4)))
    found = make(Matrix.load(as_of=DAY, data=small_copy))
    assert found.conflict is not None
    assert len(found.conflict.claims) == 1


def test_findings_about_start_way_and_end(small_copy: Path) -> None:
    """Ends of support, advisories, weak pairs, removed APIs, unfinished work, gaps: each with its id."""
    text = STATE.replace("driver: 510.1.1", "driver: 510.1.1, conditions: {upgrade-required: 2}") + "apis: [pond.example/v1beta1/Duck]\n"
    file = small_copy / "kubernetes.yaml"
    file.write_text(file.read_text().replace("  replacement: pond.example/v1\n", "  replacement: lake.example/v1\n"))  # of another group: nothing to move to
    found = make(Matrix.load(as_of=DAY, data=small_copy), text, to="1.3", nodes="supported")
    ids = {finding.id for finding in found.findings}
    assert {"end-of-support", "weaker-than-tested", "api-removed", "unfinished-upgrade", "not-considered"} <= ids
    removed = next(finding for finding in found.findings if finding.id == "api-removed")
    assert "use lake.example/v1" in removed.text
    assert found.findings[0].severity == "error"


def test_an_advisory_on_the_version_at_the_end(small: Matrix) -> None:
    """A version that stays and has a fixed successor is named with its CVE."""
    found = make(small, "kubernetes: 1.3.1\npools: [{name: gpu, kubelet: 1.3.1, driver: 510.1.1}]\n", to="1.3")
    assert any(finding.id == "security-advisory" and "CVE-2026-0001" in finding.text for finding in found.findings)


def test_both_allocations_on_one_pool_are_a_finding(small: Matrix) -> None:
    """The same GPU can be given out twice."""
    found = make(small, "kubernetes: 1.3.1\npools: [{name: gpu, kubelet: 1.3.1, allocation: [device-plugin, dra]}]\n", to="1.3")
    assert ("double-allocation", "error") in [(finding.id, finding.severity) for finding in found.findings]


def test_already_there(small: Matrix) -> None:
    """Nothing to do is a plan without steps."""
    found = make(small, "kubernetes: 1.3.1\n", to="1.3")
    assert (found.steps, found.exit_code) == ((), 0)


@pytest.mark.parametrize(("to", "says"), [("1.1", "the target 1.1 is below 1.2.0"), ("1.2.0-rc.1", "below")])
def test_a_target_below_the_start_is_an_error(small: Matrix, to: str, says: str) -> None:
    """A plan only goes forward."""
    with pytest.raises(GoalError, match=says):
        plan(small, ClusterState.parse("kubernetes: 1.2.0"), to)


def test_the_assumed_stack_of_the_era(small: Matrix) -> None:
    """1.2's next minor came on 2025-10-01: the newest releases tested with 1.2 by then, each marked as assumed."""
    state = assumed_state(small, "1.2", {})
    assert {name: part.version for name, part in state.components.items()} == {"operator": "11.0.0", "queue": "25.2.0"}
    assert state.pools[0].driver == "510.1.1"
    assert len(state.assumed) == 5
    found = make(small, json.dumps(state.dump()), to="1.4")
    assert len([finding for finding in found.findings if finding.id == "assumed"]) == 5


def test_other_ways_to_assume(small: Matrix) -> None:
    """Today's newest, nothing, or one's own."""
    assert assumed_state(small, "1.2", {}, mode="newest").components["operator"].version == "11.1.0"
    assert assumed_state(small, "1.2", {}, mode="none").pools == ()
    own = assumed_state(small, "1.2", {"operator": "10.0.0", "queue": "absent", "runtime": "3.0.0"})
    assert own.components["operator"].version == "10.0.0"
    assert own.components["queue"].version == "absent"
    assert own.pools[0].runtime == "runtime 3.0.0"
    replaced = with_components(small, ClusterState.parse(STATE), {"operator": "11.0.0"})
    assert replaced.components["operator"].version == "11.0.0"


def test_the_same_input_gives_the_same_bytes(small: Matrix) -> None:
    """Whatever was asked before, and whatever order keys are given in."""
    first = make(small).to_json()
    fresh = Matrix.load(as_of=DAY, data=SMALL)
    fresh.verdict(("queue", "0.2.0"), ("kubernetes", "1.4"))
    turned = STATE.replace("{operator: 10.0.0, queue: 25.2.0}", "{queue: 25.2.0, operator: 10.0.0}")
    assert json.loads(make(fresh, turned).to_json())["steps"] == json.loads(first)["steps"]
    assert make(fresh).to_json() == first


def test_renaming_pools_changes_names_only(small: Matrix) -> None:
    """And so does their order."""
    renamed = make(small, STATE.replace("name: gpu", "name: zebra"))
    assert [item.replace("zebra", "gpu") for item in path(renamed)] == path(make(small))


def test_the_digest_covers_the_plan(small: Matrix) -> None:
    """Another plan, another digest; the written digest is that of the rest."""
    one, other = make(small), make(small, nodes="supported")
    assert one.digest != other.digest
    assert one.to_dict()["digest"] == one.digest


def test_the_written_form_is_that_of_the_schema(small: Matrix, golden: Callable[[str, str], None]) -> None:
    """The JSON Schemas in docs/schemas are those of the code, and accept what it writes and what the contract lets people write."""
    for name, schema in (("compat.plan.v1.json", plan_schema()), ("compat.cluster.v1.json", cluster_schema())):
        golden(str(Path("..", "..", "docs", "schemas", name)), json.dumps(schema, indent=2, sort_keys=True) + "\n")
    for found in (make(small), make(small.on(date(2026, 1, 24)), accept=["x"]), make(small, "kubernetes: 1.1.0\ncomponents: {queue: null}")):
        document = json.loads(found.to_json())
        jsonschema.validate(document, plan_schema())
        jsonschema.validate(document["start"], cluster_schema())
    written = read_document(FULL, "contract").value
    jsonschema.validate(json.loads(json.dumps(written, default=str)), cluster_schema())
    assert ClusterState.parse(FULL).pools[0].gpu is not None
    for wrong in ({}, {"kubernetes": "1.33", "podls": []}, {"kubernetes": "1.33", "pools": [{"name": "a", "nodes": -1}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, cluster_schema())


@pytest.mark.parametrize("change", ["drop-step", "swap", "grade", "cost", "from", "end", "hold"])
def test_the_validator_sees_what_is_wrong(small: Matrix, change: str) -> None:
    """A plan that somebody bent does not pass."""
    early = small.on(date(2026, 1, 24))
    document = json.loads(make(early).to_json())
    steps = document["steps"]
    if change == "drop-step":
        document["steps"] = [step for step in steps if step["component"] != "operator"]
    elif change == "swap":
        steps[0], steps[1] = steps[1], steps[0]
    elif change == "grade":
        steps[0]["grade"] = "tested" if steps[0]["grade"] != "tested" else "declared"
    elif change == "cost":
        document["cost"]["gpu_nodes_drained"] = 0
    elif change == "from":
        steps[0]["changes"][0]["from"] = "1.2.0"
    elif change == "end":
        document["end"]["kubernetes"] = "1.9.0"
    else:
        document["holds"] = []
    assert validate(early, document) != []


components = st.fixed_dictionaries(
    {}, optional={"operator": st.sampled_from(["10.0.0", "11.0.0", "11.1.0", "12.0.0"]), "queue": st.sampled_from(["25.1.0", "25.2.0", "0.1.0", "0.2.0"])}
)
kubernetes_versions = st.sampled_from(["1.1.0", "1.2.0", "1.3.0", "1.3.1", "1.4.0"])
pools = st.fixed_dictionaries(
    {"nodes": st.integers(0, 9), "kubelet": kubernetes_versions},
    optional={
        "os": st.sampled_from(["duck-1", "duck-2", "swan-1"]),
        "runtime": st.sampled_from(["runtime 2.0.0", "runtime 3.0.0"]),
        "driver": st.sampled_from(["500.1.1", "510.1.1", "520.1.1", "530.1.1"]),
        "driver_managed_by": st.sampled_from(["gpu-operator", "host"]),
        "allocation": st.sampled_from(["device-plugin", "dra"]),
    },
)


@given(
    kubernetes_versions,
    components,
    st.lists(pools, max_size=3),
    st.sampled_from(["1.3", "1.4"]),
    st.sampled_from(["target", "supported"]),
    st.sampled_from([DAY, date(2026, 1, 21)]),
)
def test_every_plan_passes_the_validator(start: str, parts: dict[str, str], nodes: list[dict[str, object]], to: str, at: str, day: date) -> None:
    """Whatever the cluster: safe steps, honest holds, right sums."""
    matrix = Matrix.load(as_of=day, data=SMALL)
    state = ClusterState.from_value({"kubernetes": start, "components": parts, "pools": [{"name": f"p{n}", **pool} for n, pool in enumerate(nodes)]})
    try:
        found = plan(matrix, state, to, nodes=at)
    except GoalError:
        assert start > to
        return
    assert validate(matrix, json.loads(found.to_json())) == []
