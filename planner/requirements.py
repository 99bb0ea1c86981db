"""What a step asks of people: duties of its hops, versions to pin, and the doing; and how far the way back reaches."""

from __future__ import annotations

from collections.abc import Iterator

from compat import Claim, Version
from compat.scope import Fit, describe
from compat.versions import parse
from planner.apis import gone, has_part, replacement
from planner.cites import Cites
from planner.images import is_unsaid
from planner.journey import Journey, MoveOf, Stage
from planner.plan import Action
from planner.procedures import Doing, in_charge

__all__ = ["floors", "requirements"]


def requirements(journey: Journey, stage: Stage, cites: Cites, already: set[str]) -> list[Action]:
    """Everything that a step asks for: duties of the hops first, then the doing; what an earlier step asked for is left out.

    A duty that an action of a procedure fulfils, since it cites the same claim, is not asked for a second time.
    """
    doing = Doing(journey, stage, cites)
    done = {claim for deed in doing.deeds if not deed.condition for claim in deed.claims}
    found: list[Action] = []
    for move in stage.moves:
        found.extend(_pins(journey, stage, move, cites))
        if not move.part.pool:
            for text, removed, claim in gone(journey.pairs.situation, move.part.component, move.start, move.end) if not move.part.api else ():
                if has_part(journey.pairs.situation, text):
                    continue  # that is a step of its own
                what = f"Migrate what uses or stores {text}: it is no longer served from {move.part.component} {removed} on{replacement(claim)}."
                found.append(Action(text=what, when="before", claims=cites([claim])))
        for duty in journey.hop(move).duties:
            asked = f"{duty.claim.id}@{move.part.pool}"  # what is due on nodes is due in every pool
            if duty.claim.detail.get("rule") == "note" or asked in already or duty.claim.id in done:
                continue
            if doing.rules_out(move, duty.claim):
                continue
            already.add(asked)
            text = duty.text if duty.text == duty.claim.summary else f"{duty.claim.summary.rstrip('.')}. {duty.text.rstrip('.')}."
            found.append(Action(text=text, when=duty.claim.detail.get("due", "before"), condition=duty.condition, claims=cites([duty.claim])))
    return [*found, *doing.deeds]


def floors(journey: Journey, stage: Stage, cites: Cites) -> list[tuple[str, bool]]:
    """How far there is a way back after a stage, because of what was stored: a sentence, and whether it surely rules out the way back at all."""
    situation = journey.pairs.situation
    found = []
    for move in stage.moves:
        in_force: list[tuple[Version, str, Claim]] = []
        for claim in situation.matrix.about(move.part.component, "upgrade"):
            if claim.detail.get("rollback_floor") and move.end in claim.to_range and move.end not in claim.subject_range:
                matches = [match for scope in situation.places(move.part) if (match := situation.matrix.fit(claim, scope)).fit is not Fit.NO]
                if matches:
                    condition = "" if any(match.fit is Fit.YES for match in matches) else describe(matches[0].open)
                    in_force.append((parse(str(claim.detail["rollback_floor"]), situation.matrix.lineage(move.part.component)), condition, claim))
        if in_force:
            floor, condition, claim = max(in_force, key=lambda item: item[0])
            cites([claim])
            limit = f"Never back below {move.part.component} {floor.release}{f', if {condition}' if condition else ''}"
            text = f"{limit}: {claim.summary.rstrip('.')}. Only a backup from before leads there."
            found.append((text, floor > move.start and not condition))
    return found


def _pins(journey: Journey, stage: Stage, move: MoveOf, cites: Cites) -> Iterator[Action]:
    """Keep parts where they are whose default the new release of their manager would move."""
    situation = journey.pairs.situation
    running: dict[str, dict[str, list[str]]] = {}
    for key, version in stage.after.items():
        part = situation.by_key[key]
        if part.component != move.part.component and key not in stage.keys and not is_unsaid(version) and in_charge(journey, move.part.component, part):
            running.setdefault(part.component, {}).setdefault(version.release, []).append(part.pool)
    for component, versions in running.items():
        bundles = situation.matrix.about(move.part.component, "bundle")
        bundled = [claim for claim in bundles if claim.object == component and claim.detail.get("role") == "default"]
        before = [claim for claim in bundled if move.start in claim.subject_range]
        after = [claim for claim in bundled if move.end in claim.subject_range]
        if not after or (before and before[0].object_versions == after[0].object_versions):
            continue
        default = after[0].object_versions.removeprefix("==")
        if list(versions) == [default]:
            continue
        places = "; ".join(f"{release} (pool {', '.join(pools)})" if any(pools) else release for release, pools in versions.items())
        text = f"Pin {component} to {places}: with untouched values the new release would move it to {default} in this step."
        if len(versions) > 1:
            text += " They differ: one setting for all would move some of them as soon as their pods start anew, back or forth."
        yield Action(text=text, when="before", claims=cites([*before[:1], *after[:1]]))
