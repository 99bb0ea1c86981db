"""Claims that a plan cites, in the form in which the plan carries them."""

from __future__ import annotations

from collections.abc import Iterable

from compat import Claim
from planner.plan import CitedClaim

__all__ = ["Cites"]


class Cites:
    """Collects every claim that some part of a plan names."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}

    def __call__(self, claims: Iterable[Claim]) -> tuple[str, ...]:
        """Note the claims and return their ids, each once."""
        for claim in claims:
            self._claims[claim.id] = claim
        return tuple(dict.fromkeys(claim.id for claim in claims))

    def entries(self) -> dict[str, CitedClaim]:
        """All cited claims in full, by id."""
        return {
            identity: CitedClaim(
                kind=claim.kind,
                summary=claim.summary,
                grade=claim.grade,
                said=claim.known_from.isoformat(),
                source={key: value for key in ("repo", "ref", "path", "url", "locator") if (value := getattr(claim.source, key))}
                | ({"link": claim.source.link} if claim.source.link else {})
                | ({} if claim.layer == "built-in" else {"layer": claim.layer}),
            )
            for identity, claim in sorted(self._claims.items())
        }
