"""``compat kb`` as a process: what the knowledge holds, how it changed, how far it reaches, and knowledge as a file."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from compat.signing import signature_path
from tests.cli.test_cli import execute
from tests.compat.test_signing import Keys
from tests.conftest import SMALL

TODAY = ("--as-of", "2026-11-30")
DAY = ("--as-of", "2026-01-31")


def answer(*arguments: str, data: Path | None = SMALL, code: int = 0, **extra: str) -> str:
    result = execute(*arguments, data=data, **extra)
    assert (result.returncode, result.stderr) == (code, ""), result.stderr
    return result.stdout


def refused(*arguments: str, data: Path | None = SMALL, **extra: str) -> str:
    result = execute(*arguments, data=data, **extra)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("compat: ")
    return result.stderr


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """The small knowledge base as a JSON export."""
    path = tmp_path / "kb.json"
    answer("kb", "export", "--output-file", str(path))
    return path


def test_the_list_counts_what_sql_counts() -> None:
    """Releases and claims, grades, oldest and newest statement of every subject, against the tables themselves."""
    rows = {row["subject"]: row for row in json.loads(answer("kb", "list", *TODAY, "-o", "json", data=None))}
    sql = (
        "select subject, count(*) as claims, min(known_from) as oldest_statement, max(known_from) as newest_statement,"
        " sum(grade = 'tested') as tested, sum(grade = 'declared') as declared, sum(grade = 'inferred') as inferred from standing group by subject"
    )
    counted = json.loads(answer("kb", "query", sql, *TODAY, "-o", "json", data=None))
    assert len(counted) > 20
    for row in counted:
        assert {key: rows[row["subject"]][key] for key in row} == row
    out = "select subject, count(*) as releases from releases where known_from <= '2026-11-30' group by subject"
    for row in json.loads(answer("kb", "query", out, "-o", "json", data=None)):
        assert rows[row["subject"]]["releases"] == row["releases"]
    assert rows["gpu-operator"]["newest_release"] == "26.7.1"  # 26.7.2 is only announced


def test_the_list_fits_a_terminal() -> None:
    """A hundred columns will do."""
    assert max(map(len, answer("kb", "list", *TODAY, data=None).splitlines())) <= 100


def test_the_diff_of_autumn_2026_has_the_gpu_operators_1_37() -> None:
    """Between 2026-08-22 and 2026-11-30 NVIDIA listed 1.37 for 26.7 (pull request 488) and dropped 1.32 on Ubuntu 24.04 (490)."""
    found = json.loads(answer("kb", "diff", "2026-08-22", "2026-11-30", "-o", "json", data=None))
    changed = {
        tuple(part["version"] for part in verdict["pair"]): (verdict["before"]["verdict"], verdict["after"]["verdict"])
        for verdict in found["verdicts"]
        if [part["component"] for part in verdict["pair"]] == ["gpu-operator", "kubernetes"] and not verdict["scope"]
    }
    assert changed["26.7.0", "1.37.1"] == ("unknown", "tested")
    assert changed["26.7.0", "1.32.13"] == ("tested", "unknown")
    links = {change["after"]["source"]["link"] for change in found["claims"] if change["change"] == "new"}
    assert {f"https://github.com/NVIDIA/cloud-native-docs/pull/{number}" for number in (488, 490)} <= links
    assert "26.7.1" in {release["version"] for release in found["releases"]["came"] if release["component"] == "gpu-operator"}
    text = answer("kb", "diff", "2026-08-22", "2026-11-30", "--subject", "gpu-operator", data=None)
    assert "gpu-operator 26.7.0  kubernetes 1.37.1*" in text.replace("   ", "  ")


def test_the_matrix_of_2026_09_01_differs_from_todays_exactly_where_nvidia_amended_its_page() -> None:
    """On Ubuntu 24.04: 1.37 came to 26.7 on 2026-09-04 (pull request 488), 1.32 went on 2026-09-08 (490). No other line of either changed."""
    grids = []
    for day in ("2026-09-01", "2026-11-30"):
        document = json.loads(answer("matrix", "gpu-operator", "kubernetes", "--scope", "os=ubuntu-24.04", "--as-of", day, "-o", "json", data=None))
        grids.append({tuple(cell[name].rsplit(".", 1)[0] for name in ("gpu-operator", "kubernetes")): cell["verdict"] for cell in document["cells"]})
    assert grids[0].keys() == grids[1].keys()
    differing = {cell: (grids[0][cell], grids[1][cell]) for cell in grids[0] if grids[0][cell] != grids[1][cell]}
    assert differing == {("26.7", "1.37"): ("unknown", "tested"), ("26.7", "1.32"): ("tested", "unknown")}


def test_coverage_shows_the_table_and_asks() -> None:
    """Best verdict per minor, and where each unknown would be answered; the same as JSON."""
    text = answer("kb", "coverage", "--to", "1.37", *TODAY, data=None)
    assert "ask: the Kubernetes support table in containerd's RELEASES.md" in text
    found = json.loads(answer("kb", "coverage", "--to", "1.37", *TODAY, "-o", "json", data=None))
    assert found["versions"][-1] == "1.37.1"
    operator = {cell["kubernetes"]: (cell["verdict"], cell["release"]) for cell in found["cells"] if cell["component"] == "gpu-operator"}
    assert operator["1.37.1"] == ("tested", "26.7.1")
    assert {unknown["importance"] for unknown in found["unknowns"]} <= {"blocks", "no-bridge", "newest", "between"}
    assert "did you mean" in refused("kb", "coverage", "--to", "1.4", "--component", "quue")


@pytest.mark.parametrize("arguments", [("2026-01-24", "2026-01-31"), ("2026-01-31", "2026-01-31")])
def test_a_difference_is_no_failure(arguments: tuple[str, str]) -> None:
    """Exit code 0 with and without differences."""
    answer("kb", "diff", *arguments)


@pytest.mark.parametrize("side", ["2026-13-01", "2026-1-1", "yesterday", "no-such.json", "2026-02-30"])
def test_what_is_neither_day_nor_file_is_refused(side: str) -> None:
    """A clear line, whichever side it is."""
    assert "expected a da" in refused("kb", "diff", side, "2026-01-31")
    assert "expected a da" in refused("kb", "diff", "2026-01-31", side)


def test_two_exports_can_be_compared(exported: Path, small_copy: Path, tmp_path: Path) -> None:
    """A correction made between two exports is a changed claim."""
    queue = small_copy / "queue.yaml"
    queue.write_text(queue.read_text().replace("CI of 25 runs 1.1 and 1.2.", "CI of 25 ran 1.1 and 1.2."))
    other = tmp_path / "other.db"
    answer("kb", "export", "-o", "sqlite", "--output-file", str(other), data=small_copy)
    text = answer("kb", "diff", str(exported), str(other))
    assert "~ queue-ci-25 (tested, summary)" in text
    assert 'summary: "CI of 25 runs 1.1 and 1.2." -> "CI of 25 ran 1.1 and 1.2."' in text
    assert "no verdict changed" in text


def test_standing_is_as_of_a_day() -> None:
    """All claims under claims, those of the day under standing."""
    sql = "select object_versions from {} where subject = 'operator' and versions = '12' and object = 'kubernetes' and kind = 'support'"
    assert len(json.loads(answer("kb", "query", sql.format("claims"), "-o", "json"))) == 2
    for day, expected in (("2026-01-24", "1.3 - 1.3"), ("2026-01-31", "1.3 - 1.4")):
        rows = json.loads(answer("kb", "query", sql.format("standing"), "--as-of", day, "-o", "json"))
        assert rows == [{"object_versions": expected}]


READING = [
    ("plan", "--from", "1.1", "--to", "1.3"), ("why", "queue=25.2.0", "kubernetes=1.2"), ("matrix", "operator", "kubernetes"), ("kb", "list"),
    ("kb", "show", "queue"), ("kb", "query", "select id from standing"), ("kb", "graph"), ("kb", "coverage", "--to", "1.3"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_every_reading_command_reads_snapshots_and_days(exported: Path, arguments: tuple[str, ...]) -> None:
    """From the export as from the files it was made of, on any day."""
    for day in ("2025-12-15", "2026-01-31"):
        here = execute(*arguments, "--as-of", day)
        there = execute(*arguments, "--as-of", day, data=None, COMPAT_SNAPSHOT=str(exported))
        assert here.returncode in (0, 30)
        assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)


def test_signed_off_line_and_verified_before_use(exported: Path, tmp_path: Path) -> None:
    """sign, verify, use; then one changed byte, a missing signature and another key are refused by every command."""
    keys, others = Keys(tmp_path, "ours"), Keys(tmp_path, "others")
    answer("kb", "sign", str(exported), "--key", str(keys.private))
    assert len(signature_path(exported).read_bytes()) == 64
    said = answer("kb", "verify", str(exported), "--key", str(keys.public))
    assert "good signature" in said
    assert "knowledge 2026.01.31, sha256:" in said
    use: dict[str, Any] = {"COMPAT_SNAPSHOT": str(exported), "COMPAT_SNAPSHOT_KEY": str(keys.public)}
    answer("kb", "list", **use)
    assert "another key signed it" in refused("kb", "verify", str(exported), "--key", str(others.public))
    assert "another key signed it" in refused("kb", "list", **{**use, "COMPAT_SNAPSHOT_KEY": str(others.public)})
    exported.write_bytes(exported.read_bytes().replace(b"1.1 and 1.2", b"1.1 and 1.4"))
    for arguments in READING:
        assert "the file was changed" in refused(*arguments, **use)
    signature_path(exported).unlink()
    assert "cannot read the signature" in refused("kb", "list", **use)


def test_an_export_is_whole_or_not_there(tmp_path: Path) -> None:
    """The same bytes each time; a place that cannot be written is an error and stays as it was."""
    for form in ("json", "sqlite", "csv"):
        written = []
        for name in ("a", "b"):
            answer("kb", "export", "-o", form, "--output-file", str(tmp_path / name))
            written.append((tmp_path / name).read_bytes())
        assert written[0] == written[1]
    assert "cannot write" in refused("kb", "export", "--output-file", str(tmp_path / "none" / "kb.json"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert json.loads(answer("kb", "export"))["schema"] == "compat.knowledge/v1"


def test_a_sqlite_export_is_not_cut_on_its_way_through_a_pipe(tmp_path: Path) -> None:
    """Bytes stay bytes on stdout."""
    import os
    import sys

    environment = {**os.environ, "COMPAT_DATA_DIR": str(SMALL)}
    done = subprocess.run([sys.executable, "-m", "cli.main", "kb", "export", "-o", "sqlite"], capture_output=True, env=environment, check=True)
    (tmp_path / "kb.db").write_bytes(done.stdout)
    connection = sqlite3.connect(tmp_path / "kb.db")
    assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()


def test_check_warns_and_passes(exported: Path, small_copy: Path) -> None:
    """Warnings are shown and do not fail; an export can be checked, too."""
    assert answer("kb", "check", str(exported)).endswith("no faults\n")
    queue = small_copy / "queue.yaml"
    queue.write_text(queue.read_text().replace("path: Makefile}\n  summary: CI of 25 runs", "path: Makefile}\n  summary: CI of {releases} runs"))
    text = answer("kb", "check", str(small_copy))
    assert "data/queue.yaml:22: placeholder: queue-ci-25: " in text
    assert text.endswith("no faults, 1 warning\n")
