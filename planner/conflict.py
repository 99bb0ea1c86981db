"""Why a goal cannot be reached: a smallest set of claims that forbids it, how far one gets, and what would open the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from compat import Claim
from planner.cites import Cites
from planner.compiling import Compiled, compile_problem
from planner.findings import findings
from planner.goal import Goal
from planner.journey import Journey
from planner.pairs import Pairs
from planner.plan import Conflict, GoalEntry, Plan
from planner.relaxing import Relaxation, smallest
from planner.situation import Situation
from planner.solver import Solution, solve
from planner.unlock import Replan, unlocking

if TYPE_CHECKING:
    from typing import Protocol

    class Writer(Protocol):
        """Writes a plan down."""

        def write(self) -> Plan:
            """The plan."""


__all__ = ["explain_conflict"]


def explain_conflict(
    situation: Situation,
    goal: Goal,
    pairs: Pairs,
    compiled: Compiled,
    prefer: str,
    writer: Callable[[Compiled, Goal, Solution], Writer],
    replan: Replan,
) -> Plan:
    """Make the plan to the farthest state that can be reached, with the conflict that stops it there."""
    relaxation = Relaxation(compiled)
    core = smallest(relaxation.claims, relaxation.is_reachable)
    cites = Cites()
    reached = _farthest(situation, goal, pairs, prefer, writer)
    way = Journey(pairs, ())
    extra = findings(way, goal, cites) if reached is None else ()
    cited = cites(core)
    base = reached or _nothing(situation, goal, extra)
    farthest = {**situation.state.dump(), "versions": base.end}
    conflict = Conflict(claims=cited, text=_words(core, goal), farthest=farthest, unlock=tuple(unlocking(situation, goal, core, relaxation, replan)))
    return replace(
        base,
        goal=GoalEntry(goal.text, goal.nodes, dict(goal.allocation)),
        status="impossible",
        conflict=conflict,
        claims={**base.claims, **cites.entries()},
        digest="",
    ).sealed()


def _nothing(situation: Situation, goal: Goal, extra: tuple) -> Plan:  # type: ignore[type-arg]  # findings as they come
    from planner.plan import Cost, Knowledge

    snapshot = situation.matrix.snapshot
    return Plan(
        knowledge=Knowledge.of(snapshot),
        start=situation.state.dump(),
        goal=GoalEntry(goal.text, goal.nodes, dict(goal.allocation)),
        status="impossible",
        cost=Cost(0, 0, 0, 0),
        optimal=True,
        steps=(),
        holds=(),
        lasting=(),
        findings=extra,
        conflict=None,
        conditions=(),
        end={part.key: part.version.release for part in situation.parts},
        claims={},
    )


def _farthest(situation: Situation, goal: Goal, pairs: Pairs, prefer: str, writer: Callable[[Compiled, Goal, Solution], Writer]) -> Plan | None:
    """The plan to the highest minor of the control plane below the goal's that can be reached.

    Nodes end as the goal asks if they can, else anywhere; a minor counts as reached either way.
    """
    control = situation.control
    releases = situation.matrix.releases(control.component, stable_only=True, out_only=False)
    between = [release for release in releases if control.version < release.version and release.version.line < goal.version.line and release.version.parts > 2]
    out = sorted(release.version for release in between if release.known_from <= situation.matrix.as_of)
    newest = {version.line: version for version in out}
    for version in sorted(release.version for release in between):
        newest.setdefault(version.line, version)  # of a minor that is not out its first release, as on the way to the goal
    without = [goal.version] if goal.allocation else []  # as far as that goes, without changing how GPUs are allocated
    for version in [*without, *sorted(newest.values(), reverse=True)]:
        for nodes in dict.fromkeys((goal.nodes, "anywhere")):
            nearer = Goal(f"{version.line[0]}.{version.line[1]}", version, False, nodes)
            compiled = compile_problem(situation, nearer, pairs, prefer)
            solution = solve(compiled.problem)
            if solution is not None:
                return writer(compiled, nearer, solution).write()
    return None


def _words(core: list[Claim], goal: Goal) -> str:
    if not core:
        return f"Nothing that is known leads to {goal.text}: the versions in between are not known."
    listed = "; ".join(claim.summary.rstrip(".") for claim in core)
    return f"{goal.text} cannot be reached, because together these forbid it: {listed}."
