"""The matrix: the public way to ask.

::

    from compat import Matrix
    matrix = Matrix.load(as_of=date(2026, 9, 30))
    matrix.verdict(("gpu-operator", "26.7.0"), ("kubernetes", "1.37")).grade
    matrix.supported("gpu-operator", kubernetes="1.36")
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compat.claims import Claim, LifeCycle, Release, Subject
from compat.errors import InputError, UnknownComponentError, UnknownVersionError
from compat.places import configured_overlays as find_overlays
from compat.scope import Fit, Match, Scope, ScopeWords
from compat.store import Snapshot, Store, open_source, open_store
from compat.verdicts import Part, Question, Verdict, judge
from compat.versions import Lineage, Version, parse

if TYPE_CHECKING:
    from compat.layers import Acceptance, OverlayText

__all__ = ["Matrix"]

Given = tuple[str, str | Version | None]
"""A component and its version as a caller gives them."""
_UNSTABLE = frozenset(("rc", "alpha", "beta", "planned", "announced", "other"))

_REMEMBERED = 20_000
"""Verdicts that are kept for the next time they are asked for; about what one large cluster needs."""


class Matrix:
    """All knowledge as of one day."""

    def __init__(self, store: Store, as_of: date) -> None:
        self.store = store
        self.as_of = as_of
        self.subjects: dict[str, Subject] = store.subjects()
        self._names = {alias: subject.id for subject in self.subjects.values() for alias in (subject.id, *subject.aliases)}
        self._claims: dict[tuple[str, str], list[Claim]] = {}
        self._releases: dict[str, list[Release]] = {}
        self._own: dict[tuple[str, str], list[Claim]] = {}
        self._of_version: dict[tuple[object, ...], list[Claim]] = {}
        self._verdicts: dict[tuple[object, ...], Verdict] = {}
        self._fits: dict[object, dict[str, Match]] = {}
        self._lines: dict[str, _Lines] = {}
        self._lifted: frozenset[str] = frozenset()

    @classmethod
    def load(
        cls,
        as_of: date | None = None,
        data: Path | None = None,
        *,
        overlays: Iterable[Path | str] = (),
        configured_overlays: bool = True,
        snapshot: Path | None = None,
        snapshot_key: Path | None = None,
    ) -> Matrix:
        """Open the knowledge base as it was on a day.

        Args:
            as_of: the day; default: today.
            data: a folder of knowledge files instead of the built-in one.
            overlays: overlay files on top of it.
            configured_overlays: also read those of the configured folders, see docs/data-format.md.
            snapshot: a JSON or SQLite export instead of the built-in knowledge.
            snapshot_key: public key; the snapshot is refused without a good signature by it.

        Raises:
            DocumentError: if an overlay cannot be read.
            KnowledgeError: if a file has faults.
            SignatureError: if a signature is missing or wrong.
            StoreError: if there is no knowledge.
        """
        paths = [*map(Path, overlays), *(find_overlays() if configured_overlays else ())]
        texts = _read(paths) if paths else ()
        if snapshot is None:
            if snapshot_key is not None:
                raise InputError("snapshot_key was given without a snapshot")
            return cls(open_store(data, texts), as_of or date.today())
        if data is not None:
            raise InputError("give data or a snapshot, not both")
        from compat.snapshots import snapshot_source

        return cls(open_source(snapshot_source(snapshot, snapshot_key), texts), as_of or date.today())

    def on(self, day: date) -> Matrix:
        """The same knowledge as of another day."""
        other = Matrix(self.store, day)
        other._lifted = self._lifted
        return other

    def without(self, claims: Iterable[str]) -> Matrix:
        """The same knowledge as if the claims with these ids had been taken back."""
        other = Matrix(self.store, self.as_of)
        other._lifted = self._lifted | frozenset(claims)
        return other

    @cached_property
    def snapshot(self) -> Snapshot:
        """Which knowledge this is."""
        meta = self.store.meta
        return Snapshot(meta["version"], self.as_of, int(meta["schema"]), meta["digest"], self.store.layers())

    @property
    def ends(self) -> date:
        """Day of the newest source of the built-in knowledge: what was said later is not in it, so a later day is answered with gaps."""
        return date.fromisoformat(self.store.meta["as_of"])

    @cached_property
    def acceptances(self) -> list[Acceptance]:
        """Risks that the layers accept, expired ones included."""
        return self.store.acceptances() if self.snapshot.layers else []

    @cached_property
    def words(self) -> ScopeWords:
        """The scope vocabulary."""
        return ScopeWords(self.store.vocabulary())

    @cached_property
    def _products(self) -> list[dict[str, Any]]:
        return self.store.products()

    def product_scope(self, reported: str) -> dict[str, tuple[str, ...]] | None:
        """Scope words that a piece of hardware settles by the name that nodes report; None if no product is known by it."""
        for product in self._products:
            if re.search(product["pattern"], reported, re.IGNORECASE):
                return {word: tuple(values) for word, values in product["scope"].items()}
        return None

    # -- names and versions

    def name(self, name: str) -> str:
        """Return the id of a component given by id or alias.

        Raises:
            UnknownComponentError: naming the nearest known one.
        """
        found = self._names.get(name.strip().lower())
        if found is None:
            raise UnknownComponentError(name, list(self._names))
        return found

    def lineage(self, name: str) -> Lineage:
        """Version order of a component; plain for what is no subject."""
        subject = self.subjects.get(name)
        return subject.lineage if subject else Lineage(name)

    def releases(self, name: str, *, stable_only: bool = False, out_only: bool = True) -> list[Release]:
        """Releases of a component, newest first: those that were out on the as-of day, or all that are known."""
        subject = self.subjects[self.name(name)]
        found = self._all_releases(subject)
        channels = subject.component.get("channels")
        return [
            release
            for release in found
            if (release.known_from <= self.as_of or not out_only)
            and (not stable_only or (release.channel in channels if channels else release.channel not in _UNSTABLE and not release.version.is_prerelease))
        ]

    def _all_releases(self, subject: Subject) -> list[Release]:
        if subject.id not in self._releases:
            self._releases[subject.id] = self.store.releases(subject.releases_of or subject.id)
        return self._releases[subject.id]

    def version(self, name: str, given: str | Version) -> Version:
        """Read a version of a component; a line such as ``1.34`` stands for its newest release that is out on the as-of day.

        Raises:
            InvalidVersionError: if it cannot be read.
            UnknownVersionError: if neither it nor its line is known.
        """
        subject = self.subjects[self.name(name)]
        version = given if isinstance(given, Version) else parse(given, subject.lineage)
        if subject.id not in self._lines:
            self._lines[subject.id] = _Lines(self._all_releases(subject), self.as_of)
        lines = self._lines[subject.id]
        if not lines.known or (version.parts > 2 and version.key in lines.exact):
            return version
        if version.parts < 3 and not version.suffix and (newest := lines.newest.get(_prefix(version, version.parts))) is not None:
            return Version(version.text, newest.key, newest.release, version.parts, version.suffix)
        if _prefix(version, 1 if version.parts == 1 else lines.width) not in lines.prefixes:
            raise UnknownVersionError(
                f"{subject.id} {version.text} is not known; the newest release known is {lines.latest}, see `compat kb show {subject.id}`"
            )
        return version

    def is_released(self, name: str, version: Version) -> bool:
        """Whether a version is among the known releases, or none are known or no full version was given."""
        known = self._all_releases(self.subjects[name])
        return not known or any(release.version == version for release in known)

    def part(self, given: Given) -> Part:
        """Resolve a component and version as a caller gives them."""
        name = self.name(given[0])
        version = given[1]
        if version is None and self._all_releases(self.subjects[name]):
            raise InputError(f"{name} needs a version here, such as {name}={self._all_releases(self.subjects[name])[-1].text}")
        if version is None or (isinstance(version, Version) and version.parts > 2):
            return name, version
        return name, self.version(name, version)

    # -- claims

    def between(self, one: str, other: str) -> list[Claim]:
        """Standing claims between two components that say something about pairs of their versions."""
        key = (one, other) if one <= other else (other, one)
        if key not in self._claims:
            self._claims[key] = [claim for claim in self.store.pair_claims(*key) if self._stands(claim)]
        return self._claims[key]

    def _speaking(self, part: Part, other: str) -> list[Claim]:
        """Standing claims with *other* whose subject is *part* at its version."""
        name, version = part
        key = (name, version and version.key, other)
        if key not in self._of_version:
            self._of_version[key] = [
                claim
                for claim in self.between(name, other)
                if claim.subject == name and (not claim.versions or (version is not None and version in claim.subject_range))
            ]
        return self._of_version[key]

    def about(self, name: str, kind: str) -> list[Claim]:
        """Standing claims of one kind whose subject is *name*."""
        if (name, kind) not in self._own:
            found = self.store.claims("subject = ? and kind = ?", (name, kind))
            self._own[name, kind] = [claim for claim in found if self._stands(claim)]
        return self._own[name, kind]

    def _stands(self, claim: Claim) -> bool:
        return claim.stands_on(self.as_of) and claim.id not in self._lifted

    def named(self, identities: Iterable[str]) -> list[Claim]:
        """Standing claims by their ids; ids of none are left out."""
        return [claim for identity in identities for claim in self.store.claims("id = ?", (identity,)) if self._stands(claim)]

    def rules_from(self, name: str, start: Version) -> list[Claim]:
        """Standing rules about whether one may go from *start* to some other version of *name*."""
        key = (name, start.key)
        if key not in self._of_version:
            self._of_version[key] = [
                claim
                for claim in self.about(name, "upgrade")
                if (claim.detail.get("rule") in ("allowed", "forbidden", "needs-stop", "unknown") or claim.detail.get("step")) and start in claim.subject_range
            ]
        return self._of_version[key]

    def lifecycle(self, name: str, version: Version, day: date | None = None) -> LifeCycle | None:
        """Life cycle of a version on a day; default: the as-of day.

        The newest standing statement that gives dates or a branch type counts. None if nothing is said.
        """
        when = day or self.as_of
        stated = [claim for claim in self.about(name, "lifecycle") if version in claim.subject_range and not claim.scope]
        dated = [claim for claim in stated if claim.detail.get("supported_until") or claim.detail.get("branch_type")]
        if not dated:
            return None
        claim = max(dated, key=lambda item: (bool(item.detail.get("branch_type")), item.grade != "inferred", item.known_from, item.id))
        ends = [claim.detail[key] for key in ("extended_until", "maintenance_until", "supported_until") if claim.detail.get(key)]
        until = max(ends) if ends else None
        if claim.detail.get("status") == "deprecated" and not claim.detail.get("maintenance_until"):
            until = None  # still gets fixes, with no end given
        return LifeCycle(claim.detail.get("branch_type", ""), until is None or when.isoformat() <= until, until and date.fromisoformat(until), claim)

    # -- answers

    def verdict(self, one: Given, other: Given, scope: Scope | None = None, context: Mapping[str, Version | None] | None = None) -> Verdict:
        """What is known of a pair, as of the matrix's day.

        Args:
            one: component and version, such as ``("gpu-operator", "26.7.0")``.
            other: the same for the other side.
            scope: scope word -> values that hold where the pair is used; what is not given is open.
            context: versions of other components in the same place.

        Raises:
            InputError: if a component or version is not known.
        """
        first, second = self.part(one), self.part(other)
        if settled := {**self.text_scope(*first), **self.text_scope(*second)}:
            scope = {**settled, **(scope or {})}
        key = (first[0], first[1] and first[1].key, second[0], second[1] and second[1].key, _frozen(scope), _frozen_context(context))
        if key not in self._verdicts:
            if len(self._verdicts) >= _REMEMBERED:  # a process that plans a fleet must not grow with it
                self._verdicts.clear()
                self._fits.clear()
            question = Question(first, second, scope or {}, self.as_of, context or {})
            claims = [*self._speaking(first, second[0]), *(self._speaking(second, first[0]) if first[0] != second[0] else ())]
            fits = self._fits.setdefault(key[4], {})
            self._verdicts[key] = judge(question, claims, self.words, self.lifecycle, self.ask(first[0], second[0]), self.lineage, fits)
        return self._verdicts[key]

    def text_scope(self, name: str, version: Version | None) -> dict[str, tuple[str, ...]]:
        """Scope words that a version settles by the way it is written."""
        found: dict[str, tuple[str, ...]] = {}
        subject = self.subjects.get(name)
        for entry in subject.component.get("text_scope", ()) if subject and version else ():
            if version is not None and re.search(entry["pattern"], version.text, re.IGNORECASE):
                found.update({word: (value,) if isinstance(value, str) else tuple(value) for word, value in entry["scope"].items()})
        return found

    def fit(self, claim: Claim, scope: Scope) -> Match:
        """How the scope of a claim fits that of a place."""
        fits = self._fits.setdefault(_frozen(scope), {})
        if claim.id not in fits:
            fits[claim.id] = self.words.fit(claim.scope, scope)
        return fits[claim.id]

    def ask(self, one: str, other: str) -> str:
        """Where an answer about two components would be published, if the knowledge base says."""
        for name, target in ((one, other), (other, one)):
            reliance = self.reliances(name).get(target)
            if reliance and reliance.get("question"):
                return str(reliance["question"])
        return ""

    def reliances(self, name: str) -> dict[str, Mapping[str, object]]:
        """Components that *name* cannot do without: pairs that a plan must be able to vouch for."""
        subject = self.subjects.get(name)
        return dict(subject.component.get("relies_on", {})) if subject else {}

    def reliance_scopes(self, one: str, other: str) -> list[Scope]:
        """Where either of two components relies on the other."""
        found = [self.reliances(a).get(b) for a, b in ((one, other), (other, one))]
        return [_mapped(reliance) for reliance in found if reliance is not None]

    def relies(self, name: str, other: str, scope: Scope) -> bool:
        """Whether a plan must vouch for the pair in a place with that scope."""
        reliance = self.reliances(name).get(other)
        if reliance is None:
            return False
        return self.words.fit(_mapped(reliance), scope).fit is not Fit.NO

    def supported(self, name: str, scope: Scope | None = None, *, minimum: str = "declared", most: int | None = None, **others: str) -> list[Release]:
        """Stable releases of *name*, newest first and *most* of them, whose pairs with all the *others* are at least *minimum*.

        What nobody should land on (a ban, see `compat.landing`) is left out. Component names have a dash where Python wants an
        underscore: ``supported("kueue", kubernetes="1.36")``.

        Raises:
            InputError: if a component, a version or *minimum* is not known.
        """
        from compat.landing import landing

        if minimum not in ("declared", "tested"):
            raise InputError(f"minimum must be declared or tested, not {minimum!r}")
        wanted = [(other.replace("_", "-"), version) for other, version in others.items()]
        grades = ("tested",) if minimum == "tested" else ("declared", "tested")
        found = (
            release
            for release in self.releases(name, stable_only=True)
            if not landing(self, self.name(name), release.version, scope or {}).claims
            and all(self.verdict((name, release.version), (other, version), scope).grade in grades for other, version in wanted)
        )
        return list(islice(found, most))


def _mapped(reliance: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    return {word: (value,) if isinstance(value, str) else tuple(value) for word, value in _mapping(reliance.get("scope")).items()}


def _read(paths: Iterable[Path]) -> list[OverlayText]:
    from compat.layers import read_overlay

    once: dict[str, Path] = {}
    for path in paths:
        once.setdefault(os.path.realpath(path), path)  # a file that is given and configured is read where it is given
    return [read_overlay(path) for path in once.values()]


def _mapping(value: object) -> Mapping[str, str | Sequence[str]]:
    return value if isinstance(value, Mapping) else {}


def _frozen(scope: Scope | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(sorted(scope.items())) if scope else ()


def _frozen_context(context: Mapping[str, Version | None] | None) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(((name, version and version.key) for name, version in context.items()), key=lambda item: item[0])) if context else ()


def _prefix(version: Version, width: int) -> tuple[int, ...]:
    return (version.key.epoch, *version.key.release[:width])


class _Lines:
    """The releases of a subject, looked up by version and by line."""

    def __init__(self, known: list[Release], day: date) -> None:
        out = [release for release in known if release.known_from <= day] or known
        self.known = bool(known)
        self.width = 1 if known and min(release.version.key.major for release in known) >= 100 else 2
        """How many numbers name a line: one where the first number alone counts branches (580.x), else two."""
        self.exact = {release.version.key for release in known if release.version.parts > 2}
        self.prefixes = {_prefix(release.version, width) for release in known for width in (1, 2)}
        self.latest = next((release for release in out if release.channel not in _UNSTABLE), out[0]).version.release if out else ""
        self.newest: dict[tuple[int, ...], Version] = {}
        """Line -> its newest release that is out; shorter lines first, so that 1.33 prefers 1.33.13 to itself."""
        for release in reversed(out):
            version = release.version
            for width in range(1, version.parts):
                if not version.is_prerelease:
                    self.newest[_prefix(version, width)] = version
