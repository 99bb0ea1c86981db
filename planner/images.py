"""What nodes bring along: runtimes and drivers that come with a node image or a distribution and cannot be moved by themselves.

Which version an image carries is a statement of the provider (a ``bundle`` claim with ``when`` for the control plane's line). Where nobody
says it, it is not known until the nodes are there, and what relies on it is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

from packaging.version import Version as PackagingVersion

from compat import Claim, Version
from compat.errors import InputError
from compat.ranges import parse_range
from compat.scope import Fit
from compat.versions import parse
from planner.parts import Part
from planner.situation import Situation

__all__ = ["UNSAID", "agent_of", "comes_with_node", "in_one_image", "is_unsaid", "shipped"]

UNSAID = Version(text="?", key=PackagingVersion("999999!0"), release="?", parts=3)
"""The version that a node image carries, where nobody says which."""


def is_unsaid(version: Version) -> bool:
    """Whether a version is that of an image of which nobody says it."""
    return version.release == UNSAID.release


def comes_with_node(situation: Situation, part: Part) -> bool:
    """Whether a part of a pool comes with its nodes, as far as provider, provisioning and the like are known."""
    return bool(part.pool) and not part.values and situation.brings(part.pool, part.component)


def agent_of(situation: Situation, part: Part) -> Part | None:
    """The node agent beside a part, if its version is known."""
    return next((other for other in situation.parts if other.pool == part.pool and situation.role(other.component) == "node-agent"), None)


def shipped(situation: Situation, part: Part, agent: Part, version: Version) -> tuple[Version, tuple[Claim, ...]]:
    """What comes with nodes whose agent is at *version*, and who says so; `UNSAID` if nobody does.

    A statement older than what runs now says nothing about the images of today.
    """
    if version.key == agent.version.key:
        return part.version, ()
    matrix, control = situation.matrix, situation.control.component
    here = situation.scope(part.pool)
    found: list[Claim] = []
    for claim in matrix.about(situation.provider, "bundle") if situation.provider else ():
        when = claim.detail.get("when")
        if claim.object != part.component or not isinstance(when, Mapping) or control not in when or matrix.fit(claim, here).fit is Fit.NO:
            continue
        if version in parse_range(when[control], matrix.lineage(control)) and claim.grade != "inferred":
            found.append(claim)
    for claim in sorted(found, key=lambda item: (item.known_from, len(item.object_versions), item.id), reverse=True):
        carried = _newest(situation, part.component, claim)
        if carried is not None and carried >= part.version:
            return carried, (claim,)
    return UNSAID, ()


def _newest(situation: Situation, component: str, claim: Claim) -> Version | None:
    """The newest known release in what a claim says is carried; the version itself if it names one that is not known."""
    inside = [release.version for release in situation.matrix.releases(component) if release.version in claim.object_range and release.version.parts > 2]
    if inside:
        return max(inside)
    try:
        return parse(claim.object_versions.removeprefix("=="), situation.matrix.lineage(component))
    except InputError:
        return None


def in_one_image(situation: Situation, one: Part, other: Part) -> bool:
    """Whether the provider ships two parts together: then that they fit is its business, and only a known conflict counts."""
    brought = [comes_with_node(situation, part) for part in (one, other)]
    ships = [own or situation.role(part.component) == "node-agent" for own, part in zip(brought, (one, other), strict=True)]
    return bool(one.pool) and one.pool == other.pool and all(ships) and any(brought)
