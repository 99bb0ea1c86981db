"""Accepted risks: those of the caller, and those of the overlays until they expire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat import Matrix
from planner.plan import AcceptedBy, Finding

__all__ = ["Acceptances"]


class Acceptances:
    """Answers whether a risk is accepted, and by whom."""

    def __init__(self, matrix: Matrix, given: Iterable[str]) -> None:
        self._given = frozenset(given)
        self._day = matrix.as_of
        self._counting: dict[str, AcceptedBy] = {}
        self._expired: dict[str, AcceptedBy] = {}
        for entry in matrix.acceptances:
            into = self._counting if entry.counts_on(self._day) else self._expired
            into.setdefault(entry.id, AcceptedBy(entry.owner, entry.expires.isoformat(), entry.reason, entry.layer))

    def covers(self, name: str) -> bool:
        """Whether the risk of that id is accepted."""
        return bool(name) and (name in self._given or name in self._counting)

    def by(self, name: str) -> AcceptedBy | None:
        """Who accepts it in an overlay; None if only the caller does, or nobody."""
        return self._counting.get(name)

    def expired(self, names: Iterable[str]) -> Iterator[Finding]:
        """What was accepted, is not any more, and is still asked for by a plan."""
        for name in dict.fromkeys(names):
            if name in self._expired and not self.covers(name):
                by = self._expired[name]
                text = f"{by.owner} accepted the risk {name} until {by.expires} ({by.reason}); that is over on {self._day}, so that it does not count."
                yield Finding("expired-acceptance", "warning", f"{text} Renew it in the layer {by.layer}, or settle the question.")
