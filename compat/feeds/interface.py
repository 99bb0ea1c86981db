"""What all feeds share: a reader takes a task and returns facts in the written form of the knowledge base, or raises `FeedError`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from compat.errors import CompatError, printable
from compat.feed_schema import Feed
from compat.schema import ReleaseEntry, SourceEntry

if TYPE_CHECKING:
    from compat.feeds.fetch import Fetcher
    from compat.feeds.known import Known

__all__ = ["Facts", "FeedError", "Read", "Task", "UnreachableError"]


class FeedError(CompatError):
    """A feed that cannot be read, or does not say what it said when its reader was written."""

    def __init__(self, address: str, expected: str, found: object) -> None:
        self.reason = f"expected {expected}, found {printable(found, 160)}"
        super().__init__(f"{printable(address, 200)}: {self.reason}")
        self.address = address


class UnreachableError(FeedError):
    """A feed whose server did not answer."""


@dataclass(frozen=True)
class Task:
    """One feed of one subject, on one day."""

    id: str
    subject: str
    """Whom it serves."""
    entry: Feed
    today: date


@dataclass
class Facts:
    """What a feed says now."""

    source: SourceEntry
    releases: list[ReleaseEntry] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    """Claims as in a subject file, with an id and without `source`; all have the `source` above."""
    notes: list[str] = field(default_factory=list)
    """What was passed over and why, for the person who runs the update."""
    secondary: bool = False
    """Whether others decide and the source only collects: it fills gaps, and overrules no claim that is there."""
    partial: bool = False
    """Whether the feed was read in part: what it said earlier about other versions still stands."""


Read = Callable[[Task, "Fetcher", "Known"], Facts]
"""A reader of one kind of feed.

Raises:
    FeedError: if the feed cannot be read or says something else than its kind says.
"""
