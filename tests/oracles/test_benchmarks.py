"""What the benchmark page says is what was measured, and its instances are what it says they are."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from compat import Matrix
from planner import ClusterState
from planner.export import problem_document
from planner.solver import Problem, solve
from scripts.problem_document import read
from tests.benchmarks.clusters import cluster
from tests.benchmarks.fleet import clusters
from tests.benchmarks.table import SIZES, Comparison, comparison_rows, growth_rows, targets
from tests.oracles.runners import Outcome, clingo, fast_downward
from tests.oracles.test_agreement import agrees, needs_clingo, needs_fast_downward

SMALL = [cluster(4, 1, seed=seed, minors=4, versions=3) for seed in range(4)]
MINE = {"seconds": 0.01, "runs": 9, "cost": [1, 2, 3], "expanded": 7}
SAME = Outcome("optimal", (1, 2, 3), 9.0, 8.0, 100)
LATE = Outcome("unfinished", None, 60.0, None, None)
GROWN = {"add-ons": [(5, [MINE]), (80, [MINE | {"seconds": 0.2}])]}


@needs_fast_downward
@pytest.mark.parametrize("problem", SMALL)
def test_fast_downward_agrees_on_generated_clusters(problem: Problem) -> None:
    """The instances of the benchmark, in a size for the suite."""
    agrees(problem, fast_downward(read(problem_document(problem)), 60))


@needs_clingo
@pytest.mark.parametrize("problem", SMALL[:2])
def test_clingo_agrees_on_generated_clusters(problem: Problem) -> None:
    """The same by another way."""
    agrees(problem, clingo(read(problem_document(problem)), 60))


@pytest.mark.parametrize("seed", range(5))
def test_generated_clusters_get_to_the_last_minor(seed: int) -> None:
    """A benchmark of goals that cannot be reached would measure something else."""
    found = solve(cluster(6, 2, seed=seed))
    assert found is not None
    assert any((0, 3, 4) in move for move in found.moves)


def test_the_fleet_is_different_clusters_that_can_be_read(real: Matrix) -> None:
    """A state that the planner refuses would count as fast."""
    found = list(islice(clusters(real, 40), 40))
    assert len({str(item) for item in found}) == 40
    assert all(ClusterState.from_value(state).kubernetes for state, _ in found)


def verdicts(*found: Comparison) -> list[str]:
    return [str(row[2]) for row in targets(found, GROWN, start=0.2)]  # type: ignore[arg-type]  # figures of one seed


def test_targets_are_met_only_by_what_was_measured() -> None:
    """800 times as fast, one start, 20 times as long for 16 times as much; nobody disagrees."""
    small, large = Comparison(*SIZES[0], 0, MINE, SAME, 5, SAME), Comparison(*SIZES[-1], 0, MINE, LATE, 5, LATE)
    assert verdicts(small, large) == ["met"] * 4
    assert verdicts(replace(small, downward=replace(SAME, search=4.9)), large) == ["**not met**", "met", "met", "met"]
    assert verdicts(small, replace(large, mine=None)) == ["met", "**not met**", "met", "met"]
    assert verdicts(small) == ["met", "not measured", "met", "met"]


def test_a_disagreement_is_shown() -> None:
    """Another cost is no speed record."""
    wrong = Comparison(*SIZES[0], 0, MINE, replace(SAME, cost=(1, 2, 2)), 5, LATE)
    assert verdicts(wrong) == ["**not met**", "not measured", "met", "**not met**"]


def test_what_does_not_finish_is_written_as_such() -> None:
    """Without a ratio: limits are on the clock, times are of the processor."""
    rows = list(comparison_rows([Comparison(5, 2, 0, MINE, LATE, 3, SAME)], 60))
    assert rows[1] == ["5 x 2, seed 0", "Fast Downward, 3 components", "did not finish in 60 s", "", "", "", ""]
    assert list(growth_rows([(5, [MINE, None])], 60)) == [[5, "1.0", "", "1 of 2 did not finish in 60 s", ""]]
