"""``compat check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import AsOf, OutputFile, Overlays, TableFormat, keep_apart, load_matrix, pairs, write_out

__all__ = ["check"]


def check(
    state: Annotated[Path, typer.Option("--state", metavar="FILE", help="Cluster state (compat.cluster/v1, YAML or JSON).")],
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="COMPONENT=VERSION", help="Check the state after this bump. Repeatable.")] = None,
    as_of: AsOf = None,
    overlay: Overlays = None,
    output: Annotated[TableFormat, typer.Option("-o", "--output", help="Format.")] = TableFormat.table,
    output_file: OutputFile = None,
) -> None:
    """Say whether a cluster state, or the state after a bump, is allowed, pair by pair.

    Exit code: 0 if every pair relied on is tested or declared, 20 if a pair is broken, 30 if one is unknown.
    """
    from cli.render import check as renderer
    from planner.checking import check_state
    from planner.state import ClusterState

    keep_apart({"--output-file": output_file}, {"--state": [state]})
    matrix = load_matrix(as_of, overlay, output_file)
    result = check_state(matrix, ClusterState.load(state), pairs(set_ or (), "--set"))
    write_out(renderer.render(result, matrix.snapshot, as_json=output is TableFormat.json), output_file)
    raise typer.Exit({"broken": 20, "unknown": 30}.get(result.grade, 0))
