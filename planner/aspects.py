"""What a plan can move that is no component: API versions in use, and the way in which a pool allocates its GPUs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from packaging.version import Version as PackagingVersion

from compat import Claim, Matrix, Version
from compat.errors import printable
from compat.versions import parse
from planner.errors import GoalError
from planner.parts import ApiUse, Part
from planner.state import ClusterState, Pool

__all__ = ["allocation_part", "api_claims", "apis_in_use", "not_served"]

_API_VERSION = re.compile(r"^v(?P<major>\d{1,4})(?:(?P<stage>alpha|beta)(?P<number>\d{1,4}))?$")


def _choice(text: str, rank: str) -> Version:
    return Version(text=text, key=PackagingVersion(rank), release=text, parts=1)


# -- API versions in use


def api_claims(matrix: Matrix, owner: str, group: str, version: str, kind: str) -> list[Claim]:
    """Standing claims about an API version that a component serves; *kind* empty: about any of its kinds."""
    return [
        claim
        for claim in matrix.about(owner, "api")
        if claim.detail.get("group") == group and claim.detail.get("version") == version and (not kind or kind in claim.detail.get("kinds", ()))
    ]


def apis_in_use(matrix: Matrix, state: ClusterState, parts: Sequence[Part]) -> list[Part]:
    """A part for each API in use that has a successor and whose owner is a part of the cluster."""
    found: dict[str, Part] = {}
    for text in state.apis:
        group, _, rest = text.partition("/")
        version, _, kind = rest.partition("/")
        for owner in parts:
            chain = _successors(matrix, owner.component, group, version, kind)
            if not owner.pool and len(chain) > 1:
                name = f"{group}/{kind}" if kind else group
                values = tuple(_choice(item, _rank(item)) for item in chain)
                known = found.get(name)
                if known is None or values[0] < known.version:  # the oldest version that is in use decides
                    found[name] = Part(name, "", values[0], values=values, api=ApiUse(group, kind, owner.key))
    return [found[name] for name in sorted(found)]


def _successors(matrix: Matrix, owner: str, group: str, version: str, kind: str) -> list[str]:
    """An API version and those that replace it in turn, as far as they are of the same group."""
    chain = [version] if _API_VERSION.match(version) else []
    while chain:
        named = {str(claim.detail["replacement"]): claim for claim in api_claims(matrix, owner, group, chain[-1], kind) if claim.detail.get("replacement")}
        newest = max(named.values(), key=lambda claim: (claim.known_from, claim.id), default=None)
        following = str(newest.detail["replacement"]).removeprefix(f"{group}/") if newest else ""
        if not _API_VERSION.match(following) or _order(following) <= _order(chain[-1]):
            break
        chain.append(following)
    return chain


def _order(version: str) -> PackagingVersion:
    return PackagingVersion(_rank(version))


def _rank(version: str) -> str:
    match = _API_VERSION.match(version)
    if match is None:
        raise ValueError(f"{version} is no API version")
    return match["major"] + ({"alpha": "a", "beta": "b"}[match["stage"]] + match["number"] if match["stage"] else "")


def not_served(matrix: Matrix, used: Part, owner: Part, at: Version, release: Version) -> Claim | None:
    """A claim that a release of an API's owner does not serve it at a version; None if none says so.

    Args:
        matrix: the knowledge.
        used: the API in use.
        owner: the part that serves it.
        at: version of the API.
        release: release of the owner.
    """
    if used.api is None:
        return None
    lineage = matrix.lineage(owner.component)
    claims = api_claims(matrix, owner.component, used.api.group, at.text, used.api.kind)

    def release_of(claim: Claim, key: str) -> Version | None:
        return parse(str(claim.detail[key]), lineage) if claim.detail.get(key) else None

    for claim in sorted(claims, key=lambda item: (item.known_from, item.id), reverse=True):
        removed = release_of(claim, "removed")
        # which of the kinds of a version is in use nobody may have said: those that are gone already cannot be
        if removed is not None and removed <= release and (used.api.kind or removed > owner.version or at != used.version):
            return claim
    introduced = [(since, claim) for claim in claims if (since := release_of(claim, "introduced")) is not None]
    if introduced and len(introduced) == len(claims) and all(since > release for since, _ in introduced):
        return min(introduced, key=lambda item: (item[0], item[1].id))[1]
    return None


# -- how GPUs are allocated


def allocation_part(matrix: Matrix, pool: Pool, wanted: str, present: Collection[str]) -> Part:
    """The part that says how a pool allocates its GPUs, where that is to change.

    Raises:
        GoalError: if it is not known how it does now, or what serves the new way is not there.
    """
    subject = next((item.id for item in matrix.subjects.values() if item.role == "allocation"), "")
    word, given = matrix.words.check("allocation", wanted)
    if not subject:
        raise GoalError("the knowledge base has no subject with the role allocation, so that nothing is known about changing it")
    if not pool.allocation or len(pool.allocation) != 1:
        now = " and ".join(pool.allocation or ()) or "unknown"
        raise GoalError(f"pool {pool.name}: how it allocates GPUs now is {now}; say one way in pools[].allocation of the state")
    if pool.allocation[0] == given:
        raise GoalError(f"pool {pool.name} allocates its GPUs through {given} already; leave it out")
    servers = [item.id for item in matrix.subjects.values() if given in ((item.component.get(key) or {}).get(word) for key in ("present_in", "needed_in"))]
    if servers and not any(name in present for name in servers):
        names = " or ".join(servers)
        raise GoalError(f"pool {pool.name} is to allocate GPUs through {printable(given)}, but {names} is not in the cluster with a known version; give it")
    values = (_choice(pool.allocation[0], "0"), _choice(given, "1"))
    return Part(subject, pool.name, values[0], values=values)
