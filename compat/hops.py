"""Going from one version to another: is the hop allowed, and what has to be done for it?

Upgrade rules are claims like all others. ``forbidden``, ``needs-stop`` and ``unknown`` rules speak of the hop as a whole; actions
(``needs-action``, ``note``) belong to a border between releases and are due on every hop that crosses it, however large.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from compat.claims import Claim
from compat.errors import InputError
from compat.matrix import Given, Matrix
from compat.ranges import for_people
from compat.scope import Fit, Scope, describe
from compat.verdicts import Caution, Verdict
from compat.versions import Version

__all__ = ["Duty", "Hop", "everywhere", "hop", "resolve_coexistence", "resolve_hop", "verdict_of_hop", "waypoints"]


@dataclass(frozen=True, slots=True)
class Duty:
    """Something that a hop asks of people."""

    claim: Claim
    condition: str
    """Only if this is so; empty: always."""
    found: tuple[str, ...] = ()
    """What of the things that the claim is about was found in this cluster: feature gates that are set."""

    @property
    def text(self) -> str:
        """What to do; the summary of the claim where it names no action."""
        text = str(self.claim.detail.get("action") or self.claim.summary)
        return f"{text.rstrip('.')}. Set in this cluster: {', '.join(self.found)}." if self.found else text


@dataclass(frozen=True, slots=True)
class Hop:
    """What is known of going from one version to another."""

    rule: str
    """``allowed``, ``forbidden``, ``needs-stop`` or ``unknown``."""
    claims: tuple[Claim, ...]
    """The claims that decided; empty if no rule speaks of the hop."""
    duties: tuple[Duty, ...]
    """Actions due on the way, unconditional ones first."""
    reversible: bool
    """False if a claim says that there is no way back."""
    stop: str = ""
    """Range in which a stop is needed."""


def hop(matrix: Matrix, component: str, start: Version, end: Version, scope: Scope | None = None, *, duties: bool = True) -> Hop:
    """Weigh the upgrade rules of *component* for going from *start* to *end*.

    Args:
        matrix: the knowledge.
        component: id or alias.
        start: version now.
        end: version afterwards.
        scope: what holds where the hop is made.
        duties: also collect what the hop asks of people; a search does not need it.

    Raises:
        InputError: if the component is not known.
    """
    name = matrix.name(component)
    given = scope or {}
    crossed = waypoints(matrix, name, start, end) if duties else []
    deciding: dict[str, list[Claim]] = {}
    due: list[Duty] = []
    reversible = True
    for claim in [*matrix.about(name, "upgrade"), *_borders(matrix, name)] if duties else matrix.rules_from(name, start):
        rule = str(claim.detail.get("rule", "note"))
        match = matrix.words.fit(claim.scope, given)
        if match.fit is Fit.NO:
            continue
        direct = start in claim.subject_range and end in claim.to_range
        if _oversteps(claim, start, end):
            rule, direct = "forbidden", True
        if rule in ("allowed", "forbidden", "needs-stop", "unknown"):
            if direct and match.fit is Fit.YES and _is_about_itself(claim, name):
                deciding.setdefault(rule, []).append(claim)
                if claim.detail.get("reversible") is False:
                    reversible = False
            elif duties and direct and rule != "allowed" and _is_about_itself(claim, name):
                due.append(Duty(claim, describe(match.open)))  # whether it bites is for the reader to say
        elif (
            crossed
            and end > start
            and not claim.detail.get("step")
            and not claim.detail.get("cve")
            and any(one in claim.subject_range and other in claim.to_range for one, other in crossed)
        ):
            settings, unseen = _gates(claim, given)
            parts = (describe(match.open), str(claim.detail.get("condition") or ""), unseen)
            due.append(Duty(claim, " and ".join(part for part in parts if part), settings))
    for rule in ("forbidden", "needs-stop", "unknown", "allowed"):
        if found := deciding.get(rule):
            stop = next((str(claim.detail["stop"]) for claim in found if claim.detail.get("stop")), "")
            return Hop(rule, tuple(found), _sorted(due), reversible, stop)
    if end < start:
        return Hop("unknown", (), _sorted(due), reversible)  # a way back is not taken for granted
    return Hop("allowed", (), _sorted(due), reversible)


def _gates(claim: Claim, given: Scope) -> tuple[tuple[str, ...], str]:
    """Feature gates of a claim that are set, or else the condition that one of them is: that none was named does not say that none is set."""
    gates = claim.detail.get("gates") or ()
    settings = dict(item.partition("=")[::2] for item in given.get("feature", ()))
    found = tuple(f"{gate}={settings[gate]}" for gate in gates if gate in settings)
    return found, "" if found or not gates else f"one of these feature gates is set: {', '.join(gates)}"


def everywhere(found: Sequence[Hop]) -> Hop:
    """One hop that is made in several places: the worst rule counts, and what is due in any place is due."""
    rules = ("forbidden", "needs-stop", "unknown", "allowed")
    worst = min((each.rule for each in found), key=rules.index)
    deciding = [each for each in found if each.rule == worst]
    due: dict[str, Duty] = {}
    for each in found:
        for duty in each.duties:
            if duty.claim.id not in due or not duty.condition:
                due[duty.claim.id] = duty
    claims = tuple(dict.fromkeys(claim for each in deciding for claim in each.claims))
    return Hop(worst, claims, _sorted(list(due.values())), all(each.reversible for each in found), deciding[0].stop)


def _is_about_itself(claim: Claim, name: str) -> bool:
    return claim.object in ("", name)


def _borders(matrix: Matrix, name: str) -> Sequence[Claim]:
    """Actions that another component's release asks for, written with this component as the object."""
    return [claim for claim in matrix.about(name, "order") if claim.detail.get("to_versions")]


def _oversteps(claim: Claim, start: Version, end: Version) -> bool:
    step = claim.detail.get("step")
    if not step or start not in claim.subject_range:
        return False
    return start.key.major == end.key.major and end.key.minor - start.key.minor > int(step["max"])


def _sorted(duties: list[Duty]) -> tuple[Duty, ...]:
    return tuple(sorted(duties, key=lambda duty: (bool(duty.condition), duty.claim.severity != "must")))


def waypoints(matrix: Matrix, name: str, start: Version, end: Version) -> list[tuple[Version, Version]]:
    """The borders between releases that lie on the way, and the hop as a whole."""
    if end <= start:
        return [(start, end)]
    between = sorted({release.version for release in matrix.releases(name) if start < release.version < end and release.version.parts > 2})
    stations = [start, *between, end]
    return [(start, end), *itertools.pairwise(stations)]


def resolve_hop(matrix: Matrix, one: Given, other: Given, scope: Scope | None = None) -> Hop:
    """Like `hop`, for ``(component, version)`` pairs as a caller gives them.

    Raises:
        InputError: if the two name different components, or something is not known.
    """
    (first, start), (second, end) = matrix.part(one), matrix.part(other)
    if first != second:
        raise InputError(f"an upgrade is from one version to another of the same component, not from {first} to {second}")
    if start is None or end is None:
        raise InputError(f"an upgrade needs two versions, such as {first}=25.3.2 {first}=25.10.1")
    return hop(matrix, first, start, end, scope)


def verdict_of_hop(found: Hop) -> Verdict:
    """A hop as a verdict: forbidden is broken, an explicit permission declared, silence unknown."""
    if found.rule in ("forbidden", "needs-stop"):
        stop = (f"stop at {for_people(found.stop)} on the way",) if found.stop else ()
        return Verdict("broken", found.claims, stop, _cautions(found))
    if found.rule == "unknown" or not found.claims:
        return Verdict("unknown", found.claims, (), _cautions(found), question="No rule speaks of this hop. The project's upgrade notes would settle it.")
    return Verdict("declared", found.claims, (), _cautions(found))


def _cautions(found: Hop) -> tuple[Caution, ...]:
    return tuple(Caution(duty.claim, duty.condition) for duty in found.duties)


def resolve_coexistence(matrix: Matrix, one: Given, other: Given, scope: Scope | None = None) -> Verdict:
    """What is known of two versions of one component running at once, as while a roll-out is under way.

    Raises:
        InputError: if the two name different components, or something is not known.
    """
    (first, _), (second, _) = matrix.part(one), matrix.part(other)
    if first != second:
        raise InputError(f"--relation coexist is about two versions of one component, not about {first} and {second}")
    return matrix.verdict(one, other, scope)
