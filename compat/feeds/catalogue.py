"""Which feeds there are: the `feeds` of all subject files, and the reader of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from compat.documents import read_file
from compat.errors import Fault, InputError, KnowledgeError
from compat.feed_schema import ChartValuesFeed, CiVersionsFeed, Feed, FeedEntry
from compat.feeds import chart_values, ci_versions, endoflife, feature_gates, github_releases, helm_index, release_schedule
from compat.feeds.interface import Read
from compat.knowledge import data_files
from compat.layers import MAX_BYTES

__all__ = ["READERS", "CataloguedFeed", "catalogue", "chosen"]

READERS: dict[str, Read] = {
    "github-releases": github_releases.read,
    "helm-index": helm_index.read,
    "release-schedule": release_schedule.read,
    "endoflife": endoflife.read,
    "chart-values": chart_values.read,
    "ci-versions": ci_versions.read,
    "feature-gates": feature_gates.read,
}
"""Kind of feed -> its reader."""


@dataclass(frozen=True)
class CataloguedFeed:
    """One feed and whom it serves."""

    id: str
    subject: str
    entry: Feed
    read: Read


def catalogue(folder: Path) -> list[CataloguedFeed]:
    """Return the feeds of all subject files of *folder*; those that read files at tags come after those that say which tags there are.

    Raises:
        KnowledgeError: if a list of feeds has faults.
    """
    form: TypeAdapter[list[FeedEntry]] = TypeAdapter(list[FeedEntry])
    found: list[CataloguedFeed] = []
    for path in data_files(folder):
        document = read_file(path, MAX_BYTES, f"{folder.name}/{path.name}")
        if not isinstance(document.value, dict) or "feeds" not in document.value:
            continue
        try:
            entries = form.validate_python(document.value["feeds"])
        except ValidationError as error:
            raise KnowledgeError([Fault(document.where(("feeds",)), f"{error.errors()[0]['msg']}; see `compat kb check`")]) from error
        for entry in entries:
            subject = entry.subject or str(document.value.get("subject"))
            found.append(CataloguedFeed(entry.id or f"{subject}-{entry.kind}", subject, entry, READERS[entry.kind]))
    return sorted(found, key=lambda feed: isinstance(feed.entry, ChartValuesFeed | CiVersionsFeed))


def chosen(feeds: Sequence[CataloguedFeed], subjects: Iterable[str]) -> list[CataloguedFeed]:
    """Return the feeds of some subjects; of all if none is named.

    Raises:
        InputError: if a subject has no feed.
    """
    wanted = list(subjects)
    served = {feed.subject for feed in feeds}
    for name in wanted:
        if name not in served:
            raise InputError(f"no feed serves {name}; feeds serve: {', '.join(sorted(served))}")
    return [feed for feed in feeds if not wanted or feed.subject in wanted]
