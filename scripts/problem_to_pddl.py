"""Turn an exported problem into PDDL for an optimal classical planner.

``python -m scripts.problem_to_pddl problem.json --domain domain.pddl --task task.pddl``, then for example
``fast-downward.py domain.pddl task.pddl --search "astar(lmcut())"``. Every action is written out without parameters. A value has a fact
``at`` and, where a condition needs it, the complement ``out``, so that nothing needs axioms, negative conditions or conditional effects,
which LM-cut does not take.

How costs that depend on other variables are paid. A move of the hub of a problem enters a combination in dozens of tables; one action per
combination of all their values would be exponential. So a move gives up the old values and arrives in a chain of stages, one per table
whose cost depends on values that did not move. In each stage exactly one action fits; it pays for that table. The new values hold only
after the last stage, so nothing else can happen in between and also a relaxation has to pay. What is the same whatever the others' values
are is paid by the move itself, and a table with nothing left to pay has no stage. Ending works alike: a chain of stages pays for the
landing of variables and tables.

PDDL planners add up one number, Fast Downward in 32 bits. So the components of a cost are weighted by bounds that hold for every path;
then the sum compares as the vectors do. If the sum could pass 2**31-1 the script says how many components fit. The optimum of the first
components alone is the beginning of the optimum of all.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from scripts.problem_document import Cost, Document, DocumentError, Group, Table, bounds, quoted, read_file, weights

__all__ = ["Scale", "pddl", "scale"]

LIMIT = 2**31 - 1
"""Largest cost that Fast Downward can count."""


@dataclass(frozen=True)
class Scale:
    """How a cost vector becomes one number."""

    objective: tuple[str, ...]
    factors: Cost
    most: int

    def number(self, cost: Cost) -> int:
        """The number for a vector; components beyond the scale do not count."""
        return sum(factor * part for factor, part in zip(self.factors, cost, strict=False))

    def vector(self, number: int) -> Cost:
        """The vector that a sum of numbers stands for."""
        found = []
        for factor in self.factors:
            part, number = divmod(number, factor)
            found.append(part)
        return tuple(found)


def scale(document: Document, components: int | None = None) -> Scale:
    """Weigh the first *components* of the objective, all by default.

    Raises:
        DocumentError: if the sum of a path could be too large; it says how many components fit.
    """
    limits = bounds(document)
    wanted = len(limits) if components is None else components
    if not 1 <= wanted <= len(limits):
        raise DocumentError(f"--components: expected 1 to {len(limits)}, found {wanted}")
    factors, most = weights(limits[:wanted])
    if most > LIMIT:
        fit = max((n for n in range(len(limits) + 1) if weights(limits[:n])[1] <= LIMIT), default=0)
        advice = f"the first {fit} fit: --components {fit}" if fit else "not even the first fits"
        raise DocumentError(f"the cost of a path in {wanted} components could reach {most}, more than the {LIMIT} that planners count to; {advice}")
    return Scale(document.objective[:wanted], factors, most)


@dataclass
class _Action:
    name: str
    needs: list[str]
    adds: list[str]
    deletes: list[str]
    cost: int


@dataclass
class _Arrival:
    """A set of new values: what the move to them must find, pays at once, and still has to pay in stages."""

    name: str
    outs: list[str]
    cost: int
    stages: list[list[tuple[str, list[str], int]]] = field(default_factory=list)
    """Per stage the actions: name, what it needs, cost."""


class _Encoder:
    def __init__(self, document: Document, chosen: Scale) -> None:
        self.document = document
        self.scale = chosen
        self.tables_of: list[list[int]] = [[] for _ in document.names]
        for number, table in enumerate(document.tables):
            for variable in table.variables:
                self.tables_of[variable].append(number)
        self.ways: dict[int, list[tuple[int, int, int]]] = {}
        for step in document.transitions:
            self.ways.setdefault(step.variable, []).append((step.start, step.end, chosen.number(step.cost)))
        self.tokens: list[str] = []
        """Facts that say how far an arrival or the ending has come."""
        self._arrivals: dict[tuple[tuple[int, int], ...], _Arrival | None] = {}

    def actions(self) -> Iterator[_Action]:
        for group in self.document.groups:
            yield from self.moves(group)
        yield from self.ending()

    # -- moves

    def moves(self, group: Group) -> Iterator[_Action]:
        price = self.scale.number(group.cost)
        for chosen in product(*([None, *self.ways.get(variable, [])] for variable in group.variables)):
            steps = [(variable, *way) for variable, way in zip(group.variables, chosen, strict=True) if way is not None]
            arrival = self.arrival(tuple((variable, end) for variable, _, end, _ in steps)) if steps else None
            if arrival is None:
                continue
            old = [f"(at v{v} x{start})" for v, start, _, _ in steps]
            new = [f"(at v{v} x{end})" for v, _, end, _ in steps]
            freed = [f"(out v{v} x{start})" for v, start, _, _ in steps]
            taken = [f"(out v{v} x{end})" for v, _, end, _ in steps]
            name = "move" + "".join(f"_v{v}_{start}_{end}" for v, start, end, _ in steps)
            cost = price + sum(extra for _, _, _, extra in steps) + arrival.cost
            if arrival.stages:
                yield _Action(name, ["(free)", *old, *arrival.outs], [f"({arrival.name}_0)", *freed], ["(free)", *old], cost)
            else:
                yield _Action(name, ["(free)", *old, *arrival.outs], [*new, *freed], [*old, *taken], cost)
        for target, arrival in self._arrivals.items():
            if arrival is not None and arrival.stages and target[0][0] in group.variables:
                yield from self.stages(target, arrival)

    def stages(self, target: tuple[tuple[int, int], ...], arrival: _Arrival) -> Iterator[_Action]:
        for number, choices in enumerate(arrival.stages):
            here = f"({arrival.name}_{number})"
            self.tokens.append(here)
            last = number + 1 == len(arrival.stages)
            adds = ["(free)", *(f"(at v{v} x{value})" for v, value in target)] if last else [f"({arrival.name}_{number + 1})"]
            gone = [f"(out v{v} x{value})" for v, value in target] if last else []
            for name, needs, cost in choices:
                yield _Action(name, [here, *needs], adds, [here, *gone], cost)

    def arrival(self, target: tuple[tuple[int, int], ...]) -> _Arrival | None:
        """What arriving at these values takes; None if no combination with them is allowed in some table."""
        if target not in self._arrivals:
            self._arrivals[target] = self._arrive(target)
        return self._arrivals[target]

    def _arrive(self, target: tuple[tuple[int, int], ...]) -> _Arrival | None:
        fixed = dict(target)
        found = _Arrival("arrive" + "".join(f"_v{v}_{value}" for v, value in target), [], 0)
        for number in sorted({number for variable in fixed for number in self.tables_of[variable]}):
            table = self.document.tables[number]
            rest = tuple(v for v in table.variables if v not in fixed)
            prices = self.rest_prices(table, fixed, rest)
            if not prices:
                return None
            base = min(prices.values())
            found.cost += base
            barred = [values for values in product(*(self.document.values(v) for v in rest)) if values not in prices]
            if len(rest) == 1:  # what is barred is a list of values, so it can be asked for before the move
                found.outs.extend(f"(out v{rest[0]} x{values[0]})" for values in barred)
            if any(price != base for price in prices.values()) or (barred and len(rest) > 1):
                found.stages.append(
                    [
                        (f"{found.name}_t{number}" + "".join(f"_{value}" for value in values), self.at(rest, values), price - base)
                        for values, price in sorted(prices.items())
                    ]
                )
        found.outs = list(dict.fromkeys(found.outs))
        return found

    def rest_prices(self, table: Table, fixed: dict[int, int], rest: tuple[int, ...]) -> dict[tuple[int, ...], int]:
        """Cost of entering a combination, per values of the variables that did not move."""
        prices = {}
        for combination in table.allowed:
            values = dict(zip(table.variables, combination, strict=True))
            if all(values[v] == fixed[v] for v in values if v in fixed):
                prices[tuple(values[v] for v in rest)] = self.scale.number(table.entry.get(combination, self.document.zero))
        return prices

    @staticmethod
    def at(variables: Sequence[int], values: Sequence[int]) -> list[str]:
        return [f"(at v{v} x{value})" for v, value in zip(variables, values, strict=True)]

    # -- the end

    def ending(self) -> Iterator[_Action]:
        """Stop, then pay for the landing of one variable or table after the other."""
        document = self.document
        needs: list[str] = []
        cost = 0
        stages: list[list[tuple[str, list[str], int]]] = []
        for variable in range(len(document.names)):
            goals = document.goals(variable)
            prices = {value: self.scale.number(document.landing[variable][value]) for value in goals}
            base = min(prices.values(), default=0)
            cost += base
            if len(prices) == 1 and document.goal[variable] is not None:
                needs.extend(self.at((variable,), tuple(prices)))
            elif document.goal[variable] is not None or any(price != base for price in prices.values()):
                stages.append([(f"land_v{variable}_{value}", self.at((variable,), (value,)), price - base) for value, price in sorted(prices.items())])
        for number, table in enumerate(document.tables):
            landing = {values: self.scale.number(table.landing.get(values, document.zero)) for values in table.allowed}
            base = min(landing.values())
            cost += base
            if any(price != base for price in landing.values()):
                stages.append(
                    [
                        (f"land_t{number}" + "".join(f"_{value}" for value in values), self.at(table.variables, values), price - base)
                        for values, price in sorted(landing.items())
                    ]
                )
        tokens = [f"(ending_{number})" for number in range(len(stages))]
        self.tokens.extend(tokens)
        yield _Action("stop", ["(free)", *needs], [(*tokens, "(done)")[0]], ["(free)"], cost)
        for number, choices in enumerate(stages):
            for name, wanted, price in choices:
                yield _Action(name, [tokens[number], *wanted], [(*tokens, "(done)")[number + 1]], [tokens[number]], price)


def pddl(document: Document, chosen: Scale) -> tuple[str, str]:
    """Return domain and task as PDDL texts."""
    encoder = _Encoder(document, chosen)
    actions = list(encoder.actions())
    needed = {fact for action in actions for fact in action.needs if fact.startswith("(out ")}
    most = max(len(domain) for domain in document.domains) if document.domains else 0
    lines = [
        "; written by scripts/problem_to_pddl.py from an exported problem",
        f"; cost: {', '.join(f'{factor} x {quoted(name)}' for name, factor in zip(chosen.objective, chosen.factors, strict=True))}",
        *(f"; v{n} = {quoted(name)}: {', '.join(map(quoted, domain))}" for n, (name, domain) in enumerate(zip(document.names, document.domains, strict=True))),
        "(define (domain upgrade)",
        "(:requirements :strips :typing :action-costs)",
        "(:types variable value)",
        f"(:constants {' '.join(f'v{n}' for n in range(len(document.names)))} - variable {' '.join(f'x{n}' for n in range(most))} - value)",
        "(:predicates (at ?v - variable ?x - value) (out ?v - variable ?x - value) (free) (done)",
        *(f"  {token}" for token in encoder.tokens),
        ")",
        "(:functions (total-cost) - number)",
    ]
    for action in actions:
        adds = [fact for fact in action.adds if not fact.startswith("(out ") or fact in needed]
        deletes = [f"(not {fact})" for fact in action.deletes if not fact.startswith("(out ") or fact in needed]
        lines.append(f"(:action {action.name} :parameters ()")
        lines.append(f"  :precondition (and {' '.join(action.needs)})")
        lines.append(f"  :effect (and {' '.join([*adds, *deletes])} (increase (total-cost) {action.cost})))")
    lines.append(")")
    facts = [f"(at v{v} x{value})" for v, value in enumerate(document.start)]
    outs = [f"(out v{v} x{value})" for v, first in enumerate(document.start) for value in document.values(v) if value != first]
    task = [
        "(define (problem upgrade-task)",
        "(:domain upgrade)",
        f"(:init (free) (= (total-cost) 0) {' '.join(facts)}",
        *(f"  {fact}" for fact in outs if fact in needed),
        ")",
        "(:goal (done))",
        "(:metric minimize (total-cost))",
        ")",
    ]
    return "\n".join(lines) + "\n", "\n".join(task) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.problem_to_pddl", description="Turn an exported problem (compat.problem/v1) into PDDL.")
    parser.add_argument("problem", type=Path, help="file that compat plan --export-problem wrote")
    parser.add_argument("--domain", type=Path, default=Path("domain.pddl"), help="file for the domain (default: domain.pddl)")
    parser.add_argument("--task", type=Path, default=Path("task.pddl"), help="file for the task (default: task.pddl)")
    parser.add_argument("--components", type=int, metavar="N", help="count only the first N components; their optimum is the beginning of the whole")
    parser.add_argument("--decode", type=int, metavar="COST", help="write no files; print the components that a planner's cost stands for")
    options = parser.parse_args(arguments)
    try:
        document = read_file(options.problem)
        chosen = scale(document, options.components)
        if options.decode is not None:
            if not 0 <= options.decode <= chosen.most:
                raise DocumentError(f"--decode: expected 0 to {chosen.most}, found {options.decode}")
            print(json.dumps(dict(zip(chosen.objective, chosen.vector(options.decode), strict=True))))
            return 0
        for path, text in zip((options.domain, options.task), pddl(document, chosen), strict=True):
            write(path, text)
    except DocumentError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {options.domain} and {options.task}; decode a cost with --decode COST and the same options", file=sys.stderr)
    return 0


def write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all.

    Raises:
        DocumentError: if it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise DocumentError(f"{path}: cannot be written: {error.strerror}") from error


if __name__ == "__main__":
    sys.exit(main())
