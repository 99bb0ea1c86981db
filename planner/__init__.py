"""planner: ordered, safe upgrade paths through the compatibility matrix."""

from planner.plan import Plan
from planner.planning import compile_for, plan
from planner.state import ClusterState

__all__ = ["ClusterState", "Plan", "compile_for", "plan"]
