"""Where a cluster stands in a plan: which steps are done, which are begun, and what is in no state of the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compat import Matrix, Version
from compat.errors import InputError, printable
from planner.images import UNSAID
from planner.parts import ApiUse, Part
from planner.plan import Change, Plan, Step
from planner.situation import Situation, resolve
from planner.state import ClusterState, ComponentState

__all__ = ["Progress", "Route", "locate"]


@dataclass(frozen=True)
class Progress:
    """Where a cluster stands in a plan."""

    done: tuple[str, ...]
    """Ids of the steps that are done."""
    begun: tuple[str, ...]
    """Ids of steps of which some parts or nodes have moved and others not."""
    next: str | None
    """Id of the step to go on with; None if all are done."""
    drift: tuple[str, ...] = ()
    """What is in no state of the plan, in words: the plan does not say how to go on from there."""
    differs: tuple[str, ...] = ()
    """What else is not as the plan's start says; it is judged as it is now."""


class Route:
    """The versions that each part has on the way of a plan."""

    def __init__(self, matrix: Matrix, plan: Plan, start: ClusterState) -> None:
        self.matrix = matrix
        self.plan = plan
        keys = {part.key for part in self.read(start).parts}
        self._stops = dict(_stops(plan, keys))
        self.start = self.pinned(start)
        """The start, with the releases that the plan took for versions given as a line."""
        self.situation = self.read(self.start)
        self.path: dict[str, list[Version]] = {part.key: [part.version, *self._later(part)] for part in self.situation.parts}
        """Part -> its version at the start and after each step that moves it."""
        self.moves: dict[str, dict[str, int]] = {step.id: {} for step in plan.steps}
        """Step -> part that it moves -> place in the part's path that it leads to."""
        place = dict.fromkeys(self.path, 0)
        for step in plan.steps:
            for change in _moving(step):
                key = _key(step, change, keys)
                if key is not None:
                    place[key] += 1
                    self.moves[step.id][key] = place[key]

    def read(self, state: ClusterState) -> Situation:
        """Read a state with what is still to change of how its pools allocate GPUs."""
        now = {pool.name: pool.allocation for pool in state.pools}
        wanted = {pool: mode for pool, mode in self.plan.goal.allocation.items() if len(now.get(pool) or ()) == 1 and now[pool] != (mode,)}
        return resolve(self.matrix, state, wanted)

    def _later(self, part: Part) -> Iterator[Version]:
        for change in self._stops.get(part.key, ()):
            if part.values:
                found = [value for value in part.values if value.text == change.to]
                if not found:
                    known = ", ".join(value.text for value in part.values)
                    raise InputError(f"{printable(part.key)}: cannot go to {printable(change.to)!r}; known: {known}")
                yield found[0]
            elif change.to == UNSAID.text:
                yield UNSAID
            else:
                yield self.matrix.version(part.component, change.to)

    def pinned(self, state: ClusterState) -> ClusterState:
        """The state with each version that is given as a line, such as 1.33, read as the release of that line that the plan has.

        Else the newest release of the line would count, and that is another one every month.
        """
        situation = self.read(state)
        found: dict[str, str] = {}
        for part in situation.parts:
            if part.version.parts < 3 and not part.mixed and not part.values:
                stops = self._stops.get(part.key, ())
                known = [*(change.from_ for change in stops[:1]), *(change.to for change in stops), self.plan.end.get(part.key, "")]
                fitting = [release for release in known if release and _is_of_line(self.matrix, part, release)]
                if fitting:
                    found[part.key] = fitting[0]
        return with_versions(situation, found)

    def after(self, step: str) -> ClusterState:
        """The state that the plan leads to with a step.

        Raises:
            InputError: if the plan has no such step.
        """
        ids = [one.id for one in self.plan.steps]
        if step not in ids:
            raise InputError(f"--done {printable(step)}: the plan has no such step; it has {', '.join(printable(one, 20) for one in ids[:40]) or 'none'}")
        place = dict.fromkeys(self.path, 0)
        for one in ids[: ids.index(step) + 1]:
            place.update(self.moves[one])
        return with_versions(self.situation, {key: self.path[key][at].release for key, at in place.items() if at})


def locate(route: Route, state: ClusterState, said: str | None = None) -> Progress:
    """Find out how far a cluster is, by comparing versions.

    Args:
        route: the plan.
        state: the cluster now, pinned by the route.
        said: a step of which somebody says that it is done, with all before it.
    """
    situation = route.read(state)
    reached: dict[str, tuple[int, int]] = {}
    drift: list[str] = []
    name, other = route.start.name, state.name
    if name and other and name != other:
        drift.append(f"the plan is for the cluster {name}, the state is of {other}")
    for key, path in route.path.items():
        part = situation.by_key.get(key)
        if part is None and _is_through(situation, route.situation.by_key[key], path[-1]):
            reached[key] = (len(path) - 1, len(path) - 1)
            continue
        if part is None:
            drift.append(_missing(situation, key, path))
            continue
        running = part.mixed or (part.version,)
        begin = route.situation.by_key[key].mixed
        outside = [version.release for version in running if version not in path and version not in begin]
        if outside:
            drift.append(f"{_shown(key)} is at {', '.join(outside)}; the plan has it at {', then '.join(version.release for version in path)}")
            continue
        places = [path.index(version) if version in path else 0 for version in running]
        if min(places) == 0 and all(version in begin for version in running):
            places = [0]  # mixed as the plan found it
        reached[key] = (min(places), max(places))
    steps = [step for step in route.plan.steps if route.moves[step.id]]
    done = [all(reached.get(key, (0, 0))[0] >= at for key, at in route.moves[step.id].items()) for step in steps]
    begun = [any(reached.get(key, (0, 0))[1] >= at for key, at in route.moves[step.id].items()) for step in steps]
    count = done.index(False) if False in done else len(done)
    for later, one in enumerate(steps[count + 1 :], count + 1):
        if begun[later]:
            drift.append(f"{one.id} is {'done' if done[later] else 'begun'}, but {steps[count].id} before it is not done; the plan has no such state")
    ids = [step.id for step in route.plan.steps]
    finished = ids[: ids.index(steps[count - 1].id) + 1] if count else []
    if said is not None:
        declared = ids[: ids.index(said) + 1]
        drift += [f"{one} is said to be done, and its versions are not there" for one in declared if route.moves[one] and one not in finished]
        finished = max(finished, declared, key=len)
    rest = [one for one in ids[len(finished) :] if one not in finished]
    partly = tuple(steps[place].id for place in range(count, len(steps)) if begun[place] and not done[place])
    return Progress(tuple(finished), partly, rest[0] if rest else None, tuple(drift), tuple(_differences(route, situation)))


def pending(route: Route, step: Step, situation: Situation) -> list[tuple[Part, Version]]:
    """Parts that a step still has to move in a cluster, each with the version it goes to."""
    found = []
    for key, at in route.moves[step.id].items():
        part, there = situation.by_key.get(key), route.path[key][at]
        if part is not None and part.version < there:
            found.append((part, there))
    return found


def with_versions(situation: Situation, releases: Mapping[str, str]) -> ClusterState:
    """The state of a situation with other versions of some parts."""
    state = situation.state
    matrix = situation.matrix
    components = dict(state.components)
    pools = {pool.name: pool for pool in state.pools}
    for key, release in releases.items():
        part = situation.by_key[key]
        role = situation.role(part.component)
        if part.api is not None:
            state = replace(state, apis=tuple(_at_version(text, part.api, release) for text in state.apis))
        elif part.allocates:
            pools[part.pool] = replace(pools[part.pool], allocation=(release,))  # type: ignore[arg-type]  # a value of the vocabulary
        elif part is situation.control:
            state = replace(state, kubernetes=(release,))
        elif not part.pool:
            given = next(name for name in components if matrix.name(name) == part.component)
            components[given] = ComponentState(release)
        elif role == "node-agent":
            pools[part.pool] = replace(pools[part.pool], kubelet=(release,))
        elif role == "driver":
            pools[part.pool] = replace(pools[part.pool], driver=release)
        else:
            pools[part.pool] = replace(pools[part.pool], runtime=f"{part.component} {release}")
    return replace(state, components=components, pools=tuple(pools.values()) if state.lists_pools else state.pools)


def _at_version(text: str, api: ApiUse, version: str) -> str:
    """A name of an API in use, such as ``kueue.x-k8s.io/v1beta1/ClusterQueue``, with another version."""
    group, _, rest = text.partition("/")
    _, _, kind = rest.partition("/")
    return "/".join(part for part in (group, version, kind) if part) if (group, kind) == (api.group, api.kind) else text


def _is_through(situation: Situation, part: Part, last: Version) -> bool:
    """Whether what moves no more, and so is no part, is where the plan leads it."""
    if part.api is not None:
        return bool(situation.state.apis)  # a state that names what is in use, and not this
    pool = situation.pools.get(part.pool)
    return part.allocates and pool is not None and pool.allocation == (last.text,)


def _moving(step: Step) -> Sequence[Change]:
    return step.changes if step.kind != "hold" else ()


def _key(step: Step, change: Change, keys: set[str]) -> str | None:
    """Part that a change moves; None for an operand that its carrier brings along."""
    name = f"{change.component}@{step.pool}" if step.pool else change.component
    return name if name in keys else change.component if change.component in keys else None


def _stops(plan: Plan, keys: set[str]) -> Iterator[tuple[str, list[Change]]]:
    found: dict[str, list[Change]] = {}
    for step in plan.steps:
        for change in _moving(step):
            if (key := _key(step, change, keys)) is not None:
                found.setdefault(key, []).append(change)
    yield from found.items()


def _is_of_line(matrix: Matrix, part: Part, release: str) -> bool:
    try:
        version = matrix.version(part.component, release)
    except InputError:
        return False
    width = part.version.parts
    return version.parts > width and version.key.epoch == part.version.key.epoch and version.key.release[:width] == part.version.key.release[:width]


def _shown(key: str) -> str:
    return key.replace("@", " of pool ")


def _missing(situation: Situation, key: str, path: Sequence[Version]) -> str:
    component, _, pool = key.partition("@")
    was = f"the plan has it at {', then '.join(version.release for version in path)}"
    if component in situation.absent:
        return f"{_shown(key)} is not there; {was}"
    if pool and pool not in situation.pools:
        return f"there is no pool {pool} in the state; the plan has {component} of it at {', then '.join(version.release for version in path)}"
    return f"the state does not say in which version {_shown(key)} runs; {was}"


def _differences(route: Route, situation: Situation) -> Iterator[str]:
    """Facts besides versions that are not as the start of the plan says."""
    for part in situation.parts:
        if part.key not in route.path:
            yield f"{_shown(part.key)} {part.version.release} is not in the plan; it is judged as staying where it is"
    for name, pool in situation.unversioned:
        if (name, pool) not in route.situation.unversioned:
            yield f"{name}{f' of pool {pool}' if pool else ''} runs in an unknown version, which the plan does not know of"
    before, now = (_facts(state.dump()) for state in (route.start, situation.state))
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            yield f"{name}: {_value(before.get(name))} in the plan, {_value(now.get(name))} in the state"


def _facts(state: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in state.items() if name in ("provider", "features", "apis")}
    for pool in state.get("pools", ()):
        found.update({f"pool {pool['name']}, {name}": value for name, value in pool.items() if name not in ("name", "kubelet", "driver", "runtime")})
    return found


def _value(value: Any) -> str:
    return "not given" if value is None else printable(value, 120)
