"""planner: ordered, safe upgrade paths through the compatibility matrix."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from planner.plan import Plan
from planner.planning import compile_for, plan
from planner.state import ClusterState

if TYPE_CHECKING:
    from planner.fleet import Fleet, plan_fleet
    from planner.planfile import PlanFile
    from planner.rechecked import Recheck
    from planner.rechecking import recheck

__all__ = ["ClusterState", "Fleet", "Plan", "PlanFile", "Recheck", "compile_for", "plan", "plan_fleet", "recheck"]

_LATER = {"Fleet": "fleet", "plan_fleet": "fleet", "PlanFile": "planfile", "Recheck": "rechecked", "recheck": "rechecking"}
"""Names whose modules most commands do not need, and load when they are first asked for."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return found
