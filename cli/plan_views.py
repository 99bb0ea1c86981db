"""What ``compat plan`` prints instead of, or beside, the plan: one step in full, or what the plan could be traded for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cli.options import Format
from compat.errors import InputError, nearest, printable

if TYPE_CHECKING:
    from compat import Matrix
    from planner import ClusterState, Plan

__all__ = ["view"]


def view(
    matrix: Matrix,
    cluster: ClusterState,
    to: str,
    question: Mapping[str, Any],
    output: Format,
    *,
    explain: str | None,
    alternatives: bool,
    choose: str | None,
) -> tuple[Plan, str]:
    """The plan that decides the exit code, and what to print.

    Raises:
        InputError: if options exclude each other, or there is no such step or alternative.
    """
    if sum((explain is not None, alternatives, choose is not None)) > 1:
        raise InputError("--explain, --alternatives and --choose exclude each other; give one of them")
    if explain is not None:
        from cli.render import explain as explained
        from planner.explain import explain as explain_step
        from planner.planning import trip

        plan, journey = trip(matrix, cluster, to, **question)
        return plan, explained.render(explain_step(plan, journey, explain), output)
    from planner.alternatives import alternatives as find

    found = find(matrix, cluster, to, **question)
    if choose is not None:
        from cli.plan_command import render

        known = {one.id: one.plan for one in found.alternatives}
        if choose not in known:
            raise InputError(f"--choose {printable(choose)}: there is no such alternative{nearest(choose, list(known))}; known: {', '.join(known) or 'none'}")
        return known[choose], render(known[choose], output)
    from cli.render import alternatives as listed

    return found.recommended, listed.render(found, output)
