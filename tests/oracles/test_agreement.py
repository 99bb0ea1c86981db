"""The solver against Fast Downward and clingo; ``make oracles`` runs hundreds, the suite a few dozen."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from cli.main import app
from planner.export import problem_document
from planner.solver import Problem, Table, solve
from planner.solver.problem import pack
from scripts.problem_document import Document, read
from tests.oracles.runners import Outcome, clingo, fast_downward, missing
from tests.planner.instances import WIDTH, exhaustive, random_problem
from tests.planner.read_problem import read as read_problem

TIMES = int(os.environ.get("COMPAT_ORACLE_TIMES", "1"))
"""How many times as many instances as in the suite; ``make oracles`` sets it."""
SECONDS = 60.0
NAMES = ("first", "second", "third")

needs_fast_downward = pytest.mark.skipif(bool(missing("up_fast_downward")), reason=missing("up_fast_downward"))
needs_clingo = pytest.mark.skipif(bool(missing("clingo")), reason=missing("clingo"))


def middling(seed: int) -> Problem:
    """Five to seven variables with up to five values; also tables over one and three variables."""
    rng = Random(seed)
    problem = random_problem(seed, variables=rng.randint(5, 7), values=5)
    tables = list(problem.tables)
    for size in rng.sample((1, 3, 3), rng.randint(0, 2)):
        variables = tuple(sorted(rng.sample(range(len(problem.variables)), size)))
        combinations = [c for c in itertools.product(*(range(len(problem.variables[v].values)) for v in variables)) if any(c)]
        forbidden = frozenset(c for c in combinations if rng.random() < 0.2)
        entry = {c: pack((rng.randint(0, 1), rng.randint(0, 1), 0)) for c in combinations if rng.random() < 0.3}
        tables.append(Table(variables, forbidden, entry, {c: pack((0, 0, 1)) for c in combinations if rng.random() < 0.2}))
    return replace(problem, tables=tuple(tables), objective=NAMES[:WIDTH])


def documented(problem: Problem) -> Document:
    """The problem by way of its JSON text, as a user would have it."""
    return read(json.loads(json.dumps(problem_document(problem))))


def agrees(problem: Problem, outcome: Outcome) -> None:
    """The outcome is proven, and of the cost that the solver found."""
    solution = solve(problem)
    assert outcome.status == ("none" if solution is None else "optimal")
    if solution is not None:
        assert outcome.cost is not None
        assert outcome.cost == solution.cost[: len(outcome.cost)]


@needs_fast_downward
@pytest.mark.parametrize("seed", range(24 * TIMES))
def test_fast_downward_finds_the_same_cost(seed: int) -> None:
    """A* with LM-cut over the PDDL that the script writes."""
    problem = middling(seed)
    agrees(problem, fast_downward(documented(problem), SECONDS))


@needs_clingo
@pytest.mark.parametrize("seed", range(36 * TIMES))
def test_clingo_finds_the_same_cost(seed: int) -> None:
    """Branching over the program that the script writes."""
    problem = middling(1000 + seed)
    agrees(problem, clingo(documented(problem), SECONDS))


@pytest.mark.parametrize("seed", range(0, 24 * TIMES, 6))
def test_middling_instances_by_exhaustive_search(seed: int) -> None:
    """A third opinion on some that the others get."""
    problem = middling(seed)
    solution = solve(problem)
    assert (None if solution is None else pack(solution.cost)) == exhaustive(problem)


@pytest.fixture(
    scope="module", params=[("1.35", "1.36", []), ("1.34", "1.36", ["--with", "kueue=absent"]), ("1.36", "1.37", [])], ids=lambda p: f"{p[0]}-{p[1]}"
)
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], dict[str, int]]:
    """A problem as the command line exports it, and the cost of the plan written with it."""
    start, end, more = request.param
    folder = tmp_path_factory.mktemp("exported")
    problem, plan = folder / "problem.json", folder / "plan.json"
    line = [
        "plan",
        "--from",
        start,
        "--to",
        end,
        "--as-of",
        str(date(2026, 11, 30)),
        *more,
        "--export-problem",
        str(problem),
        "-o",
        "json",
        "--output-file",
        str(plan),
    ]
    done = CliRunner().invoke(app, line)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return json.loads(problem.read_text()), json.loads(plan.read_text())["cost"]


@needs_clingo
def test_clingo_confirms_real_plans_in_every_component(exported: tuple[dict[str, object], dict[str, int]]) -> None:
    """The optimum of the exported problem is that of the solver in all ten components, and that of the plan in those it shows."""
    problem, shown = exported
    outcome = clingo(read(problem), SECONDS)
    agrees(read_problem(problem), outcome)
    assert outcome.cost is not None
    assert dict(zip(read(problem).objective, outcome.cost, strict=True)) | shown == dict(zip(read(problem).objective, outcome.cost, strict=True))


@needs_fast_downward
def test_fast_downward_confirms_real_plans_in_the_first_components(exported: tuple[dict[str, object], dict[str, int]]) -> None:
    """Unknown pairs, drains and steps; more do not fit into its integers."""
    problem, shown = exported
    outcome = fast_downward(read(problem), SECONDS, components=4)
    assert outcome.status == "optimal"
    assert outcome.cost is not None
    assert dict(zip(read(problem).objective[:4], outcome.cost, strict=True)) == shown


@needs_fast_downward
def test_time_limits_end_the_process(tmp_path: Path) -> None:
    """What does not finish is said to, and is not waited for."""
    outcome = fast_downward(documented(middling(0)), 0.01)
    assert outcome.status == "unfinished"
    assert outcome.total < 5
