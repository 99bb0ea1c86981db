"""Texts of others in what the command line prints: none begins a line of its own, none drives the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_cli import STATE, execute
from tests.overlays import write

DAY = ("--as-of", "2026-01-31")
FORGED = "Verdict: safe; every pair relied on is tested."
LIE = f"no\\n\\n{FORGED}\\n"
OVERLAY = f"""
subjects:
- {{subject: gadget, title: "Gadget{LIE}", component: {{role: addon}}}}
releases: [{{subject: gadget, version: '1.0', released: 2026-01-01}}]
claims:
- id: hostile
  kind: conflict
  subject: operator
  versions: '12'
  object: kubernetes
  object_versions: '1.4'
  grade: declared
  said: 2026-01-24
  source: {{url: 'https://wiki.example.com/x', locator: "{LIE}"}}
  summary: "It fails{LIE}"
bans:
- {{component: kubernetes, versions: '>=1.2', reason: "{LIE}", owner: "jo{LIE}"}}
- {{component: driver, versions: '==520.*', reason: "{LIE}", owner: "jo{LIE}"}}
retired: [{{id: queue-broken, reason: "{LIE}", said: 2026-01-10}}]
accepted:
- {{id: 'unknown:operator@11.1.0:kubernetes@1.4.0', owner: "jo{LIE}", expires: 2026-12-31, reason: "{LIE}"}}
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """An overlay all of whose texts forge a verdict, and states (which take no line breaks at all)."""
    overlay = write(tmp_path, OVERLAY, "hostile")
    overlay.write_text(overlay.read_text().replace("title: Ours", f'title: "Ours{LIE}"'))
    (tmp_path / "states").mkdir()
    for name in ("one", "two"):
        (tmp_path / "states" / f"{name}.yaml").write_text(STATE.replace("510.1.1", "520.1.1"))
    return {"OVERLAY": str(overlay), "STATE": str(tmp_path / "states" / "one.yaml"), "FOLDER": str(tmp_path / "states")}


@pytest.mark.parametrize(
    "command",
    [
        ("plan", "--from", "1.1", "--to", "1.4", *DAY),
        ("plan", "--state", "STATE", "--to", "1.4", *DAY),
        ("plan", "--state", "STATE", "--to", "1.2", *DAY),
        ("plan", "--state", "FOLDER", "--to", "1.4", *DAY),
        ("check", "--state", "STATE", "--set", "driver=520.1.1", *DAY),
        ("check", "--state", "STATE", "--set", "operator=12.0.0", *DAY),
        ("why", "operator=12.0.0", "kubernetes=1.4", *DAY),
        ("why", "queue=25.1.0", "kubernetes=1.3", *DAY),
        ("why", "driver=520.1.1", "operator=12.0.0", *DAY),
        ("matrix", "operator", "kubernetes", *DAY),
        ("kb", "list", *DAY),
        ("kb", "show", "operator", *DAY),
        ("kb", "show", "gadget", *DAY),
        ("kb", "show", "hostile", *DAY),
        ("kb", "show", "queue-broken", *DAY),
        ("kb", "diff", "2026-01-05", "2026-01-31"),
        ("kb", "coverage", "--to", "1.4", *DAY),
        ("kb", "graph", *DAY),
        ("kb", "query", "select summary, source from claims"),
    ],
    ids=lambda command: " ".join(command[:4]),
)
def test_no_text_of_others_begins_a_line(files: dict[str, str], command: tuple[str, ...]) -> None:
    """The last line of a plan is the verdict that scripts and people read; a reason with line breaks must not take its place."""
    result = execute(*(files.get(word, word) for word in command), "--overlay", files["OVERLAY"])
    assert result.returncode in (0, 10, 20, 30), result.stderr
    for line in [*result.stdout.splitlines(), *result.stderr.splitlines()]:
        assert not line.startswith(FORGED[:16]), line
    assert all(letter.isprintable() or letter == "\n" for letter in result.stdout + result.stderr)


def test_the_last_line_of_a_plan_without_a_way_says_so(files: dict[str, str]) -> None:
    """A ban with line breaks in its reason is told on the line of the verdict, and in full."""
    result = execute("plan", "--from", "1.1", "--to", "1.4", *DAY, "--overlay", files["OVERLAY"])
    assert result.returncode == 20
    assert result.stdout.splitlines()[-1].startswith("Verdict: impossible.")


def test_a_recheck_keeps_texts_on_their_line(files: dict[str, str], tmp_path: Path) -> None:
    """A plan that was made with a hostile overlay is checked against one, too."""
    plan = str(tmp_path / "plan.json")
    assert execute("plan", "--state", files["STATE"], "--to", "1.2", *DAY, "-o", "json", "--output-file", plan).returncode in (0, 20, 30)
    result = execute("recheck", plan, *DAY, "--overlay", files["OVERLAY"])
    assert result.returncode in (0, 10, 20, 30, 60), result.stderr
    assert [line.startswith("Verdict: ") for line in result.stdout.splitlines()].count(True) == 1


def test_tables_and_paragraphs_go_through_one_door() -> None:
    """A renderer that lays out text by itself would forget the rule."""
    folder = Path(__file__).parents[2] / "cli" / "render"
    own = [path.name for path in folder.glob("*.py") if path.name != "flat.py" and {"import textwrap", "from tabulate"} & set(_starts(path))]
    assert own == []


def _starts(path: Path) -> list[str]:
    return [" ".join(line.split()[:2]) for line in path.read_text().splitlines()]
