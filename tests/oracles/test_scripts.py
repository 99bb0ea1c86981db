"""The scripts that hand a problem to other solvers: what they refuse, how they weigh, what they write."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.export import problem_document
from planner.solver import solve
from scripts.problem_document import DocumentError, bounds, most_moves, read, read_file, weights
from scripts.problem_to_asp import asp
from scripts.problem_to_asp import main as asp_main
from scripts.problem_to_pddl import main as pddl_main
from scripts.problem_to_pddl import pddl, scale
from tests.planner.instances import random_problem

NAMES = ("first", "second", "third")


def document(seed: int = 2, **options: Any) -> dict[str, Any]:
    """A problem as a decoded document."""
    found: dict[str, Any] = json.loads(json.dumps(problem_document(replace(random_problem(seed, **options), objective=NAMES))))
    return found


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    value = deepcopy(document(variables=3))
    change(value)
    return value


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([], "document: expected an object"),
        ({"schema": "compat.plan/v1"}, "schema: expected 'compat.problem/v1', found 'compat.plan/v1'"),
        (changed(lambda d: d.pop("tables")), "tables: expected a list"),
        (changed(lambda d: d.update(objective=["first", "first", "third"])), "objective: expected different names"),
        (changed(lambda d: d["variables"][0].update(domain=[])), r"variables\[0\].domain: expected at least one value"),
        (changed(lambda d: d["start"].__setitem__(0, 99)), "start: variable 0 has only the values"),
        (changed(lambda d: d["start"].__setitem__(0, True)), "start: expected a whole number from 0, found True"),
        (changed(lambda d: d["start"].pop()), "start: expected 3 values, found 2"),
        (changed(lambda d: d["goal"].pop()), "goal: expected 3 entries, one per variable, found 2"),
        (changed(lambda d: d["landing"][1].pop()), r"landing\[1\]: expected"),
        (changed(lambda d: d["tables"][0].update(variables=[0, 0])), r"tables\[0\].variables: expected one to three different variables"),
        (changed(lambda d: d["tables"][0]["allowed"].remove([0, 0])), r"tables\[0\]: the start is not among the allowed combinations"),
        (changed(lambda d: d["transitions"][0].update({"to": 0})), r"transitions\[0\]: expected a transition that goes up"),
        (changed(lambda d: d["transitions"].append(d["transitions"][0])), "is there twice"),
        (changed(lambda d: d["transitions"][0].update(variable=9)), "there are only the variables 0 to 2"),
        (changed(lambda d: d["groups"].append(d["groups"][0])), "a variable is in exactly one group"),
        (changed(lambda d: d["groups"][0].update(cost={"fourth": 1})), "the objective has no component 'fourth'"),
        (changed(lambda d: d["groups"][0].update(cost={"first": -1})), "expected a whole number from 0, found -1"),
    ],
)
def test_what_is_no_problem_is_refused_with_the_place(value: Any, says: str) -> None:
    """Someone who writes or mends such a file by hand learns where it is wrong."""
    with pytest.raises(DocumentError, match=says):
        read(value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON in UTF-8"),
        ("[" * 100_000, "nested too deeply|no JSON"),
        ('{"schema": 1, "schema": 2}', "the key 'schema' is there twice"),
    ],
)
def test_what_is_no_json_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """No traceback, and the file is named."""
    path = tmp_path / "problem.json"
    path.write_text(text)
    with pytest.raises(DocumentError, match=says) as caught:
        read_file(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("main", [pddl_main, asp_main])
def test_a_file_that_is_not_there_is_exit_code_2(main: Callable[[list[str]], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As for the command line of the product."""
    assert main([str(tmp_path / "nowhere.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5), st.data())
def test_weighted_costs_compare_like_vectors(limits: list[tuple[int, int]], data: st.DataObject) -> None:
    """Within the bounds, one number stands for one vector and keeps the order."""
    most = [limit for limit, _ in limits]
    one, other = (tuple(data.draw(st.integers(0, limit)) for limit in most) for _ in range(2))
    factors, largest = weights(most)
    a, b = (sum(factor * part for factor, part in zip(factors, vector, strict=True)) for vector in (one, other))
    assert (a < b) == (one < other)
    assert max(a, b) <= largest


@given(st.integers(0, 10**9))
def test_no_plan_passes_the_bounds(seed: int) -> None:
    """Neither in cost nor in moves; and a plan's weighted cost decodes to its vector."""
    problem = replace(random_problem(seed), objective=NAMES)
    solution = solve(problem)
    if solution is None:
        return
    found = read(problem_document(problem))
    assert all(part <= bound for part, bound in zip(solution.cost, bounds(found), strict=True))
    assert len(solution.moves) <= most_moves(found)
    chosen = scale(found)
    assert chosen.vector(chosen.number(solution.cost)) == solution.cost


def test_a_cost_that_planners_cannot_count_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says how many components fit, and these work."""
    value = document(variables=3)
    value["landing"][0] = [{"third": 2**31} for _ in value["landing"][0]]
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(value))
    files = ["--domain", str(tmp_path / "d.pddl"), "--task", str(tmp_path / "t.pddl")]
    assert pddl_main([str(path), *files]) == 2
    assert "the first 2 fit: --components 2" in capsys.readouterr().err
    assert not (tmp_path / "d.pddl").exists()
    assert pddl_main([str(path), *files, "--components", "2"]) == 0
    assert (tmp_path / "d.pddl").exists()
    capsys.readouterr()
    assert pddl_main([str(path), *files, "--components", "2", "--decode", "1"]) == 0
    assert json.loads(capsys.readouterr().out) == {"first": 0, "second": 1}


def test_names_cannot_leave_their_comment() -> None:
    """Whatever a component or version is called, it does not become part of the program."""
    value = document(variables=3)
    value["variables"][0]["name"] = "a\n(:action evil)\n:- evil.\u2028"
    value["variables"][0]["domain"] = ["1\r\nevil." for _ in value["variables"][0]["domain"]]
    found = read(value)
    for text, mark in ((pddl(found, scale(found))[0], ";"), (asp(found), "%")):
        assert text.isascii()
        assert all(line.startswith(mark) for line in text.splitlines() if "evil" in line)


def test_the_pddl_needs_nothing_that_lm_cut_does_not_take() -> None:
    """No negative conditions, no axioms, no conditional effects."""
    found = read(document(variables=4))
    domain, _ = pddl(found, scale(found))
    conditions = [line for line in domain.splitlines() if ":precondition" in line]
    assert conditions
    assert not any("not" in line for line in conditions)
    assert not any(word in domain for word in ("when", "forall", ":derived"))
    assert "(:requirements :strips :typing :action-costs)" in domain


@pytest.mark.parametrize("name", ["problem_to_pddl", "problem_to_asp"])
def test_help(name: str) -> None:
    """The documented way to call it works."""
    done = subprocess.run([sys.executable, "-m", f"scripts.{name}", "--help"], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert "compat.problem/v1" in done.stdout
