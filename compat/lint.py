"""Warnings about knowledge that has no faults: what is probably a slip, with what to do about it.

Faults make knowledge unusable and are found by `compat.knowledge`. What is found here is allowed, since a source may really say so; each
check has a name, which docs/data-format.md explains.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from compat.claims import BUILT_IN, Claim
from compat.errors import nearest
from compat.graph import CONSTRAINING
from compat.knowledge import Knowledge
from compat.lines import line_of
from compat.ranges import Range, parse_range
from compat.versions import Lineage, Version

__all__ = ["CHECKS", "Remark", "lint", "only_for_readers"]

_PLACEHOLDER = re.compile(r"\{[a-z][a-z_-]*\}")


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that is probably a slip."""

    check: str
    """One of `CHECKS`."""
    where: str
    """File and line, as far as known."""
    about: str
    """Claim id, or subject and release."""
    what: str
    """What was found and what to do."""

    def __str__(self) -> str:
        return f"{self.where}: {self.check}: {self.about}: {self.what}"


def lint(knowledge: Knowledge) -> list[Remark]:
    """Return every warning, in the order of the claims."""
    found = [warning for check in CHECKS.values() for warning in check(knowledge)]
    order = {identity: number for number, identity in enumerate(knowledge.places)}
    return sorted(found, key=lambda warning: order.get(warning.about, len(order)))


def only_for_readers(knowledge: Knowledge) -> dict[str, int]:
    """Objects without a subject that claims about pairs speak of -> number of claims: `kb show` and SQL find them, no verdict does."""
    counts: dict[str, int] = defaultdict(int)
    for claim in knowledge.claims:
        if claim.kind in CONSTRAINING and claim.object not in knowledge.subjects:
            counts[claim.object or "no object"] += 1
    return dict(sorted(counts.items()))


def _warn(check: str, knowledge: Knowledge, claim: Claim, what: str) -> Remark:
    return Remark(check, knowledge.places.get(claim.id, "?"), claim.id, what)


def _releases(knowledge: Knowledge) -> dict[str, list[Version]]:
    found: dict[str, list[Version]] = defaultdict(list)
    for release in knowledge.releases:
        found[release.subject].append(release.version)
    return found


def _empty_ranges(knowledge: Knowledge) -> Iterator[Remark]:
    """Ranges in which no release line lies, where no later release can either."""
    releases = _releases(knowledge)
    lines: dict[str, list[Range]] = {}
    for claim in knowledge.claims:
        for key, name, text in (
            ("versions", claim.subject, claim.versions),
            ("object_versions", claim.object, claim.object_versions),
            ("to_versions", claim.subject, str(claim.detail.get("to_versions") or "")),
            ("stop", claim.subject, str(claim.detail.get("stop") or "")),
        ):
            subject = knowledge.subjects.get(name)
            known = releases.get(subject.releases_of or name) if subject else None
            if not subject or not known or not text:
                continue
            found = parse_range(text, subject.lineage)
            if name not in lines:
                lines[name] = [parse_range(f"=={'.'.join(str(part) for part in line)}.*", subject.lineage) for line in _lines(known)]
            if any(version in found for version in known) or any(found.overlaps(line) for line in lines[name]):
                continue
            newest, oldest = max(known), min(known)
            if found.overlaps(_beyond(">", newest, subject.lineage)):
                if claim.kind == "support" and claim.grade == "tested":
                    yield _warn(
                        "tested-unreleased", knowledge, claim, f"{key} {text!r} of {name} has no release yet (newest {newest.text}); add it, or mend the range"
                    )
            elif (claim.kind in CONSTRAINING and claim.kind != "bundle") or not found.overlaps(_beyond("<", oldest, subject.lineage)):
                what = f"no release line of {name} lies in {key} {text!r}, and no later one can (known: {oldest.text} to {newest.text}); mend the range"
                yield _warn("empty-range", knowledge, claim, what)


def _lines(known: list[Version]) -> set[tuple[int, ...]]:
    return {line_of(version)[1:] for version in known}


def _beyond(operator: str, version: Version, lineage: Lineage) -> Range:
    return parse_range(f"{operator}{version.key}", lineage)


def _never_standing(knowledge: Knowledge) -> Iterator[Remark]:
    for claim in knowledge.claims:
        if claim.known_until is not None and claim.known_until <= claim.known_from:
            yield _warn("stands-on-no-day", knowledge, claim, f"it is said and replaced on {claim.known_from}, so no answer sees it; mend the dates or drop it")


def _without_link(knowledge: Knowledge) -> Iterator[Remark]:
    for claim in knowledge.claims:
        if not claim.source.link and claim.grade != "inferred" and not (claim.layer != BUILT_IN and claim.source.path):
            yield _warn("no-link", knowledge, claim, f"the source {str(claim.source)!r} cannot be opened; give repo and path, or url")


def _dates_ahead(knowledge: Knowledge) -> Iterator[Remark]:
    newest: date = max([knowledge.built_in, *(layer.as_of for layer in knowledge.layers)])
    for claim in knowledge.claims:
        if claim.layer != BUILT_IN:  # a ban may end in the future
            continue
        if claim.known_until is not None and claim.known_until > newest:
            yield _warn("until-ahead", knowledge, claim, f"until {claim.known_until}, after {newest}, the newest source read; nobody can have read that yet")
    for release in knowledge.releases:
        if release.released is not None and release.released > newest:
            what = f"released {release.released}, after {newest}, the newest source read; write planned instead"
            yield Remark("released-ahead", "releases", f"{release.subject} {release.text}", what)


def _summaries(knowledge: Knowledge) -> Iterator[Remark]:
    for claim in knowledge.claims:
        if found := _PLACEHOLDER.search(claim.summary):
            what = f"the summary shows {found[0]!r} as it stands; known are {{subject}}, {{versions}}, {{object}}, {{object_versions}}, {{scope}}"
            yield _warn("placeholder", knowledge, claim, what)


def _twins(knowledge: Knowledge) -> Iterator[Remark]:
    seen: dict[str, str] = {}
    for claim in knowledge.claims:
        key = repr(
            (
                claim.kind, claim.subject, claim.versions, claim.object, claim.object_versions, sorted(claim.scope.items()), claim.grade, claim.severity,
                claim.known_from, claim.known_until, claim.source, claim.summary, sorted(claim.detail.items(), key=lambda item: item[0]),
            )
        )  # fmt: skip
        if key in seen:
            yield _warn("twin", knowledge, claim, f"it says word for word what {seen[key]} says; keep one")
        seen.setdefault(key, claim.id)


_PART = r"[A-Za-z0-9][A-Za-z0-9._+/-]*(@[^:\s]+)?"
_RISK = re.compile(rf"(unknown|broken):{_PART}:{_PART}|unknown-hop:[a-z0-9][a-z0-9._+-]*@[^@:\s]+:[^@:\s]+")


def _risks(knowledge: Knowledge) -> Iterator[Remark]:
    """Accepted risks that no plan can ask for, so that somebody believes to have accepted what he has not."""
    for entry in knowledge.accepted:
        where = f"accepted of {entry.layer}"
        if not _RISK.fullmatch(entry.id):
            what = "no plan gives such an id; expected unknown:A@1.0:B@2.0, broken:A@1.0:B@2.0 or unknown-hop:A@1.0:2.0, as the hold of a plan gives it"
            yield Remark("risk-id", where, entry.id, what)
            continue
        names = [part.partition("@")[0] for part in entry.id.split(":")[1:]][: 1 if entry.id.startswith("unknown-hop") else 2]
        for name in names:
            if "/" not in name and name not in ("this", *knowledge.subjects) and name not in knowledge.vocabulary.objects:  # an API, or "this cluster"
                what = f"there is no component {name}{nearest(name, list(knowledge.subjects))}, so no plan gives such an id"
                yield Remark("risk-id", where, entry.id, what)


CHECKS: dict[str, Callable[[Knowledge], Iterator[Remark]]] = {
    "empty-range": _empty_ranges,
    "stands-on-no-day": _never_standing,
    "no-link": _without_link,
    "until-ahead": _dates_ahead,
    "placeholder": _summaries,
    "twin": _twins,
    "risk-id": _risks,
}
"""First name of each check -> the check; two of them give more than one."""
