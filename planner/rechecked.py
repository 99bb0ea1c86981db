"""What re-checking a plan finds: ``compat.recheck/v1``. Plain frozen values."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from planner.plan import CitedClaim, Knowledge
from planner.progress import Progress

__all__ = ["Difference", "Effect", "Ended", "Kind", "Outcome", "PairChange", "Recheck"]

Outcome = Literal["holds", "broken", "outdated"]
Effect = Literal["breaks", "warning", "info"]
Kind = Literal[
    "verdict", "condition", "hop", "rollback", "duty", "settled", "claim", "finding", "conflict", "drift", "state", "fault", "unreleased", "newer-release",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PairChange:
    """A pair of versions whose verdict is another one now."""

    a: str
    b: str
    was: str | None
    """Verdict in the plan; None: the plan does not name the pair."""
    now: str | None
    """Verdict now; None: the pair is not relied on any more."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A claim that the plan cites and that does not stand as it did."""

    id: str
    fate: str
    """What became of it, in words."""
    replaced_by: tuple[str, ...] = ()
    """Ids of claims that say it now."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing that is not as the plan says."""

    step: str | None
    """Id of the step; None: the plan as a whole."""
    kind: Kind
    """Stable name, see docs/recheck.md."""
    effect: Effect
    """``breaks``: the plan does not hold. ``warning``: look at it before you go on. ``info``: nothing to do."""
    text: str
    pair: PairChange | None = None
    ended: tuple[Ended, ...] = ()
    claims: tuple[str, ...] = ()
    """Ids of the claims that decide now and that the plan does not cite there."""


@dataclass(frozen=True, kw_only=True)
class Recheck:
    """Whether a stored plan still holds, and what has changed."""

    schema: Literal["compat.recheck/v1"] = "compat.recheck/v1"
    plan: str
    """Digest of the plan; empty if it has none."""
    name: str | None
    """The cluster that the plan is for."""
    made: Knowledge
    """Knowledge that the plan was made with."""
    knowledge: Knowledge
    """Knowledge that it was re-checked with."""
    outcome: Outcome
    """``outdated``: this knowledge is older than that of the plan and cannot judge it."""
    exit_code: int
    progress: Progress
    differences: tuple[Difference, ...]
    """In the order of the steps; what concerns the whole plan comes first."""
    open: tuple[str, ...]
    """Ids of the unknown pairs ahead whose risk nobody has accepted."""
    accepted: tuple[str, ...]
    """Ids of the unknown pairs ahead whose risk is accepted in the plan."""
    claims: dict[str, CitedClaim]
    """Every claim named above, in full: ended ones as the plan carries them, others as they are now."""

    def breaking(self) -> list[Difference]:
        """What makes the plan not hold."""
        return [one for one in self.differences if one.effect == "breaks"]

    def to_dict(self) -> dict[str, Any]:
        """The written form."""
        return asdict(self)

    def to_json(self) -> str:
        """The written form as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"
