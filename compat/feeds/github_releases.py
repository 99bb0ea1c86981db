"""GitHub releases: which versions there are, and since when."""

from __future__ import annotations

import re

from compat.feed_schema import GithubReleasesFeed
from compat.feeds.fetch import Fetcher
from compat.feeds.interface import Facts, FeedError, Task
from compat.feeds.known import Known
from compat.feeds.parsing import Payload, bounded, day_of, plausible, read_json, release
from compat.schema import SourceEntry

__all__ = ["read"]

_COUNT = 50
"""Releases asked for; what is older is in the knowledge base, and pages of projects with many files per release grow large."""


class _Release(Payload):
    tag_name: str
    draft: bool
    prerelease: bool
    published_at: str | None


def read(task: Task, fetcher: Fetcher, known: Known) -> Facts:
    """Read the newest releases of a repository."""
    entry = task.entry
    assert isinstance(entry, GithubReleasesFeed)  # noqa: S101  # the table of kinds says so
    page = fetcher.get(f"https://api.github.com/repos/{entry.repo}/releases?per_page={_COUNT}", json_only=True)
    given: list[_Release] = read_json(page, list[_Release])
    found = []
    facts = Facts(SourceEntry(repo=entry.repo, url=f"https://github.com/{entry.repo}/releases"))
    for item in given[:_COUNT]:
        match = re.fullmatch(entry.tag, item.tag_name) if len(item.tag_name) < 200 else None
        if item.draft or match is None:
            continue
        version = known.version(task.subject, match["version"])
        if version is None:
            facts.notes.append(f"tag {item.tag_name}: no version of {task.subject}")
            continue
        day = day_of(page, item.published_at, task.today, f"published_at of {item.tag_name}")
        if day is None:
            raise FeedError(page.address, f"published_at of {item.tag_name}", "none")
        found.append(release(plausible(page, version, task, known), day, "rc" if item.prerelease else entry.channel))
    if given and not found:
        raise FeedError(page.address, f"tags like {entry.tag}", ", ".join(item.tag_name for item in given[:5]))
    facts.releases = bounded(page, known, task.subject, found)
    return facts
