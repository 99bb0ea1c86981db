"""How long the control plane can go back after a step, where going back is possible at all.

Right after a step everything fits both versions: what stands beside the control plane was checked with the old one just before, and with
the new one just after. The first later step that only fits the new version closes the way back. Plans take such steps as late as their
cost allows (`planner.solver.order`).
"""

from __future__ import annotations

from collections.abc import Mapping

from compat.hops import everywhere, hop
from compat.verdicts import ORDER
from planner.journey import Journey

__all__ = ["way_back"]


def way_back(journey: Journey, position: int, names: Mapping[int, str]) -> str:
    """A sentence about the step that closes the way back of the stage at *position*; empty if no rule says that there is one.

    Args:
        journey: the plan.
        position: the stage.
        names: step ids by position.
    """
    move = journey.stages[position].main
    control = journey.pairs.situation.control
    if move.part.key != control.key:
        return ""
    situation = journey.pairs.situation
    known = everywhere([hop(situation.matrix, control.component, move.end, move.start, scope, duties=False) for scope in situation.places(control)])
    if known.rule != "allowed" or not known.claims:
        return ""
    for later in range(position + 1, len(journey.stages)):
        stage = journey.stages[later]
        if control.key in stage.keys:
            return f"As far as this plan goes it stays open until {names[later]}, the next step of the control plane."
        planned = {judgement.identity: judgement.grade for judgement in journey.pairs.touching([control.key], stage.after)}
        for judgement in journey.pairs.touching([control.key], {**stage.after, control.key: move.start}):
            if judgement.grade in ("broken", "unknown") and ORDER.index(judgement.grade) < ORDER.index(planned.get(judgement.identity, "tested")):
                return f"{names[later]} closes it: after that {judgement.one} with {judgement.other} would be {judgement.grade}."
    return "No later step of this plan closes it."
