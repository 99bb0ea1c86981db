"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compat.errors import InputError, printable

if TYPE_CHECKING:
    from compat import Matrix

__all__ = [
    "AsOf",
    "Format",
    "OutputFile",
    "Overlays",
    "ScopeOption",
    "TableFormat",
    "keep_apart",
    "load_matrix",
    "pair",
    "pairs",
    "parse_day",
    "read_scope",
    "resolved",
    "tell_end",
    "write_out",
]


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
Overlays = Annotated[
    list[Path] | None, typer.Option("--overlay", metavar="FILE", help="Your own facts, bans and accepted risks on top (docs/data-format.md). Repeatable.")
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


def load_matrix(as_of: str | None, overlays: Iterable[Path] | None = None, target: Path | None = None) -> Matrix:
    """Open the knowledge base as of a day, with overlays on top: those given, and those of the configured folders.

    Raises:
        InputError: if something cannot be read, or *target*, the file to write, is one of the overlays.
    """
    from compat import Matrix

    overlays = tuple(overlays or ())
    keep_apart({"--output-file": target}, {"--overlay": overlays})

    return Matrix.load(as_of=parse_day(as_of), overlays=overlays or ())


def read_scope(matrix: Matrix, texts: Iterable[str] | None) -> dict[str, tuple[str, ...]]:
    """Read ``--scope``; a value of which nothing is known is said on stderr, since no statement about a place can then apply.

    Raises:
        InputError: if a text cannot be read.
    """
    from compat.errors import nearest

    words = matrix.words.parse(texts or ())
    for word, values in words.items():
        for value in values:
            if not matrix.words.is_known(word, value):
                known = matrix.words.known(word)
                hint = nearest(value, known) or f"; known: {', '.join(known)}"
                typer.echo(f"compat: --scope {word}={printable(value)}: nothing is known of it{printable(hint, 400)}", err=True)
    return words


def tell_end(matrix: Matrix) -> None:
    """Say on stderr that the answer is for a day of which the knowledge knows nothing yet."""
    if matrix.as_of > matrix.ends:
        typer.echo(f"compat: the knowledge ends on {matrix.ends}, and this is asked for {matrix.as_of}: what was said in between is not considered", err=True)


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


def _print(content: str | bytes) -> None:
    if sys.stdout is None:
        raise InputError("standard output is closed; give --output-file")
    try:
        if isinstance(content, bytes):
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(141)  # what a shell reports for SIGPIPE: the reader has gone, nobody can be told more


def keep_apart(outputs: Mapping[str, Path | None], inputs: Mapping[str, Iterable[Path]]) -> None:
    """Check that no file is written twice, or over what is read.

    Args:
        outputs: option -> file to write.
        inputs: option -> files to read.

    Raises:
        InputError: naming the two options.
    """
    taken = {os.path.realpath(path): option for option, paths in inputs.items() for path in paths}
    for option, path in outputs.items():
        if path is None or str(path) == "-" or (path.exists() and not path.is_file()):  # a device or a pipe takes more than one
            continue
        other = taken.setdefault(os.path.realpath(path), option)
        if other != option:
            raise InputError(f"{option}: {printable(path, 200)} is the file of {other}, too, which would be lost; give another name")


def resolved(target: Path, option: str) -> Path:
    """The file that *target* leads to; a link stays a link.

    Raises:
        InputError: naming *option*, if its links lead in a circle.
    """
    found = Path(os.path.realpath(target))  # unlike Path.resolve, the same for a circle in every version of Python
    if found.is_symlink():
        raise InputError(f"{option}: cannot write {printable(target, 200)}: its links lead in a circle")
    return found


def write_out(content: str | bytes, target: Path | None, option: str = "--output-file") -> None:
    """Write to stdout, or to a file that is replaced as a whole.

    Raises:
        InputError: naming *option*, if the file cannot be written.
    """
    if target is None or str(target) == "-":
        _print(content)
        return
    raw = content if isinstance(content, bytes) else re.sub(r"\x1b\[\d*m", "", content).encode()  # colours belong to a terminal
    target = resolved(target, option)
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:  # a device or a pipe is written to, never replaced
                stream.write(raw)
            return
        handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(raw)
            Path(name).chmod(0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{option}: cannot write {printable(target, 200)}: {error.strerror or error}") from error
