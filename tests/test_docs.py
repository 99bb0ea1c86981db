"""The documentation tells the truth: examples are run, options are those of the command, links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.errors import KnowledgeError
from compat.knowledge import load_knowledge
from compat.layers import OverlayText
from compat.places import data_directory

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
KB = ("list", "show", "query", "graph", "check", "new-claim", "update", "coverage", "diff", "export", "sign", "verify")
COMMANDS = [(), ("plan",), ("check",), ("recheck",), ("why",), ("matrix",), ("kb",), *(("kb", name) for name in KB)]


def run(*arguments: str) -> str:
    environment = {**os.environ, "COLUMNS": "120"}
    return subprocess.run([sys.executable, "-m", "cli.main", *arguments], capture_output=True, text=True, env=environment, check=False, cwd=ROOT).stdout


def examples() -> list[tuple[str, str, str]]:
    found = []
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.S):
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, shown = part.partition("\n")
                found.append((page.name, command, shown))
    return found


@pytest.mark.parametrize(("page", "command", "shown"), examples(), ids=lambda value: value.replace(" ", "-")[:40])
def test_examples_show_what_the_command_prints(page: str, command: str, shown: str) -> None:
    """Byte for byte; a line of three dots stands for any lines."""
    assert command.startswith("compat "), page
    pattern = "".join("(?s:.*)" if line == "...\n" else re.escape(line) for line in shown.splitlines(keepends=True))
    printed = run(*command.split()[1:])
    assert re.fullmatch(pattern, printed), printed


def test_every_command_and_option_is_in_the_docs(golden: Callable[[str, str], None]) -> None:
    """docs/cli.md is the help of all commands; `make golden` writes it anew."""
    parts = ["# Commands\n\nWritten by `make golden` from the help of the commands."]
    for command in COMMANDS:
        parts.append(f"## {' '.join(('compat', *command))}\n\n```text\n{run(*command, '--help').strip()}\n```")
    golden("../../docs/cli.md", "\n\n".join(parts) + "\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Links to files of the repository exist, headings included."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        path = page.parent / file if file else page
        assert path.exists(), target
        if anchor:
            headings = {re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in path.read_text().splitlines() if line.startswith("#")}
            assert anchor in headings, target


def test_what_the_code_points_to_is_there() -> None:
    """Messages and docstrings name pages that exist, and every finding has its heading."""
    text = "".join(file.read_text() for folder in ("compat", "planner", "cli") for file in (ROOT / folder).rglob("*.py"))
    for page in set(re.findall(r"docs/[\w-]+\.md", text)):
        assert (ROOT / page).exists(), page
    headings = re.findall(r"^## (\S+)", (ROOT / "docs/findings.md").read_text(), re.M)
    for name in set(re.findall(r'Finding\(\s*"([a-z-]+)"', text)):
        assert name in headings, name


def test_the_overlays_of_the_docs_are_sound() -> None:
    """What the README shows is the file that its commands use; the example of the data format is valid but for the claim that it retires."""
    assert f"```yaml\n{(ROOT / 'docs/examples/our-tests.yaml').read_text()}```" in (ROOT / "README.md").read_text()
    (body,) = re.findall(r"```yaml\n(overlay:.*?)```", (ROOT / "docs/data-format.md").read_text(), re.S)
    with pytest.raises(KnowledgeError) as caught:
        load_knowledge(data_directory(), [OverlayText("docs.yaml", body.encode())])
    (fault,) = caught.value.faults
    assert "there is no claim 'queue-floor' to retire" in fault.what  # of the example at the top of the page


def test_the_python_of_the_readme_runs() -> None:
    """The library example, as it stands."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "tested"
