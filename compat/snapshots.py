"""Snapshots: exported knowledge as a file that commands use instead of the built-in one.

A snapshot is a JSON export (``compat.knowledge/v1``) or a SQLite export. Either is read as a whole, once; its signature is checked over
these very bytes; then it is compiled like YAML (`compat.snapshot_reader`) into a store that is found again by the digest of the bytes.
``COMPAT_SNAPSHOT`` names the file, ``COMPAT_SNAPSHOT_KEY`` the public key without whose signature it is refused.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from compat.errors import InputError, printable
from compat.signing import read_bytes, verify_bytes
from compat.store import Store, compile_in_memory, open_compiled

if TYPE_CHECKING:
    from compat.knowledge import Knowledge

__all__ = ["MAX_BYTES", "configured_snapshot", "describe_snapshot", "open_snapshot"]

MAX_BYTES = 64 * 1024 * 1024
"""Largest snapshot that is read."""


def configured_snapshot() -> Store:
    """Open what ``COMPAT_SNAPSHOT`` names, with a good signature if ``COMPAT_SNAPSHOT_KEY`` is set.

    Raises:
        InputError: if it cannot be used, or if there is a key and no snapshot.
    """
    path, key = os.environ.get("COMPAT_SNAPSHOT", ""), os.environ.get("COMPAT_SNAPSHOT_KEY")
    if not path:
        raise InputError("COMPAT_SNAPSHOT names no file, but COMPAT_SNAPSHOT or COMPAT_SNAPSHOT_KEY is set; name the snapshot, or unset both")
    if key is not None and not key:
        raise InputError("COMPAT_SNAPSHOT_KEY is empty; name the file of the public key, or unset it to use snapshots without a signature")
    return open_snapshot(Path(path), Path(key) if key else None)


def open_snapshot(path: Path, key: Path | None = None) -> Store:
    """Open a JSON or SQLite export; with *key*, only if ``PATH.sig`` is a good signature of it.

    Raises:
        SignatureError: if the signature is missing or wrong.
        DocumentError: if it is no snapshot, or has faults.
    """
    content = read_bytes(path, MAX_BYTES, "snapshot")
    if key is not None:
        verify_bytes(content, path, key)
    digest = f"sha256:{hashlib.sha256(b'snapshot ' + content).hexdigest()}"
    return open_compiled(digest, lambda: _read(content, printable(path, 200)))


def describe_snapshot(content: bytes, name: str) -> str:
    """Return version, day, digest and size of a snapshot in one line.

    Raises:
        DocumentError: if the bytes are no snapshot, or have faults.
    """
    store = compile_in_memory(lambda: _read(content, name))
    counts = [store.query(f"select count(*) from {table}")[1][0][0] for table in ("claims", "releases", "subjects")]  # noqa: S608  # names of ours
    return f"knowledge {store.meta['version']}, {store.meta['digest']}: {counts[0]:,} claims and {counts[1]:,} releases of {counts[2]:,} subjects"


def _read(content: bytes, name: str) -> Knowledge:
    from compat.snapshot_reader import read_snapshot  # loads pydantic, which a store that is found does not need

    return read_snapshot(content, name)
