"""What became of the claims that a stored plan cites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from compat import Claim, Matrix
from compat.errors import printable
from planner.plan import CitedClaim
from planner.rechecked import Ended

__all__ = ["Fates"]

_MOST = 3


class Fates:
    """Looks up cited claims in the knowledge of today."""

    def __init__(self, matrix: Matrix, cited: Mapping[str, CitedClaim]) -> None:
        self.matrix = matrix
        self.cited = cited
        self.replacing: dict[str, Claim] = {}
        """Claims that were found to replace others."""
        self._known: dict[str, Ended | None] = {}

    def of(self, claims: Iterable[str]) -> tuple[Ended, ...]:
        """Those of the claims that do not stand as they did, each once."""
        found = (self._fate(identity) for identity in dict.fromkeys(claims) if identity in self.cited)
        return tuple(ended for ended in found if ended is not None)

    def _fate(self, identity: str) -> Ended | None:
        if identity not in self._known:
            self._known[identity] = self._look_up(identity)
        return self._known[identity]

    def _look_up(self, identity: str) -> Ended | None:
        before = self.cited[identity]
        claim = next(iter(self.matrix.store.claims("id = ?", (identity,))), None)
        if claim is None:
            layer = before.source.get("layer")
            where = f"; it came with the overlay {printable(layer)}, see --overlay" if layer else ""
            return Ended(id=identity, fate=f"is not in this knowledge{where}")
        retired = claim.detail.get("retired")
        if not claim.stands_on(self.matrix.as_of) and isinstance(retired, Mapping):
            return Ended(id=identity, fate=f"was retired by {retired.get('by')} on {retired.get('said')}: {retired.get('reason')}")
        if claim.known_until is not None and claim.known_until <= self.matrix.as_of:
            heirs = [item for item in self._heirs(claim) if item.id != identity][:_MOST]
            self.replacing.update((heir.id, heir) for heir in heirs)
            return Ended(id=identity, fate=f"ended on {claim.known_until}", replaced_by=tuple(heir.id for heir in heirs))
        if claim.known_from > self.matrix.as_of:
            return Ended(id=identity, fate=f"was said on {claim.known_from}, after the day that is asked for")
        changes = [
            f"{what} {was} -> {now}"
            for what, was, now in (("grade", before.grade, claim.grade), ("said", before.said, claim.known_from.isoformat()), ("kind", before.kind, claim.kind))
            if was != now
        ]
        if changes:
            return Ended(id=identity, fate=f"reads otherwise now: {', '.join(printable(change) for change in changes)}")
        if before.summary != claim.summary:
            return Ended(id=identity, fate=f"is worded otherwise now: {claim.summary}")
        return None

    def _heirs(self, claim: Claim) -> list[Claim]:
        """Standing claims that say something about the same releases since the other ended: in the same places, else from that very day on."""
        found = self.matrix.store.claims("subject = ? and object = ? and kind = ? and versions = ?", (claim.subject, claim.object, claim.kind, claim.versions))
        ended = claim.known_until or self.matrix.as_of
        later = [item for item in found if item.stands_on(self.matrix.as_of) and item.known_from >= ended]
        same = [item for item in later if dict(item.scope) == dict(claim.scope)]
        return same or [item for item in later if item.known_from == ended]
