"""Reading ``compat.problem/v1`` by its documentation (docs/problem-format.md), and bounds that follow from it.

Shared by the scripts that hand a problem to other solvers. Nothing of the planner is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

__all__ = ["Cost", "Document", "DocumentError", "Group", "Table", "Transition", "bounds", "most_moves", "quoted", "read", "read_file", "weights"]

SCHEMA = "compat.problem/v1"
Cost = tuple[int, ...]
"""One number per component of the objective, most important first."""


class DocumentError(ValueError):
    """The document is not what docs/problem-format.md describes; the text names the place."""


@dataclass(frozen=True)
class Table:
    """What combinations of values of a few variables mean."""

    variables: tuple[int, ...]
    allowed: frozenset[tuple[int, ...]]
    entry: Mapping[tuple[int, ...], Cost]
    landing: Mapping[tuple[int, ...], Cost]


@dataclass(frozen=True)
class Transition:
    """One variable going up from a value to another."""

    variable: int
    start: int
    end: int
    cost: Cost


@dataclass(frozen=True)
class Group:
    """Variables that can move together for one price."""

    variables: tuple[int, ...]
    cost: Cost


@dataclass(frozen=True)
class Document:
    """A checked problem with its costs as vectors."""

    objective: tuple[str, ...]
    names: tuple[str, ...]
    domains: tuple[tuple[str, ...], ...]
    start: tuple[int, ...]
    goal: tuple[tuple[int, ...] | None, ...]
    tables: tuple[Table, ...]
    groups: tuple[Group, ...]
    transitions: tuple[Transition, ...]
    landing: tuple[tuple[Cost, ...], ...]

    @property
    def zero(self) -> Cost:
        """A cost of nothing."""
        return (0,) * len(self.objective)

    def values(self, variable: int) -> range:
        """The values of a variable."""
        return range(len(self.domains[variable]))

    def goals(self, variable: int) -> Sequence[int]:
        """The values that a variable may end with."""
        goal = self.goal[variable]
        return self.values(variable) if goal is None else goal


def read_file(path: Path) -> Document:
    """Read a problem from a file.

    Raises:
        DocumentError: if it cannot be read, is no JSON, or not a problem.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_unique)
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read: {error.strerror}") from error
    except RecursionError as error:
        raise DocumentError(f"{path}: nested too deeply to be a problem") from error
    except ValueError as error:
        raise DocumentError(f"{path}: {error if isinstance(error, DocumentError) else f'no JSON in UTF-8: {error}'}") from error
    try:
        return read(value)
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise DocumentError(f"the key {next(name for name in names if names.count(name) > 1)!r} is there twice")
    return found


def read(value: Any) -> Document:
    """Check a decoded document.

    Raises:
        DocumentError: naming the place and what was expected there.
    """
    return _Reader(value).document()


class _Reader:
    def __init__(self, value: Any) -> None:
        self.value = self.mapping(value, "document")
        if self.value.get("schema") != SCHEMA:
            raise DocumentError(f"schema: expected {SCHEMA!r}, found {self.value.get('schema')!r}; write the file with compat plan --export-problem")
        self.sizes: list[int] = []
        self.objective: tuple[str, ...] = ()

    def document(self) -> Document:
        self.objective = tuple(self.text(item, f"objective[{n}]") for n, item in enumerate(self.member("objective")))
        if not self.objective or len(set(self.objective)) != len(self.objective):
            raise DocumentError("objective: expected different names of cost components, at least one")
        names, domains = [], []
        for n, item in enumerate(self.member("variables")):
            place = f"variables[{n}]"
            entry = self.mapping(item, place)
            names.append(self.text(entry.get("name"), f"{place}.name"))
            domain = self.items(entry.get("domain"), f"{place}.domain")
            if not domain:
                raise DocumentError(f"{place}.domain: expected at least one value")
            domains.append(tuple(self.text(one, f"{place}.domain") for one in domain))
        self.sizes = [len(domain) for domain in domains]
        count = len(names)
        start = self.state(self.value.get("start"), tuple(range(count)), "start")
        goal = [None if item is None else self.goal_values(item, n) for n, item in enumerate(self.exactly("goal", count))]
        tables = tuple(self.table(item, f"tables[{n}]") for n, item in enumerate(self.member("tables")))
        for n, table in enumerate(tables):
            if tuple(start[v] for v in table.variables) not in table.allowed:
                raise DocumentError(f"tables[{n}]: the start is not among the allowed combinations")
        landing = []
        for n, costs in enumerate(self.exactly("landing", count)):
            found = self.items(costs, f"landing[{n}]")
            if len(found) != self.sizes[n]:
                raise DocumentError(f"landing[{n}]: expected {self.sizes[n]} costs, one per value, found {len(found)}")
            landing.append(tuple(self.cost(one, f"landing[{n}][{i}]") for i, one in enumerate(found)))
        return Document(
            self.objective,
            tuple(names),
            tuple(domains),
            start,
            tuple(goal),
            tables,
            self.groups(),
            self.transitions(),
            tuple(landing),
        )

    # -- parts

    def table(self, item: Any, place: str) -> Table:
        entry = self.mapping(item, place)
        variables = self.numbers(entry.get("variables"), f"{place}.variables")
        if not 1 <= len(variables) <= 3 or len(set(variables)) != len(variables):
            raise DocumentError(f"{place}.variables: expected one to three different variables")
        allowed = frozenset(self.state(one, variables, f"{place}.allowed") for one in self.items(entry.get("allowed"), f"{place}.allowed"))
        return Table(variables, allowed, self.prices(entry, "entry", variables, place), self.prices(entry, "landing", variables, place))

    def prices(self, entry: Mapping[str, Any], key: str, variables: tuple[int, ...], place: str) -> dict[tuple[int, ...], Cost]:
        found: dict[tuple[int, ...], Cost] = {}
        for item in self.items(entry.get(key), f"{place}.{key}"):
            one = self.mapping(item, f"{place}.{key}")
            values = self.state(one.get("values"), variables, f"{place}.{key}")
            if values in found:
                raise DocumentError(f"{place}.{key}: the combination {list(values)} is there twice")
            found[values] = self.cost(one.get("cost"), f"{place}.{key}")
        return found

    def groups(self) -> tuple[Group, ...]:
        found = []
        seen: set[int] = set()
        for n, item in enumerate(self.member("groups")):
            entry = self.mapping(item, f"groups[{n}]")
            variables = self.numbers(entry.get("variables"), f"groups[{n}].variables")
            if len(set(variables)) != len(variables) or seen & set(variables):
                raise DocumentError(f"groups[{n}].variables: a variable is in exactly one group")
            seen.update(variables)
            found.append(Group(variables, self.cost(entry.get("cost"), f"groups[{n}].cost")))
        return tuple(found)

    def transitions(self) -> tuple[Transition, ...]:
        found = tuple(self.transition(item, f"transitions[{n}]") for n, item in enumerate(self.member("transitions")))
        seen = set()
        for n, step in enumerate(found):
            if (step.variable, step.start, step.end) in seen:
                raise DocumentError(f"transitions[{n}]: variable {step.variable} from {step.start} to {step.end} is there twice")
            seen.add((step.variable, step.start, step.end))
        return found

    def transition(self, item: Any, place: str) -> Transition:
        entry = self.mapping(item, place)
        (variable,) = self.numbers([entry.get("variable")], f"{place}.variable")
        (start,) = self.state([entry.get("from")], (variable,), f"{place}.from")
        (end,) = self.state([entry.get("to")], (variable,), f"{place}.to")
        if end <= start:
            raise DocumentError(f"{place}: expected a transition that goes up, found {start} to {end}")
        return Transition(variable, start, end, self.cost(entry.get("cost"), f"{place}.cost"))

    def goal_values(self, item: Any, variable: int) -> tuple[int, ...]:
        return tuple(self.state([one], (variable,), f"goal[{variable}]")[0] for one in self.items(item, f"goal[{variable}]"))

    # -- values

    def member(self, key: str) -> list[Any]:
        return self.items(self.value.get(key), key)

    def exactly(self, key: str, count: int) -> list[Any]:
        found = self.member(key)
        if len(found) != count:
            raise DocumentError(f"{key}: expected {count} entries, one per variable, found {len(found)}")
        return found

    @staticmethod
    def items(value: Any, place: str) -> list[Any]:
        if not isinstance(value, list):
            raise DocumentError(f"{place}: expected a list")
        return value

    @staticmethod
    def mapping(value: Any, place: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise DocumentError(f"{place}: expected an object")
        return value

    @staticmethod
    def text(value: Any, place: str) -> str:
        if not isinstance(value, str):
            raise DocumentError(f"{place}: expected a text")
        return value

    @staticmethod
    def whole(value: Any, place: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise DocumentError(f"{place}: expected a whole number from 0, found {value!r}")
        return value

    def numbers(self, value: Any, place: str) -> tuple[int, ...]:
        found = tuple(self.whole(item, place) for item in self.items(value, place))
        if any(number >= len(self.sizes) for number in found):
            raise DocumentError(f"{place}: there are only the variables 0 to {len(self.sizes) - 1}")
        return found

    def state(self, value: Any, variables: tuple[int, ...], place: str) -> tuple[int, ...]:
        found = tuple(self.whole(item, place) for item in self.items(value, place))
        if len(found) != len(variables):
            raise DocumentError(f"{place}: expected {len(variables)} values, found {len(found)}")
        for variable, number in zip(variables, found, strict=True):
            if number >= self.sizes[variable]:
                raise DocumentError(f"{place}: variable {variable} has only the values 0 to {self.sizes[variable] - 1}, found {number}")
        return found

    def cost(self, value: Any, place: str) -> Cost:
        entry = self.mapping(value, place)
        odd = sorted(set(entry) - set(self.objective))
        if odd:
            raise DocumentError(f"{place}: the objective has no component {odd[0]!r}")
        return tuple(self.whole(entry.get(name, 0), f"{place}.{name}") for name in self.objective)


# -- bounds


def most_moves(document: Document) -> int:
    """Number of moves that no path exceeds: every move takes a transition, and transitions only go up."""
    return sum(_longest(document, variable, lambda _: 1) for variable in range(len(document.names)))


def _longest(document: Document, variable: int, price: Callable[[Transition], int]) -> int:
    """The dearest way of one variable from its start, whatever the others do."""
    best = {document.start[variable]: 0}
    for step in sorted((item for item in document.transitions if item.variable == variable), key=lambda item: item.start):
        if step.start in best:  # transitions go up, so the value is settled
            best[step.end] = max(best.get(step.end, 0), best[step.start] + price(step))
    return max(best.values())


def bounds(document: Document) -> Cost:
    """Per component a sum that no path exceeds, with its end.

    A group moves at most as often as its variables have transitions to take. A path goes up in every variable, so the combinations that
    it enters in a table lie on a way through the table that only goes up.
    """
    return tuple(_bound(document, component) for component in range(len(document.objective)))


def _bound(document: Document, component: int) -> int:
    total = 0
    for group in document.groups:
        total += group.cost[component] * sum(_longest(document, variable, lambda _: 1) for variable in group.variables)
    for variable, costs in enumerate(document.landing):
        total += _longest(document, variable, lambda step: step.cost[component])
        total += max((costs[value][component] for value in document.goals(variable)), default=0)
    for table in document.tables:
        total += _dearest_way(document, table, component)
        total += max((cost[component] for values, cost in table.landing.items() if values in table.allowed), default=0)
    return total


def _dearest_way(document: Document, table: Table, component: int) -> int:
    start = tuple(document.start[v] for v in table.variables)
    best: dict[tuple[int, ...], int] = {}
    for values in product(*(document.values(v) for v in table.variables)):  # in an order that never comes before a smaller one
        if any(value < first for value, first in zip(values, start, strict=True)):
            continue
        before = [(*values[:n], value - 1, *values[n + 1 :]) for n, value in enumerate(values)]
        price = table.entry[values][component] if values in table.entry and values in table.allowed and values != start else 0
        best[values] = price + max((best[one] for one in before if one in best), default=0)
    return max(best.values())


def weights(limits: Iterable[int]) -> tuple[Cost, int]:
    """Factors that turn a vector into one number which compares like the vector, and the largest number that can arise.

    The factor of a component is one more than all that the less important ones can sum up to.
    """
    sizes = [limit + 1 for limit in limits]
    return tuple(prod(sizes[n + 1 :]) for n in range(len(sizes))), prod(sizes) - 1


def quoted(text: str) -> str:
    """A name for a comment: on one line, and nothing in it but printable ASCII."""
    return json.dumps(text)
