"""Is this state, or the state after a bump, allowed?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compat import Matrix, Version
from compat.errors import InputError
from compat.hops import Hop, everywhere, hop
from compat.verdicts import ORDER
from planner.cites import Cites
from planner.findings import standing
from planner.journey import Journey
from planner.judgements import Judgement
from planner.pairs import Pairs
from planner.plan import Finding
from planner.situation import resolve
from planner.state import ClusterState

__all__ = ["CheckResult", "check_state"]


@dataclass(frozen=True)
class CheckResult:
    """Verdicts of a state."""

    grade: str
    """The weakest of all pairs that are relied on and of the bumps' hops."""
    judgements: tuple[Judgement, ...]
    """Every pair that is relied on or broken, worst first."""
    hops: tuple[tuple[str, Hop], ...]
    """For each bump what is known of going there, and what it asks for."""
    findings: tuple[Finding, ...]
    """What is wrong with the state by itself; an error makes it broken."""


def check_state(matrix: Matrix, state: ClusterState, bumps: Mapping[str, str]) -> CheckResult:
    """Judge every pair of a state, with the versions of *bumps* instead of its own.

    Raises:
        InputError: if the state or a bump cannot be used.
    """
    situation = resolve(matrix, state)
    pairs = Pairs(situation)
    versions: dict[str, Version] = {part.key: part.version for part in situation.parts}
    hops = []
    moved: set[str] = set()
    for given, text in bumps.items():
        name = matrix.name(given)
        keys = [part.key for part in situation.parts if part.component == name]
        if name in moved:
            raise InputError(f"--set {name}: it is given twice")
        moved.add(name)
        if not keys:
            raise InputError(f"--set {name}: the state has no such part; it has {', '.join(sorted({part.component for part in situation.parts}))}")
        version = matrix.version(name, text)
        for key in keys:
            part = situation.by_key[key]
            found = everywhere([hop(matrix, name, start, version, scope) for start in part.standing(part.version) for scope in situation.places(part)])
            hops.append((f"{key} {part.version.release} -> {version.release}", found))
            versions[key] = version
    judgements = tuple(judgement for judgement in pairs.all(versions) if judgement.relied_on or judgement.grade == "broken")
    grades = [judgement.grade for judgement in judgements]
    grades += [{"forbidden": "broken", "needs-stop": "broken", "unknown": "unknown"}.get(found.rule, "tested") for _, found in hops]
    wrong = tuple(standing(Journey(pairs, ()), versions, Cites()))
    grades += ["broken" for finding in wrong if finding.severity == "error"]
    return CheckResult(min(grades, key=ORDER.index, default="tested"), judgements, tuple(hops), wrong)
