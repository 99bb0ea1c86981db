"""A solver that knows no Kubernetes: a `Problem` in, a `Solution` or a conflict out."""

from planner.solver.problem import Group, Problem, Table, Transition, Variable
from planner.solver.search import Solution, solve

__all__ = ["Group", "Problem", "Solution", "Table", "Transition", "Variable", "solve"]
