"""A plan as JSON (compat.plan/v1)."""

from __future__ import annotations

from planner.plan import Plan

__all__ = ["render"]


def render(plan: Plan) -> str:
    """Return the written form of the plan."""
    return plan.to_json()
