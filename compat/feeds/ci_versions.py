"""What a project's own CI tests, from a file at a tag: the one kind of feed whose claims are graded `tested`."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from compat.feed_schema import CiVersionsFeed
from compat.feeds.fetch import Fetcher
from compat.feeds.interface import Facts, FeedError, Task
from compat.feeds.known import Known
from compat.feeds.tags import TagFile, tag_files
from compat.schema import SourceEntry
from compat.versions import Version

__all__ = ["minor_lines", "read"]

_MOST = 40


def read(task: Task, fetcher: Fetcher, known: Known) -> Facts:
    """Read the list of versions at the tags of the newest releases."""
    entry = task.entry
    assert isinstance(entry, CiVersionsFeed)  # noqa: S101  # the table of kinds says so
    facts = Facts(SourceEntry(repo=entry.repo, path=entry.paths[0]), partial=True)

    def is_known(version: Version) -> bool:
        own = [claim for claim in known.claims("support", task.subject, entry.object) if claim.detail.get("basis") == "ci"]
        return any(version in claim.subject_range and claim.versions == f"=={version.release}" for claim in own)

    for file in tag_files(task, entry, fetcher, known, is_known):
        facts.claims.append(_claim(task, entry, file, _versions(entry, file, known)))
    return facts


def _versions(entry: CiVersionsFeed, file: TagFile, known: Known) -> list[Version]:
    line = next((match for text in file.page.text.splitlines() if len(text) < 2000 and (match := re.search(entry.pattern, text))), None)
    if line is None:
        raise FeedError(file.page.address, f"a line like {entry.pattern}", "none")
    words = [word for word in re.split(r"[\s,]+", line["versions"]) if word]
    if not 0 < len(words) <= _MOST:
        raise FeedError(file.page.address, f"1 to {_MOST} versions of {entry.object}", len(words))
    found = []
    for word in words:
        version = known.version(entry.object, word)
        if version is None or version.parts < 2 or abs(version.key.major - known.leading(entry.object)) > 1:
            raise FeedError(file.page.address, f"versions of {entry.object}", repr(line["versions"][:120]))
        found.append(version)
    return sorted(set(found))


def minor_lines(versions: list[Version]) -> str:
    """The range of the minor lines of *versions*: CI that runs one patch of a minor vouches for the minor."""
    lines = sorted({version.line for version in versions})
    together = all(after == (before[0], before[1] + 1) for before, after in pairwise(lines))
    if together:
        return f">={lines[0][0]}.{lines[0][1]},<{lines[-1][0]}.{lines[-1][1] + 1}"
    return " | ".join(f"=={major}.{minor}.*" for major, minor in lines)


def _claim(task: Task, entry: CiVersionsFeed, file: TagFile, versions: list[Version]) -> dict[str, Any]:
    shown = " ".join(version.release for version in versions)
    claim = {
        "id": f"{entry.object}-{file.version.release}", "kind": "support", "versions": f"=={file.version.release}", "object": entry.object,
        "object_versions": minor_lines(versions), "grade": "tested", "basis": "ci", "said": file.day,
        "source": SourceEntry(repo=entry.repo, ref=file.ref, path=file.path),
        "summary": f"CI list: {entry.what} of {task.subject} {file.version.release} runs {entry.object} at {shown}.",
    }  # fmt: skip
    return {key: value for key, value in claim.items() if value is not None}
