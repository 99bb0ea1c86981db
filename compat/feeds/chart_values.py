"""A chart's values at a tag: which versions of its parts a release brings."""

from __future__ import annotations

import re
from typing import Any

from compat.errors import InputError
from compat.feed_schema import BundleKey, ChartValuesFeed
from compat.feeds.constraints import install_floor, range_of
from compat.feeds.fetch import Fetcher
from compat.feeds.interface import Facts, FeedError, Task
from compat.feeds.known import Known
from compat.feeds.parsing import read_yaml
from compat.feeds.tags import TagFile, tag_files
from compat.schema import SourceEntry
from compat.versions import Version

__all__ = ["read"]


def read(task: Task, fetcher: Fetcher, known: Known) -> Facts:
    """Read the versions of bundled components, and constraints of charts, at the tags of the newest releases."""
    entry = task.entry
    assert isinstance(entry, ChartValuesFeed)  # noqa: S101  # the table of kinds says so
    facts = Facts(SourceEntry(repo=entry.repo, path=entry.paths[0]), partial=True)

    def is_known(version: Version) -> bool:
        kinds = [*(("bundle", name) for name in entry.bundles), *(("require", name) for name in entry.requires)]
        return all(any(version in claim.subject_range for claim in known.claims(kind, task.subject, name)) for kind, name in kinds)

    for file in tag_files(task, entry, fetcher, known, is_known):
        values = read_yaml(file.page, dict[str, Any])
        for name, given in entry.bundles.items():
            bundle = given if isinstance(given, BundleKey) else BundleKey(key=given)
            text = _value(file, values, bundle.key)
            if text and (claim := _bundle(task, file, name, bundle, text, known)):
                facts.claims.append(claim)
        for name, key in entry.requires.items():
            text = _value(file, values, key)
            try:
                claim = install_floor(task.subject, file.version.release, name, range_of(text, known.lineage(name)), file.day)
            except InputError as error:
                raise FeedError(file.page.address, f"a version constraint as {key}", repr(text)) from error
            facts.claims.append({**claim, "ref": file.ref})
    return facts


def _value(file: TagFile, values: dict[str, Any], key: str) -> str:
    """The text at a dotted key; empty where the chart leaves it empty."""
    found: Any = values
    for word in key.split("."):
        if isinstance(found, list):
            found = {str(item.get("name")): item for item in found if isinstance(item, dict)}
        if not isinstance(found, dict) or word not in found:
            raise FeedError(file.page.address, f"the key {key}", f"no {word} in it")
        found = found[word]
    if found is None:
        return ""
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise FeedError(file.page.address, f"a version as {key}", repr(found))
    return str(found)


def _bundle(task: Task, file: TagFile, name: str, bundle: BundleKey, text: str, known: Known) -> dict[str, Any] | None:
    version = known.version(name, text)
    if version is None:
        raise FeedError(file.page.address, f"a version of {name} as {bundle.key}", repr(text))
    packager = re.match(r"[0-9A-Za-z.]*", version.suffix)  # 4.6.0-4.8.3-distroless: the packager's number says something, the flavour of its image does not
    shown = "-".join(part for part in (version.release, packager[0] if packager else "") if part)
    claim = {
        "id": f"{name}-{file.version.release}", "kind": "bundle", "versions": f"=={file.version.release}", "object": name, "object_versions": shown,
        "scope": bundle.scope or None, "grade": "declared", "role": bundle.role, "optional": bundle.optional or None, "said": file.day, "ref": file.ref,
        "summary": f"{task.subject} {file.version.release} ships {name} {shown}{', not deployed unless asked for' if bundle.optional else ''}.",
    }  # fmt: skip
    return {key: value for key, value in claim.items() if value is not None}
