"""Leaving out values that can never be needed.

A value is dominated by a later one of its variable if whatever a plan does with it, the plan can do with the later one at no higher
cost: no table is stricter there, every way in leads there, too, and every way on goes on from there. Leaving it out keeps an optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planner.solver.problem import Problem, Table, Transition, Variable

__all__ = ["reduce"]


def reduce(problem: Problem, may_stand_in: Callable[[int, int, int], bool] = lambda *_: True) -> tuple[Problem, tuple[tuple[int, ...], ...]]:
    """Return the problem without dominated values, and per variable the old number of each value that is left.

    Args:
        problem: what is to be solved.
        may_stand_in: whether for a variable a value may be left out in favour of another one, as far as the caller knows more.
    """
    alive = [list(range(len(variable.values))) for variable in problem.variables]
    ways_in, ways_on = _ways(problem)
    views = _views(problem)
    for variable, values in enumerate(alive):
        changed = True
        while changed:
            changed = False
            for value in list(values):
                if value == problem.start[variable]:
                    continue
                others = [other for other in reversed(values) if other > value and may_stand_in(variable, value, other)]
                if any(_dominated(problem, variable, value, other, values, ways_in, ways_on, views[variable], alive) for other in others):
                    values.remove(value)
                    changed = True
    return _restrict(problem, alive), tuple(tuple(values) for values in alive)


def _ways(problem: Problem) -> tuple[dict[tuple[int, int], dict[int, int]], dict[tuple[int, int], dict[int, int]]]:
    ways_in: dict[tuple[int, int], dict[int, int]] = {}
    ways_on: dict[tuple[int, int], dict[int, int]] = {}
    for transition in problem.transitions:
        ways_in.setdefault((transition.variable, transition.end), {})[transition.start] = transition.cost
        ways_on.setdefault((transition.variable, transition.start), {})[transition.end] = transition.cost
    return ways_in, ways_on


@dataclass(frozen=True, slots=True)
class _View:
    """A table as one of its variables sees it."""

    table: Table
    place: int
    forbidden: Mapping[int, list[tuple[int, ...]]]
    """Value of the variable -> forbidden combinations that have it."""
    prices: tuple[tuple[Mapping[tuple[int, ...], int], Mapping[int, list[tuple[tuple[int, ...], int]]]], ...]
    """Entry and landing costs: all of them, and by value of the variable."""


def _views(problem: Problem) -> list[list[_View]]:
    """Per variable its tables."""
    found: list[list[_View]] = [[] for _ in problem.variables]
    for table in problem.tables:
        for place, variable in enumerate(table.variables):
            forbidden: dict[int, list[tuple[int, ...]]] = {}
            for combination in table.forbidden:
                forbidden.setdefault(combination[place], []).append(combination)
            prices = []
            for given in (table.entry, table.landing):
                by_value: dict[int, list[tuple[tuple[int, ...], int]]] = {}
                for combination, price in given.items():
                    by_value.setdefault(combination[place], []).append((combination, price))
                prices.append((given, by_value))
            found[variable].append(_View(table, place, forbidden, tuple(prices)))
    return found


def _dominated(
    problem: Problem,
    variable: int,
    value: int,
    other: int,
    values: list[int],
    ways_in: dict[tuple[int, int], dict[int, int]],
    ways_on: dict[tuple[int, int], dict[int, int]],
    views: list[_View],
    alive: list[list[int]],
) -> bool:
    goal = problem.goal[variable]
    if goal is not None and value in goal and other not in goal:
        return False
    if problem.landing[variable][other] > problem.landing[variable][value]:
        return False
    into = ways_in.get((variable, other), {})
    for start, cost in ways_in.get((variable, value), {}).items():
        if start in values and into.get(start, cost + 1) > cost:
            return False
    onward = ways_on.get((variable, other), {})
    for end, cost in ways_on.get((variable, value), {}).items():
        if end in values and end != other and onward.get(end, cost + 1) > cost:
            return False
    return all(_no_stricter(view, value, other, alive) for view in views)


def _no_stricter(view: _View, value: int, other: int, alive: list[list[int]]) -> bool:
    """Whether *other* is allowed wherever *value* is, at no higher price."""
    table, place = view.table, view.place

    def moved(combination: tuple[int, ...]) -> tuple[int, ...]:
        return (*combination[:place], value, *combination[place + 1 :])

    def living(combination: tuple[int, ...]) -> bool:
        return all(item in alive[variable] for index, (variable, item) in enumerate(zip(table.variables, combination, strict=True)) if index != place)

    if any(moved(combination) not in table.forbidden and living(combination) for combination in view.forbidden.get(other, ())):
        return False
    for prices, by_value in view.prices:
        for combination, price in by_value.get(other, ()):
            origin = moved(combination)
            if prices.get(origin, 0) < price and origin not in table.forbidden and living(combination):
                return False
    return True


def _restrict(problem: Problem, alive: list[list[int]]) -> Problem:
    number = [{value: index for index, value in enumerate(values)} for values in alive]

    def kept(variables: tuple[int, ...]) -> Callable[[tuple[int, ...]], tuple[int, ...] | None]:
        def translate(combination: tuple[int, ...]) -> tuple[int, ...] | None:
            found = tuple(number[v].get(value, -1) for v, value in zip(variables, combination, strict=True))
            return None if -1 in found else found

        return translate

    tables = []
    for table in problem.tables:
        translate = kept(table.variables)
        tables.append(
            Table(
                table.variables,
                frozenset(new for old in table.forbidden if (new := translate(old)) is not None),
                {new: price for old, price in table.entry.items() if (new := translate(old)) is not None},
                {new: price for old, price in table.landing.items() if (new := translate(old)) is not None},
            )
        )
    return Problem(
        variables=tuple(Variable(v.name, tuple(v.values[n] for n in alive[i])) for i, v in enumerate(problem.variables)),
        start=tuple(number[i][value] for i, value in enumerate(problem.start)),
        goal=tuple(None if goal is None else frozenset(number[i][value] for value in goal if value in number[i]) for i, goal in enumerate(problem.goal)),
        tables=tuple(tables),
        transitions=tuple(
            Transition(t.variable, number[t.variable][t.start], number[t.variable][t.end], t.cost)
            for t in problem.transitions
            if t.start in number[t.variable] and t.end in number[t.variable]
        ),
        groups=problem.groups,
        landing=tuple(tuple(costs[n] for n in alive[i]) for i, costs in enumerate(problem.landing)),
        width=problem.width,
        objective=problem.objective,
    )
