"""``compat kb update`` as users meet it: a real server on this machine plays the feeds."""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from cli.main import main
from tests.compat.feeds import payloads
from tests.compat.feeds.payloads import GITHUB, RAW
from tests.compat.feeds.server import Mirror, mirror

ROOT = Path(__file__).parents[2]


class Done(NamedTuple):
    """What came of a command."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]
FEEDS = {
    "operator.yaml": """
feeds:
- {kind: github-releases, repo: example/operator}
- {kind: helm-index, url: 'https://charts.example.com/index.yaml', chart: operator, requires: kubernetes}
- {kind: chart-values, repo: example/operator, paths: [values.yaml], newest: 1, bundles: {toolkit: toolkit.version, driver: driver.version}}
""",
    "queue.yaml": r"""
feeds:
- kind: ci-versions
  repo: example/queue
  paths: [hack/test.mk]
  newest: 1
  object: kubernetes
  pattern: '^E2E_K8S_VERSIONS\s*\?=\s*(?P<versions>.*)$'
  what: the matrix
""",
    "driver.yaml": r"""
feeds:
- {kind: endoflife, product: driver, line: 'r(?P<line>\d+)', days: {supported_until: eolFrom}, latest: true}
""",
    "kubernetes.yaml": """
feeds:
- {kind: release-schedule, repo: example/website, path: schedule.yaml}
- {kind: feature-gates, repo: example/website, path: gates, gates: '^Duck'}
""",
}


@pytest.fixture
def served() -> Iterator[Mirror]:
    """All feeds, with something new in each."""
    with mirror() as state:
        state.put(f"{GITHUB}/example/operator/releases?per_page=50", payloads.github_releases(("v13.0.0", "2026-01-15"), ("v12.0.0", "2025-11-01")))
        state.put("https://charts.example.com/index.yaml", payloads.helm_index("operator", ("v13.0.0", "2026-01-15", ">= 1.2.0-0")))
        state.put(f"{RAW}/example/operator/v13.0.0/values.yaml", payloads.VALUES)
        state.put(f"{RAW}/example/queue/v0.2.0/hack/test.mk", payloads.MAKEFILE)
        newest = {"name": "540.2.1", "date": "2026-01-19", "link": None}
        state.put(
            "https://endoflife.date/api/v1/products/driver/",
            payloads.endoflife("driver", payloads.cycle("r540", "2026-01-05", isLts=True, eolFrom="2027-01-05", latest=newest)),
        )
        state.put(f"{RAW}/example/website/main/schedule.yaml", payloads.schedule(("1.4", "2026-01-20", "2027-01-28", "2027-03-28", [("1.4.1", "2026-01-30")])))
        state.put(f"{GITHUB}/example/website/contents/gates?ref=main", payloads.gates("DuckPonds.md"))
        state.put(f"{RAW}/example/website/main/gates/DuckPonds.md", payloads.gate("DuckPonds", ("alpha", "1.4", False)))
        yield state


@pytest.fixture
def surroundings(small_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a user with the small knowledge base and nothing else, in this process too."""
    for name, feeds in FEEDS.items():
        file = small_copy / name
        file.write_text(file.read_text() + feeds)
    (tmp_path / "overlays").mkdir()
    for name in [name for name in os.environ if "proxy" in name.lower() or name == "GITHUB_TOKEN"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COMPAT_DATA_DIR", str(small_copy))
    monkeypatch.setenv("COMPAT_UPDATE_DIR", str(tmp_path / "updates"))
    monkeypatch.setenv("COMPAT_OVERLAY_DIR", str(tmp_path / "overlays"))
    return dict(os.environ)


@pytest.fixture
def compat(surroundings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in this process: what a process adds is tested elsewhere, and costs most of the time."""

    def run(*arguments: str) -> Done:
        out, err = io.StringIO(), io.StringIO()
        code: int | str | None = 0
        monkeypatch.setattr(sys, "argv", ["compat", *arguments])
        with redirect_stdout(out), redirect_stderr(err), monkeypatch.context() as patch:
            patch.setattr(os, "_exit", sys.exit)
            try:
                main()
            except SystemExit as ended:
                code = ended.code
            finally:
                gc.enable()
        return Done(int(code or 0), out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "updates" / "update.yaml"


def test_the_whole_flow(compat: Run, served: Mirror, target: Path) -> None:
    """What the feeds say is written, listed, asked for; a second run asks under conditions and finds nothing new."""
    done = compat("kb", "update", "--feed-base", served.base)
    assert (done.returncode, done.stderr) == (0, "")
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line[:1].isalpha()}
    assert "3 of 3" in rows["operator"]
    assert "13.0.0" in rows["operator"]
    listed = {row["subject"]: row for row in json.loads(compat("kb", "list", "-o", "json").stdout)}
    assert [listed[name]["newest_release"] for name in ("operator", "kubernetes")] == ["13.0.0", "1.4.1"]
    assert "540.2.1" in compat("kb", "show", "driver").stdout  # of a channel on which no plan lands
    query = "select id, grade, known_from, link from claims where layer = 'update' order by id"
    claims = json.loads(compat("kb", "query", query, "-o", "json").stdout)
    assert [(row["id"], row["grade"]) for row in claims] == [
        ("update-driver-endoflife-540", "declared"),
        ("update-kubernetes-feature-gates-duckponds", "declared"),
        ("update-kubernetes-release-schedule-1.4", "declared"),
        ("update-operator-chart-values-driver-13.0.0", "declared"),
        ("update-operator-chart-values-toolkit-13.0.0", "declared"),
        ("update-operator-helm-index-kubernetes-13.0.0", "declared"),
        ("update-queue-ci-versions-kubernetes-0.2.0", "tested"),
    ]
    assert claims[-1]["link"] == "https://github.com/example/queue/blob/v0.2.0/hack/test.mk"
    assert {row["id"]: row["known_from"] for row in claims}["update-operator-chart-values-toolkit-13.0.0"] == "2026-01-15"
    asked = len(served.asked)
    before = target.read_text()
    again = compat("kb", "update", "--feed-base", served.base)
    assert again.returncode == 0
    assert "13.0.0" not in again.stdout
    assert {status for _, status, _ in served.asked[asked:]} == {304}
    assert target.read_text() == before


def test_a_new_release_is_a_candidate_and_unknown(compat: Run, served: Mirror, tmp_path: Path) -> None:
    """A release that a feed brings is in the plan's domain; nothing vouches for it until somebody does."""
    assert compat("kb", "update", "--feed-base", served.base).returncode == 0
    asked = compat("why", "operator=13.0.0", "kubernetes=1.4.0")
    assert asked.returncode == 30, asked.stderr
    assert asked.stdout.startswith("operator 13.0.0 with kubernetes 1.4.0: unknown")
    plan = compat("plan", "--from", "1.3.1", "--to", "1.4.0", "--with", "operator=13.0.0", "-o", "json")
    assert plan.returncode == 30, plan.stderr
    document = json.loads(plan.stdout)
    assert document["status"] == "unknown"
    assert "13.0.0" in plan.stdout


def test_dry_run_and_subjects(compat: Run, served: Mirror, target: Path) -> None:
    """--dry-run shows and writes nothing; a subject's feeds only; an alias is a name; a name without feeds is bad input."""
    done = compat("kb", "update", "operator", "--dry-run", "--feed-base", served.base)
    assert (done.returncode, target.exists()) == (0, False)
    assert "would hold 1 release and 3 claims" in done.stdout
    assert {address.split("/")[0] for address, _, _ in served.asked} == {"api.github.com", "charts.example.com", "raw.githubusercontent.com"}
    assert compat("kb", "update", "k8s", "--dry-run", "--feed-base", served.base).returncode == 0
    wrong = compat("kb", "update", "runtime", "--feed-base", served.base)
    assert (wrong.returncode, "no feed serves runtime" in wrong.stderr) == (2, True)


def test_output_file(compat: Run, served: Mirror, target: Path, tmp_path: Path) -> None:
    """An overlay for another machine, read with --overlay or copied there."""
    file = tmp_path / "for-the-other" / "update.yaml"
    assert compat("kb", "update", "--feed-base", served.base, "--output-file", str(file)).returncode == 0
    assert file.exists()
    assert not target.exists()
    folder = compat("kb", "update", "--feed-base", served.base, "--output-file", str(tmp_path))
    assert (folder.returncode, "something else" in folder.stderr) == (2, True)


def test_offline(compat: Run, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code 40, each reason once, what to do, and nothing written."""
    monkeypatch.setattr("urllib3.util.retry.time.sleep", lambda _: None)
    done = compat("kb", "update", "--feed-base", "http://127.0.0.1:9")
    assert done.returncode == 40
    assert done.stderr.count("refused") == 1
    assert "copy update.yaml" in done.stderr
    assert not target.exists()


def test_one_feed_that_changes_shape(compat: Run, served: Mirror, target: Path) -> None:
    """It changes nothing and says so; the others are read; the code stays 0."""
    compat("kb", "update", "--feed-base", served.base)
    before = target.read_text()
    served.put(f"{GITHUB}/example/operator/releases?per_page=50", '{"releases": []}')
    served.put("https://endoflife.date/api/v1/products/driver/", "<html>down for maintenance</html>")
    served.cut.add("charts.example.com/index.yaml")
    served.pages["charts.example.com/index.yaml"] += "# changed\n"
    done = compat("kb", "update", "--feed-base", served.base)
    assert done.returncode == 0
    told = done.stderr.splitlines()
    assert [line.split()[1] for line in told] == ["driver-endoflife", "operator-github-releases", "operator-helm-index"]
    assert all("what it said on" in line and "is kept" in line for line in told)
    assert "HTML" in told[0]
    assert "breaks off" in told[2]
    assert target.read_text() == before


def test_hostile_texts_stay_texts(compat: Run, served: Mirror, target: Path) -> None:
    """What a feed says never reaches a terminal or a file unescaped."""
    served.put(f"{GITHUB}/example/operator/releases?per_page=50", json.dumps([payloads.github_release("\x1b]0;pwned\x07v1\nretired: []", "2026-01-15")]))
    done = compat("kb", "update", "--feed-base", served.base)
    assert "\x1b" not in done.stdout + done.stderr + target.read_text()
    assert "pwned" not in target.read_text()


BLOCK = """
import os, sys, time
from compat.feeds import written
real = getattr(written.{owner}, {name!r})
def block(*a, **k):
    if {before}:
        print("here", flush=True); time.sleep(60)
    result = real(*a, **k)
    print("here", flush=True); time.sleep(60)
setattr(written.{owner}, {name!r}, block)
from cli.main import main
sys.argv = ["compat", "kb", "update", "--feed-base", sys.argv[1]]
main()
"""


@pytest.mark.parametrize(
    ("owner", "name", "before"),
    [("tempfile", "mkstemp", False), ("os", "fsync", True), ("Path", "chmod", True), ("Path", "replace", True)],
    ids=["made", "written", "checked", "renaming"],
)
def test_killed_at_any_moment(compat: Run, surroundings: dict[str, str], served: Mirror, target: Path, owner: str, name: str, before: bool) -> None:
    """SIGKILL while the file is written: the old one is there, whole; the next run writes the new one and leaves nothing else."""
    assert compat("kb", "update", "driver", "--feed-base", served.base).returncode == 0
    old = target.read_bytes()
    script = BLOCK.format(owner=owner, name=name, before=before)
    process = subprocess.Popen([sys.executable, "-c", script, served.base], stdout=subprocess.PIPE, cwd=ROOT, env=surroundings, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "here\n"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert target.read_bytes() == old
    assert compat("kb", "list").returncode == 0
    assert compat("kb", "update", "--feed-base", served.base).returncode == 0
    assert "13.0.0" in target.read_text()
    assert sorted(path.name for path in target.parent.iterdir()) == [".update.yaml.lock", "update.yaml"]


def test_killed_while_reading(compat: Run, surroundings: dict[str, str], served: Mirror, target: Path) -> None:
    """SIGKILL between two pages: nothing is written."""
    assert compat("kb", "update", "driver", "--feed-base", served.base).returncode == 0
    old, asked = target.read_bytes(), len(served.asked)
    served.slow = 0.2
    command = [sys.executable, "-m", "cli.main", "kb", "update", "--feed-base", served.base]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, env=surroundings)
    ends = time.monotonic() + 20
    while len(served.asked) < asked + 2 and time.monotonic() < ends:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert len(served.asked) >= asked + 2
    assert target.read_bytes() == old


def test_two_updates_at_once(surroundings: dict[str, str], served: Mirror, target: Path) -> None:
    """Both end well, and the file has what both found: neither writes over the other."""
    command = [sys.executable, "-m", "cli.main", "kb", "update", "--feed-base", served.base]
    pair = [
        subprocess.Popen([*command, name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT, env=surroundings, text=True)
        for name in ("operator", "queue")
    ]
    assert [(process.communicate()[1], process.returncode) for process in pair] == [("", 0), ("", 0)]
    text = target.read_text()
    assert "13.0.0" in text
    assert "update-queue-ci-versions-kubernetes-0.2.0" in text


def test_the_operator_of_the_real_knowledge_base(compat: Run, served: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The feeds of the built-in knowledge: a new GPU Operator appears in `kb list`, and is unknown until NVIDIA speaks."""
    monkeypatch.setenv("COMPAT_DATA_DIR", str(ROOT / "data"))
    served.put(f"{GITHUB}/NVIDIA/gpu-operator/releases?per_page=50", payloads.github_releases(("v26.11.0", "2026-11-20"), ("v26.7.0", "2026-08-20")))
    served.put("https://helm.ngc.nvidia.com/nvidia/index.yaml", payloads.helm_index("gpu-operator", ("v26.11.0", "2026-11-20", ">= 1.16.0-0")))
    done = compat("kb", "update", "gpu-operator", "--feed-base", served.base)
    assert done.returncode == 0
    assert "gpu-operator-chart-values was not read" in done.stderr
    listed = {row["subject"]: row for row in json.loads(compat("kb", "list", "-o", "json").stdout)}
    assert listed["gpu-operator"]["newest_release"] == "26.11.0"
    asked = compat("why", "gpu-operator=26.11.0", "kubernetes=1.37")
    assert (asked.returncode, "unknown" in asked.stdout) == (30, True)
    problem = tmp_path / "problem.json"
    compat("plan", "--from", "1.36", "--to", "1.37", "--export-problem", str(problem))
    assert "26.11.0" in problem.read_text()


def test_feeds_that_are_of_no_use_are_named_and_end_with_40(compat: Run, served: Mirror, target: Path) -> None:
    """Pages came and none could be used: each feed has a line with its address and the whole reason, and the file stays as it was."""
    charts = "https://charts.example.com/index.yaml"
    served.put(charts, "<!doctype html><title>Log in</title>")
    done = compat("kb", "update", "queue", "--feed-base", served.base)
    assert done.returncode == 0
    before = target.read_text()
    served.put(f"{GITHUB}/example/operator/releases?per_page=50", "<html>")
    done = compat("kb", "update", "operator", "--feed-base", served.base)
    assert done.returncode == 40
    lines = done.stderr.splitlines()
    assert [line.split()[1] for line in lines[:-1]] == ["operator-github-releases", "operator-helm-index"]
    assert f"{charts}: expected JSON, YAML or plain text, found HTML; is something between you and the feed?" in lines[1]
    assert "nothing was changed" in lines[-1]
    assert "0 of 2, 1 had nothing to ask" in done.stdout
    assert target.read_text() == before


def test_offline_no_feed_counts_as_read(compat: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor one of which everything is known: it had nothing to ask; every feed that failed is named."""
    monkeypatch.setattr("urllib3.util.retry.time.sleep", lambda _: None)
    monkeypatch.setattr("compat.feeds.known.Known.newest", lambda *_: [])
    done = compat("kb", "update", "operator", "--feed-base", "http://127.0.0.1:9")
    assert done.returncode == 40
    assert "0 of 2, 1 had nothing to ask" in done.stdout
    assert "operator-github-releases, operator-helm-index were not read" in done.stderr
    assert "https://api.github.com/repos/example/operator" in done.stderr
