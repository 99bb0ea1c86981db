"""What two states of the knowledge differ in, and what that means.

Either side is the knowledge as of a day: two days of one knowledge base, or the days of two snapshots. Claims are compared by id, among
those that stand on the day of their side. What it means is the verdicts that changed, of all pairs of which one component relies on the
other, for one version of each release line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from compat.claims import Claim, Release
from compat.errors import InputError
from compat.lines import line_of, newest_of_lines
from compat.matrix import Matrix
from compat.scope import Scope
from compat.verdicts import Part, Verdict
from compat.versions import Version

__all__ = ["ClaimChange", "Difference", "VerdictChange", "compare"]

_FIELDS = (
    "kind", "subject", "versions", "object", "object_versions", "scope", "grade", "severity", "closed", "known_from", "known_until", "source",
    "summary", "detail", "layer",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim that stands on one side only, or on both with another content."""

    before: Claim | None
    after: Claim | None
    fields: tuple[str, ...] = ()
    """What differs, if it stands on both sides."""
    reason: str = ""
    """Why it stands on one side only: said or replaced between the days, or not in the other knowledge at all."""

    @property
    def what(self) -> str:
        """``new``, ``ended`` or ``changed``."""
        return "new" if self.before is None else "ended" if self.after is None else "changed"

    @property
    def claim(self) -> Claim:
        """The claim as it is last known."""
        return self.after or self.before  # type: ignore[return-value]  # one of the two is there


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A pair whose verdict changed in a place."""

    one: Part
    other: Part
    scope: Scope
    """Empty: asked without saying where; the conditions of the verdicts then say where they hold."""
    before: Verdict | None
    """None: the component was not known."""
    after: Verdict | None
    not_out: tuple[str, ...] = ()
    """Which of the two versions had not been released on the day of the first side."""


@dataclass(frozen=True, slots=True)
class Difference:
    """All that differs."""

    came: tuple[Release, ...]
    """Releases that are out on the second side only."""
    went: tuple[Release, ...]
    """Releases that are out on the first side only."""
    claims: tuple[ClaimChange, ...]
    """By subject and id."""
    verdicts: tuple[VerdictChange, ...]


def compare(before: Matrix, after: Matrix, subjects: Iterable[str] = ()) -> Difference:
    """Compare two states of the knowledge.

    Args:
        before: the first side, as of its day.
        after: the second.
        subjects: ids or aliases; only what is about one of them. Empty: everything.

    Raises:
        UnknownComponentError: if neither side knows one of *subjects*.
    """
    wanted = {_name(name, before, after) for name in subjects}
    old, new = (_releases(matrix) for matrix in (before, after))
    claims = tuple(change for change in _claims(before, after) if not wanted or {change.claim.subject, change.claim.object} & wanted)
    return Difference(
        came=tuple(release for key, release in new.items() if key not in old and (not wanted or release.subject in wanted)),
        went=tuple(release for key, release in old.items() if key not in new and (not wanted or release.subject in wanted)),
        claims=claims,
        verdicts=tuple(_verdicts(before, after, claims, wanted)),
    )


def _name(name: str, before: Matrix, after: Matrix) -> str:
    try:
        return after.name(name)
    except InputError:
        return before.name(name)


def _releases(matrix: Matrix) -> dict[tuple[str, str], Release]:
    return {(name, release.text): release for name, subject in sorted(matrix.subjects.items()) if not subject.releases_of for release in matrix.releases(name)}


def _claims(before: Matrix, after: Matrix) -> Iterator[ClaimChange]:
    old, new = ({claim.id: claim for claim in matrix.store.claims()} for matrix in (before, after))
    for identity in sorted(old.keys() | new.keys(), key=lambda item: ((new.get(item) or old[item]).subject, item)):
        first, second = old.get(identity), new.get(identity)
        stood = first is not None and first.stands_on(before.as_of)
        stands = second is not None and second.stands_on(after.as_of)
        if first is not None and second is not None and stood and stands:
            if first is not second and (fields := tuple(field for field in _FIELDS if getattr(first, field) != getattr(second, field))):
                yield ClaimChange(first, second, fields)
        elif second is not None and stands:
            yield ClaimChange(None, second, reason=_why_new(first, second, before))
        elif first is not None and stood:
            yield ClaimChange(first, None, reason=_why_ended(second, after))


def _why_new(first: Claim | None, second: Claim, before: Matrix) -> str:
    if second.known_from > before.as_of:
        return f"said {second.known_from}"
    return "its dates were corrected" if first is not None else f"added, said {second.known_from}"


def _why_ended(second: Claim | None, after: Matrix) -> str:
    if second is None:
        return "no longer in the knowledge"
    return f"until {second.known_until}" if second.known_until and second.known_until <= after.as_of else "its dates were corrected"


def _verdicts(before: Matrix, after: Matrix, claims: Iterable[ClaimChange], wanted: set[str]) -> Iterator[VerdictChange]:
    pairs = dict.fromkeys((name, target) for matrix in (after, before) for name in sorted(matrix.subjects) for target in sorted(matrix.reliances(name)))
    places: dict[frozenset[str], dict[tuple[str, str], None]] = {}
    for change in claims:
        words = {(word, value): None for word, values in change.claim.scope.items() for value in values}
        places.setdefault(frozenset((change.claim.subject, change.claim.object)), {}).update(words)
    for name, target in pairs:
        if wanted and not {name, target} & wanted:
            continue
        scopes: list[Scope] = [{}, *({word: (value,)} for word, value in sorted(places.get(frozenset((name, target)), {})))]
        for one in _axis(before, after, name):
            for other in _axis(before, after, target):
                yield from _of_pair(before, after, (name, one), (target, other), scopes)


def _of_pair(before: Matrix, after: Matrix, one: Part, other: Part, scopes: Iterable[Scope]) -> Iterator[VerdictChange]:
    everywhere: tuple[str, str] | None = None
    for scope in scopes:
        first, second = _judged(before, one, other, scope), _judged(after, one, other, scope)
        grades = (first.grade if first else "", second.grade if second else "")
        if not scope:
            everywhere = grades
        if grades[0] != grades[1] and (not scope or grades != everywhere):
            not_out = tuple(f"{name} {version.release}" for name, version in (one, other) if version is not None and not _is_out(before, name, version))
            yield VerdictChange(one, other, scope, first, second, not_out)


def _judged(matrix: Matrix, one: Part, other: Part, scope: Scope) -> Verdict | None:
    return matrix.verdict(one, other, scope) if one[0] in matrix.subjects and other[0] in matrix.subjects else None


def _is_out(matrix: Matrix, name: str, version: Version) -> bool:
    return name in matrix.subjects and any(release.version == version for release in matrix.releases(name))


def _axis(before: Matrix, after: Matrix, name: str) -> list[Version | None]:
    """One version of each release line: the newest that was out on both days, else the newest of the line."""
    lines: dict[tuple[int, ...], Version] = {}
    for matrix in (after, before):  # what was out on the first day wins
        lines.update(_newest(matrix, name))
    return [*sorted(lines.values(), reverse=True)] or [None]


def _newest(matrix: Matrix, name: str) -> Mapping[tuple[int, ...], Version]:
    if name not in matrix.subjects:
        return {}
    releases = [release.version for release in matrix.releases(name, stable_only=True) if release.version.parts > 1]
    return {line_of(version): version for version in newest_of_lines(releases)}
