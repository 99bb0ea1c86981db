"""One step in full: checked by making the plan otherwise and asking the matrix."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

import jsonschema
import pytest

from compat import Matrix, Version
from compat.hops import hop
from planner import ClusterState, Plan
from planner.assume import assumed_state
from planner.errors import GoalError
from planner.explain import Explanation, explain
from planner.journey import Journey
from planner.planning import trip
from planner.schemas import explanation_schema
from tests.conftest import DAY
from tests.planner.test_alternatives import STATE


def everything(matrix: Matrix, state: ClusterState, to: str) -> tuple[Plan, Journey, dict[str, Explanation]]:
    found, journey = trip(matrix, state, to)
    return found, journey, {step.id: explain(found, journey, step.id) for step in found.steps}


def unsafe(journey: Journey, versions: Mapping[str, Version]) -> dict[frozenset[str], tuple[str, str, str]]:
    """Components that meet in a broken or unknown pair -> its verdict and sides."""
    found = [judgement for judgement in journey.pairs.all(versions) if judgement.grade in ("broken", "unknown")]
    return {frozenset(side.partition(" ")[0] for side in (item.one, item.other)): (item.grade, item.one, item.other) for item in found}


def wrong(journey: Journey, versions: Mapping[str, Version], planned: Mapping[str, Version], keys: frozenset[str]) -> set[tuple[str, str]]:
    """Pairs of some parts that are worse than as planned."""
    good = unsafe(journey, planned)
    names = {key.partition("@")[0] for key in keys}
    worse = {
        who: item for who, item in unsafe(journey, versions).items() if who & names and (who not in good or (item[0], good[who][0]) == ("broken", "unknown"))
    }
    return {item[1:] for item in worse.values()}


@pytest.mark.parametrize("to", ["1.2", "1.3", "1.4"])
def test_the_order_is_explained_in_full(small: Matrix, to: str) -> None:
    """A step that moves another part is named as one to wait for exactly if going first would be wrong where it is right as planned."""
    found, journey, explained = everything(small, ClusterState.parse(STATE), to)
    names = [step.id for step in found.steps if step.kind != "hold"]
    for position, stage in enumerate(journey.stages):
        ends = {move.part.key: move.end for move in stage.moves}
        waits = {relation.step: relation for relation in explained[names[position]].after}
        assert set(waits) <= set(names[:position])
        for place in range(position):
            earlier = journey.stages[place]
            if stage.keys & earlier.keys:
                assert names[place] in waits
                continue
            expected = wrong(journey, {**earlier.before, **ends}, {**earlier.after, **ends}, stage.keys)
            assert expected == ({(pair.a, pair.b) for pair in waits[names[place]].pairs} if names[place] in waits else set())


@pytest.mark.parametrize("to", ["1.3", "1.4"])
def test_what_a_step_enables_is_wrong_without_it(small: Matrix, to: str) -> None:
    """Each pair that is named is broken or unknown in the state where the step was left out, and not as planned."""
    found, journey, explained = everything(small, ClusterState.parse(STATE), to)
    names = [step.id for step in found.steps if step.kind != "hold"]
    seen = 0
    for position, stage in enumerate(journey.stages):
        starts = {move.part.key: move.start for move in stage.moves}
        for relation in explained[names[position]].enables:
            place = names.index(relation.step)
            later = journey.stages[place]
            assert place > position
            moved = {key for between in journey.stages[position + 1 : place + 1] for key in between.keys}
            without = {**later.after, **{key: version for key, version in starts.items() if key not in moved}}
            named = {(pair.a, pair.b) for pair in relation.pairs}
            assert named <= wrong(journey, without, later.after, stage.keys)
            assert named or stage.keys & later.keys
            seen += len(named)
    assert seen


def test_the_real_plan_step_by_step(real: Matrix) -> None:
    """NVIDIA's rules: from 26.3 straight to a later major is a stop missed; 26.7 has to be there before 1.37, which only it is listed for."""
    found, _, explained = everything(real, assumed_state(real, "1.33", {}), "1.37")
    last = next(step for step in found.steps if step.component == "gpu-operator" and step.to.startswith("26.7"))
    control = next(step for step in found.steps if step.component == "kubernetes" and step.to.startswith("1.37"))
    this = explained[last.id]
    enabled = {relation.step: relation for relation in this.enables}
    assert any(pair.a.startswith("gpu-operator 26.3") and pair.verdict == "unknown" for pair in enabled[control.id].pairs)
    waits = {relation.step: relation for relation in this.after}
    before = next(step for step in found.steps if step.component == "gpu-operator" and step.to.startswith("26.3"))
    assert "needs a stop" in waits[before.id].text
    assert waits[before.id].claims
    assert all(claim in this.claims for relation in (*this.after, *this.enables) for claim in relation.claims)
    assert {relation.step for relation in explained[control.id].after} >= {last.id, before.id} - {before.id}
    first = next(step for step in found.steps if step.component == "kubernetes")
    (landing,) = explained[first.id].landings
    assert (landing.relation, "kubernetes-control-plane-one-minor-at-a-time" in landing.claims) == ("newer", True)


def test_other_landings_say_what_speaks_against_them(real: Matrix) -> None:
    """Each release out on the day that the operator could land on is named once; what is said of a hop is what the rule says."""
    found, _, explained = everything(real, assumed_state(real, "1.33", {}), "1.37")
    for step in found.steps:
        if step.component != "gpu-operator":
            continue
        start, end = real.version(step.component, step.from_), real.version(step.component, step.to)
        others = [release.version for release in real.releases(step.component, stable_only=True) if release.version > start and release.version != end]
        named = [version for landing in explained[step.id].landings for version in landing.versions]
        assert named == [version.release for version in sorted(others, reverse=True)]
        for landing in explained[step.id].landings:
            for text in landing.versions:
                version = real.version(step.component, text)
                assert landing.relation == ("newer" if version > end else "older")
                if "needs a stop" in landing.text:
                    assert hop(real, step.component, start, version).rule == "needs-stop"


def test_a_hold_is_explained_by_its_questions(small: Matrix) -> None:
    """A hold has the pairs that it asks about, and nothing to land on."""
    found, _, explained = everything(small.on(date(2026, 1, 24)), ClusterState.parse(STATE), "1.4")
    hold = next(step for step in found.steps if step.kind == "hold")
    this = explained[hold.id]
    assert [pair.id for pair in this.step.pairs] == [pair.id for pair in found.holds[0].pairs]
    assert (this.after, this.enables, this.landings) == ((), (), ())


def test_steps_of_an_impossible_plan_are_explained(small_copy: Path) -> None:
    """The steps to the farthest state have reasons like all others."""
    operator = small_copy / "operator.yaml"
    ban = "- id: no-14\n  kind: conflict\n  object: kubernetes\n  object_versions: '>=1.4'\n  said: 2026-01-21\n  source: {repo: example/operator}\n  summary: Never on 1.4.\n"
    operator.write_text(operator.read_text().replace("claims:\n", "claims:\n" + ban))
    found, _, explained = everything(Matrix.load(as_of=DAY, data=small_copy), ClusterState.parse(STATE), "1.4")
    assert found.status == "impossible"
    assert [this.step for this in explained.values()] == list(found.steps)
    assert found.steps


def test_an_unknown_step_is_answered_with_those_there_are(small: Matrix) -> None:
    """The message lists the ids."""
    found, journey = trip(small, ClusterState.parse(STATE), "1.3")
    with pytest.raises(GoalError, match=", ".join(step.id for step in found.steps)):
        explain(found, journey, "s99")


def test_the_written_form_is_that_of_the_schema(small: Matrix, golden: Callable[[str, str], None]) -> None:
    """docs/schemas/compat.explanation.v1.json is that of the code, and accepts what it writes."""
    golden(str(Path("..", "..", "docs", "schemas", "compat.explanation.v1.json")), json.dumps(explanation_schema(), indent=2, sort_keys=True) + "\n")
    for day in (date(2026, 1, 24), DAY):
        _, _, explained = everything(small.on(day), ClusterState.parse(STATE), "1.4")
        for this in explained.values():
            jsonschema.validate(json.loads(json.dumps(this.to_dict())), explanation_schema())
