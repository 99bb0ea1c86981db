"""``compat recheck``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import AsOf, Format, OutputFile, Overlays, keep_apart, load_matrix, tell_end, write_out

__all__ = ["recheck"]


def recheck(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A stored plan (compat plan -o json).")],
    state: Annotated[
        Path | None, typer.Option("--state", metavar="FILE", help="The cluster as it is now (compat.cluster/v1); finds out which steps are done.")
    ] = None,
    done: Annotated[str | None, typer.Option("--done", metavar="STEP", help="This step is done, and all before it.")] = None,
    as_of: AsOf = None,
    overlay: Overlays = None,
    output: Annotated[Format, typer.Option("-o", "--output", help="Format.")] = Format.table,
    output_file: OutputFile = None,
) -> None:
    """Check whether an approved plan still holds, and which facts have changed since.

    Exit code: 60 if it does not hold, 40 if it was made with newer knowledge than this; if it holds, that of the plan: 0, 10, 20 or 30.
    """
    from cli.render import recheck as renderer
    from planner.planfile import PlanFile
    from planner.rechecking import recheck as check
    from planner.state import ClusterState

    keep_apart({"--output-file": output_file}, {"PLAN": [plan], "--state": [state] if state else []})
    stored = PlanFile.load(plan)
    cluster = None if state is None else ClusterState.load(state)
    matrix = load_matrix(as_of, overlay, output_file)
    result = check(matrix, stored, cluster, done=done)
    tell_end(matrix)
    write_out(renderer.render(result, output.value), output_file)
    raise typer.Exit(result.exit_code)
