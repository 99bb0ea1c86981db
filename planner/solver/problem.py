"""What the solver solves.

A problem has variables with small ordered domains, tables over two or three of them, and moves. A move takes one or more variables of
one group from a value to another at once, for the cost of the group. Costs are vectors that are compared lexicographically and added
component by component; `pack` turns one into a single integer that compares and adds the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

__all__ = ["Group", "Move", "Problem", "State", "Table", "Transition", "Variable", "least_unit", "pack", "unpack"]

State = tuple[int, ...]
"""Per variable the position of its value."""
Move = tuple[tuple[int, int, int], ...]
"""Variable, value before, value after; for every variable that the move changes."""

_BITS = 40


def pack(vector: Iterable[int]) -> int:
    """Turn a cost vector into one integer; each component must be below 2**40 in every sum."""
    number = 0
    for component in vector:
        number = (number << _BITS) + component
    return number


def least_unit(component: int) -> int:
    """One unit of the cost component that has *component* others after it, packed."""
    return 1 << (_BITS * component)


def unpack(number: int, length: int) -> tuple[int, ...]:
    """The inverse of `pack` for a vector of *length* components."""
    mask = (1 << _BITS) - 1
    return tuple((number >> (_BITS * (length - 1 - index))) & mask for index in range(length))


@dataclass(frozen=True, slots=True)
class Variable:
    """Something that has one of several values; the solver refers to values by position."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What combinations of values of a few variables mean."""

    variables: tuple[int, ...]
    forbidden: frozenset[tuple[int, ...]] = frozenset()
    """Combinations that no state may have."""
    entry: Mapping[tuple[int, ...], int] = field(default_factory=dict)
    """Combination -> packed cost of entering it by a move that changes one of the variables."""
    landing: Mapping[tuple[int, ...], int] = field(default_factory=dict)
    """Combination -> packed cost of ending in it."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One variable going from one value to another."""

    variable: int
    start: int
    end: int
    cost: int = 0
    """Packed cost beyond that of the group."""


@dataclass(frozen=True, slots=True)
class Group:
    """Variables whose transitions can be taken together, for one price."""

    variables: tuple[int, ...]
    cost: int
    """Packed cost of one move of the group, however many of its variables change; more than nothing."""


@dataclass(frozen=True)
class Problem:
    """A start, a goal and the rules in between. A variable belongs to one group at most; one without a group never changes."""

    variables: tuple[Variable, ...]
    start: tuple[int, ...]
    goal: tuple[frozenset[int] | None, ...]
    """Per variable the values that are a goal; None: all."""
    tables: tuple[Table, ...]
    transitions: tuple[Transition, ...]
    groups: tuple[Group, ...]
    landing: tuple[tuple[int, ...], ...]
    """Per variable and value the packed cost of ending there."""
    width: int
    """Number of components of a cost vector."""
    objective: tuple[str, ...] = ()
    """What the components stand for, most important first."""

    def size(self, variables: Iterable[int]) -> int:
        """Number of value combinations of some variables."""
        return prod(len(self.variables[variable].values) for variable in variables)
