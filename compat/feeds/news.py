"""What is new: releases and claims that the knowledge base does not have with the same meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from compat.claims import Claim
from compat.feeds.known import Known
from compat.ranges import parse_range
from compat.schema import ReleaseEntry
from compat.versions import Lineage, Version

__all__ = ["is_new_claim", "is_new_release"]

Written = Mapping[str, Any]
_ENDS = ("supported_until", "maintenance_until", "extended_until", "available_from", "standard_until")


def is_new_release(subject: str, entry: ReleaseEntry, known: Known) -> bool:
    """Whether the knowledge base does not list a release, and begins with an older line: what lies before it was left out on purpose."""
    version = known.version(subject, entry.version)
    return version is not None and not known.has_release(subject, version) and not _left_out(subject, version, known)


def is_new_claim(subject: str, claim: Written, known: Known, *, secondary: bool = False) -> bool:
    """Whether no standing claim of the knowledge base says what *claim* says.

    Args:
        secondary: whether a statement about the same thing, whatever it says, is enough to know it.
    """
    test = _TESTS[claim["kind"]]
    return not test(subject, claim, known, secondary)


def _left_out(subject: str, version: Version, known: Known) -> bool:
    """Whether a version or line lies before all that the knowledge base lists of a subject."""
    listed = known.releases(subject)
    return bool(listed) and version < listed[-1].version and version.line != listed[-1].version.line


def _same_lifecycle(subject: str, claim: Written, known: Known, secondary: bool) -> bool:
    line = known.version(subject, claim["versions"].removeprefix("==").removesuffix(".*"))
    stated = [
        item
        for item in known.claims("lifecycle", subject)
        if line is not None and line in item.subject_range and not item.scope and any(item.detail.get(key) for key in (*_ENDS, "branch_type"))
    ]
    if secondary or not stated:
        return bool(stated) or line is None or _left_out(subject, line, known)
    newest = max(stated, key=lambda item: item.known_from)
    return all(_day(claim.get(key)) == newest.detail.get(key) for key in _ENDS if claim.get(key) or newest.detail.get(key))


def _same_offer(subject: str, claim: Written, known: Known, secondary: bool) -> bool:
    line = known.version(claim["object"], claim["object_versions"].removeprefix("==").removesuffix(".*"))
    offers = known.claims("offer", subject, claim["object"])
    stated = [item for item in offers if line is not None and line in item.object_range]
    offered = [release.version for release in known.releases(claim["object"]) if any(release.version in item.object_range for item in offers)]
    if line is None or (not stated and offered and line < min(offered)):
        return True  # lines before the oldest offer were left out on purpose
    return any(secondary or all(_day(claim.get(key)) == item.detail.get(key) for key in _ENDS) for item in stated)


def _same_bundle(subject: str, claim: Written, known: Known, _: bool) -> bool:
    version = known.version(subject, claim["versions"].removeprefix("=="))
    brought = known.version(claim["object"], claim["object_versions"])
    stated = known.claims("bundle", subject, claim["object"])
    return version is None or brought is None or any(version in item.subject_range and brought in item.object_range for item in stated)


def _same_pairs(subject: str, claim: Written, known: Known, _: bool) -> bool:
    """Whether a claim of the same kind and basis gives the version the same versions of the object."""
    version = known.version(subject, claim["versions"].removeprefix("=="))
    stated = [item for item in known.claims(claim["kind"], subject, claim["object"]) if item.detail.get("basis") == claim["basis"]]
    return version is None or any(version in item.subject_range and _same_range(claim, item, known) for item in stated)


def _same_range(claim: Written, item: Claim, known: Known) -> bool:
    """Whether two ranges hold the same of all releases that are known and of all numbers that either names."""
    lineage: Lineage = known.lineage(item.object)
    texts = (claim["object_versions"], item.object_versions)
    one, other = (parse_range(text, lineage) for text in texts)
    ends = {number for text in texts for number in re.findall(r"\d+(?:\.\d+)+", text)}
    named = [known.version(item.object, near) for end in ends for near in (end, *_neighbours(end))]
    points: list[Version] = [release.version for release in known.releases(item.object)] if known.has_subject(item.object) else []
    return all((point in one) == (point in other) for point in [*points, *(number for number in named if number is not None)])


def _neighbours(number: str) -> list[str]:
    """The numbers before and after: where one range says ``<1.5`` and the other ``- 1.5``, they differ."""
    head, _, last = number.rpartition(".")
    return [f"{head}.{int(last) + step}" for step in (-1, 1) if int(last) + step >= 0]


def _same_feature(subject: str, claim: Written, known: Known, _: bool) -> bool:
    stated = [item for item in known.claims("feature", subject) if item.detail.get("gate") == claim["gate"]]
    stages = [stage for item in stated for stage in item.detail.get("stages") or ()]
    seen = {(stage["stage"], stage["from"]) for stage in stages}
    newest = max((version for stage in stages if (version := known.version(subject, stage["from"])) is not None), default=None)
    if newest is None:
        return False
    # the pages trail the code that the knowledge base was read from: only a stage after all that is known is news
    later = [known.version(subject, stage["from"]) for stage in claim["stages"] if (stage["stage"], stage["from"]) not in seen]
    return not any(version is not None and version > newest for version in later)


def _day(value: object) -> str | None:
    return str(value) if value else None


_TESTS: dict[str, Callable[[str, Written, Known, bool], bool]] = {
    "lifecycle": _same_lifecycle,
    "offer": _same_offer,
    "bundle": _same_bundle,
    "require": _same_pairs,
    "support": _same_pairs,
    "feature": _same_feature,
}
