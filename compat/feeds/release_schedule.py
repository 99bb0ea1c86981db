"""Kubernetes' schedule of patch releases: which patches came out when, and until when a minor is supported."""

from __future__ import annotations

from datetime import date
from typing import Any

from compat.feed_schema import ReleaseScheduleFeed
from compat.feeds.fetch import Fetcher
from compat.feeds.interface import Facts, FeedError, Task
from compat.feeds.known import Known
from compat.feeds.parsing import Payload, bounded, day_of, plausible, read_yaml, release
from compat.schema import ReleaseEntry, SourceEntry

__all__ = ["read"]

_MOST = 60


class _Patch(Payload):
    release: str
    targetDate: str | date  # noqa: N815  # as the file writes it


class _Minor(Payload):
    release: str
    releaseDate: str | date  # noqa: N815
    maintenanceModeStartDate: str | date  # noqa: N815
    endOfLifeDate: str | date  # noqa: N815
    previousPatches: tuple[_Patch, ...] = ()  # noqa: N815  # a minor that has just come out has none


class _Schedule(Payload):
    schedules: list[_Minor]


def read(task: Task, fetcher: Fetcher, known: Known) -> Facts:
    """Read the patches that are out and the days on which support ends."""
    entry = task.entry
    assert isinstance(entry, ReleaseScheduleFeed)  # noqa: S101  # the table of kinds says so
    page = fetcher.get(f"https://raw.githubusercontent.com/{entry.repo}/{entry.ref}/{entry.path}")
    schedule: _Schedule = read_yaml(page, _Schedule)
    if not 0 < len(schedule.schedules) <= _MOST:
        raise FeedError(page.address, f"1 to {_MOST} schedules", len(schedule.schedules))
    facts = Facts(SourceEntry(repo=entry.repo, path=entry.path))
    found: list[ReleaseEntry] = []
    for minor in schedule.schedules:
        line = known.version(task.subject, minor.release)
        if line is None or line.parts != 2:
            raise FeedError(page.address, f"a minor of {task.subject} as release", repr(minor.release))
        plausible(page, line, task, known)
        patches = [(f"{line.release}.0", minor.releaseDate), *((patch.release, patch.targetDate) for patch in minor.previousPatches)]
        for text, target in patches:
            version = known.version(task.subject, text)
            if version is None or version.line != line.line or version.parts != 3:
                raise FeedError(page.address, f"a patch of {line.release}", repr(text))
            day = day_of(page, target, task.today, f"targetDate of {text}", future=True)
            if day is not None and day <= task.today:
                found.append(release(version, day, "stable"))
        days = {
            "supported_until": day_of(page, minor.maintenanceModeStartDate, task.today, "maintenanceModeStartDate", future=True),
            "maintenance_until": day_of(page, minor.endOfLifeDate, task.today, "endOfLifeDate", future=True),
        }
        facts.claims.append(_claim(task, line.release, days))
    facts.releases = bounded(page, known, task.subject, found)
    return facts


def _claim(task: Task, line: str, days: dict[str, date | None]) -> dict[str, Any]:
    told = f"goes into maintenance mode on {days['supported_until']} and ends on {days['maintenance_until']}"
    given = {key: day for key, day in days.items() if day is not None}
    return {"id": line, "kind": "lifecycle", "versions": f"=={line}.*", "grade": "declared", **given, "summary": f"{task.subject} {line} {told}."}
