"""A cluster state read against the knowledge base: which parts it has, where they are, what is unknown.

The state names things as people do; a `Situation` has resolved components and versions, the scope of every pool, and the list of what
could not be considered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from compat import Matrix, Subject
from compat.errors import InputError
from compat.scope import Fit, Scope
from planner.aspects import allocation_part, apis_in_use
from planner.parts import Part
from planner.state import ClusterState, Pool

__all__ = ["ALLOCATION", "Situation", "resolve"]

_T = TypeVar("_T")
ALLOCATION = "allocation"
"""Scope word that says how pods get GPUs; the field of a pool has the same name."""
_RUNTIME = re.compile(r"^(?P<name>[a-z][a-z-]*)(?:://|[ =:]v?)(?P<version>\S+)$")


@dataclass(frozen=True)
class Situation:
    """A cluster as the planner sees it."""

    matrix: Matrix
    state: ClusterState
    parts: tuple[Part, ...]
    """The control plane first, then what is cluster-wide by name, then pool by pool."""
    absent: frozenset[str]
    """Components that are known not to be there."""
    unversioned: tuple[tuple[str, str], ...]
    """Component and pool (empty: cluster-wide) of what is there in an unknown version."""
    gaps: tuple[str, ...] = field(default=())
    """What else is unknown, in words."""

    @property
    def control(self) -> Part:
        """The control plane."""
        return self.parts[0]

    @cached_property
    def by_key(self) -> dict[str, Part]:
        """Parts by their key."""
        return {part.key: part for part in self.parts}

    @cached_property
    def pools(self) -> dict[str, Pool]:
        """Pools by name."""
        return {pool.name: pool for pool in self.state.pools}

    def subject(self, part: Part) -> Subject | None:
        """What the knowledge base has about a part as such: for an API in use, the subject that stands for all of them."""
        if part.api:
            return next((subject for subject in self.matrix.subjects.values() if subject.role == "api"), None)
        return self.matrix.subjects.get(part.component)

    def role(self, component: str) -> str:
        """Role of a component in the knowledge base."""
        subject = self.matrix.subjects.get(component)
        return subject.role if subject else ""

    @cached_property
    def needed(self) -> dict[str, list[str]]:
        """Components that pools cannot do without as they are now (``needed_in``), with these pools."""
        found: dict[str, list[str]] = {}
        for subject in self.matrix.subjects.values():
            wanted = {word: (value,) if isinstance(value, str) else tuple(value) for word, value in (subject.component.get("needed_in") or {}).items()}
            pools = [pool.name for pool in self.state.pools if wanted and self.matrix.words.fit(wanted, self.scope(pool.name)).fit is Fit.YES]
            if pools:
                found[subject.id] = pools
        return found

    def brings(self, pool: str, component: str) -> bool:
        """Whether a component comes with the nodes of a pool, as far as provider, provisioning and the like are known."""
        subject = self.matrix.subjects.get(component)
        here = self.scope(pool)
        return subject is not None and any(
            self.matrix.words.fit({word: (value,) if isinstance(value, str) else tuple(value) for word, value in scope.items()}, here).fit is Fit.YES
            for scope in subject.component.get("comes_with_node", ())
        )

    @cached_property
    def unserved(self) -> dict[str, list[str]]:
        """Pools whose way of allocating GPUs nothing serves, because everything that could is said to be absent; with what could."""
        found: dict[str, list[str]] = {}
        for pool in self.state.pools:
            for way in pool.allocation or ():
                servers = [
                    subject.id
                    for subject in self.matrix.subjects.values()
                    if way in ((subject.component.get(key) or {}).get(ALLOCATION) for key in ("present_in", "needed_in"))
                ]
                if servers and self.absent.issuperset(servers) and not any(self.brings(pool.name, server) for server in servers):
                    found[pool.name] = servers
        return found

    @cached_property
    def provider(self) -> str:
        """The subject of the provider; empty if there is none."""
        return _provider(self.matrix, self.state)

    @cached_property
    def offering(self) -> str:
        """The provider, if the knowledge base knows what it offers and it has no version of its own; else the empty string."""
        name = self.provider
        return name if name and not self.matrix.releases(name, out_only=False) else ""

    @cached_property
    def context(self) -> dict[str, None]:
        """What is known not to be there, for claims that only hold beside it."""
        return dict.fromkeys(sorted(self.absent))

    @cached_property
    def hardware(self) -> dict[str, str]:
        """Subjects that stand for what nodes are made of, and the scope word that says which."""
        return {subject.id: str(subject.component["scope_word"]) for subject in self.matrix.subjects.values() if subject.component.get("scope_word")}

    def drains(self, part: Part) -> bool:
        """Whether moving the part empties its nodes."""
        subject = self.subject(part)
        return bool(part.pool and subject and subject.component.get("part_of_drain"))

    def moves_with(self, part: Part) -> str:
        """Component with which a part moves in one step; empty: it moves alone."""
        subject = self.matrix.subjects.get(part.component)
        return str(subject.component.get("moves_with", "")) if subject else ""

    @cached_property
    def common_scope(self) -> dict[str, tuple[str, ...]]:
        """What holds everywhere in the cluster."""
        scope: dict[str, tuple[str, ...]] = {}
        if self.state.provider:
            word, value = self.matrix.words.check("provider", self.state.provider)
            scope[word] = (value,)
        if self.state.features:
            scope["feature"] = tuple(f"{name}={'true' if on else 'false'}" for name, on in sorted(self.state.features.items()))
        return scope

    @cached_property
    def migrating(self) -> list[Part]:
        """The parts that say how pools allocate GPUs which are to change that."""
        return [part for part in self.parts if part.allocates]

    @cached_property
    def changing(self) -> dict[str, Part]:
        """The same by pool."""
        return {part.pool: part for part in self.migrating}

    @property
    def allocation_word(self) -> str:
        """Scope word that says how pods get GPUs."""
        return ALLOCATION

    def values_at(self, place: str) -> tuple[str, ...]:
        """The ways in which GPUs of a pool, given by its name or by the part that says so, are allocated while a plan runs; empty text: as now."""
        part = self.changing.get(place) or (self.by_key[place] if "@" in place else None)
        return tuple(value.text for value in part.values) if part else ("",)

    def scope(self, pool: str, allocation: str = "") -> dict[str, tuple[str, ...]]:
        """What holds on the nodes of a pool; words of which nothing is known are left open.

        Args:
            pool: name of the pool.
            allocation: how it allocates its GPUs, if not as it does now.
        """
        return {**self._scopes[pool], ALLOCATION: (allocation,)} if allocation else self._scopes[pool]

    def at_large(self, pool: str, allocation: str = "") -> dict[str, tuple[str, ...]]:
        """What of `scope` matters to cluster-wide parts."""
        return {word: values for word, values in self.scope(pool, allocation).items() if word not in ("kernel", "cgroup")}

    @staticmethod
    def distinct(scopes: Iterable[Scope]) -> list[Scope]:
        """Each scope once."""
        found: list[Scope] = []
        for scope in scopes:
            if scope not in found:
                found.append(scope)
        return found

    @cached_property
    def _scopes(self) -> dict[str, dict[str, tuple[str, ...]]]:
        return {pool.name: self._pool_scope(pool) for pool in self.state.pools}

    def _pool_scope(self, pool: Pool) -> dict[str, tuple[str, ...]]:
        words = self.matrix.words
        scope = dict(self.common_scope)
        for word, value in (
            ("os", pool.os),
            ("provisioning", pool.provisioning),
            ("sharing", pool.sharing),
            ("cgroup", pool.cgroup),
            ("driver_image", pool.driver_image),
        ):
            if value:
                scope[word] = (words.check(word, value)[1],)
        for word, value in words.implied("os", pool.os).items() if pool.os else ():
            scope.setdefault(word, (value,))
        if pool.kernel:
            scope["kernel"] = (".".join(pool.kernel.split(".")[:2]),)
        if pool.driver:
            driver = _by_role(self.matrix, "driver")
            scope.update(self.matrix.text_scope(driver, self.matrix.version(driver, pool.driver)))
        if pool.driver_managed_by:
            scope["driver_managed_by"] = (pool.driver_managed_by,)
        if pool.allocation:
            scope["allocation"] = tuple(pool.allocation)
        if pool.runtime and (match := _RUNTIME.match(pool.runtime.strip())):
            scope["runtime"] = (match["name"],)
        if pool.gpu and pool.gpu.product:
            scope.update(self.matrix.product_scope(pool.gpu.product) or {})
        return scope

    @cached_property
    def gpu_pools(self) -> list[str]:
        """Names of the pools with GPUs; of all pools if none is known to have any."""
        return [pool.name for pool in self.state.pools if pool.has_gpus] or [pool.name for pool in self.state.pools]

    @cached_property
    def cluster_scopes(self) -> tuple[Scope, ...]:
        """The different scopes of the pools that a cluster-wide part serves: those with GPUs, else all, else the cluster's own."""
        scopes = [self.at_large(name, value) for name in self.gpu_pools for value in self.values_at(name)]
        return tuple(self.distinct(scopes)) or (self.common_scope,)

    def runs_on(self, component: str, pool: str) -> bool:
        """Whether a component has anything to do with a pool: what is for GPU nodes only has not where they are known to have no GPUs."""
        subject = self.matrix.subjects.get(component)
        gpu = self.pools[pool].gpu if pool else None
        return not (subject and subject.component.get("gpu_nodes_only") and gpu is not None and gpu.per_node == 0)

    def places(self, part: Part) -> tuple[Scope, ...]:
        """Scopes of all places that a part serves: its pool, or the pools of the cluster."""
        return tuple(self.scope(part.pool, value) for value in self.values_at(part.pool)) if part.pool else self.cluster_scopes

    def present(self, component: str, pool: str, allocation: str = "") -> bool:
        """Whether a component that the cluster has runs on a pool, as far as the knowledge base says where it does."""
        return self._can_run(component, self.scope(pool, allocation))

    def possible(self, component: str) -> bool:
        """Whether a component can be in this cluster at all, as far as the knowledge base says where it runs."""
        return any(self._can_run(component, scope) for scope in self.cluster_scopes)

    def _can_run(self, component: str, place: Scope) -> bool:
        subject = self.matrix.subjects.get(component)
        wanted = subject.component.get("present_in") if subject else None
        if not wanted:
            return True
        scope = {word: (value,) if isinstance(value, str) else tuple(value) for word, value in wanted.items()}
        return self.matrix.words.fit(scope, place).fit is not Fit.NO


def resolve(matrix: Matrix, state: ClusterState, allocation: Mapping[str, str] | None = None) -> Situation:
    """Read a state against the knowledge base.

    Args:
        matrix: the knowledge.
        state: the cluster.
        allocation: pool -> how it is to allocate its GPUs in the end, where that is to change.

    Raises:
        InputError: naming the field whose component, version or word is not known.
    """
    control, agent = _by_role(matrix, "control-plane"), _by_role(matrix, "node-agent")
    parts = [_part(matrix, control, "", state.kubernetes, "kubernetes")]
    absent: set[str] = set()
    unversioned: list[tuple[str, str]] = []
    gaps: list[str] = []
    for given, component in sorted(state.components.items()):
        with_field = f"components.{given}"
        name = _located(with_field, matrix.name, given)
        if component.version is None:
            unversioned.append((name, ""))
        elif component.version == "absent":
            absent.add(name)
        elif matrix.subjects[name].role in ("control-plane", "node-agent", "driver", "runtime"):
            raise InputError(f"{with_field}: {name} belongs to {_home(matrix, name)}, not to components")
        else:
            parts.append(_part(matrix, name, "", [component.version], with_field))
    provider = _provider(matrix, state)
    if provider and matrix.releases(provider, out_only=False) and provider not in (*(part.component for part in parts), *(name for name, _ in unversioned)):
        unversioned.append((provider, ""))
    parts[1:] = sorted(parts[1:], key=lambda part: part.component)
    if not state.lists_pools:
        unversioned.append((agent, ""))
    parts.extend(apis_in_use(matrix, state, parts))
    for index, pool in enumerate(state.pools):
        parts.extend(_pool_parts(matrix, agent, pool, index, gaps, unversioned))
        if pool.name in (allocation or {}):
            parts.append(allocation_part(matrix, pool, (allocation or {})[pool.name], {part.component for part in parts}))
    if len({part.key for part in parts}) < len(parts):
        raise InputError("components: one component is given under two names; keep one of them")
    situation = Situation(matrix, state, tuple(parts), frozenset(absent), tuple(unversioned), tuple(gaps))
    known = {*(part.component for part in parts), *(name for name, _ in unversioned), *absent}
    missing = [name for name in situation.needed if name not in known]
    if missing:
        situation = replace(situation, unversioned=(*unversioned, *((name, "") for name in missing)))
    _ = [situation.scope(pool.name) for pool in state.pools]
    return situation


def _pool_parts(matrix: Matrix, agent: str, pool: Pool, index: int, gaps: list[str], unversioned: list[tuple[str, str]]) -> Iterator[Part]:
    where = f"pools[{index}] ({pool.name})"
    if pool.kubelet:
        yield _part(matrix, agent, pool.name, pool.kubelet, f"{where}.kubelet")
    else:
        unversioned.append((agent, pool.name))
    if pool.runtime:
        match = _RUNTIME.match(pool.runtime.strip())
        if not match:
            raise InputError(f"{where}.runtime: expected name and version, such as containerd 1.7.27, found {pool.runtime!r}")
        name = _located(f"{where}.runtime", matrix.name, match["name"])
        if matrix.subjects[name].role != "runtime":
            raise InputError(f"{where}.runtime: {name} is no container runtime")
        yield _part(matrix, name, pool.name, [match["version"]], f"{where}.runtime")
    elif beside := matrix.subjects[agent].component.get("runs_beside"):
        unversioned.append((str(beside[0]), pool.name))
    else:
        gaps.append(f"pool {pool.name}: the container runtime is not given")
    if pool.driver:
        yield _part(matrix, _by_role(matrix, "driver"), pool.name, [pool.driver], f"{where}.driver")
    elif pool.has_gpus:
        unversioned.append((_by_role(matrix, "driver"), pool.name))
    if not pool.os:
        gaps.append(f"pool {pool.name}: the operating system is not given")


def _part(matrix: Matrix, component: str, pool: str, texts: Sequence[str], where: str) -> Part:
    versions = sorted({_located(where, lambda text: matrix.version(component, text), text) for text in texts})
    return Part(component, pool, versions[0], tuple(versions) if len(versions) > 1 else ())


def _located(where: str, read: Callable[[str], _T], text: str) -> _T:
    """Call *read* and put the field into the error that it raises."""
    try:
        return read(text)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _by_role(matrix: Matrix, role: str) -> str:
    for subject in matrix.subjects.values():
        if subject.role == role:
            return subject.id
    raise InputError(f"the knowledge base has no component with the role {role}")


def _provider(matrix: Matrix, state: ClusterState) -> str:
    """Subject of the cluster's provider, if it has one."""
    found = (subject.id for subject in matrix.subjects.values() if subject.role == "provider" and state.provider in (subject.id, *subject.aliases))
    return next(found, "")


def _home(matrix: Matrix, name: str) -> str:
    return str(matrix.subjects[name].component.get("pool_field") or matrix.subjects[name].role)
