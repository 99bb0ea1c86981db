"""``compat plan`` for many clusters: files in and out, processes, and what happens when something is killed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import jsonschema
import pytest

from cli import fleet_command, fleet_run
from cli.fleet_files import is_fleet, state_files, target_files
from cli.fleet_run import Request, plan_files
from cli.options import Format
from cli.render.plan_markdown import escape
from compat import Matrix
from compat.errors import InputError
from planner.fleet import Outcome
from planner.result_schemas import fleet_schema
from tests.cli.test_cli import DAY as ON
from tests.cli.test_cli import STATE, execute
from tests.conftest import DAY, SMALL


def write(folder: Path, count: int) -> list[Path]:
    """State files of clusters that differ in name and nodes only."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for number in range(count):
        path = folder / f"c{number}.yaml"
        path.write_text(STATE.replace("pond-1", f"pond-{number}").replace("nodes: 4", f"nodes: {number + 1}"))
        found.append(path)
    return found


def load() -> Matrix:
    return Matrix.load(as_of=DAY, data=SMALL)


def load_and_die() -> Matrix:
    """In a worker: be killed by the file kill.yaml."""
    plan_one = fleet_run.plan_one

    def deadly(request: Request, matrix: Matrix, path: Path) -> Outcome:
        if path.name == "kill.yaml":
            os.kill(os.getpid(), signal.SIGKILL)
        return plan_one(request, matrix, path)

    fleet_run.plan_one = deadly
    return load()


REQUEST = Request(load, "1.4", "target", "fewest-drains", (), {}, {}, None)


def test_a_fleet_in_other_processes_is_the_same_as_here(tmp_path: Path) -> None:
    """Whatever order the workers finish in, the output is the same."""
    files = write(tmp_path, 5)
    here = dict(plan_files(REQUEST, load(), files, 1))
    there = dict(plan_files(REQUEST, load(), files, 2))
    assert [there[place] for place in range(5)] == [here[place] for place in range(5)]
    assert all(outcome.plan for outcome in here.values())


def test_a_killed_worker_costs_one_cluster(tmp_path: Path) -> None:
    """The one that it was planning; all others have their plan."""
    files = write(tmp_path, 5)
    (tmp_path / "kill.yaml").write_text(STATE)
    request = Request(load_and_die, "1.4", "target", "fewest-drains", (), {}, {}, None)
    done = dict(plan_files(request, load(), [files[0], tmp_path / "kill.yaml", *files[1:]], 2))
    assert sorted(done) == list(range(6))
    (failed,) = (outcome for outcome in done.values() if outcome.plan is None)
    assert failed.internal
    assert "kill.yaml: the process that planned it was killed" in failed.errors[0]


def test_what_is_done_is_reported_when_it_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C after the first of three: its plan is written, the others are named as not planned, exit 130."""
    write(tmp_path / "in", 3)

    def stop(*arguments: object) -> Iterator[tuple[int, Outcome]]:
        yield next(iter(plan_files(*arguments)))  # type: ignore[arg-type]  # passed on
        raise KeyboardInterrupt

    monkeypatch.setattr(fleet_command, "plan_files", stop)
    assert fleet_command.run(REQUEST, [tmp_path / "in"], Format.json, None, tmp_path / "out") == 130
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert [cluster["name"] for cluster in document["clusters"]] == ["pond-0"]
    assert len(document["failed"]) == 2
    assert "compat: stopped; 1 of 3 clusters are planned" in printed.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["c0.json"]


def test_a_fault_of_the_program_is_one_cluster_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reported as internal, and the rest goes on."""
    import planner.planning

    files = write(tmp_path, 2)
    monkeypatch.setattr(planner.planning, "plan", partial(lambda *_, **__: 1 / 0))
    done = dict(plan_files(REQUEST, load(), files, 1))
    assert all(outcome.internal and "ZeroDivisionError" in outcome.errors[0] for outcome in done.values())


# -- the command


def test_a_folder_with_a_bad_file(tmp_path: Path) -> None:
    """All good clusters in one group, the bad one named with its line on stderr, exit 2."""
    write(tmp_path, 5)
    (tmp_path / "bad.yml").write_text("kubernetes: 1.1\npodls: []\n")
    result = execute("plan", "--state", str(tmp_path), "--to", "1.4", *ON, "-o", "json")
    document = json.loads(result.stdout)
    jsonschema.validate(document, fleet_schema())
    assert result.returncode == document["exit_code"] == 2
    assert [cluster["name"] for cluster in document["clusters"]] == [f"pond-{number}" for number in range(5)]
    assert [cluster["cost"]["gpu_nodes_drained"] for cluster in document["clusters"]] == [2 * number for number in range(1, 6)]
    assert len(document["groups"]) == 1
    assert result.stderr == f"compat: {tmp_path}/bad.yml:2: unknown key 'podls'; did you mean pools?\n"


def test_text_ends_with_a_summary_by_status(tmp_path: Path) -> None:
    """Repeated --state; each group once, then the table, then one sentence."""
    one, two = write(tmp_path, 2)
    result = execute("plan", "--state", str(one), "--state", str(two), "--state", str(one), "--to", "1.4", *ON)
    assert result.returncode == 0
    assert result.stdout.startswith("=== Group g1, 2 clusters: pond-0, pond-1 (numbers of nodes are those of pond-0)\n\nKubernetes 1.1.0 -> 1.4")
    assert result.stdout.count("Verdict:") == 1
    assert result.stdout.endswith("2 clusters planned in 1 group; exit code 0.\n")
    assert "declared           2                  6  pond-0, pond-1" in result.stdout


def test_markdown_has_a_section_per_group(tmp_path: Path) -> None:
    """With its clusters and their drains; headings of the plan lie below it, commands are untouched."""
    write(tmp_path, 3)
    (tmp_path / "c2.yaml").write_text((tmp_path / "c2.yaml").read_text().replace("os: duck-2", "os: duck-1").replace("1.1.0", "1.2.0"))
    result = execute("plan", "--state", str(tmp_path / "c*.yaml"), "--to", "1.3", *ON, "-o", "markdown")
    headings = [line for line in result.stdout.splitlines() if line.startswith(("# ", "## "))]
    assert headings == ["# Upgrade plans of a fleet", "## Group g1, 2 clusters: pond-0, pond-1 (numbers of nodes are those of pond-0)", "## Group g2: pond-2"]
    assert "\n### Upgrade plan: Kubernetes 1.1.0 -> 1.3" in result.stdout
    assert f"| pond-1 | {escape(f'{tmp_path}/c1.yaml')} | " in result.stdout


@pytest.mark.parametrize(("form", "suffix"), [("table", "txt"), ("json", "json"), ("markdown", "md")])
def test_one_plan_file_per_cluster(tmp_path: Path, form: str, suffix: str) -> None:
    """The same bytes as the plan of that file alone, and nothing else in the folder."""
    files = write(tmp_path / "in", 2)
    target = tmp_path / "deep" / "out"
    result = execute(
        "plan", "--state", str(tmp_path / "in"), "--to", "1.4", *ON, "-o", form, "--output-dir", str(target), "--output-file", str(tmp_path / "all")
    )
    assert (result.returncode, result.stdout) == (0, "")
    assert sorted(path.name for path in target.iterdir()) == [f"c0.{suffix}", f"c1.{suffix}"]
    assert (target / f"c1.{suffix}").read_text() == execute("plan", "--state", str(files[1]), "--to", "1.4", *ON, "-o", form).stdout
    assert (tmp_path / "all").exists()


def test_options_reach_every_cluster(tmp_path: Path) -> None:
    """--with, --provider and --accept; an id that no plan asks for is said to change nothing."""
    write(tmp_path, 2)
    more = ("--with", "queue=absent", "--provider", "lake", "--accept", "unknown:x")
    result = execute("plan", "--state", str(tmp_path), "--to", "1.4", *ON, "-o", "json", *more)
    start = json.loads(result.stdout)["groups"][0]["plan"]["start"]
    assert (start["components"]["queue"], start["provider"]) == ("absent", "lake")
    assert result.stderr == "compat: --accept unknown:x: no plan holds at such a pair; it changes nothing\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--state", "{tmp}/empty"), "files in this folder"),
        (("--state", "{tmp}/*.toml"), "no file matches this pattern"),
        (("--state", "{tmp}/in", "--export-problem", "x"), "--export-problem is for one cluster"),
        (("--from", "1.1", "--output-dir", "{tmp}/out"), "--output-dir is for clusters given with --state"),
        (("--state", "{tmp}/in", "--output-dir", "{tmp}/in/c0.yaml"), "--output-dir: cannot make the folder"),
        (("--state", "{tmp}/in", "--with", "oprator=1"), "did you mean operator?"),
        (("--state", "{tmp}/in", "--provider", "pont"), "did you mean pond?"),
    ],
)
def test_bad_input_is_exit_2(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    """Said on stderr, with nothing written."""
    write(tmp_path / "in", 1)
    (tmp_path / "empty").mkdir()
    result = execute("plan", "--to", "1.4", *ON, *(argument.replace("{tmp}", str(tmp_path)) for argument in arguments))
    assert result.returncode == 2
    assert says in result.stderr
    assert "Traceback" not in result.stderr


def test_one_plain_file_stays_one_plan(tmp_path: Path) -> None:
    """Only a folder, a pattern or several files make a fleet; a file whose name looks like a pattern is a file."""
    (path,) = write(tmp_path, 1)
    odd = tmp_path / "c[0].yaml"
    odd.write_text(path.read_text())
    assert [is_fleet([one]) for one in (path, odd, tmp_path, tmp_path / "c*.yaml", tmp_path / "none.yaml")] == [False, False, True, True, False]
    assert execute("plan", "--state", str(odd), "--to", "1.4", *ON).stdout == execute("plan", "--state", str(path), "--to", "1.4", *ON).stdout


def test_files_are_found_once_and_in_order(tmp_path: Path) -> None:
    """A folder, a pattern that reaches it, and a link to one of its files."""
    files = write(tmp_path / "in", 3)
    (tmp_path / "in" / ".hidden.yaml").write_text("")
    (tmp_path / "in" / "notes.txt").write_text("")
    (tmp_path / "link.yaml").symlink_to(files[1])
    assert state_files([files[2], tmp_path / "in", tmp_path / "**" / "*.yaml", tmp_path / "link.yaml"]) == [files[2], files[0], files[1]]
    with pytest.raises(InputError, match="no file matches"):
        state_files([tmp_path / "x*"])


def test_plan_files_of_the_same_name_keep_apart() -> None:
    """By the folders they are in, else by number; nothing gets out of the folder."""
    files = [Path("eu/prod.yaml"), Path("us/prod.yaml"), Path("us/test.yaml"), Path("us/prod.yml"), Path("../PROD.json")]
    found = target_files(Path("out"), files, ".md")
    assert len({path.name.casefold() for path in found}) == len(files)
    assert all(path.parent == Path("out") for path in found)
    assert [path.name for path in found[:3]] == ["eu-prod.md", "us-prod.md", "test.md"]
