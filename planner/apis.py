"""API versions in use that a move takes away and that a plan cannot move itself, because nothing is known to replace them."""

from __future__ import annotations

from collections.abc import Iterator

from compat import Claim, Version
from compat.versions import parse
from planner.aspects import api_claims
from planner.situation import Situation

__all__ = ["gone", "has_part", "off_by_default", "replacement"]


def gone(situation: Situation, component: str, after: Version | None, until: Version) -> Iterator[tuple[str, str, Claim]]:
    """APIs in use that *component* stops serving above *after* (None: from its first release on) and up to *until*.

    Yields the API as the state names it, the version that removes it, and the claim.
    """
    matrix = situation.matrix
    for text in dict.fromkeys(situation.state.apis):
        found: dict[str, Claim] = {}
        group, _, rest = text.partition("/")
        version, _, kind = rest.partition("/")
        claims = api_claims(matrix, component, group, version, kind)
        lineage = matrix.lineage(component)
        gone_whole = all(claim.detail.get("removed") and parse(str(claim.detail["removed"]), lineage) <= until for claim in claims)
        for claim in claims:
            if after is None and not kind and not gone_whole:
                continue  # which of the kinds of that version is in use nobody said, and those that are gone cannot be
            removed = claim.detail.get("removed")
            newest = str(removed) not in found or claim.known_from > found[str(removed)].known_from
            if removed and newest and (at := parse(str(removed), lineage)) <= until and (after is None or at > after):
                found[str(removed)] = claim
        yield from ((text, removed, claim) for removed, claim in found.items())


def has_part(situation: Situation, text: str) -> bool:
    """Whether an API, as the state names it, is something that a plan can move."""
    group, _, rest = text.partition("/")
    kind = rest.partition("/")[2]
    return any(part.api and (part.api.group, part.api.kind) == (group, kind) for part in situation.parts)


def off_by_default(situation: Situation, component: str, version: Version) -> Iterator[tuple[str, Claim]]:
    """APIs in use that *component* has at *version* and serves only if asked to.

    Yields the API as the state names it, and the claim. One without a kind counts if no kind of its version is served by default.
    """
    matrix = situation.matrix
    for text in dict.fromkeys(situation.state.apis):
        group, _, rest = text.partition("/")
        wanted, _, kind = rest.partition("/")
        found = [
            claim
            for claim in matrix.about(component, "api")
            if claim.detail.get("group") == group
            and claim.detail.get("version") == wanted
            and (not kind or kind in claim.detail.get("kinds", ()))
            and version in claim.subject_range
        ]
        if found and all(claim.detail.get("default_served") is False for claim in found):
            yield text, found[0]


def replacement(claim: Claim) -> str:
    """What to use instead, as the end of a sentence."""
    return f"; use {claim.detail['replacement']}" if claim.detail.get("replacement") else ""
