"""The index of a Helm repository: versions of a chart, and the floor that its `kubeVersion` sets."""

from __future__ import annotations

from compat.errors import InputError
from compat.feed_schema import HelmIndexFeed
from compat.feeds.constraints import install_floor, range_of
from compat.feeds.fetch import Fetcher
from compat.feeds.interface import Facts, FeedError, Task
from compat.feeds.known import Known
from compat.feeds.parsing import Payload, bounded, day_of, plausible, read_yaml, release, validated
from compat.schema import SourceEntry

__all__ = ["read"]

_MOST = 2000


class _Index(Payload):
    apiVersion: str  # noqa: N815  # as Helm writes it
    entries: dict[str, object]


class _Chart(Payload):
    version: str | int
    appVersion: str | int | None = None  # noqa: N815
    created: str | None = None
    kubeVersion: str | None = None  # noqa: N815


def read(task: Task, fetcher: Fetcher, known: Known) -> Facts:
    """Read the versions of one chart."""
    entry = task.entry
    assert isinstance(entry, HelmIndexFeed)  # noqa: S101  # the table of kinds says so
    page = fetcher.get(entry.url)
    index: _Index = read_yaml(page, _Index)
    if entry.chart not in index.entries:
        raise FeedError(page.address, f"the chart {entry.chart}", ", ".join(list(index.entries)[:8]))
    charts: list[_Chart] = validated(page, list[_Chart], index.entries[entry.chart])
    if len(charts) > _MOST:
        raise FeedError(page.address, f"at most {_MOST} versions of {entry.chart}", len(charts))
    facts = Facts(SourceEntry(url=entry.url, locator=f"entries.{entry.chart}"))
    found = []
    for chart in charts:
        text = str((chart.version if entry.version_from == "version" else chart.appVersion) or "")
        version = known.version(task.subject, text)
        if version is None:
            facts.notes.append(f"chart {chart.version}: {entry.version_from} is no version of {task.subject}")
            continue
        day = day_of(page, chart.created, task.today, f"created of {chart.version}")
        if day is None:
            facts.notes.append(f"chart {chart.version}: no day of creation")
            continue
        found.append(release(plausible(page, version, task, known), day, entry.channel))
        if entry.requires and chart.kubeVersion and not version.is_prerelease:
            try:
                floor = range_of(chart.kubeVersion, known.lineage(entry.requires))
            except InputError as error:
                facts.notes.append(f"chart {chart.version}: kubeVersion: {error}")
                continue
            facts.claims.append(install_floor(task.subject, version.release, entry.requires, floor, day))
    if not found:
        raise FeedError(page.address, f"versions of {task.subject} under {entry.chart}", f"{len(charts)} entries without one")
    facts.releases = bounded(page, known, task.subject, found)
    facts.claims = list({claim["id"]: claim for claim in facts.claims}.values())
    return facts
