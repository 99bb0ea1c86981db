"""``compat plan`` for many clusters at once."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cli.fleet_files import state_files, target_files
from cli.fleet_run import Request, cores, plan_files
from cli.options import Format, keep_apart, write_out
from compat.errors import InputError, printable

if TYPE_CHECKING:
    from planner.fleet import Fleet, Outcome

__all__ = ["run"]

_SUFFIX = {Format.table: ".txt", Format.json: ".json", Format.markdown: ".md"}


def run(request: Request, given: Sequence[Path], output: Format, output_file: Path | None, output_dir: Path | None) -> int:
    """Plan for every state file, write what was asked for, and return the exit code.

    Raises:
        InputError: if there are no files, or nothing can be written.
    """
    from cli.render import fleet as renderer
    from planner.fleet import combine
    from planner.plan import Knowledge

    gc.enable()  # unlike a single plan, a fleet can be large
    files = state_files(given)
    targets = target_files(_folder(output_dir), files, _SUFFIX[output]) if output_dir is not None else []
    written = {f"--output-dir {printable(path, 200)}": path for path in targets}
    keep_apart({"--output-file": output_file, **written}, {"--state": files})
    matrix = request.load()  # also compiles the store once, before other processes open it
    done: dict[int, Outcome] = {}
    stopped = False
    show = sys.stderr is not None and sys.stderr.isatty()
    try:
        with typer.progressbar(length=len(files), label="Planning", file=sys.stderr) if show else nullcontext() as bar:
            for place, outcome in plan_files(request, matrix, files, cores()):
                done[place] = outcome
                if targets and outcome.plan is not None:
                    write_out(renderer.render_plan(outcome.plan, output.value), targets[place], "--output-dir")
                if bar is not None:
                    bar.update(1)
    except KeyboardInterrupt:
        stopped = True
    knowledge = Knowledge.of(matrix.snapshot)
    outcomes = [done.get(place) or _not_planned(path) for place, path in enumerate(files)]
    fleet = combine(outcomes, knowledge, stopped=stopped)
    _report(fleet, request.accept)
    write_out(renderer.render(fleet, output.value), output_file)
    return fleet.exit_code


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--output-dir: cannot make the folder {printable(path, 200)}: {error.strerror or error}") from error
    return path


def _not_planned(path: Path) -> Outcome:
    from planner.fleet import Outcome

    name = printable(path, 200)
    return Outcome(file=name, errors=(f"{name}: not planned, it was stopped before",))


def _report(fleet: Fleet, accept: Sequence[str]) -> None:
    """Say on stderr what went wrong."""
    if fleet.stopped:
        planned = len(fleet.outcomes) - len(fleet.failed)
        typer.echo(f"compat: stopped; {planned} of {len(fleet.outcomes)} clusters are planned", err=True)
    else:
        for outcome in fleet.failed:
            for line in outcome.errors:
                typer.echo(f"compat: {line}", err=True)
    asked = {pair.id for outcome in fleet.outcomes if outcome.plan for pair in outcome.plan.open_pairs}
    for name in accept:
        if name not in asked:
            typer.echo(f"compat: --accept {printable(name)}: no plan holds at such a pair; it changes nothing", err=True)
