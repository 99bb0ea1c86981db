"""Feature gates that are set against what a release allows: once a gate is locked, a component that is told otherwise does not start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compat import Claim, Version
from compat.versions import parse
from planner.cites import Cites
from planner.journey import Journey
from planner.plan import Finding

__all__ = ["locked_gates"]


def locked_gates(journey: Journey, states: Iterable[Mapping[str, Version]], cites: Cites) -> Iterator[Finding]:
    """Gates of the cluster that a version has locked at another value.

    Args:
        journey: the plan.
        states: versions by part, in order; each gate is named where it bites first.
        cites: what the findings cite.
    """
    situation = journey.pairs.situation
    if not situation.state.features:
        return
    seen: set[str] = set()
    for versions in states:
        for key, version in versions.items():
            part = situation.by_key[key]
            if part.pool or part.values:
                continue
            for claim in situation.matrix.about(part.component, "feature"):
                gate = str(claim.detail.get("gate") or "")
                given = situation.state.features.get(gate if part is situation.control else f"{part.component}/{gate}")
                fixed = _locked(claim, version)
                if gate and given is not None and fixed is not None and given != fixed and gate not in seen:
                    seen.add(gate)
                    text = f"{part.component} {version.release} does not start with {gate}={str(given).lower()}: the gate is locked. Remove it first."
                    yield Finding("locked-gate", "error", text, cites([claim]))


def _locked(claim: Claim, version: Version) -> bool | None:
    """The value at which a release has locked the gate of a claim; None if it has not."""
    reached = [stage for stage in claim.detail.get("stages") or () if (since := parse(str(stage["from"]))).line <= version.line and since.parts <= 2]
    last: Mapping[str, Any] = max(reached, key=lambda stage: parse(str(stage["from"])).line, default={})
    default = last.get("default")
    return default if last.get("locked") and isinstance(default, bool) else None
