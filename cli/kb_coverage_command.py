"""``compat kb coverage``."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import AsOf, OutputFile, Overlays, ScopeOption, TableFormat, load_matrix, read_scope, tell_end, write_out

__all__ = ["coverage"]


def coverage(
    to: Annotated[str, typer.Option("--to", metavar="VERSION", help="Kubernetes version to reach, such as 1.37.")],
    start: Annotated[
        str | None, typer.Option("--from", metavar="VERSION", help="Kubernetes version now.  [default: the oldest minor still supported on that day]")
    ] = None,
    scope: ScopeOption = None,
    component: Annotated[list[str] | None, typer.Option("--component", metavar="COMPONENT", help="Only this component. Repeatable.")] = None,
    as_of: AsOf = None,
    overlay: Overlays = None,
    output: Annotated[TableFormat, typer.Option("-o", "--output", help="Format.")] = TableFormat.table,
    output_file: OutputFile = None,
) -> None:
    """Show how far the knowledge reaches: the best verdict per component and Kubernetes minor, and what a plan would find unknown.

    The unknowns come most important first, each with the place where an answer would be published.
    """
    from cli.render import kb_coverage as renderer
    from compat.coverage import coverage as cover

    matrix = load_matrix(as_of, overlay, output_file)
    words = read_scope(matrix, scope)
    found = cover(matrix, to, start, words, component or ())
    tell_end(matrix)
    write_out(renderer.render(found, words, matrix.snapshot, as_json=output is TableFormat.json), output_file)
