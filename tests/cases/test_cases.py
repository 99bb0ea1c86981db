"""Known cases from the field: each is a scenario file, whose expectations come from the case and its source. See README.md beside it."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.render import check as check_renderer
from compat import Matrix
from compat.errors import DocumentError, InputError
from planner import ClusterState, plan
from planner.assume import assumed_state, with_components
from planner.checking import check_state
from planner.validate import validate
from tests.cases.judging import missing_in, missing_in_versions
from tests.cases.scenario import Run, Scenario, load

FOLDER = Path(__file__).parent
SCENARIOS = {path.stem: load(path) for path in sorted(FOLDER.glob("*.yaml"))}
KNOWN = 25
"""How many cases there are; a file that gets lost must be noticed."""


def _parameters() -> list[Any]:
    return [
        pytest.param(scenario, run, id=f"{name}/{run.name}", marks=[pytest.mark.xfail(reason=run.todo, strict=True)] if run.todo else [])
        for name, scenario in SCENARIOS.items()
        for run in scenario.runs
    ]


def test_all_cases_are_there() -> None:
    """One file per known case, each with the case itself and others of its kind."""
    assert len(SCENARIOS) == KNOWN


@pytest.mark.parametrize(("scenario", "run"), _parameters())
def test_case(scenario: Scenario, run: Run, real: Matrix) -> None:
    """What is expected of the program in this case is what it says."""
    faults = answer_faults(scenario, run, at(real, run))
    assert not faults, "\n".join([f"{scenario.id}/{run.name}: {scenario.title}", run.about, scenario.source, *(f"  - {fault}" for fault in faults)])


@pytest.mark.parametrize("scenario", [scenario for scenario in SCENARIOS.values() if any(run.expect.silent for run in scenario.runs)], ids=lambda item: item.id)
def test_what_is_not_to_be_said_is_said_elsewhere(scenario: Scenario, real: Matrix) -> None:
    """A fragment that no answer of the case has would be spelt wrong, and its absence would prove nothing."""
    asked = [run for run in scenario.runs if run.command != "version" and not run.expect.error and not run.todo]
    texts = {run.name: " ".join(json.dumps(answer(scenario, run, at(real, run))[0], ensure_ascii=False).lower().split()) for run in asked}
    for run in asked:
        for fragment in run.expect.silent:
            assert any(fragment.lower() in text for name, text in texts.items() if name != run.name), f"{run.name}: {fragment}"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("runs: [{name: a, command: version, expect: {versons: []}}]", "versons"),
        (
            "runs: [{name: a, command: plan, to: '1.37', expect: {exit: 0}}, {name: b, command: plan, from: '1.36', to: '1.37', expect: {exit: 0}}]",
            "plan needs",
        ),
        ("runs: [{name: a, command: plan, from: '1.36', to: '1.37', expect: {}}]", "nothing is expected"),
        ("runs: [{name: a, command: check, state: nowhere, expect: {exit: 0}}, {name: b, command: check, state: {}, expect: {exit: 0}}]", "nowhere"),
    ],
)
def test_a_faulty_scenario_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    """A misspelt expectation would be none at all."""
    path = tmp_path / "x.yaml"
    path.write_text(f"id: x\ntitle: t\nsource: s\n{text}\n")
    with pytest.raises(DocumentError, match=fault):
        load(path)


@pytest.mark.parametrize(
    "expect",
    [
        {"exit": 10},
        {"status": "declared"},
        {"steps": [{"component": "kubernetes", "to": "1.38"}]},
        {"steps": [{"component": "kubernetes", "to": "1.37"}, {"component": "kubernetes", "to": "1.36"}]},
        {"steps": [{"component": "kubernetes", "to": "1.37", "requires": [["no such text"]]}]},
        {"steps": [{"component": "kubernetes", "to": "1.37", "rollback": ["no such text"]}]},
        {"moves": {"kubernetes": ["1.37"]}},
        {"before": [[{"component": "kubernetes", "to": "1.37"}, {"component": "kubernetes", "to": "1.36"}]]},
        {"always": [{"step": {"component": "kubernetes"}, "expect": {"to": "1.37"}}]},
        {"no_steps": [{"component": "kubernetes"}]},
        {"holds": [{"pairs": ["unknown:no-such*"]}]},
        {"lasting": ["unknown:no-such*"]},
        {"conflict": {"claims": []}},
        {"end": {"kubernetes": "1.36"}},
        {"findings": [{"id": "no-such"}]},
        {"no_findings": [{"id": "not-considered"}]},
        {"says": [["no such text"]]},
        {"silent": ["1.37"]},
    ],
    ids=str,
)
def test_a_wrong_expectation_fails(real: Matrix, expect: dict[str, Any]) -> None:
    """Each kind of expectation can fail: the runner itself is no rubber stamp."""
    run = Run.model_validate({"name": "x", "command": "plan", "from": "1.35", "to": "1.37", "assume": "none", "expect": expect})
    scenario = next(iter(SCENARIOS.values()))
    assert answer_faults(scenario, run, real)


def at(real: Matrix, run: Run) -> Matrix:
    """The knowledge as of the run's day."""
    return real if run.as_of == real.as_of.isoformat() else real.on(date.fromisoformat(run.as_of))


def answer_faults(scenario: Scenario, run: Run, matrix: Matrix) -> list[str]:
    """Put the question, and return everything in which the answer is not as expected."""
    expect = run.expect
    if run.command == "version":
        return list(missing_in_versions(expect, run.component, matrix))
    try:
        document, code, faults = answer(scenario, run, matrix)
    except InputError as error:
        text = " ".join(str(error).split()).lower()
        return (
            [f"is refused: {error}"]
            if not expect.error
            else [f"the refusal does not say {part!r}: {error}" for part in expect.error if part.lower() not in text]
        )
    if expect.error:
        return [f"should be refused with {expect.error}"]
    wrong = [f"exit: expected {expect.exit}, found {code}"] if expect.exit not in (None, code) else []
    return [*faults, *wrong, *missing_in(document, expect, matrix)]


Answer = tuple[dict[str, Any], int, list[str]]
"""A document, its exit code, and what the validator says of it."""
_answers: dict[tuple[str, str], Answer] = {}


def answer(scenario: Scenario, run: Run, matrix: Matrix) -> Answer:
    """The program's answer; that to a run of a file is made once."""
    key = (scenario.id, run.name)
    if run not in scenario.runs:
        return _asked(scenario, run, matrix)
    if key not in _answers:
        _answers[key] = _asked(scenario, run, matrix)
    return _answers[key]


def _asked(scenario: Scenario, run: Run, matrix: Matrix) -> Answer:
    return {"plan": _plan, "check": _check, "why": _why}[run.command](scenario, run, matrix)


def _plan(scenario: Scenario, run: Run, matrix: Matrix) -> Answer:
    if run.start is not None:
        cluster = assumed_state(matrix, run.start, run.given, mode=run.assume, provider=run.provider)
    else:
        cluster = with_components(matrix, _state(scenario, run), run.given)
        cluster = replace(cluster, provider=run.provider) if run.provider else cluster
    options: dict[str, Any] = {"nodes": run.nodes, "prefer": run.prefer, "accept": run.accept, **({"allocation": run.allocation} if run.allocation else {})}
    found = plan(matrix, cluster, run.to or "", **options)
    document = json.loads(found.to_json())
    return document, found.exit_code, [f"the validator refuses the plan: {fault}" for fault in validate(matrix, document)]


def _check(scenario: Scenario, run: Run, matrix: Matrix) -> Answer:
    result = check_state(matrix, _state(scenario, run), run.bumps)
    document = json.loads(check_renderer.render(result, matrix.snapshot, as_json=True))
    return document, {"broken": 20, "unknown": 30}.get(result.grade, 0), []


def _why(scenario: Scenario, run: Run, matrix: Matrix) -> Answer:
    arguments = ["why", *run.pair, "--relation", run.relation, "--as-of", run.as_of, "-o", "json"]
    result = CliRunner().invoke(app, [*arguments, *(item for text in run.scope for item in ("--scope", text))])
    if isinstance(result.exception, InputError):
        raise result.exception
    return json.loads(result.stdout), result.exit_code, []


def _state(scenario: Scenario, run: Run) -> ClusterState:
    base = scenario.states[run.state] if isinstance(run.state, str) else run.state or {}
    return ClusterState.from_value(_patched(copy.deepcopy(base), run.patch))


def _patched(value: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    for key, new in patch.items():
        if key == "pools" and isinstance(new, dict):
            pools = {pool["name"]: pool for pool in value.get("pools", [])}
            for name, changes in new.items():
                if changes is None:
                    del pools[name]
                else:
                    pools[name] = _patched(pools.get(name, {"name": name}), changes)
            value["pools"] = list(pools.values())
        elif new is None:
            value.pop(key, None)
        elif isinstance(new, dict) and isinstance(value.get(key), dict):
            value[key] = _patched(value[key], new)
        else:
            value[key] = new
    return value
