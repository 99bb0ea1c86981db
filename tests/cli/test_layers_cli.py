"""Overlays on the command line: every reading command takes them, `kb check` finds their faults, `kb new-claim` writes one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_cli import DAY, STATE, execute
from tests.conftest import SMALL
from tests.overlays import TESTED, write

EARLY = ("--as-of", "2026-01-24")
RULES = """
retired: [{id: queue-broken, reason: we patched it, said: 2026-01-10}]
accepted:
- {id: 'unknown:operator@11.1.0:kubernetes@1.4.0', owner: jane@example.com, expires: 2026-12-31, reason: a test cluster}
- {id: 'unknown:queue@0.1.0:kubernetes@1.4.0', owner: jo, expires: 2020-01-01, reason: old}
bans: [{component: driver, versions: '==520.*', reason: it hangs, owner: jane@example.com}]
"""
NEW = ("kb", "new-claim", "--kind", "support", "--subject", "queue", "--versions", "0.1.0", "--object", "kubernetes", "--object-versions", "1.4")
REST = ("--source-url", "https://wiki.example.com/q", "--summary", 'Queue: "0.1" runs on 1.4 # really.', "--said", "2026-01-20")


@pytest.fixture
def rules(tmp_path: Path) -> str:
    return str(write(tmp_path, RULES, "rules"))


def test_every_reading_command_takes_an_overlay(tmp_path: Path, rules: str) -> None:
    """And says so in what it prints, or shows what the overlay says."""
    (tmp_path / "state.yaml").write_text(STATE)
    for command, shows in (
        (("plan", "--from", "1.1", "--to", "1.4", *DAY), "with rules"),
        (("check", "--state", str(tmp_path / "state.yaml"), "--set", "driver=520.1.1", *DAY), "driver 520.x is banned by jane@example.com: it hangs"),
        (("why", "queue=25.1.0", "kubernetes=1.3", *DAY), "retired by rules since 2026-01-10: we patched it"),
        (("matrix", "operator", "driver", *DAY), "whatever is beside them, see `compat why`: driver 520.1.1"),
        (("kb", "list", *DAY), "claims stand on"),
        (("kb", "show", "queue-broken", *DAY), '"by": "rules"'),
        (("kb", "show", "rules-ban-driver-520", *DAY), "jane@example.com"),
        (("kb", "query", "select layer, claim from retired"), "queue-broken"),
        (("kb", "query", "select value from meta where key = 'layers'"), '"id": "rules"'),
        (("kb", "graph", *DAY), "limited by"),
    ):
        result = execute(*command, "--overlay", rules)
        assert shows in " ".join(result.stdout.split()), (command, result.stdout, result.stderr)
        assert result.returncode != 2


def test_why_shows_a_ban_and_ends_with_20(rules: str) -> None:
    """The pair may be fine; nobody should go there all the same."""
    result = execute("why", "driver=520.1.1", "operator=12.0.0", "--scope", "driver_managed_by=gpu-operator", *DAY, "--overlay", rules)
    assert result.returncode == 20
    assert result.stdout.startswith("driver 520.1.1 with operator 12.0.0: tested; no plan lands on it, see below\n")
    document = json.loads(execute("why", "driver=520.1.1", "operator=12.0.0", *DAY, "-o", "json", "--overlay", rules).stdout)
    (claim,) = document["barred_by"]
    assert (claim["layer"], claim["detail"]) == ("rules", {"owner": "jane@example.com", "reason": "it hangs"})
    assert [layer["id"] for layer in document["knowledge"]["layers"]] == ["rules"]


def test_an_accepted_risk_ends_with_10_and_what_is_not_asked_for_is_a_note(rules: str) -> None:
    """Owner and expiry stand in the plan; a plan that holds at nothing has a line on stderr."""
    result = execute("plan", "--from", "1.1", "--to", "1.4", *EARLY, "--overlay", rules)
    assert (result.returncode, result.stderr) == (10, "")
    assert "accepted by jane@example.com until 2026-12-31: a test cluster" in " ".join(result.stdout.split())
    result = execute("plan", "--from", "1.1", "--to", "1.4", *DAY, "--overlay", rules)
    assert result.returncode == 0
    assert result.stderr == "compat: the overlays accept what this plan does not hold at, which changes nothing: unknown:operator@11.1.0:kubernetes@1.4.0\n"


def test_a_missing_or_faulty_overlay_stops_every_command(tmp_path: Path) -> None:
    """Exit code 2 with file and line; nothing is answered without the rules that somebody wanted."""
    faulty = write(tmp_path, "ban: []\n", "faulty")
    for path, says in ((tmp_path / "none.yaml", "none.yaml: cannot read the overlay"), (faulty, "faulty.yaml:5: unknown key 'ban'; did you mean bans?")):
        result = execute("why", "queue=0.2.0", "kubernetes=1.4", "--overlay", str(path))
        assert (result.returncode, result.stdout) == (2, "")
        assert says in result.stderr


def test_check_of_overlays(tmp_path: Path, rules: str) -> None:
    """Files, folders and what stands before them; an expired acceptance is a warning."""
    result = execute("kb", "check", rules)
    assert result.returncode == 0
    assert result.stdout == f"{rules}: overlay rules: 0 claims, 1 ban, 1 retired claim, 2 accepted risks: no faults\n"
    assert result.stderr.endswith("warning: jo accepted unknown:queue@0.1.0:kubernetes@1.4.0 until 2020-01-01, which is over; it does not count any more\n")
    write(tmp_path, TESTED, "a")
    both = execute("kb", "check", str(tmp_path))
    assert [line.split(": ")[1] for line in both.stdout.splitlines()] == ["overlay a", "overlay rules"]
    later = write(tmp_path, "retired: [{id: our-operator-12, reason: r}]\n", "later")
    assert execute("kb", "check", str(later)).returncode == 2
    assert execute("kb", "check", str(SMALL), str(tmp_path / "a.yaml"), str(later), data=None).returncode == 0
    assert execute("kb", "check", str(SMALL / "queue.yaml")).stderr.startswith(f"compat: {SMALL / 'queue.yaml'}:1: this is a subject file, no overlay")
    assert "no faults" in execute("kb", "check").stdout


def test_new_claim_prints_a_valid_overlay(tmp_path: Path) -> None:
    """What it prints is what --overlay takes, and it counts."""
    result = execute(*NEW, *REST, "--scope", "os=duck-2")
    assert (result.returncode, result.stderr) == (0, "")
    (tmp_path / "new.yaml").write_text(result.stdout)
    asked = execute("why", "queue=0.1.0", "kubernetes=1.4", "--scope", "os=duck-2", *DAY, "--overlay", str(tmp_path / "new.yaml"))
    assert asked.stdout.startswith("queue 0.1.0 with kubernetes 1.4 (1.4.0): tested\n")
    assert 'Queue: "0.1" runs on 1.4 # really.' in asked.stdout


@pytest.mark.parametrize(
    "before",
    [
        "# ours\noverlay: mine\ntitle: Mine\nas_of: 2026-01-01\n",
        "overlay: mine\ntitle: Mine\nas_of: 2026-01-01\nclaims: []\n# end",
        "overlay: mine\ntitle: M\nas_of: 2026-01-01\nclaims:\n  # first\n  - id: one\n    kind: conflict\n    subject: queue\n    source: {path: x}\n    summary: |\n      Two\n      lines.\n\n# bans\nbans: []\n",
        "claims:\n- {id: one, kind: conflict, subject: queue, versions: '1', source: {path: x}, summary: One.}  # why\noverlay: mine\ntitle: Mine\nas_of: 2026-01-01\n",
    ],
)  # fmt: skip
def test_new_claim_into_a_file_keeps_what_is_there(tmp_path: Path, before: str) -> None:
    """Every line that was there is there, comments included, and the file is valid; a second time the id is taken and nothing changes."""
    path = tmp_path / "mine.yaml"
    path.write_text(before)
    assert execute(*NEW, *REST, "--into", str(path)).returncode == 0
    after = path.read_text()
    lines = iter(after.splitlines())
    assert all(line in lines for line in before.splitlines() if line != "claims: []")  # in their order
    assert execute("kb", "check", str(path)).returncode == 0
    again = execute(*NEW, *REST, "--into", str(path))
    assert (again.returncode, path.read_text()) == (2, after)
    assert "is taken by" in again.stderr
    assert [item.name for item in tmp_path.iterdir()] == ["mine.yaml"]


def test_new_claim_into_a_new_file_and_into_one_it_cannot_add_to(tmp_path: Path) -> None:
    """A file that is not there is made; a list in brackets is left alone."""
    path = tmp_path / "new.yaml"
    assert execute(*NEW, *REST, "--into", str(path), "--overlay-id", "lab").returncode == 0
    assert path.read_text().startswith("overlay: lab\n")
    flow = "overlay: m\ntitle: M\nas_of: 2026-01-01\nclaims: [{id: a, kind: conflict, subject: queue, source: {path: x}, summary: A.}]\n"
    path.write_text(flow)
    result = execute(*NEW, *REST, "--into", str(path))
    assert (result.returncode, path.read_text()) == (2, flow)
    assert "new.yaml:4: claims is a list in brackets" in result.stderr
    odd = "overlay: m\ntitle: M\nas_of: 2026-01-01\nclaims: [\n]\n"
    for text, says in ((odd, "new.yaml:4: claims is laid out"), ("- a\n", "no overlay to which"), ("claims: soon\n", "no overlay to which")):
        path.write_text(text)
        result = execute(*NEW, *REST, "--into", str(path))
        assert (result.returncode, path.read_text()) == (2, text)
        assert says in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--kind", "suport"), "unknown kind 'suport'; did you mean support?"),
        (("--subject", "quue"), "--subject: unknown component 'quue'; did you mean queue?"),
        (("--object", "kubernets"), "--object: unknown component 'kubernets'; did you mean kubernetes?"),
        (("--versions", "=>1"), "cannot read '=>1' as a version range"),
        (("--scope", "provider=pnd"), "unknown provider 'pnd'; did you mean pond?"),
        (("--said", "soon"), "--said: expected a date"),
        (("--grade", "sure"), "the new overlay:11: claims.0.grade"),
        (("--summary", "\x1b[31m"), "has control characters"),
        (("--summary", ""), "give --summary; on a terminal they are asked for"),
        (("--into", "/nowhere/x.yaml"), "--into: cannot write /nowhere/x.yaml"),
    ],
)
def test_faults_of_new_claims(arguments: tuple[str, str], says: str) -> None:
    """The option or the nearest known word; nothing is printed."""
    result = execute(*NEW, *REST, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert says in result.stderr


def test_new_claim_asks_on_a_terminal(tmp_path: Path) -> None:
    """What is missing is asked for, one after the other; the claim goes to stdout alone."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COMPAT_DATA_DIR": str(SMALL)}
    command = [sys.executable, "-m", "cli.main", "kb", "new-claim", "--kind", "conflict", "--subject", "queue", "--said", "2026-01-20"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True) as process:
        os.write(ours, b"0.1.0\nkubernetes\n1.4\nhttps://wiki.example.com/q\nIt fails.\n")
        out, err = process.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 0, err
    assert out.splitlines()[3:8] == ["claims:", "- id: queue-0.1.0-conflict-kubernetes-1.4", "  kind: conflict", "  subject: queue", "  versions: 0.1.0"]
    assert "Other component (empty: none)" in err
