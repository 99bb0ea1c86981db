"""Components that are alike, so that each kind is searched once.

Two components are alike if they differ in the names of their variables only, and perhaps in how much of one thing their moves cost (the
number of nodes of a pool). Such a factor does not change which way is cheapest, because costs are compared component by component: where
all of a cost component comes from groups, and each of them adds the same amount or nothing, one unit in its place orders the ways alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from planner.solver.problem import Problem, pack, unpack

__all__ = ["Class", "classify"]


@dataclass(frozen=True)
class Class:
    """Components that are alike."""

    members: tuple[tuple[int, ...], ...]
    """Variables of each; those at the same place correspond."""
    factors: tuple[int, ...]
    """Per component of a cost: what one unit stands for in all members together."""

    def scaled(self, cost: int) -> int:
        """What *cost*, in units, amounts to in all members together."""
        if len(set(self.factors)) == 1:
            return cost * self.factors[0]
        return pack(one * factor for one, factor in zip(unpack(cost, len(self.factors)), self.factors, strict=True))


def classify(problem: Problem, parts: Sequence[tuple[int, ...]]) -> tuple[Problem, list[Class]]:
    """Return the problem with the costs of these parts' groups in units, and the parts by class, in the order of their first members."""
    units = list(problem.groups)
    found: dict[object, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    for part in parts:
        inside = [number for number, group in enumerate(problem.groups) if set(group.variables) <= set(part)]
        factors = _factors(problem, part, inside)
        for number in inside:
            cost = unpack(units[number].cost, problem.width)
            units[number] = replace(units[number], cost=pack(one // factor for one, factor in zip(cost, factors, strict=True)))
        found.setdefault(_signature(problem, part, [(units[number].variables, units[number].cost) for number in inside]), []).append((part, factors))
    classes = [Class(tuple(part for part, _ in alike), tuple(map(sum, zip(*(factors for _, factors in alike), strict=True)))) for alike in found.values()]
    return replace(problem, groups=tuple(units)), classes


def _factors(problem: Problem, part: tuple[int, ...], groups: Iterable[int]) -> tuple[int, ...]:
    """Per component of a cost what can be taken for one unit."""
    own = set(part)
    others = {cost for variable in part for cost in problem.landing[variable]}
    others.update(transition.cost for transition in problem.transitions if transition.variable in own)
    for table in problem.tables:
        if own & set(table.variables):
            others.update(table.entry.values(), table.landing.values())
    mixed = [False] * problem.width
    for cost in others:
        mixed = [known or bool(one) for known, one in zip(mixed, unpack(cost, problem.width), strict=True)]
    amounts: list[set[int]] = [set() for _ in range(problem.width)]
    for number in groups:
        for amount, one in zip(amounts, unpack(problem.groups[number].cost, problem.width), strict=True):
            amount.add(one)
    return tuple(next(iter(amount - {0})) if len(amount - {0}) == 1 and not blended else 1 for amount, blended in zip(amounts, mixed, strict=True))


def _signature(problem: Problem, part: tuple[int, ...], groups: list[tuple[tuple[int, ...], int]]) -> object:
    """What a component is, whatever its variables are called: variables of its own by place, others by number."""
    own = set(part)
    name = {variable: -1 - place for place, variable in enumerate(part)}

    def renamed(variables: Iterable[int]) -> tuple[int, ...]:
        return tuple(name.get(variable, variable) for variable in variables)

    return (
        tuple((len(problem.variables[v].values), problem.start[v], problem.goal[v], problem.landing[v]) for v in part),
        tuple((renamed(variables), cost) for variables, cost in groups),
        frozenset((name[t.variable], t.start, t.end, t.cost) for t in problem.transitions if t.variable in own),
        frozenset(
            (renamed(table.variables), table.forbidden, frozenset(table.entry.items()), frozenset(table.landing.items()))
            for table in problem.tables
            if own & set(table.variables)
        ),
    )
