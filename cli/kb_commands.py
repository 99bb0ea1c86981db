"""``compat kb``: looking into the knowledge base."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from cli import kb_coverage_command, kb_diff_command, kb_snapshot_commands, overlay_commands, update_command
from cli.options import AsOf, OutputFile, Overlays, TableFormat, load_matrix, write_out
from compat.errors import InputError, printable

__all__ = ["app"]

app = typer.Typer(help="Look into the knowledge base.", no_args_is_help=True, rich_markup_mode=None)
_FORMAT = typer.Option("-o", "--output", help="Format.")


@app.command("list")
def list_subjects(
    as_of: AsOf = None,
    overlay: Overlays = None,
    output: Annotated[TableFormat, _FORMAT] = TableFormat.table,
    output_file: OutputFile = None,
) -> None:
    """List every subject with its releases, claims, grades and dates."""
    from cli.render import kb as renderer

    matrix = load_matrix(as_of, overlay, output_file)
    write_out(renderer.render_list(matrix, as_json=output is TableFormat.json), output_file)


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="SUBJECT|CLAIM", help="A component such as gpu-operator, or the id of a claim.")],
    as_of: AsOf = None,
    overlay: Overlays = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", help="Only claims of this kind.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Also claims that did not stand on that day.")] = False,
    output: Annotated[TableFormat, _FORMAT] = TableFormat.table,
    output_file: OutputFile = None,
) -> None:
    """Show one subject with its releases and claims, or one claim in full."""
    from cli.render import kb as renderer
    from compat.claims import KINDS

    if kind is not None and kind not in KINDS:
        raise InputError(f"unknown kind {printable(kind)!r}; known: {', '.join(KINDS)}")
    matrix = load_matrix(as_of, overlay, output_file)
    write_out(renderer.render_show(matrix, name, kind, every=every, as_json=output is TableFormat.json), output_file)


@app.command("query")
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One read-only SQL statement over the tables claims, releases, subjects, meta.")],
    as_of: AsOf = None,
    overlay: Overlays = None,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=0.1, max=3600, help="Time for the statement.")] = 30,
    output: Annotated[TableFormat, _FORMAT] = TableFormat.table,
    output_file: OutputFile = None,
) -> None:
    """Query the compiled knowledge with SQL; docs/data-format.md has the tables.

    The table claims has all claims, whatever the day; the view standing those that stand on the day of --as-of. Blobs are shown as SQL
    writes them.
    """
    import sqlite3

    from cli.render import kb as renderer

    matrix = load_matrix(as_of, overlay, output_file)
    matrix.store.add_standing(matrix.as_of)
    try:
        columns, rows = matrix.store.query(sql, seconds=timeout)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise InputError(f"the query failed: {printable(error, 200)}") from error
    if output is TableFormat.json and len(set(columns)) < len(columns):
        twice = ", ".join(printable(name) for name, count in Counter(columns).items() if count > 1)
        raise InputError(f"several columns are called {twice}, and JSON can hold one of them; give them names of their own with AS")
    write_out(renderer.render_rows(columns, rows, as_json=output is TableFormat.json), output_file)


@app.command("graph")
def graph(
    as_of: AsOf = None,
    overlay: Overlays = None,
    output: Annotated[TableFormat, _FORMAT] = TableFormat.table,
    output_file: OutputFile = None,
) -> None:
    """Show who constrains whom: which component's versions are limited by which other, and by how many claims."""
    from cli.render import graph as renderer

    write_out(renderer.render(load_matrix(as_of, overlay, output_file), as_json=output is TableFormat.json), output_file)


app.command("check")(overlay_commands.check)
app.command("new-claim")(overlay_commands.new_claim)
app.command("update")(update_command.update)
app.command("coverage")(kb_coverage_command.coverage)
app.command("diff")(kb_diff_command.diff)
app.command("export")(kb_snapshot_commands.export)
app.command("sign")(kb_snapshot_commands.sign)
app.command("verify")(kb_snapshot_commands.verify)
