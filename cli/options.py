"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterable
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compat.errors import InputError, printable

if TYPE_CHECKING:
    from compat import Matrix

__all__ = ["AsOf", "Format", "OutputFile", "ScopeOption", "TableFormat", "load_matrix", "pair", "pairs", "parse_day", "write_out"]


class Format(StrEnum):
    """Formats of plans."""

    table = "table"
    json = "json"
    markdown = "markdown"


class TableFormat(StrEnum):
    """Formats of answers."""

    table = "table"
    json = "json"


AsOf = Annotated[str | None, typer.Option("--as-of", metavar="DATE", help="Answer with what was known on that day (YYYY-MM-DD).  [default: today]")]
ScopeOption = Annotated[
    list[str] | None, typer.Option("--scope", metavar="WORD=VALUE", help="Where the question is asked, such as os=ubuntu-24.04 or provider=eks. Repeatable.")
]
OutputFile = Annotated[Path | None, typer.Option("--output-file", metavar="FILE", help="Write to FILE, whole or not at all, instead of stdout.")]


def parse_day(text: str | None) -> date | None:
    """Read a date.

    Raises:
        InputError: if it is none.
    """
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"--as-of: expected a date such as 2026-09-30, found {printable(text)!r}") from error


def load_matrix(as_of: str | None) -> Matrix:
    """Open the knowledge base as of a day."""
    from compat import Matrix

    return Matrix.load(as_of=parse_day(as_of))


def pair(text: str, option: str = "") -> tuple[str, str | None]:
    """Read ``component=version``; the version may be left out.

    Raises:
        InputError: if there is no component.
    """
    name, equals, version = text.partition("=")
    if not name.strip() or (equals and not version.strip()):
        where = f"{option}: " if option else ""
        raise InputError(f"{where}expected component=version, such as gpu-operator=25.3.2, found {printable(text)!r}")
    return name.strip(), version.strip() or None


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """Read several ``component=version``; each component once, each with a version."""
    found: dict[str, str] = {}
    for text in texts:
        name, version = pair(text, option)
        if version is None:
            raise InputError(f"{option}: {printable(name)} has no version; write {printable(name)}=VERSION, or {printable(name)}=absent")
        if name in found:
            raise InputError(f"{option}: {printable(name)} is given twice")
        found[name] = version
    return found


def _print(text: str) -> None:
    if sys.stdout is None:
        raise InputError("standard output is closed; give --output-file")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(141)  # what a shell reports for SIGPIPE: the reader has gone, nobody can be told more


def write_out(text: str, target: Path | None, option: str = "--output-file") -> None:
    """Write to stdout, or to a file that is replaced as a whole; *option* is named if it cannot be written.

    Raises:
        InputError: if the file cannot be written.
    """
    if target is None or str(target) == "-":
        _print(text)
        return
    try:
        target = target.resolve()  # a link stays a link
        if target.exists() and not target.is_file():
            with target.open("w", encoding="utf-8") as stream:  # a device or a pipe is written to, never replaced
                stream.write(text)
            return
        handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(re.sub(r"\x1b\[\d*m", "", text))  # colours belong to a terminal
            Path(name).chmod(0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{option}: cannot write {printable(target, 200)}: {error.strerror or error}") from error
