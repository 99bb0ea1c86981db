"""``compat kb diff``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import OutputFile, Overlays, TableFormat, keep_apart, load_matrix, write_out
from compat.errors import InputError, printable

if TYPE_CHECKING:
    from compat import Matrix

__all__ = ["diff"]


def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A day (YYYY-MM-DD): this knowledge as of then. Or a JSON or SQLite export: as of its own day.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The same for the other side.")],
    subject: Annotated[list[str] | None, typer.Option("--subject", metavar="COMPONENT", help="Only what is about it. Repeatable.")] = None,
    overlay: Overlays = None,
    output: Annotated[TableFormat, typer.Option("-o", "--output", help="Format.")] = TableFormat.table,
    output_file: OutputFile = None,
) -> None:
    """Show what came, went and changed between two days or snapshots, claim by claim, and which verdicts changed.

    Exit code 0, whether they differ or not. Signatures of the files are not checked, see `compat kb verify`.
    """
    from cli.render import kb_diff as renderer
    from compat.diff import compare

    keep_apart({"--output-file": output_file}, {"A": [Path(before)], "B": [Path(after)], "--overlay": overlay or ()})
    first, second = _side(before, overlay), _side(after, overlay)
    write_out(renderer.render(first, second, compare(first, second, subject or ()), as_json=output is TableFormat.json), output_file)


def _side(text: str, overlays: list[Path] | None) -> Matrix:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        try:
            return load_matrix(text, overlays)
        except InputError as error:
            raise InputError(str(error).removeprefix("--as-of: ")) from error
    path = Path(text)
    if not path.exists():
        raise InputError(f"expected a day such as 2026-09-30 or the file of an export, found {printable(text)!r}")
    from datetime import date

    from compat import Matrix
    from compat.snapshots import open_snapshot

    store = open_snapshot(path)  # overlays are on top of the knowledge in use, not of exports
    return Matrix(store, date.fromisoformat(store.meta["as_of"]))
