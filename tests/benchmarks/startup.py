"""How long whole commands take, as multiples of importing the libraries alone.

``python -m tests.benchmarks.startup [ROUNDS]`` runs every command and the import in turn, so that whatever else the machine does hits
all alike, and prints medians and ratios. The store is built first.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

IMPORTS = "import typer, pydantic, networkx, packaging"
COMMANDS = {
    "compat plan --from 1.33 --to 1.37": ("plan", "--from", "1.33", "--to", "1.37", "--nodes-at", "supported"),
    "compat why gpu-operator=26.7.0 kubernetes=1.37": ("why", "gpu-operator=26.7.0", "kubernetes=1.37"),
    "compat --help": ("--help",),
}


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as scratch:
        environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONDONTWRITEBYTECODE", "COMPAT_DATA_DIR")}
        environment |= {"COMPAT_CACHE_DIR": scratch, "PYTHONPYCACHEPREFIX": f"{scratch}/bytecode"}
        baseline = [sys.executable, "-c", IMPORTS]
        lines = {name: [sys.executable, "-m", "cli.main", *arguments] for name, arguments in COMMANDS.items()}
        times: dict[str, list[float]] = {IMPORTS: [], **{name: [] for name in lines}}
        for number in range(rounds + 1):  # the first round builds the store and the bytecode and is not counted
            for name, line in {IMPORTS: baseline, **lines}.items():
                begun = time.perf_counter()
                subprocess.run(line, env=environment, stdout=subprocess.DEVNULL, check=True)
                if number:
                    times[name].append(time.perf_counter() - begun)
    medians = {name: statistics.median(found) for name, found in times.items()}
    for name, median in medians.items():
        ratio = median / medians[IMPORTS]
        print(f"{ratio:5.2f} x  {median * 1000:6.0f} ms  {name}")


if __name__ == "__main__":
    main()
