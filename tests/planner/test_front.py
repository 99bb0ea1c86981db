"""The Pareto front of the solver against going through every way."""

from __future__ import annotations

import heapq
from random import Random

import pytest

from planner.solver import Problem, branches, splitting
from planner.solver.front import front
from planner.solver.problem import pack, unpack
from tests.planner.instances import ending, moves, random_problem
from tests.planner.test_solver import replay


def key(cost: int, width: int, components: int) -> tuple[int, ...]:
    return unpack(cost, width)[:components]


def stands_for(one: int, other: int, width: int, components: int) -> bool:
    a, b = key(one, width, components), key(other, width, components)
    return one <= other if a == b else all(x <= y for x, y in zip(a, b, strict=True))


def exhaustive_front(problem: Problem, components: int) -> list[int]:
    """All costs of ways to a goal of which none makes another needless: by keeping every such cost of every whole state."""
    heap = [(0, problem.start)]
    done: dict[tuple[int, ...], list[int]] = {}
    found: list[int] = []
    while heap:
        cost, state = heapq.heappop(heap)
        if any(stands_for(other, cost, problem.width, components) for other in done.get(state, [])):
            continue
        done.setdefault(state, []).append(cost)
        last = ending(problem, state)
        if last is not None:
            found.append(cost + last)
        for after, price in moves(problem, state):
            heapq.heappush(heap, (cost + price, after))
    found = sorted(set(found))
    return [cost for cost in found if not any(other != cost and stands_for(other, cost, problem.width, components) for other in found)]


@pytest.mark.parametrize("components", [2, 3])
@pytest.mark.parametrize("seed", range(150))
def test_the_front_is_that_of_exhaustive_search(seed: int, components: int) -> None:
    """Same points, the same rest at each, and the moves really cost that."""
    problem = random_problem(seed, variables=Random(seed).randint(2, 5))
    found = front(problem, components)
    assert found.complete
    assert [pack(solution.cost) for solution in found.solutions] == exhaustive_front(problem, components)
    assert all(replay(problem, solution) == pack(solution.cost) for solution in found.solutions)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(("limit", "bound_limit"), [(1, 1), (4, 6), (10_000, 400)])
def test_however_the_problem_is_split_the_front_is_the_same(seed: int, limit: int, bound_limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes at which variables join the core or the bound looks away change effort, not the answer."""
    monkeypatch.setattr(splitting, "_LIMIT", limit)
    monkeypatch.setattr(branches, "_BOUND_LIMIT", bound_limit)
    problem = random_problem(seed + 9000, variables=5)
    assert [pack(solution.cost) for solution in front(problem, 3).solutions] == exhaustive_front(problem, 3)


def test_some_fronts_have_several_points() -> None:
    """Else the comparisons above would show little."""
    sizes = [len(exhaustive_front(random_problem(seed, variables=Random(seed).randint(2, 5)), 3)) for seed in range(150)]
    assert max(sizes) >= 4
    assert sum(size > 1 for size in sizes) > 30


@pytest.mark.parametrize("seed", range(30))
def test_what_is_given_up_is_said(seed: int) -> None:
    """Over its effort the search returns points of the front, among them the first of every order, and says that there may be more."""
    problem = random_problem(seed, variables=5)
    found = front(problem, 3, effort=0)
    whole = exhaustive_front(problem, 3)
    costs = [pack(solution.cost) for solution in found.solutions]
    assert set(costs) <= set(whole)
    assert found.complete == (not whole) or set(costs) == set(whole)
    assert not whole or min(whole) in costs
    for place in range(3):
        least = min((unpack(cost, 3)[place] for cost in whole), default=None)
        assert least is None or least in [unpack(cost, 3)[place] for cost in costs]
