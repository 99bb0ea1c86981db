"""``compat recheck`` as a process: exit codes, formats, and plans that somebody made to do harm."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from planner.result_schemas import recheck_schema
from tests.cli.test_cli import DAY, STATE, execute

FORMS = ["table", "json", "markdown"]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """The plan of the small knowledge base."""
    path = tmp_path / "plan.json"
    result = execute("plan", "--from", "1.1", "--to", "1.4", *DAY, "-o", "json", "--output-file", str(path))
    assert result.returncode == 0
    return path


@pytest.fixture
def shut(small_copy: Path) -> Path:
    """Knowledge that came since: operator 12 does not work with 1.4."""
    (small_copy / "news.yaml").write_text(
        "subject: news\ntitle: News\nas_of: 2026-02-01\nclaims:\n- {id: shut, subject: operator, kind: conflict, versions: '==12.*', object: kubernetes,"
        " object_versions: '>=1.4', said: 2026-02-01, source: {url: 'https://example.com/news'}, summary: 12 does not start on 1.4.}\n"
    )
    return small_copy


def test_a_plan_that_holds(stored: Path) -> None:
    """Exit 0, and the verdict as the last line."""
    result = execute("recheck", str(stored), "--as-of", "2026-02-15")
    assert (result.returncode, result.stderr.count("the knowledge ends on 2026-01-31")) == (0, 1)
    assert result.stdout.splitlines()[-1] == "Verdict: the plan still holds."


@pytest.mark.parametrize("form", FORMS)
def test_a_plan_that_holds_no_longer_is_golden(stored: Path, shut: Path, golden: Callable[[str, str], None], form: str) -> None:
    """Exit 60, with what changed, from what to what, and the source; byte for byte in every format."""
    result = execute("recheck", str(stored), "--as-of", "2026-02-15", "-o", form, data=shut)
    assert (result.returncode, result.stderr.count("\n"), "knowledge ends on 2026-02-01" in result.stderr) == (60, 1, True)
    golden(f"recheck.{form}", re.sub(r"sha256:[0-9a-f]{64}", "sha256:…", result.stdout))
    if form == "json":
        jsonschema.validate(json.loads(result.stdout), recheck_schema())


def test_where_the_cluster_stands(stored: Path, shut: Path, tmp_path: Path) -> None:
    """With --state the steps that are done are found; --done says it."""
    state = tmp_path / "now.yaml"
    state.write_text(
        "kubernetes: 1.3.1\ncomponents: {operator: 11.1.0, queue: 25.2.0}\npools:\n"
        "- {name: gpu, nodes: 1, kubelet: 1.1.0, driver: 510.1.1, driver_managed_by: gpu-operator, allocation: device-plugin}\n"
    )
    result = execute("recheck", str(stored), "--as-of", "2026-02-15", "--state", str(state), data=shut)
    assert (result.returncode, result.stdout.splitlines()[1]) == (60, "Done: s1, s2, s3. Next: s4.")
    result = execute("recheck", str(stored), *DAY, "--done", "s7")
    assert (result.returncode, result.stdout.splitlines()[1]) == (0, "Every step is done.")


def test_older_knowledge_is_exit_40(stored: Path) -> None:
    """It is said that nothing was judged."""
    result = execute("recheck", str(stored), "--as-of", "2026-01-10")
    assert result.returncode == 40
    assert result.stdout.splitlines()[-1].startswith("Verdict: not judged; the plan was made with newer knowledge")


def test_nothing_hostile_gets_out(stored: Path, tmp_path: Path) -> None:
    """Texts of a plan that others wrote are shown as text: no control characters, no HTML, no links, no lines of their own."""
    document: dict[str, Any] = json.loads(stored.read_text())
    del document["digest"]
    evil = "s1\x1b[31m\n# <img src=x onerror=alert(1)> `@all` [x](javascript:1)"
    text = json.dumps(document).replace('"s1"', json.dumps(evil)).replace('"skew"', '"skew<script>"')
    changed = json.loads(text)
    changed["claims"]["skew<script>"]["source"]["link"] = "javascript:alert(1)//<script>\n"
    path = tmp_path / "evil.json"
    path.write_text(json.dumps(changed))
    for form in ("table", "markdown"):
        result = execute("recheck", str(path), *DAY, "-o", form)
        assert result.returncode == 0, result.stderr  # its pairs are vouched for by other claims than it says
        assert "is not in this knowledge" in result.stdout
        assert "\x1b" not in result.stdout
        assert not any(line.startswith("# <img") for line in result.stdout.splitlines())
    assert "<script" not in re.sub(r"\\<", "", result.stdout)
    assert "<img" not in re.sub(r"\\<", "", result.stdout)
    assert "@all" not in result.stdout
    assert "](javascript" not in result.stdout.replace(r"\]", "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not valid JSON"),
        ("kubernetes: 1.1", "not valid JSON"),
        (json.dumps({"kubernetes": "1.1"}), "expected a plan, a JSON document of schema compat.plan/v1"),
        ('{"schema": "compat.plan/v1", "schema": "compat.plan/v1"}', "duplicate key 'schema'"),
        ('{"schema": "compat.plan/v9"}', "found 'compat.plan/v9'"),
        ("[" * 200_000, "nested too deeply"),
        (" " * (16 * 1024 * 1024 + 1), "larger than 16,777,216 bytes"),
        ("\udcff", "not UTF-8"),
    ],
)
def test_what_is_no_plan_is_exit_2(tmp_path: Path, text: str, says: str) -> None:
    """One clear line, no traceback."""
    path = tmp_path / "plan.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = execute("recheck", str(path), *DAY)
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (2, "", 1), result
    assert says in result.stderr


def test_a_changed_plan_is_exit_2(stored: Path) -> None:
    """It is not the one that was approved."""
    stored.write_text(stored.read_text().replace("helm rollback", "helm uninstall"))
    result = execute("recheck", str(stored), *DAY)
    assert result.returncode == 2
    assert "was changed after it was made" in result.stderr


def test_other_bad_input_is_exit_2(stored: Path, tmp_path: Path) -> None:
    """A file that is not there, a folder, a step that the plan does not have, a state with faults."""
    bad = tmp_path / "bad.yaml"
    bad.write_text(STATE.replace("kubernetes:", "kubernets:"))
    for arguments, says in (
        (("none.json",), "No such file"),
        ((str(tmp_path),), "cannot read the file"),
        ((str(stored), "--done", "s77"), "the plan has no such step"),
        ((str(stored), "--state", str(bad)), "unknown key 'kubernets'; did you mean kubernetes?"),
    ):
        result = execute("recheck", *arguments, *DAY)
        assert (result.returncode, result.stdout) == (2, "")
        assert says in result.stderr
