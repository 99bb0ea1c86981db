"""What newcomers and adversaries do to a command line: days ahead, two runs at once, odd files, interruptions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.test_cli import DAY, STATE, execute
from tests.conftest import SMALL
from tests.overlays import write

CLAIM = ("kb", "new-claim", "--kind", "support", "--subject", "queue", "--object", "kubernetes", "--object-versions", "1.4", "--said", "2026-01-20")
WORDS = ("--source-url", "https://wiki.example.com/q", "--summary", "We ran it.")


@pytest.fixture
def state(tmp_path: Path) -> str:
    path = tmp_path / "state.yaml"
    path.write_text(STATE)
    return str(path)


@pytest.mark.parametrize("day", ["2026-02-01", "9999-12-31"])
def test_a_day_after_the_end_of_the_knowledge_is_a_warning(state: str, day: str) -> None:
    """Nobody knows what was said after the newest source, so an answer for later must say where it ends; until then nothing is said."""
    ahead, says = ("--as-of", day), "nowledge ends on 2026-01-31"
    asked: tuple[tuple[str, ...], ...] = (("plan", "--from", "1.1", "--to", "1.2"), ("check", "--state", state))
    for command in asked:
        assert f"warning: The k{says}" in " ".join(execute(*command, *ahead).stdout.split())
        assert says not in execute(*command, *DAY).stdout
    asked = (("why", "queue=0.2.0", "kubernetes=1.4"), ("matrix", "queue", "kubernetes"), ("kb", "coverage", "--to", "1.4"))
    for command in asked:
        assert f"compat: the k{says}" in execute(*command, *ahead).stderr
        assert says not in execute(*command, *DAY).stderr


def test_claims_that_are_added_at_once_are_all_there(tmp_path: Path) -> None:
    """Each of four processes says that it added its claim; a file that was read before another wrote it would lose one."""
    target = tmp_path / "ours.yaml"
    environment = {**os.environ, "COMPAT_DATA_DIR": str(SMALL)}
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "cli.main", *CLAIM, *WORDS, "--versions", f"0.{number}.0", "--into", str(target)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(1, 5)
    ]
    for process in runs:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, "added" in errors) == (0, True), errors
    assert {claim["versions"] for claim in yaml.safe_load(target.read_text())["claims"]} == {"0.1.0", "0.2.0", "0.3.0", "0.4.0"}


def test_a_circle_of_links_is_a_fault_of_the_input(tmp_path: Path, state: str) -> None:
    """Wherever a file can be named; exit code 2, and never an internal error."""
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    plan = ("plan", "--from", "1.1", "--to", "1.2", *DAY)
    for command, says in (
        ((*plan, "--output-file", str(loop)), "--output-file: cannot write"),
        ((*plan, "--export-problem", str(loop)), "--export-problem: cannot write"),
        ((*plan, "--overlay", str(loop)), "cannot read the overlay"),
        (("plan", "--state", str(loop), "--to", "1.2", *DAY), "cannot read the file"),
        (("plan", "--state", str(loop), "--state", state, "--to", "1.2", *DAY), "cannot read the file"),
        ((*CLAIM, *WORDS, "--versions", "0.1.0", "--into", str(loop)), "--into: cannot write"),
        (("kb", "update", "--output-file", str(loop)), "--output-file: cannot write"),
    ):
        result = execute(*command)
        assert (result.returncode, says in result.stderr, "internal" in result.stderr) == (2, True, False), (command, result)
    assert loop.is_symlink()


def test_no_output_takes_the_place_of_an_input_or_of_another_output(tmp_path: Path, state: str) -> None:
    """What was asked for would be lost without a word, or the cluster's state with it."""
    plan, same = ("plan", "--from", "1.1", "--to", "1.2", *DAY), str(tmp_path / "same")
    overlay, stored = str(write(tmp_path, "", "ours")), str(tmp_path / "plan.json")
    assert execute(*plan, "-o", "json", "--output-file", stored).returncode == 0
    for command, first, second in (
        ((*plan, "--output-file", same, "--export-problem", f"{tmp_path}/./same"), "--export-problem", "--output-file"),
        (("plan", "--state", state, "--to", "1.2", *DAY, "--output-file", state), "--output-file", "--state"),
        (("check", "--state", state, *DAY, "--output-file", state), "--output-file", "--state"),
        (("recheck", stored, *DAY, "--output-file", stored), "--output-file", "PLAN"),
        (("why", "queue=0.2.0", "kubernetes=1.4", *DAY, "--overlay", overlay, "--output-file", overlay), "--output-file", "--overlay"),
        (("kb", "list", *DAY, "--overlay", overlay, "--output-file", overlay), "--output-file", "--overlay"),
        (("kb", "sign", stored, "--key", same, "--output-file", same), "--output-file", "--key"),
    ):
        result = execute(*command)
        assert result.returncode == 2, (command, result)
        assert result.stderr.startswith(f"compat: {first}: ")
        assert f"the file of {second}, too" in result.stderr
    assert yaml.safe_load(Path(state).read_text()) == yaml.safe_load(STATE)
    assert not Path(same).exists()


def test_a_problem_that_cannot_be_written_is_told_by_its_own_option() -> None:
    """Whoever reads the message looks at the option that it names."""
    result = execute("plan", "--from", "1.1", "--to", "1.2", *DAY, "--export-problem", "/nowhere/x")
    assert (result.returncode, result.stderr.startswith("compat: --export-problem: cannot write /nowhere/x")) == (2, True)


def test_a_fleet_does_not_write_plans_over_its_states(tmp_path: Path) -> None:
    """Plans as JSON beside states as JSON have the same names."""
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"kubernetes": "1.1.0"}))
    result = execute("plan", "--state", str(tmp_path), "--to", "1.2", *DAY, "-o", "json", "--output-dir", str(tmp_path))
    assert (result.returncode, "--state" in result.stderr) == (2, True)
    assert json.loads(path.read_text()) == {"kubernetes": "1.1.0"}


def test_ctrl_c_while_the_program_starts_is_quiet(tmp_path: Path) -> None:
    """Imports take most of the start; a traceback for Ctrl-C frightens people."""
    (tmp_path / "typer.py").write_text("import sys, time\nprint('here', flush=True)\ntime.sleep(30)\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "kb", "list"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (130, "compat: stopped\n")


def test_every_value_of_a_query_has_a_form_in_json() -> None:
    """Blobs and infinite numbers are what SQLite can give and JSON cannot hold; a column that another would hide is a fault."""
    result = execute("kb", "query", "select x'00ff' as a, 9e999 as b, -9e999 as c, null as d", "-o", "json")
    assert json.loads(result.stdout, parse_constant=pytest.fail) == [{"a": "x'00ff'", "b": "inf", "c": "-inf", "d": None}]
    assert "x'00ff'" in execute("kb", "query", "select x'00ff'").stdout
    result = execute("kb", "query", "select 1 as a, 2 as a, 3 as b", "-o", "json")
    assert (result.returncode, "several columns are called a," in result.stderr) == (2, True)
    assert execute("kb", "query", "select 1 as a, 2 as a").stdout.split()[:2] == ["a", "a"]


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n", "took longer than 0.5 seconds"),
        ("with recursive n(i) as (select 1 union all select i + 1 from n) select i from n", "more than 100,000 rows"),
    ],
)
def test_a_query_without_end_is_ended(sql: str, says: str) -> None:
    """It would run, or fill the memory, until somebody kills it."""
    result = execute("kb", "query", sql, "--timeout", "0.5")
    assert (result.returncode, says in result.stderr) == (2, True), result


def test_scratch_files_of_killed_runs_go_and_those_of_running_ones_stay(tmp_path: Path) -> None:
    """Also where the store is there already, and nothing is compiled: each is as large as the store."""
    left, running = tmp_path / ".kb-abc.tmp", tmp_path / ".kb-def.tmp"
    assert execute("kb", "list", COMPAT_CACHE_DIR=str(tmp_path)).returncode == 0
    for path, age in ((left, 3600), (running, 5)):
        path.write_bytes(b"half a store")
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    assert execute("kb", "list", COMPAT_CACHE_DIR=str(tmp_path)).returncode == 0
    assert (left.exists(), running.exists()) == (False, True)


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (("why", "kubernetes=1.1", "k8s=1.2"), 2, "both are kubernetes: ask for going from one to the other with --relation upgrade"),
        (("why", "operator=12.0.0", "kubernetes=1.4", "--scope", "os=duk-1"), None, "compat: --scope os=duk-1: nothing is known of it; did you mean duck-1?"),
        (("matrix", "operator", "kubernetes", "--scope", "os=nonsense"), 0, "compat: --scope os=nonsense: nothing is known of it; known: "),
        (("kb", "coverage", "--to", "1.4", "--scope", "os=nonsense"), 0, "compat: --scope os=nonsense: nothing is known of it; known: "),
        (("plan", "--state", "x.yaml", "--to", "1.2", "--assume", "none"), 2, "--assume fills in what --from leaves open"),
    ],
)
def test_a_question_that_means_something_else_is_told(command: tuple[str, ...], code: int | None, says: str) -> None:
    """A word that nothing is known of, an option that does nothing, and two versions of one component are slips."""
    result = execute(*command, *DAY)
    assert says in result.stderr
    assert code in (None, result.returncode)
