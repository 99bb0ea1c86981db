"""Where a plan is to end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compat import Matrix, Version
from planner.errors import GoalError
from planner.situation import Situation

__all__ = ["NODES_AT", "Goal", "make_goal"]

NODES_AT = ("target", "supported")
"""``target``: every node ends on the target's minor. ``supported``: on any version that is still supported and within the skew."""


@dataclass(frozen=True)
class Goal:
    """A Kubernetes version for the control plane and a rule for the nodes."""

    text: str
    """As the user gave it."""
    version: Version
    """What the control plane is to reach: the release itself, or the newest known of a line."""
    exact: bool
    """Whether that very release was asked for, or any of its line."""
    nodes: str = "target"
    """One of `NODES_AT`, or ``anywhere`` where only the control plane counts."""
    allocation: Mapping[str, str] = field(default_factory=dict)
    """Pool -> how it is to allocate its GPUs, where that is to change."""

    def reached(self, version: Version) -> bool:
        """Whether a control plane at *version* is there."""
        return version >= self.version if self.exact else version.line >= self.version.line

    def accepts_node(self, matrix: Matrix, component: str, version: Version) -> bool:
        """Whether a node agent at *version* may stay where it is when all is done."""
        if self.nodes == "anywhere":
            return True
        if self.nodes == "target" or version.line >= self.version.line:
            return version.line >= self.version.line
        life = matrix.lifecycle(matrix.subjects[component].releases_of or component, version)
        return life is None or life.supported


def make_goal(situation: Situation, to: str, nodes: str = "target") -> Goal:
    """Read a goal.

    Raises:
        GoalError: if it lies below where the cluster is, or *nodes* is no known rule.
        InputError: if the version is not known.
    """
    if nodes not in NODES_AT:
        raise GoalError(f"nodes must be at one of {', '.join(NODES_AT)}, not {nodes!r}")
    control = situation.control
    version = situation.matrix.version(control.component, to)
    goal = Goal(to, version, version.parts > 2, nodes, {part.pool: part.values[-1].text for part in situation.migrating})
    newest = max(control.mixed or (control.version,))
    below = version < newest if goal.exact else version.line < newest.line
    if below:
        least = f"{newest.line[0]}.{newest.line[1]}"
        raise GoalError(f"the target {to} is below {newest.text}, where the cluster is; a plan only goes forward, give a target of at least {least}")
    if version.parts > 2 and not situation.matrix.is_released(control.component, version):
        newest_of_line = situation.matrix.version(control.component, f"{version.line[0]}.{version.line[1]}")
        raise GoalError(f"{control.component} {to} is no release that is known; the newest known of its line is {newest_of_line.release}")
    return goal
