"""How long it takes to get at the knowledge, as multiples of parsing its YAML.

``python -m tests.benchmarks.knowledge [ROUNDS]`` measures all rows in turn in every round, so that whatever else the machine does hits
all alike, and prints medians and ratios as a Markdown table.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import yaml
from tabulate import tabulate

from compat import Matrix
from compat.knowledge import load_knowledge
from compat.lines import newest_of_lines
from compat.store import data_directory, forget_stores, open_store

DAY = date(2026, 11, 30)
ROWS, COLUMNS = "gpu-operator", "kubernetes"


def _parse() -> None:
    for path in sorted(data_directory().glob("*.yaml")):
        yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  # a safe one either way


def _compile() -> None:
    forget_stores()
    open_store()


def _open() -> Matrix:
    return Matrix.load(as_of=DAY)


def _one_verdict(matrix: Matrix) -> str:
    return matrix.verdict((ROWS, "26.7.0"), (COLUMNS, "1.37")).grade


def _verdicts(matrix: Matrix, *, every: bool) -> int:
    axes = []
    for name in (ROWS, COLUMNS):
        found = [release.version for release in matrix.releases(name, stable_only=True) if release.version.parts > 2]
        axes.append(found if every else newest_of_lines(found))
    return len([matrix.verdict((ROWS, row), (COLUMNS, column)) for row in axes[0] for column in axes[1]])


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    before = os.environ.get("COMPAT_CACHE_DIR")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["COMPAT_CACHE_DIR"] = str(Path(scratch))
        lines, every = (_verdicts(_open(), every=flag) for flag in (False, True))
        cases: dict[str, Callable[[], object]] = {
            "parse the YAML (PyYAML, C loader), nothing checked": _parse,
            "read the YAML with all checks": lambda: load_knowledge(data_directory()),
            "read, check and compile into the store": _compile,
            "open the store": _open,
            "open the store, one verdict": lambda: _one_verdict(_open()),
            f"open the store, {lines} verdicts: {ROWS} x {COLUMNS}, newest of each line": lambda: _verdicts(_open(), every=False),
            f"open the store, {every:,} verdicts: the same, every release": lambda: _verdicts(_open(), every=True),
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(rounds + 1):  # the first round warms up and is not counted
            for name, run in cases.items():
                begun = time.perf_counter()
                run()
                if number:
                    times[name].append(time.perf_counter() - begun)
    if before is not None:
        os.environ["COMPAT_CACHE_DIR"] = before
    medians = {name: statistics.median(found) for name, found in times.items()}
    base = next(iter(medians.values()))
    rows = [[name, f"{median / base:.4f}", f"{median * 1000:.1f}"] for name, median in medians.items()]
    print(tabulate(rows, headers=["what", "times the parsing", "ms"], tablefmt="github", disable_numparse=True, colalign=("left", "right", "right")))


if __name__ == "__main__":
    main()
