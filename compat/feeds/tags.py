"""Files of a repository at the tags of a subject's newest releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from compat.feed_schema import TagFeed
from compat.feeds.fetch import AbsentError, Fetcher, Page
from compat.feeds.interface import FeedError, Task
from compat.feeds.known import Known
from compat.versions import Version

__all__ = ["TagFile", "tag_files"]


@dataclass(frozen=True)
class TagFile:
    """A file at one tag."""

    version: Version
    day: date | None
    """When the version was released, where that is known."""
    ref: str
    path: str
    page: Page


def tag_files(task: Task, entry: TagFeed, fetcher: Fetcher, known: Known, is_known: Callable[[Version], bool]) -> Iterator[TagFile]:
    """Yield the file at the tag of each of the newest releases, but for those that are known in full.

    Raises:
        FeedError: if a page cannot be read, or the file is at none of its paths at any tag.
    """
    wanted = [(version, day) for version, day in known.newest(task.subject, entry.newest) if not is_known(version)]
    missing: FeedError | None = None
    count = 0
    for version, day in wanted:
        ref = entry.tag.replace("{version}", version.release)
        for path in entry.paths:
            try:
                page = fetcher.get(f"https://raw.githubusercontent.com/{entry.repo}/{ref}/{path}")
            except AbsentError as error:
                missing = error
                continue
            count += 1
            yield TagFile(version, day, ref, path, page)
            break
    if missing is not None and not count:
        raise missing
