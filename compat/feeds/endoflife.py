"""endoflife.date, API v1: how long a line is supported, or offered by a provider."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from compat.feed_schema import EndOfLifeFeed
from compat.feeds.fetch import Fetcher, Page
from compat.feeds.interface import Facts, FeedError, Task
from compat.feeds.known import Known
from compat.feeds.parsing import Payload, bounded, day_of, plausible, read_json, release
from compat.schema import ReleaseEntry, SourceEntry

__all__ = ["read"]

_MOST = 500


class _Latest(Payload):
    name: str | None
    date: str | None = None


class _Cycle(Payload):
    name: str
    label: str
    releaseDate: str | None  # noqa: N815  # as the API writes it
    isLts: bool  # noqa: N815
    eoasFrom: str | None = None  # noqa: N815
    eolFrom: str | None  # noqa: N815
    eoesFrom: str | None = None  # noqa: N815
    latest: _Latest | None


class _Product(Payload):
    name: str
    releases: list[_Cycle]


class _Answer(Payload):
    schema_version: str
    last_modified: str
    result: _Product


def read(task: Task, fetcher: Fetcher, known: Known) -> Facts:
    """Read the cycles of one product."""
    entry = task.entry
    assert isinstance(entry, EndOfLifeFeed)  # noqa: S101  # the table of kinds says so
    page = fetcher.get(f"https://endoflife.date/api/v1/products/{entry.product}/", json_only=True)
    answer: _Answer = read_json(page, _Answer)
    if not answer.schema_version.startswith("1."):
        raise FeedError(page.address, "schema_version 1", answer.schema_version)
    if answer.result.name != entry.product or not 0 < len(answer.result.releases) <= _MOST:
        raise FeedError(page.address, f"1 to {_MOST} cycles of {entry.product}", f"{len(answer.result.releases)} of {answer.result.name}")
    said = day_of(page, answer.last_modified, task.today, "last_modified")
    facts = Facts(SourceEntry(url=f"https://endoflife.date/{entry.product}"), secondary=True)
    releases: list[ReleaseEntry] = []
    for cycle in answer.result.releases:
        match = re.fullmatch(entry.line, cycle.name) if len(cycle.name) < 100 else None
        if match is None:
            continue
        channel = next((rule.channel for rule in entry.channels if re.search(rule.pattern, cycle.label[:200])), "lts" if cycle.isLts else "stable")
        days: dict[str, date] = {key: day for key, name in entry.days.items() if (day := day_of(page, getattr(cycle, name), task.today, name, future=True))}
        if claim := _claim(task, entry, match["line"], days, channel, said, known):
            facts.claims.append(claim)
        if entry.latest and cycle.latest is not None and cycle.latest.name and (newest := _latest(page, task, cycle.latest, channel, known)):
            releases.append(newest)
    if not facts.claims:
        raise FeedError(page.address, f"cycles like {entry.line}, with days", ", ".join(cycle.name for cycle in answer.result.releases[:5]))
    facts.releases = bounded(page, known, task.subject, releases)
    facts.claims = list({claim["id"]: claim for claim in facts.claims}.values())
    return facts


def _latest(page: Page, task: Task, latest: _Latest, channel: str, known: Known) -> ReleaseEntry | None:
    version = known.version(task.subject, latest.name or "")
    if version is None:
        raise FeedError(page.address, f"a version of {task.subject} as latest", repr(latest.name))
    return release(plausible(page, version, task, known), day_of(page, latest.date, task.today, f"date of {version.release}"), channel)


def _claim(task: Task, entry: EndOfLifeFeed, line: str, days: dict[str, date], channel: str, said: date | None, known: Known) -> dict[str, Any] | None:
    speaks_of = entry.object if entry.claim == "offer" and entry.object else task.subject
    if known.version(speaks_of, line) is None or not days:
        return None
    ends = [days[key] for key in ("standard_until", "supported_until", "maintenance_until", "extended_until") if key in days]
    if ends != sorted(ends):  # some products count active support from the last feature, after the end of fixes; only the last day is kept then
        keep = max(("standard_until", "supported_until", "maintenance_until", "extended_until"), key=lambda key: days.get(key, date.min))
        days = {key: day for key, day in days.items() if key in (keep, "available_from")}
    told = ", ".join(f"{key.replace('_', ' ')} {day}" for key, day in days.items())
    claim: dict[str, Any] = {"id": line, "kind": entry.claim, "grade": "declared", "said": said, **days}
    if entry.claim == "offer":
        claim |= {"object": entry.object, "object_versions": f"=={line}.*", "summary": f"endoflife.date: {task.subject} offers {entry.object} {line}, {told}."}
    else:
        claim |= {"versions": f"=={line}.*", "summary": f"endoflife.date: {task.subject} {line}, {told}."}
        if entry.branch_type and channel != "stable":
            claim["branch_type"] = channel
    return {key: value for key, value in claim.items() if value is not None}
