"""One update: every feed is read, what is new is merged with what earlier updates found, and the whole is written or nothing is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from compat.errors import InputError
from compat.feeds.catalogue import CataloguedFeed
from compat.feeds.fetch import Fetcher
from compat.feeds.interface import Facts, FeedError, Task, UnreachableError
from compat.feeds.known import Known
from compat.feeds.news import is_new_claim, is_new_release
from compat.feeds.written import Overlay, Section, locked, read_overlay_file, write_overlay_file
from compat.ranges import parse_range

__all__ = ["Outcome", "Update", "read_feeds", "write_update"]


@dataclass
class Outcome:
    """What came of one feed."""

    feed: CataloguedFeed
    facts: Facts | None = None
    """None: it was not read."""
    error: str = ""
    """Why it was not read, and at which address."""
    reason: str = ""
    """The same without the address."""
    unreachable: bool = False
    """Whether its server did not answer at all."""
    pages: int = 0
    """Pages that came; a feed of which everything is known asks for none."""
    new_releases: list[str] = field(default_factory=list)
    """Releases that the last update did not have."""
    new_claims: list[str] = field(default_factory=list)
    held: date | None = None
    """Day of the last good reading, where this one failed."""

    @property
    def read(self) -> bool:
        """Whether it was asked, and said something that can be used."""
        return self.facts is not None and bool(self.pages or self.facts.releases or self.facts.claims)


@dataclass
class Update:
    """What came of all feeds."""

    outcomes: list[Outcome]
    overlay: Overlay
    written: Path | None = None

    @property
    def failed(self) -> list[Outcome]:
        """Feeds that were not read."""
        return [outcome for outcome in self.outcomes if outcome.facts is None]

    @property
    def fruitless(self) -> bool:
        """Whether feeds were asked, and none could be read."""
        return bool(self.failed) and not any(outcome.read for outcome in self.outcomes)


def read_feeds(feeds: Sequence[CataloguedFeed], fetcher: Fetcher, known: Known, today: date, progress: Callable[[str], None]) -> list[Outcome]:
    """Read feeds one after the other; what one says of releases is known to those after it."""
    outcomes = []
    for feed in feeds:
        progress(feed.id)
        outcome = Outcome(feed)
        before = fetcher.pages
        try:
            outcome.facts = feed.read(Task(feed.id, feed.subject, feed.entry, today), fetcher, known)
            _check_ranges(feed, outcome.facts, known)
            known.add(feed.subject, (entry for entry in outcome.facts.releases if is_new_release(feed.subject, entry, known)))
        except FeedError as error:
            outcome.facts, outcome.error, outcome.reason = None, str(error), error.reason
            outcome.unreachable = isinstance(error, UnreachableError)
        outcome.pages = fetcher.pages - before
        outcomes.append(outcome)
    return outcomes


def _check_ranges(feed: CataloguedFeed, facts: Facts, known: Known) -> None:
    """Have a feed that says what cannot be read stand alone, instead of being in the way of all others."""
    for claim in facts.claims:
        for key, subject in (("versions", feed.subject), ("object_versions", claim.get("object") or "")):
            try:
                parse_range(claim.get(key) or "", known.lineage(subject))
            except InputError as error:
                raise FeedError(facts.source.url or facts.source.repo, f"versions that make a range ({claim['id']})", error) from error


def write_update(
    outcomes: Sequence[Outcome],
    feeds: Iterable[CataloguedFeed],
    known: Known,
    today: date,
    target: Path,
    check: Callable[[Path], None],
    *,
    dry: bool = False,
) -> Update:
    """Merge what was read with what *target* holds and replace it.

    Args:
        outcomes: what came of the feeds that were read.
        feeds: all feeds; what others wrote is taken out.
        check: reads the new file as every command will, before it takes the place of the old one; raises if it has faults. If no feed could
            be read, nothing is written.
        dry: change nothing.

    Raises:
        KnowledgeError: if the new file has faults.
        StoreError: if it cannot be written.
    """
    if dry:
        return Update(list(outcomes), _merged(outcomes, feeds, known, today, read_overlay_file(target)))
    with locked(target):
        before = read_overlay_file(target)
        update = Update(list(outcomes), _merged(outcomes, feeds, known, today, before))
        if not update.fruitless:
            write_overlay_file(target, update.overlay, check)
            update.written = target
    return update


def _merged(outcomes: Sequence[Outcome], feeds: Iterable[CataloguedFeed], known: Known, today: date, before: Overlay) -> Overlay:
    now = {outcome.feed.id: outcome for outcome in outcomes}
    sections: dict[str, Section] = {}
    for feed in feeds:
        old = before.sections.get(feed.id)
        outcome = now.get(feed.id)
        kept = _still_new(feed, old, known) if old else None
        if outcome is None or outcome.facts is None:
            if outcome is not None and old is not None:
                outcome.held = old.read
            if kept is not None:
                sections[feed.id] = kept
            continue
        sections[feed.id] = section = _section(feed, outcome.facts, known, today, kept)
        outcome.new_releases = [entry["version"] for entry in section.releases if kept is None or entry not in kept.releases]
        outcome.new_claims = [claim["id"] for claim in section.claims if kept is None or claim not in kept.claims]
    return Overlay(today, sections)


def _still_new(feed: CataloguedFeed, old: Section, known: Known) -> Section:
    """What an earlier update wrote, without what the knowledge base has learned since."""
    releases = [entry for entry in old.releases if not _known_release(feed.subject, entry, known)]
    claims = [claim for claim in old.claims if is_new_claim(feed.subject, claim, known, secondary=old.secondary)]
    return Section(feed.subject, old.read, old.source, releases, claims, old.secondary)


def _known_release(subject: str, entry: Mapping[str, Any], known: Known) -> bool:
    version = known.version(subject, entry["version"])
    return version is None or known.has_release(subject, version)


def _section(feed: CataloguedFeed, facts: Facts, known: Known, today: date, kept: Section | None) -> Section:
    releases = [
        {"subject": feed.subject, **entry.model_dump(exclude_unset=True, exclude_none=True)}
        for entry in facts.releases
        if is_new_release(feed.subject, entry, known)
    ]
    fresh: dict[str, dict[str, Any]] = {}
    for claim in facts.claims:
        if is_new_claim(feed.subject, claim, known, secondary=facts.secondary):
            identity = f"update-{feed.id}-{claim['id']}"
            source = claim.get("source")
            written = source.model_dump(exclude_defaults=True) if source is not None else feed.id
            fresh[identity] = {**claim, "id": identity, "subject": feed.subject, "said": claim.get("said") or today, "source": written}
    earlier = {claim["id"]: claim for claim in kept.claims} if kept else {}
    for identity, claim in earlier.items():
        if identity not in fresh:
            if facts.partial or claim.get("until"):
                fresh[identity] = claim
            continue
        if _meaning(claim) == _meaning(fresh[identity]):
            fresh[identity] = claim  # said since then, not since today
        elif claim["said"] < today:
            ended = f"{identity}-until-{today}"
            fresh[identity] = {**fresh[identity], "said": max(fresh[identity]["said"], today)}
            fresh[ended] = {**claim, "id": ended, "until": today}
    return Section(feed.subject, today, facts.source.model_dump(exclude_defaults=True), releases, list(fresh.values()), facts.secondary)


def _meaning(claim: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in claim.items() if key not in ("said", "summary")}
