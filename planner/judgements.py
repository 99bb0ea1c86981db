"""What the matrix says of one pair of parts, and when that is no worse than what the cluster has now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compat import Claim, Verdict, Version
from compat.verdicts import ORDER, excess

__all__ = ["Judgement", "is_no_worse", "merged", "violated"]


@dataclass(frozen=True)
class Judgement:
    """What the matrix says of one pair of parts."""

    one: str
    """Component and version, for people: ``gpu-operator 25.3.2``; the one that relies on the other comes first."""
    other: str
    keys: tuple[str, str]
    """Keys of the two parts."""
    verdict: Verdict
    relied_on: bool
    """Whether the plan must be able to vouch for the pair; of others only conflicts count."""
    violations: tuple[tuple[Claim, int], ...] = ()
    """For a broken pair every claim that it violates, in all its places and versions, and by how much (of a skew rule, in minors)."""
    place: str = ""
    """Key of the part that says how GPUs are allocated, where two cluster-wide parts meet on the nodes of one pool only."""

    @property
    def identity(self) -> tuple[str, str, str]:
        """What tells pairs of parts apart."""
        return (*self.keys, self.place)

    @property
    def grade(self) -> str:
        """``broken``; ``unknown``, ``declared`` or ``tested`` for pairs that are relied on; else ``tested`` (nothing speaks against it)."""
        if self.verdict.grade == "broken" or self.relied_on:
            return self.verdict.grade
        return "tested"


def is_no_worse(judgement: Judgement, now: Judgement | None) -> bool:
    """Whether a broken pair only breaks what the cluster breaks already: no demand is violated that is not violated now, and none by more."""
    return now is not None and all(
        any(claim.asks_no_more_than(before) and by <= by_now for before, by_now in now.violations) for claim, by in judgement.violations
    )


def violated(verdict: Verdict, one: str, one_version: Version | None, other_version: Version | None) -> tuple[tuple[Claim, int], ...]:
    """Claims that a broken verdict on two versions rests on, each with by how much it is violated."""
    if verdict.grade != "broken":
        return ()
    ways = {True: (one_version, other_version), False: (other_version, one_version)}
    return tuple((claim, excess(claim, *ways[claim.subject == one])) for claim in verdict.claims)


def merged(found: Sequence[Judgement]) -> Judgement | None:
    """The worst of several judgements of one pair, with what any of them violates."""
    if not found:
        return None
    worst = min(found, key=_badness)
    if worst.grade != "broken" or len(found) == 1:
        return worst
    most: dict[Claim, int] = {}
    for judgement in found:
        for claim, by in judgement.violations:
            most[claim] = max(by, most.get(claim, 0))
    return replace(worst, violations=tuple(most.items()))


def _badness(judgement: Judgement) -> tuple[int, int, int]:
    """Worst first; among equals what is relied on, then what holds under conditions only."""
    return ORDER.index(judgement.grade), -int(judgement.relied_on), -len(judgement.verdict.conditions)
