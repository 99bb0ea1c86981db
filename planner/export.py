"""The compiled problem as a document, for anyone who wants to check the optimum with a solver of his own."""

from __future__ import annotations

from itertools import product
from typing import Any

from planner.solver.problem import Problem, unpack

__all__ = ["problem_document"]


def problem_document(problem: Problem) -> dict[str, Any]:
    """A problem as ``compat.problem/v1``; docs/problem-format.md explains it."""

    def vector(cost: int) -> dict[str, int]:
        return {name: value for name, value in zip(problem.objective, unpack(cost, problem.width), strict=True) if value}

    return {
        "schema": "compat.problem/v1",
        "objective": list(problem.objective),
        "variables": [{"name": variable.name, "domain": list(variable.values)} for variable in problem.variables],
        "start": list(problem.start),
        "goal": [None if goal is None else sorted(goal) for goal in problem.goal],
        "tables": [_table(problem, table, vector) for table in problem.tables],
        "groups": [{"variables": list(group.variables), "cost": vector(group.cost)} for group in problem.groups],
        "transitions": [
            {"variable": item.variable, "from": item.start, "to": item.end, "cost": vector(item.cost)}
            for item in sorted(problem.transitions, key=lambda t: (t.variable, t.start, t.end))
        ],
        "landing": [[vector(cost) for cost in costs] for costs in problem.landing],
    }


def _table(problem: Problem, table: Any, vector: Any) -> dict[str, Any]:
    combinations = product(*(range(len(problem.variables[v].values)) for v in table.variables))
    allowed = [list(values) for values in combinations if values not in table.forbidden]
    return {
        "variables": list(table.variables),
        "allowed": allowed,
        "entry": [{"values": list(values), "cost": vector(cost)} for values, cost in sorted(table.entry.items())],
        "landing": [{"values": list(values), "cost": vector(cost)} for values, cost in sorted(table.landing.items())],
    }
