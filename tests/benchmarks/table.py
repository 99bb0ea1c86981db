"""The benchmark page, made anew by ``make bench-table``: docs/benchmarks.md.

``python -m tests.benchmarks.table [--quick] [--clusters N] [--limit SECONDS] [--output FILE]``. Every measurement runs in a process of its own
with a time limit, one after the other. ``--quick`` takes the small sizes only, to try the command out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.export import problem_document
from scripts.problem_document import Document, bounds, read, weights
from scripts.problem_to_pddl import LIMIT, write
from tests.benchmarks.clusters import OBJECTIVE, cluster
from tests.oracles.runners import Outcome, clingo, fast_downward, missing

ROOT = Path(__file__).parents[2]
SIZES = ((5, 2), (10, 3), (20, 3), (40, 4))
SEEDS = (0, 1, 2)
IMPORTS = "import networkx, pydantic"
GROWTH: dict[str, tuple[str, dict[str, int], tuple[int, ...]]] = {
    "add-ons": ("add_ons", {"pools": 2, "bound_to_drivers": 1}, (5, 10, 20, 40, 80)),
    "pools": ("pools", {"add_ons": 5}, (2, 5, 10, 20, 50, 100)),
    "versions per component": ("versions", {"add_ons": 5, "pools": 2}, (5, 10, 20, 40, 60)),
    "minors": ("minors", {"add_ons": 10, "pools": 3}, (2, 3, 4, 5, 6, 7, 8)),
}
"""Heading -> argument that grows, arguments that stay, its values."""
QUICK = 2
"""Sizes of each table with ``--quick``."""
FASTER = 500
STARTS = 10
NOISE = 1.5
"""How much more than linear still counts as linear."""


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    quick: bool
    clusters: int
    limit: float
    output: Path


def say(text: str) -> None:
    """Progress goes to standard error."""
    print(text, file=sys.stderr, flush=True)


def process(module: str, *arguments: str, limit: float | None = None) -> dict[str, Any] | None:
    """Run a measuring module; its JSON, or None if the time was over.

    Raises:
        RuntimeError: if it fails.
    """
    try:
        done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ours(limit: float, **arguments: int) -> dict[str, Any] | None:
    """The planner's solver on a generated cluster."""
    say(f"  solver: {arguments}")
    return process("tests.benchmarks.solve_one", json.dumps(arguments), limit=limit)


def start_up() -> float:
    """Median processor seconds of a Python process that imports two libraries."""
    times = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", IMPORTS], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


# -- against the others


@dataclass(frozen=True)
class Comparison:
    """One instance, three solvers."""

    add_ons: int
    pools: int
    seed: int
    mine: dict[str, Any] | None
    downward: Outcome | None
    fitting: int
    """Components of the cost that Fast Downward counted."""
    clasp: Outcome | None

    @property
    def ratio(self) -> float | None:
        """How many times longer Fast Downward's search took."""
        if self.mine is None or self.downward is None or self.downward.search is None:
            return None
        return self.downward.search / float(self.mine["seconds"])

    def equal(self) -> bool:
        """Whether all that finished have the same cost."""
        costs = [tuple(self.mine["cost"])] if self.mine and self.mine["cost"] else []
        costs += [found.cost for found in (self.downward, self.clasp) if found is not None and found.cost is not None]
        return all(one[: len(other)] == other[: len(one)] for one in costs for other in costs)


def fitting(document: Document) -> int:
    """How many components fit Fast Downward's integers."""
    limits = bounds(document)
    return max(n for n in range(len(limits) + 1) if weights(limits[:n])[1] <= LIMIT)


def compare(options: Options) -> list[Comparison]:
    """All sizes; the smallest with several seeds, since there everyone finishes."""
    found = []
    for add_ons, pools in SIZES[: QUICK - 1] if options.quick else SIZES:
        for seed in SEEDS if (add_ons, pools) == SIZES[0] else SEEDS[:1]:
            say(f"{add_ons} add-ons x {pools} pools, seed {seed}")
            mine = ours(options.limit, add_ons=add_ons, pools=pools, seed=seed)
            document = read(problem_document(cluster(add_ons, pools, seed=seed)))
            fit = fitting(document)
            downward = None if missing("up_fast_downward") else fast_downward(document, options.limit, components=fit)
            clasp = None if missing("clingo") else clingo(document, options.limit)
            found.append(Comparison(add_ons, pools, seed, mine, downward, fit, clasp))
    return found


def row(cells: Sequence[object]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """A Markdown table."""
    yield row(heads)
    yield row(["---"] * len(heads))
    yield from map(row, rows)
    yield ""


def ms(seconds: float) -> str:
    """Seconds, or milliseconds if it is few."""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def comparison_rows(found: Sequence[Comparison], limit: float) -> Iterator[list[object]]:
    late = f"did not finish in {limit:.0f} s"
    for item in found:
        name = f"{item.add_ons} x {item.pools}, seed {item.seed}"
        if item.mine is None:
            yield [name, "compat", late, "", "", "", ""]
        else:
            yield [name, "compat", ms(item.mine["seconds"]), "", "1", item.mine["expanded"], item.mine["cost"]]
        for solver, outcome in ((f"Fast Downward, {item.fitting} components", item.downward), ("clingo", item.clasp)):
            if outcome is None:
                yield [name, solver, "not installed", "", "", "", ""]
            elif outcome.status == "unfinished":
                yield [name, solver, late, "", "", "", ""]
            else:
                ratio = "" if item.mine is None or outcome.search is None else f"{outcome.search / item.mine['seconds']:.0f}"
                cost = "no path" if outcome.cost is None else list(outcome.cost)
                yield [name, solver, "" if outcome.search is None else ms(outcome.search), ms(outcome.total), ratio, outcome.expanded, cost]


# -- growth


def grow(options: Options) -> dict[str, list[tuple[int, list[dict[str, Any] | None]]]]:
    """Per heading and value what came out for each seed."""
    found = {}
    for heading, (argument, rest, values) in GROWTH.items():
        say(f"growth with {heading}")
        chosen = values[:QUICK] if options.quick else values
        found[heading] = [(value, [ours(options.limit, seed=seed, **rest, **{argument: value}) for seed in SEEDS]) for value in chosen]
    return found


def middle(results: Sequence[dict[str, Any] | None], key: str) -> float | None:
    """Median over the seeds; None if one did not finish."""
    values = [float(item[key]) for item in results if item is not None and item[key] is not None]
    return statistics.median(values) if len(values) == len(results) else None


def growth_rows(found: Sequence[tuple[int, Sequence[dict[str, Any] | None]]], limit: float) -> Iterator[list[object]]:
    first = middle(found[0][1], "seconds")
    for value, results in found:
        seconds = middle(results, "seconds")
        expanded = middle(results, "expanded")
        late = sum(item is None for item in results)
        times = f"{late} of {len(results)} did not finish in {limit:.0f} s" if seconds is None else ms(seconds)
        relative = "" if seconds is None or first is None else f"{seconds / first:.1f}"
        yield [value, f"{value / found[0][0]:.1f}", relative, times, "" if expanded is None else round(expanded)]


# -- the page


def verdict(met: bool | None) -> str:
    """A word for a target."""
    return "not measured" if met is None else "met" if met else "**not met**"


def targets(found: Sequence[Comparison], grown: dict[str, list[tuple[int, list[dict[str, Any] | None]]]], start: float) -> Iterator[list[object]]:
    small = [item for item in found if (item.add_ons, item.pools) == SIZES[0]]
    ratios = [item.ratio for item in small if item.ratio is not None]
    text = "" if not ratios else f"{statistics.median(ratios):.0f} times (of the seeds: {', '.join(f'{ratio:.0f}' for ratio in ratios)})"
    met = None if not ratios else statistics.median(ratios) >= FASTER and all(item.equal() for item in small)
    yield [f"at 5 x 2 at least {FASTER} times faster than Fast Downward's optimal search, equal cost", text, verdict(met)]
    large = [item for item in found if (item.add_ons, item.pools) == SIZES[-1]]
    spent = None if not large or large[0].mine is None else float(large[0].mine["seconds"])
    text = "" if spent is None else f"{spent / start:.2f} starts"
    yield [
        f'40 x 4 proven optimal in less than {STARTS} starts of `python -c "{IMPORTS}"`',
        text,
        verdict(None if not large else spent is not None and spent < STARTS * start),
    ]
    ends = [(value, middle(results, "seconds")) for value, results in grown["add-ons"]]
    (few, short), (many, long) = ends[0], ends[-1]
    rate = None if short is None or long is None else long / short / (many / few)
    text = "" if rate is None else f"{many / few:.0f} times as many take {rate * many / few:.1f} times as long"
    yield [f"growth in independent add-ons no worse than linear (within a factor of {NOISE})", text, verdict(None if rate is None else rate <= NOISE)]
    disagreed = [f"{item.add_ons} x {item.pools}, seed {item.seed}" for item in found if not item.equal()]
    yield ["everyone that finishes has the same cost", "; ".join(disagreed) or f"{len(found)} instances", verdict(not disagreed)]


def fleet_lines(fleet: dict[str, Any]) -> Iterator[str]:
    finished = fleet["clusters"] - fleet["ends"].get("not finished", 0)
    rows = [
        ["clusters", fleet["clusters"]],
        [f"planned within {fleet['limit']:.0f} s each", finished],
        ["how the plans ended", ", ".join(f"{name} {count}" for name, count in fleet["ends"].items())],
        ["mean", ms(fleet["mean"])],
        ["median", ms(fleet["median"])],
        ["95 of 100 within", ms(fleet["p95"])],
        ["longest", ms(fleet["max"])],
        ["memory with the knowledge loaded", f"{fleet['memory_loaded']:.0f} MiB"],
        ["peak after a tenth of the clusters", f"{fleet['memory_after_a_tenth']:.0f} MiB"],
        ["peak at the end", f"{fleet['memory']:.0f} MiB"],
    ]
    yield from table(("", ""), rows)


def page(options: Options) -> str:
    """Measure everything and write it up."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    start = start_up()
    found = compare(options)
    grown = grow(options)
    say(f"{options.clusters} clusters in one process")
    fleet = process("tests.benchmarks.fleet", str(options.clusters), "--limit", str(options.limit / 6))
    assert fleet is not None
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench-table`; don't edit. The instances are generated by seed (tests/benchmarks/clusters.py) and the same for all solvers;",
        '`python -m tests.benchmarks.solve_one \'{"add_ons": 5, "pools": 2}\'` runs one. Ratios are of times taken in one run, one process after the other.',
        "",
        "## Targets",
        "",
        *table(("target", "measured", ""), list(targets(found, grown, start))),
        "## Against other solvers",
        "",
        "Each instance is a control plane of five minors, add-ons, and pools of kubelet, runtime and driver. compat: leaving out values that are never",
        "needed and solving, median of up to nine runs in one process; reading and process start are not in it. Fast Downward: A* with LM-cut on the",
        "PDDL of scripts/problem_to_pddl.py, the search alone. clingo: the program of scripts/problem_to_asp.py with `--opt-strategy=usc`, grounding",
        "included. These are processor times, as the solvers give them. The time of the whole process is that of the clock, with start, reading and",
        "translation. The ratio is processor time over compat's. Limits are on the clock. Expanded: core states (compat), states (Fast Downward),",
        "choices (clingo). All costs are proven optimal, in the components",
        f"{', '.join(f'`{name}`' for name in OBJECTIVE)}; Fast Downward counts as many of them as its 32 bits hold.",
        "",
        *table(("add-ons x pools", "solver", "processor time", "whole process", "ratio", "expanded", "cost"), list(comparison_rows(found, options.limit))),
        "## Growth",
        "",
        f"Median of the seeds {', '.join(map(str, SEEDS))}, each the median of up to nine runs; processor time.",
        "",
    ]
    notes: dict[str, str] = {
        "add-ons": "2 pools. The add-ons are independent but for the first, which has windows against the drivers.",
        "pools": "5 add-ons, the first of them bound to the drivers of all pools; no two pools are alike.",
        "versions per component": "5 add-ons, 2 pools; of every add-on and driver.",
        "minors": "10 add-ons, 3 pools.",
    }
    for heading, results in grown.items():
        lines += [f"### {heading.capitalize()}", "", notes[heading], ""]
        lines += table((heading, "times as many", "times as long", "time", "core states expanded"), list(growth_rows(results, options.limit)))
    lines += [
        "## A fleet",
        "",
        "Different generated clusters (tests/benchmarks/fleet.py) planned one after the other in one process with the built-in knowledge:",
        "",
    ]
    lines += ["processor time, reasons and conflicts included, loading the knowledge not.", "", *fleet_lines(fleet)]
    lines += ["## The machine", ""]
    versions = f"Python {platform.python_version()}, {platform.system()} on {platform.machine()}, {os.cpu_count()} processors, load {load:.1f} when it began"
    lines += [
        f'{versions}; one start of `python -c "{IMPORTS}"` took {ms(start)} of processor time (median of 7). Times are noisy where others share the processors.',
        "",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None, make: Callable[[Options], str] = page) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.table", description="Measure, and write docs/benchmarks.md anew.")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--clusters", type=int, default=1000, help="clusters to plan in one process (default: 1000)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per run of a solver; a sixth of it per cluster (default: 60)")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks.md")
    found = parser.parse_args(arguments)
    options = Options(found.quick, found.clusters, found.limit, found.output)
    write(options.output, make(options))
    say(f"wrote {options.output.name}")


if __name__ == "__main__":
    main()
