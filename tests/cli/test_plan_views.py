"""``compat plan --alternatives``, ``--choose`` and ``--explain`` as a process."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_cli import DAY, STATE, execute

Golden = Callable[[str, str], None]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state file with a hostile string in it."""
    path = tmp_path / "state.yaml"
    path.write_text(STATE)
    return path


def test_alternatives_are_a_table_with_what_each_trades(golden: Golden) -> None:
    """Byte for byte; the exit code is that of the plan that was asked for."""
    result = execute("plan", "--from", "1.1", "--to", "1.4", *DAY, "--alternatives")
    assert (result.returncode, result.stderr) == (0, "")
    golden("alternatives.table", result.stdout)


def test_each_row_can_be_printed(state: Path) -> None:
    """The options of a row give the plan with its counts."""
    question = ("plan", "--state", str(state), "--to", "1.4", *DAY)
    document = json.loads(execute(*question, "--alternatives", "-o", "json").stdout)
    assert len(document["alternatives"]) > 1
    for one in document["alternatives"]:
        flags = one["flags"].split() if one["flags"] else ["--choose", one["id"]]
        plan = json.loads(execute(*question, *flags, "-o", "json").stdout)
        assert plan == one["plan"]
        assert plan["cost"] == one["cost"]


def test_markdown_gets_a_section(state: Path) -> None:
    """The ticket is that of the plan, with one more section before its sources, and nothing hostile in it."""
    question = ("plan", "--state", str(state), "--to", "1.4", *DAY, "-o", "markdown")
    plain, extended = execute(*question).stdout, execute(*question, "--alternatives").stdout
    start, end = extended.index("## Alternatives\n"), extended.index("## Sources\n")
    assert extended[:start] + extended[end:] == plain
    section = extended[start:end]
    rows, trades = re.findall(r"^\| (a\d+) ", section, re.M), re.findall(r"^- (a\d+): ", section, re.M)
    assert rows[0] == "a1"
    assert rows[1:] == trades
    assert trades


def test_a_step_is_explained(golden: Golden) -> None:
    """Byte for byte, and the same facts as JSON."""
    question = ("plan", "--from", "1.1", "--to", "1.4", *DAY, "--explain", "s2")
    result = execute(*question)
    assert (result.returncode, result.stderr) == (0, "")
    golden("explain.table", result.stdout)
    document = json.loads(execute(*question, "-o", "json").stdout)
    assert document["step"]["id"] == "s2"
    for relation in (*document["after"], *document["enables"]):
        assert f"{relation['step']}, {relation['label']}" in " ".join(result.stdout.split())
    cited = {claim for part in ("after", "enables", "landings", "forced_by") for item in document[part] for claim in item["claims"]}
    assert cited <= set(document["claims"])


def test_an_explanation_in_markdown(state: Path) -> None:
    """Commands stand in blocks of their own, every number of a claim has its claim, and nothing hostile gets in."""
    for name in ("s1", "s2", "s3"):
        text = execute("plan", "--state", str(state), "--to", "1.4", *DAY, "--explain", name, "-o", "markdown").stdout
        outside = re.sub(r"```sh\n.*?```", "", text, flags=re.S)
        assert "helm upgrade" not in outside
        assert "onerror" not in outside
        numbers = {int(number) for marks in re.findall(r"\\\[([\d, -]+)\\\]", outside) for number in re.split(r", |-", marks)}
        listed = [int(number) for number in re.findall(r"^(\d+)\. ", outside, re.M)]
        assert listed == list(range(1, len(listed) + 1))
        assert numbers <= set(listed)
        assert max(numbers) == len(listed)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--explain", "s99"), "the plan has no step 's99'; it has s1, s2"),
        (("--choose", "b1"), "there is no such alternative"),
        (("--choose", "a1", "--alternatives"), "exclude each other"),
        (("--explain", "s1", "--choose", "a1"), "exclude each other"),
    ],
    ids=["step", "id", "two", "both"],
)
def test_what_cannot_be_shown_is_a_usage_error(options: tuple[str, ...], words: str) -> None:
    """Exit code 2 with what there is, on one line, and nothing on standard output."""
    result = execute("plan", "--from", "1.1", "--to", "1.4", *DAY, *options)
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_hostile_step_names_are_printed_harmlessly() -> None:
    """Control characters of an argument do not reach the terminal."""
    result = execute("plan", "--from", "1.1", "--to", "1.4", *DAY, "--explain", "\x1b[31ms1")
    assert result.returncode == 2
    assert "\x1b" not in result.stderr
