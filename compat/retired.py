"""Claims that an overlay took out of use: they do not count, and whoever asks can see that they would have."""

from __future__ import annotations

from compat.claims import Claim
from compat.matrix import Matrix
from compat.verdicts import Part
from compat.versions import Version

__all__ = ["retired_claims", "retired_note", "retired_of_pair"]


def retired_claims(matrix: Matrix) -> list[Claim]:
    """Claims that would stand on the matrix's day if no layer had retired them."""
    if not matrix.snapshot.layers:
        return []
    day = matrix.as_of
    found = matrix.store.claims("id in (select claim from retired)")
    return [claim for claim in found if claim.known_from <= day and not claim.stands_on(day) and _would_stand(claim, day.isoformat())]


def retired_of_pair(matrix: Matrix, one: Part, other: Part) -> list[Claim]:
    """Those of `retired_claims` that speak of two components at these versions."""
    return [claim for claim in retired_claims(matrix) if _speaks(claim, one, other) or _speaks(claim, other, one)]


def retired_note(claim: Claim) -> str:
    """Who retired a claim, since when and why; empty if nobody did."""
    note = claim.detail.get("retired")
    return f"retired by {note['by']} since {note['said']}: {note['reason']}" if note else ""


def _would_stand(claim: Claim, day: str) -> bool:
    until = claim.detail["retired"]["until"]
    return until is None or day < until


def _speaks(claim: Claim, subject: Part, target: Part) -> bool:
    return (claim.subject, claim.object) == (subject[0], target[0]) and _has(claim.versions, subject[1], claim) and claim.kind != "upgrade"


def _has(text: str, version: Version | None, claim: Claim) -> bool:
    return not text or (version is not None and version in claim.subject_range)
