"""Versions that nobody should land on: conflicts without an object, such as bans of users and releases that were withdrawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compat.claims import Claim
from compat.matrix import Given, Matrix
from compat.scope import Fit, Scope, describe
from compat.verdicts import Caution
from compat.versions import Version

__all__ = ["Landing", "barring", "landing", "resolve_landing"]


@dataclass(frozen=True, slots=True)
class Landing:
    """What speaks against going to a version, whatever is beside it."""

    claims: tuple[Claim, ...] = ()
    """Claims that forbid it."""
    cautions: tuple[Caution, ...] = ()
    """Claims that forbid it under a condition, and advice."""


_FREE = Landing()


def barring(matrix: Matrix, name: str) -> list[Claim]:
    """Standing claims that speak against versions of a component by themselves."""
    return [claim for claim in matrix.about(name, "conflict") if not claim.object]


def landing(matrix: Matrix, name: str, version: Version, scope: Scope) -> Landing:
    """What speaks against going to *version* of the component *name* in a place with that scope."""
    found = [claim for claim in barring(matrix, name) if version in claim.subject_range]
    if not found:
        return _FREE
    against: list[Claim] = []
    cautions: list[Caution] = []
    for claim in found:
        match = matrix.fit(claim, scope)
        if match.fit is Fit.NO:
            continue
        condition = describe((*match.open, *_further(claim)))
        if claim.severity == "must" and not condition:
            against.append(claim)
        else:
            cautions.append(Caution(claim, condition))
    return Landing(tuple(against), tuple(cautions))


def resolve_landing(matrix: Matrix, given: Given, scope: Scope | None = None) -> Landing:
    """The same for a component and version as a caller gives them.

    Raises:
        InputError: if the component or version is not known.
    """
    name, version = matrix.part(given)
    return landing(matrix, name, version, {**matrix.text_scope(name, version), **(scope or {})}) if version else _FREE


def _further(claim: Claim) -> list[tuple[str, tuple[str, ...]]]:
    """Conditions of the claim beyond its scope; what is beside the version is not looked at here."""
    found: list[tuple[str, tuple[str, ...]]] = []
    when = claim.detail.get("when")
    if isinstance(when, Mapping):
        found += [(str(name), (str(text),)) for name, text in when.items()]
    found += [("condition", (str(text),)) for text in (None if isinstance(when, Mapping) else when, claim.detail.get("condition")) if text]
    return found
