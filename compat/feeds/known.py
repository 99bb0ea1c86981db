"""What is known before an update: the readers of feeds ask it what they need not read, the update what is new."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from compat.claims import NOT_OUT, Claim, Release
from compat.errors import InputError
from compat.matrix import Matrix
from compat.schema import ReleaseEntry
from compat.versions import Lineage, Version, parse

__all__ = ["Known"]


class Known:
    """The knowledge base without what earlier updates wrote, and the releases that this update has read so far."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._read: dict[str, dict[Version, ReleaseEntry]] = {}
        self.objects = matrix.store.objects()
        """Names that claims may speak of without a subject."""

    def has_subject(self, name: str) -> bool:
        """Whether *name* is the id of a subject."""
        return name in self._matrix.subjects

    def lineage(self, subject: str) -> Lineage:
        """How versions of a subject are read."""
        return self._matrix.lineage(subject)

    def releases(self, subject: str) -> list[Release]:
        """Every release of a subject in the knowledge base, newest first."""
        return self._matrix.releases(subject, out_only=False)

    def has_release(self, subject: str, version: Version) -> bool:
        """Whether a release is known to be out; one that was only announced is not."""
        return any(item.version == version and item.version.parts == version.parts and item.channel not in NOT_OUT for item in self.releases(subject))

    def claims(self, kind: str, subject: str, target: str = "", day: date | None = None) -> list[Claim]:
        """Standing claims of a kind about a subject, and about *target* if one is given."""
        condition, values = "kind = ? and subject = ?", [kind, subject]
        if target:
            condition, values = condition + " and object = ?", [*values, target]
        return [claim for claim in self._matrix.store.claims(condition, values) if claim.stands_on(day or date.max)]

    def add(self, subject: str, entries: Iterable[ReleaseEntry]) -> None:
        """Remember releases that a feed has read."""
        for entry in entries:
            self._read.setdefault(subject, {})[parse(entry.version, self.lineage(subject))] = entry

    def newest(self, subject: str, count: int) -> list[tuple[Version, date | None]]:
        """The newest releases that are out and no pre-releases, newest first, with their day where it is known."""
        found: dict[Version, date | None] = {version: entry.released for version, entry in self._read.get(subject, {}).items()}
        for release in self.releases(subject):
            if release.channel not in NOT_OUT:
                found[release.version] = found.get(release.version) or release.released
        full = {version: day for version, day in found.items() if not version.is_prerelease and version.parts > 2}
        return sorted(full.items(), key=lambda item: item[0], reverse=True)[:count]

    def leading(self, subject: str) -> int:
        """The highest leading number that a release of a subject has."""
        return max((release.version.key.major for release in self.releases(subject)), default=0)

    def version(self, subject: str, text: str) -> Version | None:
        """Read a version of a subject; None if it is none."""
        try:
            return parse(text, self.lineage(subject))
        except InputError:
            return None
