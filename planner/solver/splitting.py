"""Splitting a problem into a core and components that only meet through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.solver.problem import Problem

__all__ = ["split"]

_LIMIT = 600
"""Largest number of value combinations of a component before a variable of it that moves alone joins the core."""
_GROUP_LIMIT = 6000
"""The same where all variables move as groups: one of them would bring its whole group along, and the core would grow by far more."""


def split(problem: Problem) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Choose the core, and return it with the components that remain.

    The best connected variable of a component that is too large joins the core, until all are small. A group that reaches into the
    core belongs to it as a whole.
    """
    count = len(problem.variables)
    near: list[set[int]] = [set() for _ in range(count)]
    for members in [table.variables for table in problem.tables] + [group.variables for group in problem.groups]:
        for one in members:
            near[one].update(other for other in members if other != one)
    grouped = {variable: len(group.variables) for group in problem.groups for variable in group.variables}
    core: set[int] = set()
    while True:
        for group in problem.groups:
            if core & set(group.variables):
                core.update(group.variables)
        parts = _components(near, core, count)
        large = [part for part in parts if len(part) > 1 and problem.size(part) > _limit(part, grouped)]
        if not large and (core or count <= 1):
            return tuple(sorted(core)), parts
        pool = [variable for part in (large or parts) for variable in part]
        # one of a large group would bring the whole group along, so those that move alone come first
        core.add(min(pool, key=lambda variable: (grouped.get(variable, 1) > 1, -len(near[variable] - core), variable)))


def _limit(part: tuple[int, ...], grouped: Mapping[int, int]) -> int:
    return _LIMIT if any(grouped.get(variable, 1) == 1 for variable in part) else _GROUP_LIMIT


def _components(near: Sequence[set[int]], without: set[int], count: int) -> list[tuple[int, ...]]:
    """Connected components. Not networkx, since importing that takes longer than a whole search."""
    seen = set(without)
    parts = []
    for first in range(count):
        if first in seen:
            continue
        seen.add(first)
        stack, part = [first], []
        while stack:
            variable = stack.pop()
            part.append(variable)
            stack.extend(near[variable] - seen)
            seen |= near[variable]
        parts.append(tuple(sorted(part)))
    return parts
