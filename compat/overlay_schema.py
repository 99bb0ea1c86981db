"""The written form of an overlay file; docs/data-format.md explains it to people."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from compat.schema import ClaimEntry, Entry, Id, ReleaseEntry, ScopeValue, SourceEntry, SubSubject, TableEntry, Text, Word

__all__ = ["AcceptedEntry", "BanEntry", "OverlayFile", "RetiredEntry", "overlay_schema"]

RiskId = Annotated[str, StringConstraints(min_length=3, max_length=600, pattern=r"^[!-~]+$")]


class OverlayRelease(ReleaseEntry):
    """A release of a component of any layer."""

    subject: Id


class OverlayClaim(ClaimEntry):
    """A claim about a component of any layer."""

    subject: Id


class OverlayTable(TableEntry):
    """A table of claims about a component of any layer."""

    subject: Id


class RetiredEntry(Entry):
    """A claim of another layer that is not to count."""

    id: Id
    reason: Text
    said: date | None = None
    """Since when; default: ``as_of`` of the overlay."""


class AcceptedEntry(Entry):
    """A risk that is accepted by the id that holds give."""

    id: RiskId
    owner: Word
    """Who answers for it."""
    expires: date
    """Last day on which it counts."""
    reason: Text


class BanEntry(Entry):
    """Versions that plans must not land on."""

    component: Id
    versions: Word
    reason: Text
    owner: Word
    id: Id | None = None
    """Id of the claim that is made of it; default: from overlay, component, versions and scope."""
    scope: dict[str, ScopeValue] = Field(default_factory=dict)
    said: date | None = None
    """Since when; default: ``as_of`` of the overlay."""
    until: date | None = None
    """First day on which it does not count any more."""
    source: SourceEntry | str | None = None
    """Default: the overlay file."""


class OverlayFile(Entry):
    """One overlay: users' own facts and rules, on top of the built-in knowledge."""

    schema_: Literal["compat.overlay/v1"] = Field(default="compat.overlay/v1", alias="schema")
    overlay: Id
    """Id of the layer."""
    title: Text
    as_of: date
    sources: dict[Id, SourceEntry] = Field(default_factory=dict)
    subjects: list[SubSubject] = Field(default_factory=list)
    releases: list[OverlayRelease] = Field(default_factory=list)
    claims: list[OverlayClaim] = Field(default_factory=list)
    tables: list[OverlayTable] = Field(default_factory=list)
    retired: list[RetiredEntry] = Field(default_factory=list)
    accepted: list[AcceptedEntry] = Field(default_factory=list)
    bans: list[BanEntry] = Field(default_factory=list)


def overlay_schema() -> dict[str, Any]:
    """Return the JSON Schema of an overlay file."""
    return OverlayFile.model_json_schema(by_alias=True)
