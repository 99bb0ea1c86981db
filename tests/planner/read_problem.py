"""Reading an exported problem back, by the documentation of its format only."""

from __future__ import annotations

from itertools import product
from typing import Any

from planner.solver import Group, Problem, Table, Transition, Variable
from planner.solver.problem import pack


def read(document: dict[str, Any]) -> Problem:
    """Build the solver's problem from compat.problem/v1."""
    objective = document["objective"]

    def cost(vector: dict[str, int]) -> int:
        return pack(vector.get(name, 0) for name in objective)

    sizes = [len(variable["domain"]) for variable in document["variables"]]
    tables = []
    for table in document["tables"]:
        allowed = {tuple(values) for values in table["allowed"]}
        every = set(product(*(range(sizes[v]) for v in table["variables"])))
        tables.append(
            Table(
                tuple(table["variables"]),
                frozenset(every - allowed),
                {tuple(item["values"]): cost(item["cost"]) for item in table["entry"]},
                {tuple(item["values"]): cost(item["cost"]) for item in table["landing"]},
            )
        )
    return Problem(
        variables=tuple(Variable(variable["name"], tuple(variable["domain"])) for variable in document["variables"]),
        start=tuple(document["start"]),
        goal=tuple(None if goal is None else frozenset(goal) for goal in document["goal"]),
        tables=tuple(tables),
        transitions=tuple(Transition(item["variable"], item["from"], item["to"], cost(item["cost"])) for item in document["transitions"]),
        groups=tuple(Group(tuple(group["variables"]), cost(group["cost"])) for group in document["groups"]),
        landing=tuple(tuple(cost(vector) for vector in costs) for costs in document["landing"]),
        width=len(objective),
        objective=tuple(objective),
    )
