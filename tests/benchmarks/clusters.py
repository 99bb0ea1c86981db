"""Generated problems of the shape that clusters have, for benchmarks: the same instance for every solver.

A control plane goes up one minor at a time. Each version of an add-on has a window of minors, the last of which may be tested, declared or
unknown; beyond it is forbidden. Each pool has a kubelet that trails the control plane by at most three minors, a container
runtime with windows against the kubelet, and a driver; these three move in one drain, for as many nodes as the pool has. Up to three
add-ons (every fifth: what an operator, a DRA driver and a device plugin are) have windows against the drivers of all pools.
"""

from __future__ import annotations

from itertools import product
from random import Random

from planner.solver import Group, Problem, Table, Transition, Variable
from planner.solver.problem import pack

__all__ = ["OBJECTIVE", "cluster"]

OBJECTIVE = ("unknown_pairs", "gpu_nodes_drained", "steps", "weak_at_end", "releases_behind")


def cluster(add_ons: int, pools: int, *, seed: int = 0, minors: int = 5, versions: int = 4, runtimes: int = 3, bound_to_drivers: int = 3) -> Problem:
    """Generate a cluster that can get to the last minor.

    *versions* is the number of versions of each add-on and driver; *bound_to_drivers* the most add-ons that have windows against drivers.
    """
    return _Cluster(Random(f"{seed}/{add_ons}/{pools}/{minors}/{versions}"), minors, versions, runtimes).problem(add_ons, pools, bound_to_drivers)


class _Cluster:
    def __init__(self, rng: Random, minors: int, versions: int, runtimes: int) -> None:
        self.rng = rng
        self.minors = minors
        self.versions = versions
        self.runtimes = runtimes
        self.variables: list[Variable] = []
        self.tables: list[Table] = []
        self.transitions: list[Transition] = []
        self.groups: list[Group] = []
        self.goal: list[frozenset[int] | None] = []

    def problem(self, add_ons: int, pools: int, bound_to_drivers: int) -> Problem:
        control = self.variable("kubernetes", self.minors, 1, self.minors - 1)
        self.groups.append(Group((control,), _cost(steps=1)))
        bound: list[int] = []
        for number in range(add_ons):
            add_on = self.variable(f"add-on-{number}", self.versions, self.versions)
            self.groups.append(Group((add_on,), _cost(steps=1)))
            self.windows(add_on, control)
            if number % 5 == 0 and len(bound) < bound_to_drivers:
                bound.append(add_on)
        for number in range(pools):
            kubelet = self.variable(f"kubelet@{number}", self.minors, 3, self.minors - 1)
            runtime = self.variable(f"runtime@{number}", self.runtimes, self.runtimes)
            driver = self.variable(f"driver@{number}", self.versions, self.versions)
            self.groups.append(Group((kubelet, runtime, driver), _cost(steps=1, gpu_nodes_drained=self.rng.randint(1, 8))))
            every = product(range(self.minors), repeat=2)
            self.tables.append(Table((control, kubelet), frozenset((c, k) for c, k in every if not 0 <= c - k <= 3)))
            self.windows(runtime, kubelet)
            for add_on in bound:
                self.windows(add_on, driver)
        sizes = [len(variable.values) for variable in self.variables]
        return Problem(
            variables=tuple(self.variables),
            start=(0,) * len(sizes),
            goal=tuple(self.goal),
            tables=tuple(self.tables),
            transitions=tuple(self.transitions),
            groups=tuple(self.groups),
            landing=tuple(tuple(_cost(releases_behind=size - 1 - value) for value in range(size)) for size in sizes),
            width=len(OBJECTIVE),
            objective=OBJECTIVE,
        )

    def variable(self, name: str, size: int, reach: int, goal: int | None = None) -> int:
        number = len(self.variables)
        self.variables.append(Variable(name, tuple(map(str, range(size)))))
        self.goal.append(None if goal is None else frozenset((goal,)))
        self.transitions.extend(Transition(number, i, j) for i in range(size) for j in range(i + 1, min(size, i + reach + 1)))
        return number

    def windows(self, one: int, other: int) -> None:
        """A table in which each value of *one* goes with a window of values of *other*.

        Both go from first to last over the same time, and a window reaches to where *other* is when the next value of *one* comes out. So
        there is a way if *other* moves first; what is random is how much further windows reach, and what vouches for their last value.
        """
        count, width = len(self.variables[one].values), len(self.variables[other].values)
        forbidden: set[tuple[int, ...]] = set()
        entry: dict[tuple[int, ...], int] = {}
        landing: dict[tuple[int, ...], int] = {}
        for value in range(count):
            low = _meanwhile(value, count, width) - self.rng.randint(0, 1)
            high = min(width - 1, _meanwhile(value + 1, count, width) + self.rng.randint(0, 1))
            grade = self.rng.choices(("tested", "declared", "unknown"), (60, 25, 15))[0]
            for partner in range(width):
                if not low <= partner <= high:
                    forbidden.add((value, partner))
                elif partner == high and (value, partner) != (0, 0) and grade != "tested":
                    landing[value, partner] = _cost(weak_at_end=3 if grade == "unknown" else 1)
                    if grade == "unknown":
                        entry[value, partner] = _cost(unknown_pairs=1)
        self.tables.append(Table((one, other), frozenset(forbidden), entry, landing))


def _meanwhile(value: int, count: int, width: int) -> int:
    """The value that a variable with *width* values has reached when one with *count* values reaches *value*."""
    return min(width - 1, value * (width - 1) // max(count - 1, 1))


def _cost(**components: int) -> int:
    return pack(components.get(name, 0) for name in OBJECTIVE)
