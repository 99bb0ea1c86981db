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
from compat.store import KnowledgeSource, Store, compile_in_memory, open_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compat.knowledge import Knowledge
    from compat.layers import OverlayText

__all__ = ["MAX_BYTES", "configured_snapshot", "describe_snapshot", "is_snapshot", "open_snapshot", "snapshot_source"]

MAX_BYTES = 64 * 1024 * 1024
"""Largest snapshot that is read."""


def configured_snapshot() -> KnowledgeSource:
    """Read what ``COMPAT_SNAPSHOT`` names, with a good signature if ``COMPAT_SNAPSHOT_KEY`` is set.

    Raises:
        InputError: if it cannot be used, or if there is a key and no snapshot.
    """
    path, key = os.environ.get("COMPAT_SNAPSHOT", ""), os.environ.get("COMPAT_SNAPSHOT_KEY")
    if not path:
        raise InputError("COMPAT_SNAPSHOT names no file, but COMPAT_SNAPSHOT or COMPAT_SNAPSHOT_KEY is set; name the snapshot, or unset both")
    if key is not None and not key:
        raise InputError("COMPAT_SNAPSHOT_KEY is empty; name the file of the public key, or unset it to use snapshots without a signature")
    return snapshot_source(Path(path), Path(key) if key else None)


def open_snapshot(path: Path, key: Path | None = None) -> Store:
    """Open a JSON or SQLite export; with *key*, only if ``PATH.sig`` is a good signature of it.

    Raises:
        SignatureError: if the signature is missing or wrong.
        DocumentError: if it is no snapshot, or has faults.
    """
    return open_source(snapshot_source(path, key))


def snapshot_source(path: Path, key: Path | None = None) -> KnowledgeSource:
    """Read the bytes of an export; with *key*, only if ``PATH.sig`` is a good signature of them.

    Raises:
        InputError: if it cannot be read.
        SignatureError: if the signature is missing or wrong.
    """
    content = read_bytes(path, MAX_BYTES, "snapshot")
    if key is not None:
        verify_bytes(content, path, key)
    return _source(content, printable(path, 200))


def is_snapshot(content: bytes) -> bool:
    """Whether bytes look like an export rather than an overlay."""
    return content.startswith(b"SQLite format 3\x00") or (content.lstrip().startswith(b"{") and b'"compat.knowledge/' in content)


def describe_snapshot(content: bytes, name: str) -> str:
    """Return version, day, digest and size of a snapshot in one line.

    Raises:
        DocumentError: if the bytes are no snapshot, or have faults.
    """
    store = compile_in_memory(_source(content, name))
    counts = [store.query(f"select count(*) from {table}")[1][0][0] for table in ("claims", "releases", "subjects")]  # noqa: S608  # names of ours
    return f"knowledge {store.meta['version']}, {store.meta['digest']}: {counts[0]:,} claims and {counts[1]:,} releases of {counts[2]:,} subjects"


def _source(content: bytes, name: str) -> KnowledgeSource:
    def load(overlays: Sequence[OverlayText]) -> Knowledge:
        from compat.snapshot_reader import read_snapshot  # loads pydantic, which a store that is found does not need

        return read_snapshot(content, name, overlays)

    return KnowledgeSource(f"sha256:{hashlib.sha256(b'snapshot ' + content).hexdigest()}", load)
