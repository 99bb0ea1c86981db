"""The command line as a process: output, exit codes, errors, files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import networkx
import pytest

from tests.conftest import SMALL

Run = Callable[..., subprocess.CompletedProcess[str]]
STATE = """
kubernetes: 1.1.0
name: pond-1
provider: pond
components: {operator: 10.0.0, queue: 25.2.0}
apis: [pond.example/v1beta1/Duck]
pools:
- {name: gpu, nodes: 4, kubelet: 1.1.0, os: duck-2, runtime: runtime 2.0.0, driver: 510.1.1, driver_managed_by: gpu-operator, allocation: device-plugin}
assumed: ["<img src=x onerror=alert(1)>|`$(id)` @all https://example.com", "> - x"]
"""


def execute(*arguments: str, data: Path | None = SMALL, **extra: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "160", **extra}
    if data is not None:
        environment["COMPAT_DATA_DIR"] = str(data)
    return subprocess.run([sys.executable, "-m", "cli.main", *arguments], capture_output=True, text=True, env=environment, check=False, timeout=120)


@pytest.fixture
def run() -> Run:
    """Run the command on the small knowledge base."""
    return execute


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state file with a hostile string in it."""
    path = tmp_path / "state.yaml"
    path.write_text(STATE)
    return path


DAY = ("--as-of", "2026-01-31")


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_what_people_paste_is_golden(run: Run, golden: Callable[[str, str], None], form: str) -> None:
    """The plan of the small knowledge base, byte for byte in every format."""
    result = run("plan", "--from", "1.1", "--to", "1.4", *DAY, "-o", form)
    assert (result.returncode, result.stderr) == (0, "")
    golden(f"plan.{form}", re.sub(r"sha256:[0-9a-f]{64}", "sha256:…", result.stdout) if form != "json" else result.stdout)


def test_the_hold_and_its_exit_code(run: Run, golden: Callable[[str, str], None]) -> None:
    """Before the table named 1.4: a hold, exit 30, the verdict as the last line; accepted, exit 10."""
    early = ("--as-of", "2026-01-24")
    result = run("plan", "--from", "1.1", "--to", "1.4", *early)
    assert result.returncode == 30
    golden("hold.table", result.stdout)
    assert result.stdout.splitlines()[-1].startswith("Verdict: on hold before s")
    (name,) = re.findall(r"--accept (\S+?)\]", " ".join(result.stdout.split()))
    accepted = run("plan", "--from", "1.1", "--to", "1.4", *early, "--accept", name)
    assert accepted.returncode == 10
    assert accepted.stdout.splitlines()[-1].startswith("Verdict: safe but for accepted risks")


def test_nothing_hostile_gets_into_a_ticket(run: Run, state: Path) -> None:
    """A string from a state file is text in Markdown: no HTML, no table cell, no code, no mention."""
    result = run("plan", "--state", str(state), "--to", "1.4", *DAY, "-o", "markdown")
    assert result.returncode == 0
    line = next(line for line in result.stdout.splitlines() if "onerror" in line)
    assert r"\<img src=x onerror=alert(1)>\|\`$(id)\`" in line
    assert "@all" not in line
    assert line.count("://") == line.count("`https://example.com`") == 1  # to be copied, and no link


def test_json_is_data_and_nothing_else(run: Run, state: Path) -> None:
    """Standard output is one JSON document, and its digest is that of its content."""
    import hashlib

    document = json.loads(run("plan", "--state", str(state), "--to", "1.4", *DAY, "-o", "json").stdout)
    digest = document.pop("digest")
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert digest == f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"
    cited = {claim for step in document["steps"] for claim in step["claims"]}
    assert cited <= set(document["claims"])


def test_the_same_input_gives_the_same_bytes(run: Run) -> None:
    """Also in another process with another hash seed."""
    one, other = (run("plan", "--from", "1.1", "--to", "1.4", *DAY, "-o", "json", PYTHONHASHSEED=seed).stdout for seed in ("1", "2"))
    assert one == other


def test_an_output_file_is_written_whole(run: Run, tmp_path: Path) -> None:
    """The file appears with everything in it, stdout stays empty; where it cannot be written, nothing is left."""
    target = tmp_path / "plan.md"
    result = run("plan", "--from", "1.1", "--to", "1.4", *DAY, "-o", "markdown", "--output-file", str(target))
    assert (result.returncode, result.stdout) == (0, "")
    assert target.read_text().startswith("# Upgrade plan")
    assert [path.name for path in tmp_path.iterdir()] == ["plan.md"]
    failed = run("plan", "--from", "1.1", "--to", "1.4", *DAY, "--output-file", str(tmp_path / "none" / "plan.md"))
    assert failed.returncode == 2
    assert "cannot write" in failed.stderr


def test_the_exported_problem_stands_alone(run: Run, tmp_path: Path) -> None:
    """Its optimum can be found by going through its states."""
    from planner.solver.problem import pack
    from tests.planner.instances import exhaustive
    from tests.planner.read_problem import read

    target = tmp_path / "problem.json"
    plan = json.loads(run("plan", "--from", "1.1", "--to", "1.4", *DAY, "-o", "json", "--export-problem", str(target)).stdout)
    problem = read(json.loads(target.read_text()))
    best = exhaustive(problem)
    assert best is not None
    assert best >> (40 * (problem.width - 4)) == pack([plan["cost"][name] for name in ("unknown_pairs", "gpu_nodes_drained", "other_nodes_drained", "steps")])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("plan", "--to", "1.4"), "give either --from VERSION or --state FILE"),
        (("plan", "--from", "1.1", "--state", "x", "--to", "1.4"), "not both"),
        (("plan", "--from", "1.4", "--to", "1.1"), "the target 1.1 is below 1.4"),
        (("plan", "--from", "1.1", "--to", "1.99"), "kubernetes 1.99 is not known; the newest release known is 1.4.0"),
        (("plan", "--from", "1.1", "--to", "nonsense"), "cannot read 'nonsense' as a version"),
        (("plan", "--from", "1.1", "--to", "1.4", "--with", "oprator=1"), "unknown component 'oprator'; did you mean operator?"),
        (("plan", "--from", "1.1", "--to", "1.4", "--with", "operator"), "operator has no version"),
        (("plan", "--from", "1.1", "--to", "1.4", "--with", "operator=10.0.0", "--with", "operator=11.0.0"), "given twice"),
        (("plan", "--from", "1.1", "--to", "1.4", "--with", "operator=99.0.0"), "operator 99.0.0 is not known"),
        (("plan", "--from", "1.1", "--to", "1.4", "--provider", "pont"), "unknown provider 'pont'; did you mean pond?"),
        (("plan", "--from", "1.1", "--to", "1.4", "--as-of", "tomorrow"), "expected a date such as 2026-09-30"),
        (("plan", "--from", "1.1", "--to", "1.4", "--assume", "luck"), "'luck' is not one of 'era', 'newest', 'none'"),
        (("plan", "--from", "1.1"), "Missing option '--to'"),
        (("plan", "--state", "/nonexistent", "--to", "1.4"), "No such file or directory"),
        (("why", "operator=1"), "Missing argument"),
        (("why", "=1", "kubernetes=1"), "expected component=version"),
        (("why", "operator=10.0.0", "kubernetes=1.1", "--scope", "os"), "expected word=value"),
        (("why", "operator=10.0.0", "kubernetes=1.1", "--scope", "oss=x"), "unknown scope word 'oss'; did you mean os?"),
        (("matrix", "operator", "operator"), "must be two components"),
        (("kb", "show", "nothing-like-it"), "unknown component"),
        (("kb", "query", "drop table claims"), "the query failed"),
        (("kb", "query", "select"), "the query failed"),
        (("check", "--state", "/nonexistent"), "No such file"),
        (("why", "operator=$(id)", "kubernetes=1.1"), "cannot read '$(id)' as a version"),
        (("plan", "--from", "1.1", "--to", "1.4", "-o", "json", "--export-problem", "-"), "standard output is for the plan"),
        (("kb", "query", "attach database '/nonexistent/x' as x"), "the query failed"),
        (("frobnicate",), "No such command 'frobnicate'"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_2(run: Run, arguments: tuple[str, ...], says: str) -> None:
    """No traceback, nothing on stdout, the fault named."""
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, ""), result
    assert len(result.stderr.splitlines()) == 1
    assert says in result.stderr


@pytest.mark.parametrize(
    "text",
    ["", "{}", "- 1", "kubernetes: [", "a: &x 1\nb: *x", "kubernetes: 1.1\nkubernetes: 1.2", "[" * 50_000, "kubernetes: 1.1\npools: [{name: '$(reboot)'}]", "\x00", "kubernetes: 1.1\n" + "#" * 2_000_000, "kubernetes: 1.1.0\npools: 3"],
)  # fmt: skip
def test_an_empty_huge_or_hostile_state_is_a_clear_error(run: Run, tmp_path: Path, text: str) -> None:
    """One line per fault with the file's name, exit 2."""
    path = tmp_path / "state.yaml"
    path.write_text(text)
    result = run("plan", "--state", str(path), "--to", "1.4")
    assert (result.returncode, result.stdout) == (2, "")
    assert "state.yaml" in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr) < 2000


def test_every_fault_of_a_state_is_reported(run: Run, tmp_path: Path) -> None:
    """Two mistakes, two lines."""
    path = tmp_path / "state.yaml"
    path.write_text("kubernetes: 1.1\npools:\n- {name: a, kubelett: 1}\n- {name: b, nodes: -1}\n")
    lines = run("plan", "--state", str(path), "--to", "1.4").stderr.splitlines()
    assert len(lines) == 2
    assert "state.yaml:3: unknown key 'kubelett'; did you mean kubelet?" in lines[0]
    assert "state.yaml:4" in lines[1]


@pytest.mark.parametrize(
    ("pair", "code", "verdict"),
    [(("operator=12.0.0", "kubernetes=1.3"), 0, "tested"), (("queue=25.1.0", "k8s=1.3"), 20, "broken"), (("operator=10.0.0", "kubernetes=1.4"), 30, "unknown")],
)
def test_why(run: Run, pair: tuple[str, str], code: int, verdict: str) -> None:
    """Verdict, exit code, and in JSON the claims with their sources."""
    result = run("why", *pair, *DAY, "-o", "json")
    document = json.loads(result.stdout)
    assert (result.returncode, document["verdict"]) == (code, verdict)
    assert all(claim["source"]["link"] for claim in document["claims"])
    assert (document["question"] is None) is (verdict != "unknown")
    assert run("why", *pair, *DAY).stdout.splitlines()[0].endswith(f": {verdict}")


def test_why_of_hops(run: Run) -> None:
    """--relation upgrade asks about going from one to the other."""
    assert run("why", "operator=10.0.0", "operator=12.0.0", "--relation", "upgrade", *DAY).returncode == 20
    assert run("why", "kubernetes=1.1.0", "kubernetes=1.3.0", "--relation", "upgrade", *DAY).returncode == 20
    assert run("why", "operator=10.0.0", "queue=25.1.0", "--relation", "upgrade", *DAY).returncode == 2


def test_matrix(run: Run, golden: Callable[[str, str], None]) -> None:
    """A table of verdicts; the JSON has one cell per pair."""
    golden("matrix.table", run("matrix", "operator", "kubernetes", "--scope", "os=duck-2", "--all", *DAY).stdout)
    cells = json.loads(run("matrix", "operator", "kubernetes", *DAY, "-o", "json").stdout)["cells"]
    assert {cell["verdict"] for cell in cells} == {"tested", "unknown"}
    assert len(cells) == 4 * 4


def test_kb(run: Run) -> None:
    """Subjects, one subject, one claim, SQL, validation."""
    rows = {row["subject"]: row for row in json.loads(run("kb", "list", *DAY, "-o", "json").stdout)}
    assert rows["queue"]["newest_release"] == "0.2.0"
    assert rows["queue"]["tested"] == 2
    assert "queue-broken" in run("kb", "show", "queue", *DAY).stdout
    assert json.loads(run("kb", "show", "queue-broken", "-o", "json").stdout)["source"]["path"] == "issues/1"
    assert "operator" in run("kb", "show", "operator", "--kind", "bundle", *DAY).stdout
    counted = json.loads(run("kb", "query", "select kind, count(*) as n from claims group by kind order by kind", "-o", "json").stdout)
    assert counted[0].keys() == {"kind", "n"}
    graph = networkx.node_link_graph(json.loads(run("kb", "graph", *DAY, "-o", "json").stdout), edges="edges")
    assert graph.edges["kubelet", "kubernetes"]["claims"] == ["skew"]
    assert "operator" in run("kb", "graph", *DAY).stdout
    assert "no faults" in run("kb", "check").stdout
    assert run("kb", "check", str(SMALL)).returncode == 0


def test_check(run: Run, state: Path) -> None:
    """A state, and the state after a bump."""
    assert run("check", "--state", str(state), *DAY).returncode == 0
    bumped = run("check", "--state", str(state), "--set", "kubernetes=1.3.1", *DAY, "-o", "json")
    assert bumped.returncode == 20
    document = json.loads(bumped.stdout)
    assert document["hops"][0]["rule"] == "forbidden"
    assert {pair["verdict"] for pair in document["pairs"]} >= {"unknown"}
    assert run("check", "--state", str(state), "--set", "kueue=1").returncode == 2


def test_faulty_knowledge_is_reported_with_file_and_line(run: Run, small_copy: Path) -> None:
    """A broken knowledge file stops every command with all its faults."""
    (small_copy / "queue.yaml").write_text("subject: queue\ntitle: Q\nas_of: 2026-01-31\nclams: []\nreleases: [{version: latest}]\n")
    result = execute("plan", "--from", "1.1", "--to", "1.4", data=small_copy)
    assert result.returncode == 2
    assert "data/queue.yaml:4: unknown key 'clams'; did you mean claims?" in result.stderr


def test_colours_only_on_a_terminal(run: Run) -> None:
    """A pipe gets plain text."""
    assert "\x1b[" not in run("plan", "--from", "1.1", "--to", "1.4", *DAY).stdout


def test_a_closed_pipe_is_quiet() -> None:
    """`compat ... | head` ends quietly, with the code that a shell gives for a broken pipe."""
    command = f"{sys.executable} -m cli.main kb show kubernetes --all | true; echo ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=120)
    assert result.stderr == ""
    assert result.stdout.splitlines()[-1] == "141"


def test_a_closed_stdout_is_an_error_unless_a_file_takes_the_output(tmp_path: Path) -> None:
    """No traceback, and no verdict that nobody sees."""
    command = f"{sys.executable} -m cli.main why kueue=0.15.0 kubernetes=1.33"
    closed = subprocess.run(["bash", "-c", f"{command} >&-"], capture_output=True, text=True, check=False, timeout=120)
    assert (closed.returncode, closed.stderr) == (2, "compat: standard output is closed; give --output-file\n")
    target = tmp_path / "why.txt"
    written = subprocess.run(["bash", "-c", f"{command} --output-file {target} >&-"], capture_output=True, text=True, check=False, timeout=120)
    assert (written.returncode, written.stderr) == (0, "")
    assert "tested" in target.read_text()


def test_what_is_no_regular_file_is_written_through(run: Run, tmp_path: Path) -> None:
    """A link stays a link; a pipe gets the text and stays a pipe."""
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    run("why", "queue=0.2.0", "kubernetes=1.4", *DAY, "--output-file", str(tmp_path / "link.md"))
    assert (tmp_path / "link.md").is_symlink()
    assert "tested" in (tmp_path / "real.md").read_text()
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE, text=True) as reader:
        run("why", "queue=0.2.0", "kubernetes=1.4", *DAY, "--output-file", str(tmp_path / "pipe"))
        assert "tested" in reader.communicate(timeout=60)[0]
    assert (tmp_path / "pipe").is_fifo()


def test_a_damaged_store_heals(run: Run, tmp_path: Path) -> None:
    """Bytes that went bad in the middle of the file cost one compilation, not an error for good."""
    cache = tmp_path / "cache"
    ask = ("why", "queue=0.2.0", "kubernetes=1.4", *DAY)
    whole = run(*ask, COMPAT_CACHE_DIR=str(cache)).stdout
    (store,) = cache.glob("kb-*.sqlite")
    content = bytearray(store.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    store.write_bytes(content)
    for _ in range(2):
        again = run(*ask, COMPAT_CACHE_DIR=str(cache))
        assert (again.returncode, again.stdout) == (0, whole)


def test_why_of_hardware(run: Run) -> None:
    """A driver and a GPU by its architecture, or by the name that nodes report, as the contract writes it; either way round."""
    assert run("why", "driver=520.1.1", "hardware=bird", *DAY).returncode == 20
    assert run("why", "hardware=bird", "driver=510.1.1", *DAY).returncode == 30
    for real in ("gpu-product=NVIDIA V100", "gpu-arch=volta"):
        assert execute("why", "nvidia-driver=595.71.05", real, data=None).returncode == 20
    assert run("why", "driver=520.1.1", "hardware=fish", *DAY).returncode == 2


def test_the_kubectl_plugin_calls_itself_by_its_name(tmp_path: Path) -> None:
    """Usage says `kubectl compat`."""
    script = tmp_path / "kubectl-compat"
    script.write_text("from cli.main import main\nmain()\n")
    result = subprocess.run([sys.executable, str(script), "plan", "--help"], capture_output=True, text=True, check=False, timeout=60)
    assert "kubectl compat plan" in result.stdout
