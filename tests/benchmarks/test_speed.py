"""Speed of the planner and its solver; run with ``make bench``, which shows ratios within a group."""

from __future__ import annotations

from typing import Any

import pytest

from compat import Matrix
from planner import plan
from planner.assume import assumed_state
from planner.solver import solve
from tests.planner.instances import exhaustive, random_problem


@pytest.mark.benchmark(group="one small problem")
def test_search(benchmark: Any) -> None:
    """The search, on a problem that exhaustive search can do."""
    problem = random_problem(53, variables=5, values=5)
    found = benchmark(solve, problem)
    assert found is not None


@pytest.mark.benchmark(group="one small problem")
def test_exhaustive(benchmark: Any) -> None:
    """Going through all states of the same problem."""
    problem = random_problem(53, variables=5, values=5)
    assert benchmark.pedantic(exhaustive, (problem,), rounds=3) is not None


@pytest.mark.benchmark(group="the real knowledge")
@pytest.mark.parametrize("to", ["1.34", "1.37"])
def test_plan(benchmark: Any, to: str) -> None:
    """A plan from an open store, nothing remembered from the one before."""

    def fresh() -> object:
        matrix = Matrix.load()
        return plan(matrix, assumed_state(matrix, "1.33", {}), to=to)

    assert benchmark(fresh) is not None
