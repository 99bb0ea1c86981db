"""Re-checking plans that rest on overlays, and plans that move what is no component."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from compat import Matrix
from compat.errors import InputError
from planner import ClusterState, PlanFile, plan, recheck
from tests.conftest import DAY, state_of
from tests.overlays import TESTED, with_overlay
from tests.planner.test_aspects import DUCK, SHARING, pools, serving
from tests.planner.test_layers import ACCEPTED, EARLY, RISK, ban
from tests.planner.test_recheck import only, stored

# -- overlays


def test_an_overlay_that_retires_a_claim(small: Matrix, tmp_path: Path) -> None:
    """What stood for a pair is named with who retired it, when and why."""
    name = "operator-kubernetes-12-1.3-1.4-duck-2-2026-01-25"
    result = recheck(with_overlay(tmp_path, f"retired: [{{id: {name}, reason: it hangs, said: 2026-01-30}}]\n"), stored(small))
    (ended,) = next(one for one in result.breaking() if one.kind == "verdict").ended
    assert (result.exit_code, ended.id, ended.fate) == (60, name, "was retired by ours on 2026-01-30: it hangs")


def test_an_overlay_that_bans_where_the_plan_lands(small: Matrix, tmp_path: Path) -> None:
    """The plan goes where nobody may go now."""
    result = recheck(with_overlay(tmp_path, ban("operator", "==12.*")), stored(small))
    assert result.exit_code == 60
    assert any("operator" in one.text and "it hangs" in one.text for one in result.breaking()), result.differences


def test_without_the_overlay_that_vouched_for_it(small: Matrix, tmp_path: Path) -> None:
    """The plan rests on an own test; read without it, the pair is unknown and the overlay is named."""
    made = stored(with_overlay(tmp_path, TESTED, day=EARLY))
    assert recheck(with_overlay(tmp_path, TESTED, day=EARLY), made).exit_code == 0
    result = recheck(small.on(EARLY), made)
    assert result.exit_code == 60
    assert "is not in this knowledge; it came with the overlay ours, see --overlay" in {ended.fate for one in result.differences for ended in one.ended}


@pytest.mark.parametrize(("day", "code"), [(date(2026, 1, 24), 10), (date(2026, 2, 10), 30)])
def test_an_acceptance_ends_on_its_day(tmp_path: Path, small: Matrix, day: date, code: int) -> None:
    """A risk that an overlay accepted until a day is open again after it."""
    made = stored(with_overlay(tmp_path, ACCEPTED.format(RISK, "2026-02-01"), day=EARLY))
    assert made.plan.exit_code == 10
    assert recheck(small.on(day), made).exit_code == code


def test_an_overlay_may_accept_what_a_plan_holds_at(tmp_path: Path, small: Matrix) -> None:
    """Whoever accepts the risk after the plan was made need not plan anew."""
    made = stored(small.on(EARLY))
    assert recheck(with_overlay(tmp_path, ACCEPTED.format(RISK, "2027-01-01"), day=EARLY), made).exit_code == 10


# -- what is no component


def test_an_api_in_use_on_its_way(small_copy: Path) -> None:
    """Before, at and after the move to the next version of an API."""
    matrix = serving(small_copy, "1.2")
    made = PlanFile.parse(plan(matrix, state_of(DUCK), "1.4").to_json())
    result = recheck(matrix, made)
    assert (result.exit_code, result.differences) == (0, ())
    steps = [step.id for step in made.plan.steps]
    move = next(step.id for step in made.plan.steps if step.kind == "migrate-api")
    for version, done in (("v1beta1", steps[: steps.index(move)]), ("v1", steps[: steps.index(move) + 1])):
        result = recheck(matrix, made, state_of(f"kubernetes: 1.2.0\napis: [pond.example/{version}/Duck]"))
        assert (list(result.progress.done), result.exit_code, result.progress.drift) == (done, 0, ())
    assert recheck(matrix, made, done=move).exit_code == 0
    assert "the state does not say" in only(recheck(matrix, made, state_of("kubernetes: 1.2.0")), "drift").text


def test_the_way_gpus_are_allocated(small_copy: Path) -> None:
    """A plan that hands a pool over holds before, by --done, and from the state after it."""
    (small_copy / "sharing.yaml").write_text(SHARING)
    matrix = Matrix.load(as_of=DAY, data=small_copy)
    made = PlanFile.parse(plan(matrix, ClusterState.parse(pools("a", "b")), "1.4", allocation={"b": "dra"}).to_json())
    result = recheck(matrix, made)
    assert (result.exit_code, result.differences) == (made.plan.exit_code, ())
    for step in made.plan.steps:
        result = recheck(matrix, made, done=step.id)
        assert result.exit_code in (0, made.plan.exit_code), (step.id, result.differences)
        assert result.progress.done[-1] == step.id


def test_a_plan_of_others_with_an_api_version_that_does_not_exist(small_copy: Path) -> None:
    """A clear error, not a traceback."""
    matrix = serving(small_copy, "1.2")
    document = plan(matrix, state_of(DUCK), "1.4").to_dict()
    del document["digest"]
    (entry,) = (step for step in document["steps"] if step["kind"] == "migrate-api")
    entry["changes"][0]["to"] = "v9"
    with pytest.raises(InputError, match=r"pond\.example/Duck: cannot go to 'v9'; known: v1beta1, v1"):
        recheck(matrix, PlanFile.from_value(document))
