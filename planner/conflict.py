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

if TYPE_CHECKING:
    from typing import Protocol

    class Writer(Protocol):
        """Writes a plan down."""

        def write(self) -> Plan:
            """The plan."""


__all__ = ["explain_conflict"]


def explain_conflict(
    situation: Situation, goal: Goal, pairs: Pairs, compiled: Compiled, prefer: str, writer: Callable[[Compiled, Goal, Solution], Writer]
) -> Plan:
    """Make the plan to the farthest state that can be reached, with the conflict that stops it there."""
    core = _smallest(compiled)
    cites = Cites()
    reached = _farthest(situation, goal, pairs, prefer, writer)
    way = Journey(pairs, ())
    extra = findings(way, goal, cites) if reached is None else ()
    cited = cites(core)
    base = reached or _nothing(situation, goal, extra)
    farthest = {**situation.state.dump(), "versions": base.end}
    conflict = Conflict(claims=cited, text=_words(core, goal), farthest=farthest, unlock=tuple(_unlock(core)))
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
    """The plan to the highest control-plane version below the goal that can be reached; nodes may stay where they are supported or not."""
    control = situation.control
    lower = sorted(
        {
            r.version
            for r in situation.matrix.releases(control.component, stable_only=True)
            if control.version < r.version < goal.version and r.version.parts > 2
        }
    )
    newest = {version.line: version for version in lower if version.line < goal.version.line}
    without = [goal.version] if goal.allocation else []  # as far as that goes, without changing how GPUs are allocated
    for version in [*without, *sorted(newest.values(), reverse=True)]:
        for nodes in dict.fromkeys((goal.nodes, "anywhere")):
            nearer = Goal(f"{version.line[0]}.{version.line[1]}", version, False, nodes)
            compiled = compile_problem(situation, nearer, pairs, prefer)
            solution = solve(compiled.problem)
            if solution is not None:
                return writer(compiled, nearer, solution).write()
    return None


def _smallest(compiled: Compiled) -> list[Claim]:
    """Claims that together forbid the goal, none of which can be left out."""
    relaxation = Relaxation(compiled)
    return smallest(relaxation.claims, relaxation.is_reachable)


def _words(core: list[Claim], goal: Goal) -> str:
    if not core:
        return f"Nothing that is known leads to {goal.text}: the versions in between are not known."
    listed = "; ".join(claim.summary.rstrip(".") for claim in core)
    return f"{goal.text} cannot be reached, because together these forbid it: {listed}."


def _unlock(core: list[Claim]) -> list[str]:
    found = []
    for claim in core:
        if claim.detail.get("owner") and not claim.object:
            found.append(f"{claim.subject}: {claim.detail['owner']} lifts the ban “{claim.summary.rstrip('.')}” ({claim.id})")
            continue
        found += [f"{claim.subject}: {claim.detail['action'].rstrip('.')} ({claim.id})"] if claim.detail.get("action") else []
        found += [f"{claim.subject}: it does not hold if {claim.detail['unless'].rstrip('.')} ({claim.id})"] if claim.detail.get("unless") else []
        found.append(f"{claim.subject}: a newer release, or a later statement, that lifts “{claim.summary.rstrip('.')}” ({claim.id})")
    return found
