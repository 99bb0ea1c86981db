"""The solver against exhaustive search, and its laws."""

from __future__ import annotations

import itertools
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.solver import Problem, Solution, Table, parts, solve, splitting
from planner.solver.problem import pack, unpack
from planner.solver.reduce import reduce
from planner.solver.splitting import split
from tests.planner.instances import WIDTH, ending, exhaustive, moves, random_problem

seeds = st.integers(0, 10**9)


def replay(problem: Problem, solution: Solution) -> int:
    """Walk the solution and add up its cost with the oracle's rules; fails if a move is not allowed."""
    state, total = problem.start, 0
    for move in solution.moves:
        after = list(state)
        for variable, start, end in move:
            assert state[variable] == start
            after[variable] = end
        prices = [price for reached, price in moves(problem, state) if reached == tuple(after)]
        assert prices, f"no such move: {move}"
        total += min(prices)
        state = tuple(after)
    last = ending(problem, state)
    assert last is not None
    return total + last


@pytest.mark.parametrize("seed", range(300))
def test_the_cost_is_that_of_exhaustive_search(seed: int) -> None:
    """Three hundred instances: same optimum, or both find none; and the moves really cost that."""
    problem = random_problem(seed)
    solution, best = solve(problem), exhaustive(problem)
    assert (solution is None) == (best is None)
    if solution is not None:
        assert pack(solution.cost) == best == replay(problem, solution)
        assert solution.bound == solution.cost


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize(("limit", "bound_limit"), [(1, 1), (4, 1), (4, 6), (16, 400), (10_000, 400)])
def test_however_the_problem_is_split_the_optimum_is_the_same(seed: int, limit: int, bound_limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes at which variables join the core or the bound looks away change effort, not the answer."""
    monkeypatch.setattr(splitting, "_LIMIT", limit)
    monkeypatch.setattr(parts, "_BOUND_LIMIT", bound_limit)
    problem = random_problem(seed + 5000, variables=5)
    solution = solve(problem)
    assert (pack(solution.cost) if solution else None) == exhaustive(problem)


@given(seeds)
def test_leaving_out_dominated_values_keeps_the_optimum(seed: int) -> None:
    """`reduce` never changes the cost of the best plan."""
    problem = random_problem(seed)
    smaller, kept = reduce(problem)
    one, other = solve(problem), solve(smaller)
    assert (one.cost if one else None) == (other.cost if other else None)
    assert all(numbers == tuple(sorted(numbers)) and 0 in numbers for numbers in kept)


@given(seeds)
def test_the_canonical_order_does_not_depend_on_how_the_problem_is_split(seed: int) -> None:
    """Where the optimum is one set of moves, it comes in one order."""
    problem = random_problem(seed, variables=5)
    found = []
    for limit in (1, 16, 10_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(splitting, "_LIMIT", limit)
            found.append(solve(problem))
    sets = [sorted(solution.moves) if solution else None for solution in found]
    for one, other in itertools.pairwise(found):
        if one and other and sorted(one.moves) == sorted(other.moves):
            assert pack(one.cost) == pack(other.cost) == replay(problem, one) == replay(problem, other)
    assert len({item is None for item in sets}) == 1


@given(seeds)
def test_the_same_input_gives_the_same_plan(seed: int) -> None:
    """Not only the same cost."""
    assert solve(random_problem(seed)) == solve(random_problem(seed))


@given(seeds)
def test_the_order_of_the_variables_does_not_change_the_cost(seed: int) -> None:
    """Renaming or reordering changes nothing but names."""
    problem = random_problem(seed)
    order = list(range(len(problem.variables)))
    Random(seed).shuffle(order)
    place = {old: new for new, old in enumerate(order)}

    def table(item: Table) -> Table:
        return replace(item, variables=tuple(place[v] for v in item.variables))

    shuffled = replace(
        problem,
        variables=tuple(problem.variables[v] for v in order),
        start=tuple(problem.start[v] for v in order),
        goal=tuple(problem.goal[v] for v in order),
        landing=tuple(problem.landing[v] for v in order),
        tables=tuple(map(table, problem.tables)),
        transitions=tuple(replace(item, variable=place[item.variable]) for item in problem.transitions),
        groups=tuple(replace(item, variables=tuple(place[v] for v in item.variables)) for item in problem.groups),
    )
    one, other = solve(problem), solve(shuffled)
    assert (one.cost if one else None) == (other.cost if other else None)


@given(seeds, st.data())
def test_forbidding_more_never_makes_a_plan_cheaper(seed: int, data: st.DataObject) -> None:
    """A further forbidden combination can only cost."""
    problem = random_problem(seed, variables=3)
    if not problem.tables:
        return
    number = data.draw(st.integers(0, len(problem.tables) - 1))
    table = problem.tables[number]
    sizes = [len(problem.variables[v].values) for v in table.variables]
    combination = tuple(data.draw(st.integers(0, size - 1)) for size in sizes)
    if combination == (0, 0):
        return
    stricter = replace(table, forbidden=table.forbidden | {combination})
    tables = (*problem.tables[:number], stricter, *problem.tables[number + 1 :])
    one, other = solve(problem), solve(replace(problem, tables=tables))
    if other is not None:
        assert one is not None
        assert one.cost <= other.cost


@given(seeds)
def test_from_any_state_on_the_way_the_rest_costs_no_more_than_planned(seed: int) -> None:
    """plan(start, goal) from a state along a plan is at most the rest of it."""
    problem = random_problem(seed)
    solution = solve(problem)
    if solution is None:
        return
    state, spent = list(problem.start), 0
    for move in solution.moves:
        before = tuple(state)
        for variable, _, end in move:
            state[variable] = end
        spent += min(price for reached, price in moves(problem, before) if reached == tuple(state))
        rest = solve(replace(problem, start=tuple(state)))
        assert rest is not None
        assert pack(rest.cost) <= pack(solution.cost) - spent


@given(st.lists(st.integers(0, 2**39), min_size=WIDTH, max_size=WIDTH), st.lists(st.integers(0, 2**39 - 1), min_size=WIDTH, max_size=WIDTH))
def test_packed_costs_compare_and_add_like_vectors(one: list[int], other: list[int]) -> None:
    """A cost is one number, and still a vector."""
    a, b = pack(one), pack(other)
    assert (a < b) == (one < other)
    assert unpack(a + b, WIDTH) == tuple(x + y for x, y in zip(one, other, strict=True))


def test_parts_that_meet_only_through_the_hub_are_components() -> None:
    """Twenty add-ons around one hub make twenty components and a core of one."""
    hub = random_problem(1, variables=2).variables[0]
    tables = tuple(Table((0, n), frozenset({(1, 0)})) for n in range(1, 21))
    problem = replace(
        random_problem(1, variables=2),
        variables=(hub,) * 21,
        start=(0,) * 21,
        goal=(None,) * 21,
        tables=tables,
        transitions=(),
        groups=(),
        landing=((0,) * len(hub.values),) * 21,
    )
    core, parts = split(problem)
    assert core == (0,)
    assert parts == [(n,) for n in range(1, 21)]


def test_nothing_to_do_is_an_empty_plan() -> None:
    """A start that is a goal needs no moves, whatever could be moved."""
    problem = random_problem(3)
    there = replace(problem, goal=tuple(frozenset((0,)) for _ in problem.variables), landing=tuple((0,) * len(v.values) for v in problem.variables))
    solution = solve(there)
    assert solution is not None
    assert solution.moves == ()


@pytest.mark.parametrize("seed", range(60))
def test_tables_over_one_and_three_variables(seed: int) -> None:
    """A table may be about any number of variables; the cost is still that of exhaustive search."""
    rng = Random(seed)
    problem = random_problem(seed, variables=rng.randint(2, 4), values=4)
    tables = list(problem.tables)
    for _ in range(rng.randint(1, 2)):
        variables = tuple(sorted(rng.sample(range(len(problem.variables)), min(len(problem.variables), rng.choice((1, 3))))))
        combinations = [c for c in itertools.product(*(range(len(problem.variables[v].values)) for v in variables)) if any(c)]
        forbidden = frozenset(c for c in combinations if rng.random() < 0.25)
        entry = {c: pack((rng.randint(0, 1), rng.randint(0, 1), 0)) for c in combinations if rng.random() < 0.3}
        tables.append(Table(variables, forbidden, entry, {c: pack((0, 0, 1)) for c in combinations if rng.random() < 0.2}))
    problem = replace(problem, tables=tuple(tables))
    solution = solve(problem)
    assert (None if solution is None else pack(solution.cost)) == exhaustive(problem)


def test_moves_for_nothing_are_refused() -> None:
    """A plan has as few steps as possible only if a step costs something."""
    problem = random_problem(1)
    with pytest.raises(ValueError, match="every group needs a cost"):
        solve(replace(problem, groups=tuple(replace(group, cost=0) for group in problem.groups)))
