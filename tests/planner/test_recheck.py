"""Re-checking a stored plan: which change of the knowledge or the cluster makes it not hold, and what is said about it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
import yaml

from compat import Matrix
from compat.errors import DocumentError, InputError
from planner import ClusterState, plan, recheck
from planner.assume import assumed_state
from planner.errors import PlanFileError
from planner.planfile import PlanFile, canonical_digest
from planner.rechecked import Difference, Kind, Recheck
from planner.result_schemas import recheck_schema
from tests.conftest import DAY

LATER = date(2026, 2, 15)
HELD = date(2026, 1, 24)
"""Before the table named 1.4: the plan holds there."""
START = """
kubernetes: 1.1.0
name: pond-1
components: {operator: 10.0.0, queue: 25.2.0}
pools:
- {name: gpu, nodes: 4, kubelet: 1.1.0, driver: 510.1.1, driver_managed_by: gpu-operator, allocation: device-plugin}
"""
SOURCE = {"url": "https://example.com/new"}


def stored(matrix: Matrix, state: str = START, **options: Any) -> PlanFile:
    """A plan as it comes out of a file."""
    return PlanFile.parse(plan(matrix, ClusterState.parse(state), "1.4", **options).to_json())


def knowledge(folder: Path, change: Callable[[dict[str, Any]], None], file: str, day: date = LATER) -> Matrix:
    """The small knowledge base with one file changed."""
    path = folder / file
    content = yaml.safe_load(path.read_text())
    change(content)
    content["as_of"] = date(2026, 2, 14)
    path.write_text(yaml.safe_dump(content))
    return Matrix.load(as_of=day, data=folder)


def claim(identity: str, kind: str, **fields: Any) -> Callable[[dict[str, Any]], None]:
    """A change that adds a claim."""
    return lambda content: content["claims"].append(
        {"id": identity, "kind": kind, "said": date(2026, 2, 1), "source": SOURCE, "summary": f"{identity} says so.", **fields}
    )


def ends(identity: str, day: date = date(2026, 2, 1)) -> Callable[[dict[str, Any]], None]:
    """A change that ends a claim."""

    def change(content: dict[str, Any]) -> None:
        (found,) = (entry for entry in content["claims"] if entry["id"] == identity)
        found["until"] = day

    return change


def row(number: int, **fields: Any) -> Callable[[dict[str, Any]], None]:
    """A change of one row of the first table."""
    return lambda content: content["tables"][0]["rows"][number].update(fields)


def only(result: Recheck, kind: str) -> Difference:
    """The one difference of a kind."""
    (found,) = (one for one in result.differences if one.kind == kind)
    return found


def test_nothing_new_nothing_to_say(small: Matrix) -> None:
    """The day after, with the same knowledge, the plan holds and there is no difference."""
    result = recheck(small.on(LATER), stored(small))
    assert (result.outcome, result.exit_code, result.differences) == ("holds", 0, ())


@pytest.mark.parametrize("day", [date(2025, 11, 15), date(2026, 1, 10), HELD, DAY])
@pytest.mark.parametrize("accept", [(), ("unknown:operator@11.1.0:kubernetes@1.4.0",)])
@pytest.mark.parametrize("state", [START, "kubernetes: 1.1\ncomponents: {operator: null}", "kubernetes: 1.2.0\npools: [{name: a, kubelet: [1.1.0, 1.2.0]}]"])
def test_on_its_own_day_a_plan_says_what_it_said(small: Matrix, day: date, accept: tuple[str, ...], state: str) -> None:
    """Law: re-checked on the day it was made for, any plan has the exit code that it had, and no difference."""
    target = "1.4" if day >= date(2026, 1, 20) else "1.3"
    made = plan(small.on(day), ClusterState.parse(state), target, accept=accept)
    result = recheck(small.on(day), PlanFile.parse(made.to_json()))
    assert (result.exit_code, result.differences) == (made.exit_code, ())


@pytest.mark.parametrize(
    ("file", "change", "step", "kind", "effect", "says"),
    [
        ("operator.yaml", claim("bad", "conflict", versions="==12.*", object="kubernetes", object_versions=">=1.4"), "s6", "verdict", "breaks", "was tested and is broken now"),
        ("operator.yaml", row(4, until=date(2026, 2, 1)), "s4", "verdict", "breaks", "was tested and is unknown now"),
        ("queue.yaml", ends("queue-ci-25"), "s1", "verdict", "warning", "was tested and is declared now"),
        ("operator.yaml", row(0, scope={"os": "duck-1"}), "s1", "condition", "breaks", "no more if os is duck-2"),
        ("kubernetes.yaml", claim("todo", "upgrade", versions=">=1.3,<1.4", to_versions=">=1.4", rule="needs-action", action="Feed the ducks."), "s6", "duty", "breaks", "Feed the ducks."),
        ("kubernetes.yaml", claim("todo", "upgrade", versions=">=1.3,<1.4", to_versions=">=1.4", rule="needs-action", action="Feed.", severity="should"), "s6", "duty", "warning", "Feed."),
        ("operator.yaml", claim("no", "upgrade", versions="==11.*", to_versions="==12.*", rule="forbidden"), "s4", "hop", "breaks", "from operator 11.1.0 to 12.0.0 is forbidden now"),
        ("operator.yaml", claim("hm", "upgrade", versions="==11.*", to_versions="==12.*", rule="unknown"), "s4", "hop", "breaks", "is unknown now"),
        ("operator.yaml", claim("one-way", "upgrade", versions="==11.*", to_versions="==12.*", rule="allowed", reversible=False), "s4", "rollback", "breaks", "cannot be undone"),
        ("driver.yaml", claim("cve", "upgrade", versions="==520.*", to_versions=">=530", rule="note", cve=["CVE-2026-0002"]), None, "finding", "warning", "security-advisory: driver 520.1.1"),
        ("driver.yaml", claim("life-520", "lifecycle", versions="==520.*", branch_type="production", supported_until=date(2026, 2, 10)), None, "finding", "warning", "out of support since 2026-02-10"),
        ("kubernetes.yaml", lambda content: content["releases"].insert(0, {"version": "1.4.1", "released": date(2026, 2, 3)}), None, "newer-release", "info", "kubernetes 1.4.1 came out on 2026-02-03"),
        ("queue.yaml", claim("other", "support", basis="ci", grade="tested", versions="==25.*", object="kubernetes", object_versions="1.3 - 1.3"), "s3", "verdict", "info", "was declared and is tested now"),
        ("kubernetes.yaml", lambda content: content["claims"][0].update(summary="Said in other words."), "s1", "claim", "info", "do not stand as they did"),
    ],
)  # fmt: skip
def test_what_a_change_of_the_knowledge_does(
    small: Matrix, small_copy: Path, file: str, change: Callable[[dict[str, Any]], None], step: str | None, kind: str, effect: str, says: str
) -> None:
    """One fact changes: it is named at its step, and the plan holds unless following it is not known to be safe any more."""
    result = recheck(knowledge(small_copy, change, file), stored(small))
    found = next(one for one in result.differences if one.kind == kind)
    assert (found.step, found.effect) == (step, effect)
    assert says in found.text
    assert (result.outcome, result.exit_code) == (("broken", 60) if effect == "breaks" else ("holds", 0))
    assert all(one.kind != "fault" for one in result.differences)
    jsonschema.validate(json.loads(result.to_json()), recheck_schema())


def test_a_changed_verdict_names_what_ended_and_what_decides(small: Matrix, small_copy: Path) -> None:
    """The claims that stood for the pair with their fate and heir, and the new ones with their source."""

    def change(content: dict[str, Any]) -> None:
        rows = content["tables"][0]["rows"]
        rows.append({**deepcopy(rows[4]), "object_versions": "1.3 - 1.3", "said": date(2026, 2, 1), "ref": "v12.2"})
        rows[4]["until"] = date(2026, 2, 1)

    result = recheck(knowledge(small_copy, change, "operator.yaml"), stored(small))
    found = only(result, "verdict")
    assert found.pair is not None
    assert (found.pair.a, found.pair.b, found.pair.was, found.pair.now) == ("operator 12.0.0", "kubernetes 1.4.0", "tested", "unknown")
    (ended,) = found.ended
    assert ended.fate == "ended on 2026-02-01"
    assert ended.replaced_by == ("operator-kubernetes-12-1.3-1.3-duck-2-2026-02-01",)
    assert result.claims[ended.replaced_by[0]].source["ref"] == "v12.2"
    assert result.claims[ended.id].source["ref"] == "v12.1"


def test_wider_conditions_take_nothing_away(small: Matrix, small_copy: Path) -> None:
    """A list that names more than before is no reason to approve again."""
    result = recheck(knowledge(small_copy, row(0, scope={"os": ["duck-1", "duck-2", "duck"]}), "operator.yaml"), stored(small))
    assert result.outcome == "holds"


def test_a_claim_that_is_gone_is_named_with_its_overlay(small: Matrix) -> None:
    """What came from an overlay that is not read now is no mystery."""
    document = stored(small).plan.to_dict()
    del document["digest"]
    document["claims"]["skew"]["source"]["layer"] = "our-tests"
    document["claims"]["gone"] = document["claims"].pop("skew")
    document = json.loads(json.dumps(document).replace('"skew"', '"gone"'))
    (ended,) = next(one for one in recheck(small, PlanFile.from_value(document)).differences if one.kind == "claim").ended
    assert ended.fate == "is not in this knowledge; it came with the overlay our-tests, see --overlay"


def test_a_target_that_was_not_out_then_and_is_now(small: Matrix, small_copy: Path) -> None:
    """A plan for 1.4 before there was one does not say which 1.4."""
    state = "kubernetes: 1.3.1\npools: [{name: a, kubelet: 1.3.1}]"
    made = PlanFile.parse(plan(small.on(date(2026, 1, 5)), ClusterState.parse(state), "1.4").to_json())
    assert made.plan.end["kubernetes"] == "1.4"
    assert recheck(small.on(date(2026, 1, 6)), made).differences == ()
    result = recheck(small, made)
    assert {one.kind for one in result.breaking()} == {"unreleased"}
    assert result.breaking()[0].text == "It goes to kubernetes 1.4, of which no release was out on 2026-01-05; 1.4.0 is now. Plan anew."


# -- holds


@pytest.mark.parametrize(("accept", "code"), [((), 30), (("unknown:operator@11.1.0:kubernetes@1.4.0",), 10)])
def test_holds_that_hold_the_same_way_keep_their_exit_code(small: Matrix, accept: tuple[str, ...], code: int) -> None:
    """An open question stays one, an accepted risk stays accepted."""
    result = recheck(small.on(HELD), stored(small.on(HELD), accept=accept))
    assert (result.outcome, result.exit_code) == ("holds", code)


def test_an_answered_question_is_settled(small: Matrix, small_copy: Path) -> None:
    """A statement that reaches the pair of a hold: the plan holds without it."""
    change = claim("tested-now", "support", grade="tested", versions="==11.*", object="kubernetes", object_versions="1.4 - 1.4")
    result = recheck(knowledge(small_copy, change, "operator.yaml"), stored(small.on(HELD)))
    assert (result.outcome, result.exit_code, result.open) == ("holds", 0, ())
    assert only(result, "settled").claims == ("tested-now",)


def test_an_accepted_unknown_that_turns_out_broken(small: Matrix, small_copy: Path) -> None:
    """Nobody has accepted that."""
    change = claim("broken-now", "conflict", versions="==11.*", object="kubernetes", object_versions=">=1.4")
    accepted = stored(small.on(HELD), accept=["unknown:operator@11.1.0:kubernetes@1.4.0"])
    result = recheck(knowledge(small_copy, change, "operator.yaml"), accepted)
    assert (result.exit_code, only(result, "verdict").pair and only(result, "verdict").pair.now) == (60, "broken")  # type: ignore[union-attr]  # only one


def test_what_no_step_touches_counts_at_the_end(small: Matrix, small_copy: Path) -> None:
    """A part that stays where it is and is found not to work with another that stays."""
    state = "kubernetes: 1.3.0\ncomponents: {operator: 12.0.0}\npools: [{name: gpu, kubelet: 1.3.0, driver: 520.1.1, driver_managed_by: gpu-operator}]"
    made = stored(small, state, nodes="supported")
    assert all(change.component not in ("operator", "driver") for step in made.plan.steps for change in step.changes)
    change = claim("bad", "conflict", versions="==12.*", object="driver", object_versions="==520.*")
    found = only(recheck(knowledge(small_copy, change, "operator.yaml"), made), "verdict")
    assert (found.step, found.effect, found.pair and found.pair.now) == (None, "breaks", "broken")


def test_why_there_is_no_way_is_checked_too(small: Matrix, small_copy: Path) -> None:
    """An impossible plan keeps its exit code while its reasons stand, and no longer."""
    state = "kubernetes: 1.1.0\ncomponents: {queue: 25.1.0}\npools: [{name: a, kubelet: 1.1.0}]"
    shut = claim("shut", "conflict", object="kubernetes", object_versions=">=1.4")
    made = PlanFile.parse(plan(knowledge(small_copy, shut, "queue.yaml"), ClusterState.parse(state), "1.4").to_json())
    assert made.plan.status == "impossible"
    assert recheck(Matrix.load(as_of=LATER, data=small_copy), made).exit_code == 20
    result = recheck(knowledge(small_copy, ends("shut", date(2026, 2, 10)), "queue.yaml"), made)
    assert (result.exit_code, only(result, "conflict").ended[0].fate) == (60, "ended on 2026-02-10")


# -- where the cluster stands


def at(kubernetes: str, operator: str, kubelet: str, driver: str = "510.1.1", more: str = "") -> ClusterState:
    """The cluster of START on its way."""
    pool = f"name: gpu, nodes: 4, kubelet: {kubelet}, driver: {driver}, driver_managed_by: gpu-operator, allocation: device-plugin{more}"
    return ClusterState.parse(f"kubernetes: {kubernetes}\nname: pond-1\ncomponents: {{operator: {operator}, queue: 25.2.0}}\npools: [{{{pool}}}]")


@pytest.mark.parametrize(
    ("state", "done", "begun", "step"),
    [
        (at("1.1.0", "10.0.0", "1.1.0"), 0, (), "s1"),
        (at("[1.1.0, 1.2.0]", "10.0.0", "1.1.0"), 0, ("s1",), "s1"),
        (at("1.3.1", "11.1.0", "1.1.0"), 3, (), "s4"),
        (at("1.3", "11.1.0", "1.1"), 3, (), "s4"),
        (at("1.3.1", "12.0.0", "[1.1.0, 1.3.1]"), 4, ("s5",), "s5"),
        (at("1.4.0", "12.0.0", "1.3.1", "520.1.1"), 6, ("s7",), "s7"),
        (at("1.4.0", "12.0.0", "1.4.0", "520.1.1"), 7, (), None),
    ],
)
def test_the_versions_say_which_steps_are_done(small: Matrix, state: ClusterState, done: int, begun: tuple[str, ...], step: str | None) -> None:
    """Nothing done, a step half done, all done: the rest is judged from there and holds."""
    result = recheck(small, stored(small), state)
    assert result.progress.done == tuple(f"s{number}" for number in range(1, done + 1))
    assert (result.progress.begun, result.progress.next, result.progress.drift) == (begun, step, ())
    assert (result.outcome, result.exit_code) == ("holds", 0)


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (at("1.3.0", "11.1.0", "1.1.0"), "kubernetes is at 1.3.0; the plan has it at 1.1.0, then 1.2.0, then 1.3.1, then 1.4.0"),
        (at("1.1.0", "12.0.0", "1.1.0"), "s4 is done, but s1 before it is not done"),
        (at("1.1.0", "absent", "1.1.0"), "operator is not there; the plan has it at 10.0.0"),
        (at("1.1.0", "null", "1.1.0"), "the state does not say in which version operator runs"),
        (ClusterState.parse("kubernetes: 1.1.0\ncomponents: {operator: 10.0.0, queue: 25.2.0}"), "there is no pool gpu in the state"),
        (ClusterState.parse(START.replace("pond-1", "pond-2")), "the plan is for the cluster pond-1, the state is of pond-2"),
    ],
)
def test_what_is_in_no_state_of_the_plan_is_drift(small: Matrix, state: ClusterState, says: str) -> None:
    """From there the plan says nothing, so it does not hold."""
    result = recheck(small, stored(small), state)
    assert result.exit_code == 60
    assert any(one.kind == "drift" and says in one.text for one in result.differences), result.differences


def test_the_rest_is_judged_as_the_cluster_is_now(small: Matrix) -> None:
    """An operating system that the plan did not know of decides about the pairs ahead."""
    good = recheck(small, stored(small), at("1.3.1", "11.1.0", "1.1.0", more=", os: duck-2"))
    bad = recheck(small, stored(small), at("1.3.1", "11.1.0", "1.1.0", more=", os: duck-1"))
    assert (good.exit_code, bad.exit_code) == (0, 60)
    assert only(good, "state").text == "pool gpu, os: not given in the plan, duck-2 in the state."
    assert [one.step for one in bad.breaking()] == ["s4", "s6"]


def test_a_fact_about_what_is_behind_does_not_matter(small: Matrix, small_copy: Path) -> None:
    """Operator 10 is found not to work with 1.2 when the cluster has left both."""
    change = claim("late", "conflict", versions="==10.*", object="kubernetes", object_versions="==1.2.*")
    matrix = knowledge(small_copy, change, "operator.yaml")
    assert recheck(matrix, stored(small)).exit_code == 60
    assert recheck(matrix, stored(small), done="s3").exit_code == 0
    assert recheck(matrix, stored(small), at("1.3.1", "11.1.0", "1.1.0")).exit_code == 0


def test_what_somebody_says_is_done_must_be_so(small: Matrix) -> None:
    """--done beside a state that shows otherwise is drift; a step that the plan does not have is a mistake."""
    result = recheck(small, stored(small), at("1.3.1", "11.1.0", "1.1.0"), done="s4")
    assert only(result, "drift").text == "s4 is said to be done, and its versions are not there."
    with pytest.raises(InputError, match="the plan has no such step; it has s1, s2"):
        recheck(small, stored(small), done="s9")


def test_a_line_in_the_plan_stays_the_release_that_it_was(small: Matrix, small_copy: Path) -> None:
    """1.1 in the start meant 1.1.0; a 1.1.1 that came since does not turn the plan wrong."""
    made = PlanFile.parse(plan(small, assumed_state(small, "1.1", {}), "1.4").to_json())
    assert made.plan.start["kubernetes"] == "1.1"
    newer = knowledge(small_copy, lambda content: content["releases"].append({"version": "1.1.1", "released": date(2026, 2, 3)}), "kubernetes.yaml")
    assert recheck(newer, made).outcome == "holds"


# -- plans of others


def bent(small: Matrix, change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """A plan without a digest that somebody changed."""
    document: dict[str, Any] = json.loads(stored(small).plan.to_json())
    del document["digest"]
    change(document)
    return document


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda document: document["steps"].pop(0), "s3: starts kubernetes at 1.2.0, it is at 1.1.0"),
        (lambda document: document["steps"][0].update({"from": "1.0.0", "changes": [{"component": "kubernetes", "from": "1.0.0", "to": "1.2.0"}]}), "starts kubernetes at 1.0.0, it is at 1.1.0"),
        (lambda document: document["cost"].update(gpu_nodes_drained=0), "the cost"),
        (lambda document: document["steps"][4]["drains"].update(gpu_nodes=1), "says it drains"),
        (lambda document: document["end"].update(operator="11.1.0"), "the plan says operator ends at 11.1.0, it ends at 12.0.0"),
        (lambda document: document["end"].update(nothing="1"), "the plan says where nothing ends, and has no such part"),
        (lambda document: document["claims"].pop("skew"), "cites the claim skew, which the plan does not carry"),
        (lambda document: document["steps"].__delitem__(slice(5, None)), "short of 1.4"),
    ],
)  # fmt: skip
def test_the_faults_of_a_plan_of_others_are_listed(small: Matrix, change: Callable[[dict[str, Any]], Any], says: str) -> None:
    """What the validator finds is said, and the plan does not hold."""
    result = recheck(small, PlanFile.from_value(bent(small, change)))
    assert result.exit_code == 60
    assert any(says in one.text for one in result.differences), [one.text for one in result.differences]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda document: document.pop("steps"), "steps: this key is missing"),
        (lambda document: document.update(stepps=[]), "stepps: unknown key"),
        (lambda document: document["steps"][1].update(kind="jump"), "steps[1].kind"),
        (lambda document: document["steps"][1].update({"from": 11}), "steps[1].from: Input should be a valid string, found '11'"),
        (lambda document: document["steps"][1].update(id="s1"), "steps[1].id: 's1' is empty or the id of an earlier step"),
        (lambda document: document["steps"][1].update(pool="moon"), "steps[1].pool: the start has no pool 'moon'"),
        (lambda document: document.update(holds=[{"before": "s99", "pairs": []}]), "holds[0].before: there is no step 's99'"),
        (lambda document: document["cost"].update(steps=True), "cost.steps"),
        (lambda document: document["start"].update(kubernets="1"), "start: unknown key 'kubernets'; did you mean kubernetes?"),
        (lambda document: document["knowledge"].update(as_of="soon"), "knowledge.as_of: expected a date"),
        (lambda document: document["goal"].update(nodes="moon"), "goal.nodes: expected one of target, supported"),
        (lambda document: document["steps"][0]["changes"][0].update(to="x;rm"), "cannot read 'x;rm' as a version"),
        (lambda document: document.update(steps=document["steps"] * 1000), "at most 2,000"),
    ],
)  # fmt: skip
def test_what_is_no_plan_is_refused(small: Matrix, change: Callable[[dict[str, Any]], Any], says: str) -> None:
    """Wrong types, unknown keys and names that lead nowhere are faults with their place, not tracebacks."""
    with pytest.raises(InputError) as error:
        recheck(small, PlanFile.from_value(bent(small, change)))
    assert says in str(error.value)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"schema": 1}', '{"a": 1, "a": 2}', "[" * 100_000, '{"a": NaN}', '{"a": 1' + "0" * 5000 + "}", "schema: compat.plan/v1"]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    """Nothing but one JSON document without duplicate keys gets in."""
    with pytest.raises((DocumentError, PlanFileError)):
        PlanFile.parse(text)


def test_a_plan_that_was_changed_after_it_was_made_is_refused(small: Matrix) -> None:
    """The digest is over the content; only with its own is it the approved plan."""
    document = json.loads(stored(small).plan.to_json())
    assert canonical_digest(document) == document["digest"]
    document["steps"][0]["rollback"] = "rm -rf"
    with pytest.raises(PlanFileError, match="was changed after it was made"):
        PlanFile.from_value(document)


def test_older_knowledge_does_not_judge(small: Matrix) -> None:
    """What the plan knew and this does not must not look like a change."""
    result = recheck(small.on(date(2026, 1, 10)), stored(small))
    assert (result.outcome, result.exit_code) == ("outdated", 40)
    document = bent(small, lambda document: document["knowledge"].update(version="2027.01.01"))
    assert recheck(small, PlanFile.from_value(document)).exit_code == 40


def test_a_real_plan_and_what_came_since(real: Matrix) -> None:
    """A plan of June 2026 onto GPU Operator 26.3.2: since 2026-06-25 its notes say what early 26.3 device plugins do to GPU pods (fixed in 26.3.3)."""
    made = plan(real.on(date(2026, 6, 1)), assumed_state(real.on(date(2026, 6, 1)), "1.33", {}), "1.36")
    assert any(change.to == "26.3.2" for step in made.steps for change in step.changes)
    result = recheck(real, PlanFile.parse(made.to_json()))
    assert result.exit_code == 60
    assert "gpu-operator-upgrade-26.3-rdma-feature-flags" in {claim for one in result.breaking() for claim in one.claims}
    assert recheck(real.on(date(2026, 6, 1)), PlanFile.parse(made.to_json())).differences == ()


def test_the_written_form_is_that_of_the_schema(golden: Callable[[str, str], None]) -> None:
    """docs/schemas/compat.recheck.v1.json is that of the code."""
    golden(str(Path("..", "..", "docs", "schemas", "compat.recheck.v1.json")), json.dumps(recheck_schema(), indent=2, sort_keys=True) + "\n")


def test_every_kind_of_difference_is_documented() -> None:
    """Kinds are stable names with a heading each in docs/recheck.md."""
    page = (Path(__file__).parents[2] / "docs" / "recheck.md").read_text()
    assert set(re.findall(r"^### (\S+)$", page, re.M)) == set(get_args(Kind))
