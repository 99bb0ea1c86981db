"""What people do in a step: commands, checks and the way back, from the templates of the knowledge base."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from compat import Claim, Version
from compat.ranges import parse_range
from compat.scope import Fit, describe
from compat.versions import parse
from planner.apis import gone, has_part, replacement
from planner.cites import Cites
from planner.journey import Journey, MoveOf, Stage
from planner.plan import Action

__all__ = ["Procedure", "floors", "procedure", "requirements"]

_PLACEHOLDER = re.compile(r"\{([a-z][a-z_-]*)\}")

Procedure = Mapping[str, Any]


def procedure(journey: Journey, move: MoveOf) -> Procedure:
    """The procedure of the knowledge base that fits where the move is made; an empty one if there is none."""
    situation = journey.pairs.situation
    subject = situation.subject(move.part)
    scope = situation.scope(move.part.pool, move.end.text if move.part.allocates else "") if move.part.pool else situation.cluster_scopes[0]
    lineage = situation.matrix.lineage(move.part.component)
    for entry in subject.component.get("procedures", ()) if subject else ():
        wanted = {word: (value,) if isinstance(value, str) else tuple(value) for word, value in entry.get("scope", {}).items()}
        ways = (move.start in parse_range(entry.get("versions", ""), lineage), move.end in parse_range(entry.get("to_versions", ""), lineage))
        if all(ways) and situation.matrix.words.fit(wanted, scope).fit is Fit.YES:
            found: Procedure = entry
            return found
    return {}


def fill(template: str, move: MoveOf, versions: Mapping[str, Version]) -> str:
    """Put versions and names into a template; a placeholder without a value stays readable as NAME."""
    values = {"from": move.start.release, "to": move.end.release, "pool": move.part.pool or "POOL"}
    if move.part.api:
        values |= {"group": move.part.api.group, "kind": move.part.api.kind or "KIND", "resource": move.part.api.kind.lower() or "RESOURCE"}
    for prefix, version in (("from", move.start), ("to", move.end)):
        values[f"{prefix}_minor"] = f"{version.line[0]}.{version.line[1]}"
    for key, version in versions.items():
        component, _, pool = key.partition("@")
        if not pool or pool == move.part.pool or component not in values:
            values[component] = version.release
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[1].upper().replace("-", "_")), template)


def actions(entries: Sequence[Mapping[str, Any]], move: MoveOf, versions: Mapping[str, Version], when: str) -> list[Action]:
    """Filled-in actions of a procedure."""
    return [
        Action(text=fill(entry["text"], move, versions), when=when, command=fill(entry["command"], move, versions) if entry.get("command") else None)  # type: ignore[arg-type]  # callers pass one of the literals
        for entry in entries
    ]


def requirements(journey: Journey, stage: Stage, cites: Cites, already: set[str]) -> list[Action]:
    """Everything that a step asks for: duties of the hops first, then the doing; what an earlier step asked for is left out."""
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
            if duty.claim.detail.get("rule") == "note" or asked in already:
                continue
            already.add(asked)
            text = duty.text if duty.text == duty.claim.summary else f"{duty.claim.summary.rstrip('.')}. {duty.text.rstrip('.')}."
            found.append(Action(text=text, when=duty.claim.detail.get("due", "before"), condition=duty.condition, claims=cites([duty.claim])))
    for move in stage.moves:
        found.extend(actions(procedure(journey, move).get("do", ()), move, stage.after, "during"))
    return found


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


def _pins(journey: Journey, stage: Stage, move: MoveOf, cites: Cites) -> list[Action]:
    """Keep parts where they are whose default the new release of their manager would move."""
    matrix = journey.pairs.situation.matrix
    found = []
    for key, version in stage.after.items():
        component = key.partition("@")[0]
        if component == move.part.component or key in stage.keys:
            continue
        bundled = [claim for claim in matrix.about(move.part.component, "bundle") if claim.object == component and claim.detail.get("role") == "default"]
        before = [claim for claim in bundled if move.start in claim.subject_range]
        after = [claim for claim in bundled if move.end in claim.subject_range]
        if after and version not in after[0].object_range and (not before or before[0].object_versions != after[0].object_versions):
            default = after[0].object_versions.removeprefix("==")
            text = f"Pin {component} to {version.release}: with untouched values the new release would move it to {default} in this step."
            action = Action(text=text, when="before", claims=cites([*before[:1], *after[:1]]))
            if action not in found:
                found.append(action)
    return found
