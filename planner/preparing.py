"""What has to be finished before a plan begins: nodes that are not in their normal state, and roll-outs that are under way.

Such a step moves nothing: which nodes it takes, and how far they are, the state does not say. The plan behind it was checked with all
versions that run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compat.verdicts import ORDER
from planner.journey import Journey
from planner.parts import Part
from planner.plan import Action, Reason, Step
from planner.procedures import actions
from planner.state import Pool

__all__ = ["preparations"]


def preparations(journey: Journey, first: int) -> list[Step]:
    """Steps to take before all others.

    Args:
        journey: the plan.
        first: number of the first of these steps.
    """
    found: list[Step] = []
    for part in journey.pairs.situation.parts:
        if part.mixed:
            found.append(_mix(journey, part, f"s{first + len(found)}"))
    for pool in journey.pairs.situation.state.pools:
        if any(pool.conditions.values()):
            found.append(_conditions(journey, pool, f"s{first + len(found)}"))
    return found


def _grade(journey: Journey) -> str:
    return min((judgement.grade for judgement in journey.pairs.all(journey.start)), key=ORDER.index, default="tested")


def _mix(journey: Journey, part: Part, name: str) -> Step:
    oldest, newest = part.mixed[0], part.mixed[-1]
    where = f"pool {part.pool}" if part.pool else "the control plane" if part is journey.pairs.situation.control else "the cluster"
    versions = " and ".join(version.release for version in part.mixed)
    overtaken = next((move for stage in journey.stages for move in stage.moves if move.part.key == part.key), None)
    rest = f" If it stays as it is, the step to {overtaken.end.release} overtakes it." if overtaken else " The plan leaves it as it is."
    text = f"Finish the roll-out of {part.component} in {where} to {newest.release}, or undo it: {versions} run at once.{rest}"
    return Step(
        id=name,
        kind="prepare",
        component=part.component,
        pool=part.pool or None,
        from_=oldest.release,
        to=newest.release,
        why=(Reason("goal", None, "A roll-out under way is finished before another one begins; every state of the plan was checked with all versions of it."),),
        requires=(Action(text=text),),
        grade=_grade(journey),  # type: ignore[arg-type]  # one of ORDER
    )


def _conditions(journey: Journey, pool: Pool, name: str) -> Step:
    situation = journey.pairs.situation
    waiting: Mapping[str, int] = {condition: count for condition, count in sorted(pool.conditions.items()) if count}
    nodes = ", ".join(f"{count} {condition}" for condition, count in waiting.items())
    agent = next((part for part in situation.parts if part.pool == pool.name and situation.role(part.component) == "node-agent"), None)
    version = agent.version.release if agent else ""
    return Step(
        id=name,
        kind="prepare",
        component=agent.component if agent else "nodes",
        pool=pool.name,
        from_=version,
        to=version,
        why=(Reason("goal", None, f"pool {pool.name} has nodes that are not in their normal state: {nodes}; what they run may differ from what is said."),),
        requires=(
            Action(text=f"Finish or undo what is under way in pool {pool.name} ({nodes}); every node has to be in its normal state."),
            *_templates(journey, pool, waiting, "do", "during"),
        ),
        verify=tuple(_templates(journey, pool, waiting, "verify", "after")),
        grade=_grade(journey),  # type: ignore[arg-type]  # one of ORDER
    )


def _templates(journey: Journey, pool: Pool, waiting: Mapping[str, int], key: str, when: str) -> Iterator[Action]:
    """What the knowledge base says about conditions that it knows."""
    matrix = journey.pairs.situation.matrix
    for condition in waiting:
        subject = next((item for item in matrix.subjects.values() if item.role == "condition" and condition in (item.id, *item.aliases)), None)
        for procedure in subject.component.get("procedures", ())[:1] if subject else ():
            yield from actions(procedure.get(key, ()), {"pool": pool.name}, when)
