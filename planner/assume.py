"""Filling in a cluster of which only the Kubernetes version is known.

``era`` takes what such a cluster usually runs: the newest releases that were tested with that Kubernetes version on the day its next
minor came out. ``newest`` takes today's newest tested set, ``none`` nothing. What is filled in is marked, part by part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from compat import Matrix, Release, Subject, Version
from compat.errors import InputError
from compat.scope import Fit
from planner.state import ClusterState, ComponentState, Pool

__all__ = ["MODES", "assumed_state", "with_components"]

MODES = ("era", "newest", "none")
_POOL = "gpu"
_TRIED = 4
"""How many releases, the newest first, are looked at."""


def assumed_state(matrix: Matrix, start: str, given: Mapping[str, str], *, mode: str = "era", provider: str | None = None) -> ClusterState:
    """Make a cluster state from a Kubernetes version.

    Args:
        matrix: the knowledge.
        start: Kubernetes version of control plane and nodes.
        given: component -> version that the user knows; ``absent`` for what is not there.
        mode: one of `MODES`.
        provider: who runs the cluster, if known.

    Raises:
        InputError: if a component, version or mode is not known.
    """
    if mode not in MODES:
        raise InputError(f"assume must be one of {', '.join(MODES)}, not {mode!r}")
    control = next(subject.id for subject in matrix.subjects.values() if subject.role == "control-plane")
    version = matrix.version(control, start)
    components: dict[str, str] = {}
    pool: dict[str, Any] = {"name": _POOL}
    assumed: list[str] = []
    for name, text in _resolved(matrix, given).items():
        _place(matrix, name, text, components, pool)
    if version.parts < 3:
        assumed.append(f"{control}: {version.text} is taken as {version.release}, its newest known patch")
    if mode != "none":
        _fill(matrix, version, mode, components, pool, assumed, provider)
        if provider is not None:
            _fill_provider(matrix, version, provider, components, assumed)
    state = ClusterState(
        kubernetes=(version.text,),
        provider=provider,
        components={name: ComponentState(text or None) for name, text in components.items()},
        assumed=tuple(assumed),
    )
    return replace(state, pools=(Pool(**_lists(pool)),)) if len(pool) > 1 else state


def _lists(pool: dict[str, Any]) -> dict[str, Any]:
    return {key: (value,) if key in ("kubelet", "allocation") else value for key, value in pool.items()}


def with_components(matrix: Matrix, state: ClusterState, given: Mapping[str, str]) -> ClusterState:
    """Return *state* with versions of cluster-wide components replaced or added.

    Raises:
        InputError: if a component is not known or belongs to a pool.
    """
    components = {matrix.name(name): entry for name, entry in state.components.items()}
    for name, text in _resolved(matrix, given).items():
        if matrix.subjects[name].component.get("pool_field"):
            raise InputError(f"--with {name}: its version belongs to a pool; give it in the state file")
        components[name] = ComponentState(text)
    return replace(state, components=components)


def _resolved(matrix: Matrix, given: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, text in given.items():
        identity = matrix.name(name)
        if identity in found:
            raise InputError(f"--with: {identity} is given twice")
        if text != "absent":
            matrix.version(identity, text)
        found[identity] = text
    return found


def _place(matrix: Matrix, name: str, text: str, components: dict[str, str], pool: dict[str, Any]) -> None:
    """Put a version where it belongs: into the cluster or into the assumed pool."""
    component = matrix.subjects[name].component
    pool_field = component.get("pool_field")
    if pool_field and text == "absent":
        raise InputError(f"--with {name}: a pool has one or says nothing about it; absent makes no sense")
    if pool_field == "runtime":
        pool["runtime"] = f"{name} {text}"
    elif pool_field:
        pool[str(pool_field)] = text
    else:
        components[name] = text
        if text != "absent":
            pool.update(component.get("implies", {}))


def _fits(matrix: Matrix, subject: Subject, provider: str | None) -> bool:
    """Whether a component can be in a cluster of that provider."""
    wanted = {word: (value,) if isinstance(value, str) else tuple(value) for word, value in (subject.component.get("present_in") or {}).items()}
    return provider is None or matrix.words.fit(wanted, {"provider": (provider,)}).fit is not Fit.NO


def _fill(matrix: Matrix, version: Version, mode: str, components: dict[str, str], pool: dict[str, Any], assumed: list[str], provider: str | None) -> None:
    control = next(subject.id for subject in matrix.subjects.values() if subject.role == "control-plane")
    then = matrix.on(_era(matrix, control, version)) if mode == "era" else matrix
    line = f"{version.line[0]}.{version.line[1]}"
    pool.setdefault("nodes", 1)
    pool.setdefault("kubelet", version.text)
    pool.setdefault("allocation", "device-plugin")
    assumed.append(f"pools: one pool of GPU nodes, its kubelets at {version.text}, GPUs allocated through {pool['allocation']}")
    for subject in sorted(then.subjects.values(), key=lambda item: (item.component.get("assume_with") != control, item.id)):
        partner = str(subject.component.get("assume_with", ""))
        pool_field = str(subject.component.get("pool_field", ""))
        if not partner or subject.id in components or pool_field in pool or not _fits(matrix, subject, provider):
            continue
        beside = line if partner == control else components.get(partner)
        if not beside or beside == "absent":
            continue
        found = _candidates(then, subject.id, partner, beside)
        carried = [
            item.id for item in then.subjects.values() if item.component.get("assume_with") == subject.id and item.component.get("pool_field") not in pool
        ]
        fuller = [one for one in found if all(_candidates(then, name, subject.id, one.text) for name in carried)]
        grade = "tested"
        if not found:
            grade = "declared"
            found = _candidates(then, subject.id, partner, beside, grade)
        release = next(iter([*fuller, *found]), None)
        if release is None:
            if subject.component.get("managed_by"):  # a GPU cluster has something that manages its drivers
                components[subject.id] = ""
                assumed.append(f"{subject.id}: there, but in an unknown version, since no release is known to fit {partner} {beside}")
            else:
                assumed.append(f"{subject.id}: nothing assumed, since no release is known to fit {partner} {beside}")
            continue
        if pool_field:
            pool[pool_field] = f"{subject.id} {release.text}" if pool_field == "runtime" else release.text
        else:
            components[subject.id] = release.text
        if subject.component.get("managed_by"):
            pool.setdefault("driver_managed_by", subject.component["managed_by"])
        when = f"on {then.as_of}" if mode == "era" else "today"
        own = subject.component.get("hint", "--with")
        words = "was tested with" if grade == "tested" else "its project declares for"
        joined = f", among those with which {' and '.join(carried)} was tested" if carried and release is not found[0] else ""
        assumed.append(f"{subject.id} {release.text}: the newest release that {words} {partner} {beside} {when}{joined}; give your own with {own}")


def _candidates(matrix: Matrix, name: str, partner: str, beside: str, minimum: str = "tested") -> list[Release]:
    """Newest releases of a component that fit a release of another one."""
    manager = str(matrix.subjects[partner].component.get("managed_by", ""))
    scope = {"driver_managed_by": (manager,)} if manager else {}
    return matrix.supported(name, scope, minimum=minimum, most=_TRIED, **{partner.replace("-", "_"): beside})


def _fill_provider(matrix: Matrix, version: Version, provider: str, components: dict[str, str], assumed: list[str]) -> None:
    """The newest release of a provider with versions of its own that goes with the control plane."""
    control = next(subject.id for subject in matrix.subjects.values() if subject.role == "control-plane")
    subject = next((item for item in matrix.subjects.values() if item.role == "provider" and provider in (item.id, *item.aliases)), None)
    if subject is None or subject.id in components or not matrix.releases(subject.id):
        return
    line = f"{version.line[0]}.{version.line[1]}"
    found = matrix.supported(subject.id, {"provider": (subject.id,)}, most=1, **{control.replace("-", "_"): line})
    if found:
        components[subject.id] = found[0].text
        assumed.append(f"{subject.id} {found[0].text}: the newest release with {control} {line}; give your own with --with {subject.id}=VERSION")


def _era(matrix: Matrix, control: str, version: Version) -> date:
    """The day on which the next minor came out, or the matrix's day if it is not out."""
    following = [
        release.released
        for release in matrix.releases(control)
        if release.version.line == (version.line[0], version.line[1] + 1) and not release.version.is_prerelease and release.released is not None
    ]
    return min([*following, matrix.as_of])
