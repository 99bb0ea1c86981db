"""A thousand different clusters, planned one after the other in one process, with the built-in knowledge.

``python -m tests.benchmarks.fleet [COUNT] [--limit SECONDS]`` prints how they ended, processor seconds per cluster and memory as JSON. Clusters are
drawn by seed from what the knowledge base knows: providers, components with the role addon, runtimes, drivers, and of each a release of the
two years before the day on which the cluster's next minor came out, so that the sets are what clusters of their time ran. A cluster that
takes longer than the limit is given up, counted, and its state printed.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from random import Random
from typing import Any

from compat import Matrix
from planner import ClusterState, plan

__all__ = ["clusters", "memory"]

DAY = date(2026, 11, 30)
_ERA = timedelta(days=730)
_TARGETS = 4
"""At most so many minors up."""


def clusters(matrix: Matrix, count: int, seed: int = 0) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield *count* different cluster states, as compat.cluster/v1, each with a target."""
    rng = Random(seed)
    draw = _Draw(matrix, rng)
    seen: set[str] = set()
    while len(seen) < count:
        state, target = draw.cluster()
        key = json.dumps([state, target], sort_keys=True)
        if key not in seen:
            seen.add(key)
            yield state, target


class _Draw:
    def __init__(self, matrix: Matrix, rng: Random) -> None:
        self.matrix = matrix
        self.rng = rng
        subjects = sorted(matrix.subjects.values(), key=lambda subject: subject.id)
        self.control = next(subject.id for subject in subjects if subject.role == "control-plane")
        self.add_ons = [subject.id for subject in subjects if subject.role == "addon" and subject.component.get("relies_on") and self.has_releases(subject.id)]
        self.runtimes = [subject.id for subject in subjects if subject.role == "runtime" and self.has_releases(subject.id)]
        self.driver = next(subject.id for subject in subjects if subject.role == "driver")
        self.managers = {subject.id: subject.component["managed_by"] for subject in subjects if subject.component.get("managed_by")}
        known = matrix.releases(self.control, stable_only=True)
        lines = sorted({release.version.line for release in known if release.version.parts > 2})
        self.patches = {line: [release.text for release in known if release.version.line == line and release.version.parts > 2] for line in lines}
        self.ends = {line: min(release.known_from for release in known if release.version.line == line) for line in lines}
        self.lines = lines[-_TARGETS - 3 :]

    def has_releases(self, name: str) -> bool:
        return bool(self.matrix.releases(name, stable_only=True))

    def cluster(self) -> tuple[dict[str, Any], str]:
        rng = self.rng
        start = rng.randrange(len(self.lines) - 1)
        end = min(len(self.lines) - 1, start + rng.randint(1, _TARGETS))
        version = rng.choice(self.patches[self.lines[start]])
        era = self.ends[self.lines[start + 1]]
        components: dict[str, str] = {}
        for name in self.add_ons:
            if rng.random() < (0.8 if name in self.managers else 0.35):
                components[name] = self.release(name, era)
        manager = next((self.managers[name] for name in components if name in self.managers), "host")
        state: dict[str, Any] = {"schema": "compat.cluster/v1", "kubernetes": version, "components": components}
        providers = self.matrix.words.known("provider")
        if providers and rng.random() < 0.8:
            state["provider"] = rng.choice(providers)
        state["pools"] = [self.pool(f"pool-{number}", version, era, manager) for number in range(rng.choice((1, 1, 2, 2, 3, 4)))]
        return state, ".".join(map(str, self.lines[end]))

    def pool(self, name: str, version: str, era: date, manager: str) -> dict[str, Any]:
        rng = self.rng
        pool: dict[str, Any] = {"name": name, "nodes": rng.randint(1, 64), "kubelet": version}
        pool["os"] = rng.choice(("ubuntu-22.04", "ubuntu-24.04", "rhel-9.4", "al2023"))
        if rng.random() < 0.7:
            runtime = rng.choice(self.runtimes)
            pool["runtime"] = f"{runtime} {self.release(runtime, era)}"
        if rng.random() < 0.25:
            return {**pool, "gpu": {"per_node": 0}}
        pool["driver"] = self.release(self.driver, era)
        return {**pool, "driver_managed_by": manager, "allocation": rng.choice(("device-plugin", "device-plugin", "dra"))}

    def release(self, name: str, era: date) -> str:
        found = [r.text for r in self.matrix.releases(name, stable_only=True) if r.version.parts > 2 and era - _ERA <= r.known_from <= era]
        return self.rng.choice(found or [r.text for r in self.matrix.releases(name, stable_only=True) if r.version.parts > 2][-3:])


def memory() -> float:
    """Largest memory that this process has had, in MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024 / (1024 if sys.platform == "darwin" else 1)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what takes more processor time."""

    def over(signum: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def main() -> None:
    """Plan them all and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fleet")
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--limit", type=float, default=20.0, help="processor seconds per cluster")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    matrix = Matrix.load(as_of=DAY)
    ends: Counter[str] = Counter()
    times: list[float] = []
    slow: list[dict[str, Any]] = []
    loaded = memory()
    after_tenth = 0.0
    for number, (state, target) in enumerate(clusters(matrix, options.count, options.seed)):
        begun = time.process_time()
        try:
            with limited(options.limit):
                ends[plan(matrix, ClusterState.from_value(state), target).status] += 1
        except TimeoutError:
            ends["not finished"] += 1
            slow.append({"to": target, "state": state})
        times.append(time.process_time() - begun)
        if number == options.count // 10:
            after_tenth = memory()
    times.sort()
    figures = {
        "clusters": options.count,
        "limit": options.limit,
        "ends": dict(sorted(ends.items())),
        "mean": statistics.mean(times),
        "median": statistics.median(times),
        "p95": times[int(len(times) * 0.95)],
        "max": times[-1],
        "memory_loaded": loaded,
        "memory_after_a_tenth": after_tenth,
        "memory": memory(),
        "slow": slow,
    }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
