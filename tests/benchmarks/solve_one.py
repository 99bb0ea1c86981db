"""One problem in one process, so that a time limit can end it.

``python -m tests.benchmarks.solve_one '{"add_ons": 5, "pools": 2}'`` generates the cluster with these arguments, leaves out what is never
needed and solves the rest, some times over, and prints the median of the processor time, cost and size as JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

from planner.solver import solve
from planner.solver.reduce import reduce
from tests.benchmarks.clusters import cluster


def main() -> None:
    """Measure and print."""
    problem = cluster(**json.loads(sys.argv[1]))
    times: list[float] = []
    while len(times) < 9 and sum(times) < 2:
        begun = time.process_time()
        found = solve(reduce(problem)[0])
        times.append(time.process_time() - begun)
    print(
        json.dumps(
            {
                "seconds": statistics.median(times),
                "runs": len(times),
                "cost": None if found is None else list(found.cost),
                "expanded": None if found is None else found.expanded,
            }
        )
    )


if __name__ == "__main__":
    main()
