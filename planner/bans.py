"""Versions that a plan must not land on: bans of users, and releases that speak against themselves.

They never count against what runs now: a cluster may stay where it is until a step moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from compat import Verdict, Version
from compat.landing import Landing, barring, landing
from planner.situation import Part, Situation

__all__ = ["HERE", "bans_now", "bans_on", "carried_and_barred", "is_barred"]

HERE = "this cluster"
"""What a barred version does not go together with, for people."""


def carried_and_barred(situation: Situation, component: str) -> list[str]:
    """Operands that come with a component by default, are no parts of their own and have versions that are barred."""
    own = {part.component for part in situation.parts} | situation.absent
    carried = [
        claim.object
        for claim in situation.matrix.about(component, "bundle")
        if claim.detail.get("role") == "default" and not claim.detail.get("optional") and not claim.scope
    ]
    return [name for name in dict.fromkeys(carried) if name not in own and situation.role(name) in ("addon", "operand") and barring(situation.matrix, name)]


def bans_on(situation: Situation, part: Part, version: Version, shipped: Callable[[str, Version, str], Version | None]) -> Iterator[tuple[str, Verdict]]:
    """What speaks against a part going to *version*, by name and version of what is barred: itself, or an operand that it ships.

    Args:
        situation: the cluster.
        part: what would move.
        version: where to; nothing is said against what it runs now.
        shipped: version of an operand that a release of its carrier ships.
    """
    if version.key == part.version.key:
        return
    faces = [(part.component, version), *((name, shipped(part.component, version, name)) for name in carried_and_barred(situation, part.component))]
    for name, own in faces:
        found = [landing(situation.matrix, name, own, scope) for scope in situation.places(part)] if own is not None else []
        against = tuple(dict.fromkeys(claim for one in found for claim in one.claims))
        cautions = tuple(dict.fromkeys(caution for one in found for caution in one.cautions))
        if own is not None and (against or cautions):
            yield f"{name} {own.release}", Verdict("broken" if against else "unknown", against, cautions=cautions)


def is_barred(situation: Situation, part: Part, version: Version) -> bool:
    """Whether a claim forbids landing on a version of the part itself, somewhere in the cluster."""
    return any(landing(situation.matrix, part.component, version, scope).claims for scope in situation.places(part))


def bans_now(situation: Situation) -> Iterator[tuple[Part, Version, Landing]]:
    """Parts that run in a version that nobody may go to."""
    for part in situation.parts:
        for version in part.mixed or (part.version,):
            for scope in situation.places(part):
                found = landing(situation.matrix, part.component, version, scope)
                if found.claims:
                    yield part, version, found
                    break
