"""How far the knowledge reaches: per component and control-plane minor the best verdict, and what a plan would find unknown.

Components are those that rely on the control plane. A minor stands for its newest release that is out on the day, else for its first
known one. Of a component every stable release that is out on the day is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from compat.claims import Release
from compat.errors import InputError
from compat.matrix import Matrix
from compat.scope import Scope
from compat.verdicts import ORDER, Verdict
from compat.versions import Version

__all__ = ["IMPORTANCE", "Cell", "Coverage", "Unknown", "coverage"]

IMPORTANCE = ("blocks", "no-bridge", "newest", "between")
"""Kinds of unknowns, most important first.

``blocks``: no release at all is known to go with the minor. ``no-bridge``: no single release is known to go with a minor and the next, so
that the control plane cannot move between them beside it. ``newest``: the newest release is not known to go with the target, an older one
is. ``between``: the newest releases of two components, one of which relies on the other, are not known to go together.
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """A component beside one minor of the control plane."""

    version: Version
    """The release that stands for the minor."""
    best: Verdict
    """The best verdict over the component's releases."""
    release: Release | None
    """The newest release with that verdict; None for what has no releases."""
    counts: Mapping[str, int]
    """Verdict -> number of releases."""
    safe: frozenset[Version]
    """Releases with a verdict that a plan may rely on."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that a plan would find unknown."""

    importance: str
    """One of `IMPORTANCE`."""
    component: str
    release: str
    """The release that was asked for, or empty: every one."""
    other: str
    """The other component."""
    other_release: str
    verdict: str
    """``unknown`` or ``broken``."""
    text: str
    question: str
    """Where an answer would be published; empty if the knowledge base does not say."""


@dataclass(frozen=True)
class Coverage:
    """The table and the unknowns."""

    control: str
    """Id of the control plane."""
    minors: tuple[Version, ...]
    """Oldest first."""
    rows: Mapping[str, tuple[Cell, ...]]
    """Component -> a cell per minor."""
    unknowns: tuple[Unknown, ...] = field(default=())
    """Most important first."""


def coverage(matrix: Matrix, to: str, start: str | None = None, scope: Scope | None = None, components: Collection[str] = ()) -> Coverage:
    """Look at every component beside every minor from *start* to *to*.

    Args:
        matrix: the knowledge as of a day.
        to: the version to reach; its minor is the last column.
        start: the first; default: the oldest minor that is still supported on the day.
        scope: where the question is asked.
        components: ids or aliases; only these. Empty: all that rely on the control plane.

    Raises:
        InputError: if a version or component is not known, or *start* is after *to*.
    """
    control = next((subject.id for subject in matrix.subjects.values() if subject.role == "control-plane"), "")
    if not control:
        raise InputError("the knowledge has no control plane, so there is no coverage to show")
    minors = _minors(matrix, control, start, matrix.version(control, to))
    wanted = {matrix.name(name) for name in components}
    for name in sorted(wanted):
        if control not in matrix.reliances(name):
            raise InputError(f"{name} does not rely on {control}, so a plan asks nothing of the two; see `compat matrix {name} {control}`")
    place = scope or {}
    names = [name for name in matrix.subjects if name in wanted or (not wanted and matrix.relies(name, control, place))]
    rows = {name: tuple(_cell(matrix, name, control, minor, place) for minor in minors) for name in names}
    return Coverage(control, tuple(minors), rows, tuple(_unknowns(matrix, control, minors, rows, place)))


def _minors(matrix: Matrix, control: str, start: str | None, last: Version) -> list[Version]:
    lines = sorted({release.version.line for release in matrix.releases(control, out_only=False) if release.version.line <= last.line} | {last.line})
    found = [last if line == last.line else matrix.version(control, f"{line[0]}.{line[1]}") for line in lines]
    if start is not None:
        first = matrix.version(control, start)
        if first.line > last.line:
            raise InputError(f"--from {first.release} comes after --to {last.release}")
        return [version for version in found if version.line >= first.line]
    ends = [(version, life.supported) for version in found if (life := matrix.lifecycle(control, version)) is not None]
    oldest = next((version for version, supported in ends if supported), last)
    return [version for version in found if version.line >= oldest.line]


def _cell(matrix: Matrix, name: str, control: str, minor: Version, scope: Scope) -> Cell:
    releases = _releases(matrix, name)
    if not releases:
        verdict = matrix.verdict((name, None), (control, minor), scope)
        return Cell(minor, verdict, None, {verdict.grade: 1}, frozenset())
    verdicts = [(matrix.verdict((name, release.version), (control, minor), scope), release) for release in releases]
    best, release = max(verdicts, key=lambda item: ORDER.index(item[0].grade))  # the first of equals: the newest
    counts = Counter(verdict.grade for verdict, _ in verdicts)
    return Cell(minor, best, release, {grade: counts[grade] for grade in ORDER}, frozenset(item.version for verdict, item in verdicts if verdict.is_safe))


def _releases(matrix: Matrix, name: str) -> list[Release]:
    """Stable releases that are out; where no release of a line is known, the line itself."""
    found = matrix.releases(name, stable_only=True)
    exact = {release.version.line for release in found if release.version.parts > 2}
    return [release for release in found if release.version.parts > 2 or release.version.line not in exact]


def _unknowns(matrix: Matrix, control: str, minors: Sequence[Version], rows: Mapping[str, Sequence[Cell]], scope: Scope) -> list[Unknown]:
    found: list[tuple[tuple[int, int, bool, str, str], Unknown]] = []
    last = len(minors) - 1

    def add(importance: str, distance: int, name: str, release: str, other: str, other_release: str, verdict: str, text: str) -> None:
        order = (IMPORTANCE.index(importance), distance, not matrix.subjects[name].component.get("gpu_nodes_only"), name, other)
        found.append((order, Unknown(importance, name, release, other, other_release, verdict, text, matrix.ask(name, other))))

    for name, cells in rows.items():
        newest = next(iter(_releases(matrix, name)), None)
        for index, cell in enumerate(cells):
            minor = cell.version.release
            if not cell.best.is_safe:
                what = f"no release of {name} is known to go with {control} {minor}" if newest else f"{name} is not known to go with {control} {minor}"
                what = f"{what}: broken" if cell.best.grade == "broken" else what
                add("blocks", last - index, name, "", control, minor, cell.best.grade, what)
            elif index and cells[index - 1].best.is_safe and newest and not _bridged(matrix, name, cells[index - 1], cell):
                before = cells[index - 1].version.release
                text = f"no single release of {name} is known to go with both {control} {before} and {minor}"
                add("no-bridge", last - index, name, "", control, minor, "unknown", text)
        if newest and cells[last].best.is_safe and newest.version not in cells[last].safe:
            grade = matrix.verdict((name, newest.version), (control, minors[last]), scope).grade
            text = f"{name} {newest.text}, the newest, is not known to go with {control} {minors[last].release}"
            add("newest", 0, name, newest.text, control, minors[last].release, grade, text if grade == "unknown" else f"{text}: broken")
        for other in matrix.reliances(name):
            target = next(iter(_releases(matrix, other)), None)
            if other == control or not newest or not target or not matrix.relies(name, other, scope):
                continue
            verdict = matrix.verdict((name, newest.version), (other, target.version), scope)
            if not verdict.is_safe:
                text = f"{name} {newest.text} with {other} {target.text}, the newest of both"
                add("between", 0, name, newest.text, other, target.text, verdict.grade, text if verdict.grade == "unknown" else f"{text}: broken")
    return [unknown for _, unknown in sorted(found, key=lambda item: item[0])]


def _bridged(matrix: Matrix, name: str, before: Cell, after: Cell) -> bool:
    """Whether some release goes with both minors; parts of a node move in a drain and need none."""
    component = matrix.subjects[name].component
    return bool(component.get("pool_field") or component.get("moves_with") or before.safe & after.safe)
