"""Errors of the planner.

::

    CompatError
    └── InputError (compat.errors)
        ├── GoalError       the goal makes no sense for this start
        └── PlanFileError   a plan that cannot be read
"""

from __future__ import annotations

from compat.errors import InputError

__all__ = ["GoalError", "PlanFileError"]


class GoalError(InputError):
    """A goal that makes no sense for the start."""


class PlanFileError(InputError):
    """A plan that cannot be read."""
