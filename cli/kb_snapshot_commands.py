"""``compat kb export``, ``sign`` and ``verify``: knowledge as a file."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputFile, keep_apart, write_out
from compat.errors import InputError, printable

__all__ = ["export", "sign", "verify"]


class ExportFormat(StrEnum):
    """Formats of exports."""

    json = "json"
    sqlite = "sqlite"
    csv = "csv"


def export(
    output: Annotated[ExportFormat, typer.Option("-o", "--output", help="JSON, a SQLite file, or CSV files in a zip archive.")] = ExportFormat.json,
    output_file: OutputFile = None,
) -> None:
    """Export all knowledge, whatever the day: every release and every claim. Overlays are not in it.

    COMPAT_SNAPSHOT=FILE makes all commands use a JSON or SQLite export. SHA-256 of the JSON form is the digest that answers name.
    """
    from compat import Matrix
    from compat.exports import export as write

    if output is not ExportFormat.json and output_file is None and sys.stdout is not None and sys.stdout.isatty():
        raise InputError(f"{output} is not for a terminal; give --output-file FILE")
    write_out(write(Matrix.load(configured_overlays=False).store, output), output_file)


def sign(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export; any file will do.")],
    key: Annotated[Path, typer.Option("--key", metavar="KEY", help="Your Ed25519 private key: PEM, or OpenSSH without or with a passphrase.")],
    output_file: Annotated[Path | None, typer.Option("--output-file", metavar="FILE", help="Where the signature goes.  [default: FILE.sig]")] = None,
) -> None:
    """Sign a file off line: a detached Ed25519 signature, 64 bytes, in FILE.sig."""
    from compat.signing import read_bytes, sign_bytes, signature_path
    from compat.snapshots import MAX_BYTES

    target = output_file or signature_path(file)
    keep_apart({"--output-file": target}, {"FILE": [file], "--key": [key]})
    signature = sign_bytes(read_bytes(file, MAX_BYTES, "file"), key, _passphrase)
    write_out(signature, target)
    if str(target) != "-":
        typer.echo(f"{printable(target, 200)}: signature of {printable(file, 200)}")


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file that was signed.")],
    key: Annotated[Path, typer.Option("--key", metavar="PUBLIC_KEY", help="The Ed25519 public key: PEM or OpenSSH.")],
    signature: Annotated[Path | None, typer.Option("--signature", metavar="FILE", help="The signature.  [default: FILE.sig]")] = None,
) -> None:
    """Check the signature of a file, and what is in it if it is a snapshot. Exit code 2 if it is not good."""
    from compat.errors import DocumentError
    from compat.signing import read_bytes, verify_bytes
    from compat.snapshots import MAX_BYTES, describe_snapshot

    content = read_bytes(file, MAX_BYTES, "file")
    verify_bytes(content, file, key, signature)
    typer.echo(f"{printable(file, 200)}: good signature by {printable(key, 200)}")
    try:
        typer.echo(describe_snapshot(content, printable(file, 200)))
    except DocumentError as error:
        typer.echo(f"compat: it cannot be used as a snapshot: {printable(error.faults[0].what, 200)}", err=True)


def _passphrase() -> str | None:
    """Ask for the passphrase of a key, if someone is there to answer."""
    if sys.stdin is None or not sys.stdin.isatty():
        return None
    return str(typer.prompt("Passphrase of the key", hide_input=True, err=True))
