"""Front matter of the pages of feature gates: the stages that a gate went through."""

from __future__ import annotations

import re
from typing import Any, Literal

from compat.feed_schema import FeatureGatesFeed
from compat.feeds.fetch import Fetcher, Page
from compat.feeds.interface import Facts, FeedError, Task
from compat.feeds.known import Known
from compat.feeds.parsing import Payload, read_json, read_yaml
from compat.schema import SourceEntry
from compat.versions import Version

__all__ = ["read"]

_MOST = 120
_FENCE = re.compile(r"---\s*\n(?P<matter>.*?)\n---\s*(?:\n|\Z)", re.DOTALL)


class _File(Payload):
    name: str
    type: str


class _Stage(Payload):
    stage: Literal["alpha", "beta", "stable", "deprecated"]
    defaultValue: bool | None = None  # noqa: N815  # as the pages write it
    locked: bool | None = None
    fromVersion: str  # noqa: N815
    toVersion: str | None = None  # noqa: N815


class _Gate(Payload):
    title: str
    content_type: Literal["feature_gate"]
    stages: list[_Stage]
    removed: bool = False


def read(task: Task, fetcher: Fetcher, known: Known) -> Facts:
    """Read the pages of the gates that the entry chooses."""
    entry = task.entry
    assert isinstance(entry, FeatureGatesFeed)  # noqa: S101  # the table of kinds says so
    index = fetcher.get(f"https://api.github.com/repos/{entry.repo}/contents/{entry.path}?ref={entry.ref}", json_only=True)
    files: list[_File] = read_json(index, list[_File])
    names = sorted(
        item.name for item in files if item.type == "file" and re.fullmatch(r"[A-Za-z0-9]{1,100}\.md", item.name) and re.search(entry.gates, item.name[:-3])
    )
    if not 0 < len(names) <= _MOST:
        raise FeedError(index.address, f"1 to {_MOST} gates like {entry.gates}", f"{len(names)} among {len(files)} files")
    facts = Facts(SourceEntry(repo=entry.repo, ref=entry.ref, path=entry.path))
    for name in names:
        page = fetcher.get(f"https://raw.githubusercontent.com/{entry.repo}/{entry.ref}/{entry.path}/{name}")
        match = _FENCE.match(page.text)
        if match is None:
            raise FeedError(page.address, "front matter between two lines of ---", repr(page.text[:60]))
        gate: _Gate = read_yaml(page, _Gate, match["matter"])
        if gate.title != name[:-3] or not gate.stages:
            raise FeedError(page.address, f"the stages of {name[:-3]}", f"{len(gate.stages)} of {gate.title}")
        facts.claims.append(_claim(task, entry, page, gate, known))
    return facts


def _claim(task: Task, entry: FeatureGatesFeed, page: Page, gate: _Gate, known: Known) -> dict[str, Any]:
    stages = []
    for stage in gate.stages:
        first = _minor(task, page, stage.fromVersion, known)
        written = {"stage": stage.stage, "from": first.release, "default": stage.defaultValue, "locked": stage.locked}
        stages.append({key: value for key, value in written.items() if value is not None})
    last = gate.stages[-1].toVersion
    versions = f">={stages[0]['from']}"
    if gate.removed and last:
        end = _minor(task, page, last, known)
        versions += f",<{end.key.major}.{end.key.minor + 1}"
    told = ", ".join(f"{stage['stage']} from {stage['from']}" for stage in stages)
    claim = {
        "id": gate.title.lower(), "kind": "feature", "versions": versions, "object": gate.title.lower() if gate.title.lower() in known.objects else None,
        "gate": gate.title, "topic": entry.topic, "stages": stages, "grade": "declared",
        "source": SourceEntry(repo=entry.repo, ref=entry.ref, path=f"{entry.path}/{gate.title}.md"), "summary": f"{gate.title}: {told}.",
    }  # fmt: skip
    return {key: value for key, value in claim.items() if value is not None}


def _minor(task: Task, page: Page, text: str, known: Known) -> Version:
    version = known.version(task.subject, text)
    if version is None or version.parts != 2:
        raise FeedError(page.address, f"a minor of {task.subject}", repr(text))
    return version
