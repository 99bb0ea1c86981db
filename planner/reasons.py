"""Why a step stands where it does.

Asked by experiment, not by rule: leave the step out and see which later step would then be wrong; take it before an earlier one and
see what would be wrong then.
"""

from __future__ import annotations

from collections.abc import Mapping

from compat import Claim, Version
from compat.verdicts import ORDER
from planner.cites import Cites
from planner.images import agent_of, comes_with_node, shipped
from planner.journey import Journey, MoveOf, Stage
from planner.judgements import Judgement
from planner.plan import Reason

__all__ = ["reasons"]


def reasons(journey: Journey, position: int, names: Mapping[int, str], cites: Cites) -> tuple[Reason, ...]:
    """Reasons for the stage at *position*; *names* are the step ids by position."""
    found = []
    for move in journey.stages[position].moves:
        for reason in (_enables(journey, position, move, names, cites), _after(journey, position, move, names, cites)):
            if reason is not None and reason not in found:
                found.append(reason)
    return tuple(found)


def _enables(journey: Journey, position: int, move: MoveOf, names: Mapping[int, str], cites: Cites) -> Reason | None:
    label = _label(move)
    own = journey.stages[position]
    situation = journey.pairs.situation
    agent = agent_of(situation, move.part) if comes_with_node(situation, move.part) else None
    if agent:
        claims = shipped(situation, move.part, agent, own.after[agent.key])[1]
        return Reason("rides-along", None, f"{label}: it comes with the nodes, by themselves or by their image", cites(claims))
    if len(own.moves) > 1 and (beside := _worse(journey, own, {**own.after, move.part.key: move.start}, move.part.key)) is not None:
        text = f"{label}: left out of this step, {beside.one} with {beside.other} would be {beside.grade}"
        return Reason("rides-along", None, text, cites(_claims(beside)))
    for later in range(position + 1, len(journey.stages)):
        stage = journey.stages[later]
        for other in stage.moves:
            if other.part.key == move.part.key:
                straight = MoveOf(other.part, move.start, other.end)
                known = journey.rule(straight)
                if known.rule in ("forbidden", "needs-stop", "unknown") and journey.rule(other).rule != known.rule:
                    what = "needs a stop on the way" if known.rule == "needs-stop" else f"is {known.rule}"
                    return Reason(
                        "enables", names[later], f"{label}: going from {move.start.release} straight to {other.end.release} {what}", cites(known.claims)
                    )
                return _goal(journey, move)
        worse = _worse(journey, stage, {**stage.after, move.part.key: move.start}, move.part.key)
        if worse is not None:
            return Reason("enables", names[later], f"{label}: without it {worse.one} with {worse.other} would be {worse.grade}", cites(_claims(worse)))
    return _goal(journey, move)


def _worse(journey: Journey, stage: Stage, versions: Mapping[str, Version], key: str) -> Judgement | None:
    """A pair of *key* that would be broken or unknown at *versions* and is better as planned."""
    planned = {judgement.identity: judgement.grade for judgement in journey.pairs.touching([key], stage.after)}
    for judgement in journey.pairs.touching([key], versions):
        if (
            key in judgement.identity
            and set(judgement.identity) & (stage.keys - {key} or stage.keys)
            and judgement.grade in ("broken", "unknown")
            and ORDER.index(judgement.grade) < ORDER.index(planned.get(judgement.identity, "tested"))
        ):
            return judgement
    return None


def _goal(journey: Journey, move: MoveOf) -> Reason:
    if move.part.allocates or journey.pairs.situation.role(move.part.component) in ("control-plane", "node-agent"):
        return Reason("goal", None, f"{_label(move)}: the goal asks for it")
    return Reason("rides-along", None, f"{_label(move)}: a better tested or longer supported version at no cost of its own")


def _after(journey: Journey, position: int, move: MoveOf, names: Mapping[int, str], cites: Cites) -> Reason | None:
    for earlier in range(position - 1, -1, -1):
        stage = journey.stages[earlier]
        if move.part.key in stage.keys:
            return None
        versions = {**stage.before, move.part.key: move.end}
        planned = {**stage.after, move.part.key: move.end}
        good = {judgement.identity: judgement.grade for judgement in journey.pairs.touching([move.part.key], planned)}
        for judgement in journey.pairs.touching([move.part.key], versions):
            if (
                move.part.key in judgement.identity
                and judgement.grade in ("broken", "unknown")
                and ORDER.index(judgement.grade) < ORDER.index(good.get(judgement.identity, "tested"))
            ):
                text = f"{_label(move)}: before that step {judgement.one} with {judgement.other} would be {judgement.grade}"
                return Reason("after", names[earlier], text, cites(_claims(judgement)))
    return None


def _claims(judgement: Judgement) -> tuple[Claim, ...]:
    return judgement.verdict.claims[:4]


def _label(move: MoveOf) -> str:
    return f"{move.part.component} {move.start.release} -> {move.end.release}"
