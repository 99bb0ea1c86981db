"""Where knowledge and compiled stores are kept, and the digest that joins them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from compat.errors import StoreError

__all__ = ["SCHEMA_VERSION", "cache_directory", "content_digest", "data_directory", "forget_old", "forget_stores", "store_directories"]

SCHEMA_VERSION = 1
"""Version of the written form and its tables."""
_KEEP = 6
"""Compiled stores that are kept: those of the last few combinations of knowledge and overlays."""


def data_directory() -> Path:
    """Folder of the built-in knowledge: beside the package, or the checkout's ``data/`` in an editable install."""
    if override := os.environ.get("COMPAT_DATA_DIR"):
        return Path(override)
    installed = Path(__file__).resolve().parent / "_data"
    return installed if installed.is_dir() else Path(__file__).resolve().parent.parent / "data"


def cache_directory() -> Path:
    """Folder of compiled stores."""
    if override := os.environ.get("COMPAT_CACHE_DIR"):
        return Path(override)
    from platformdirs import user_cache_path

    return user_cache_path("compat-gpu")


def content_digest(folder: Path) -> str:
    """Digest over names and bytes of the knowledge files of *folder*, as ``sha256:...``.

    Raises:
        StoreError: if the folder holds no knowledge.
    """
    digest = hashlib.sha256(f"compat knowledge {SCHEMA_VERSION}\n".encode())
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise StoreError(f"no knowledge in {folder}: expected *.yaml files; reinstall compat or unset COMPAT_DATA_DIR")
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode())
        digest.update(content)
    return f"sha256:{digest.hexdigest()}"


def forget_stores() -> None:
    """Remove every compiled store from the cache; the next run compiles anew."""
    for directory in store_directories():
        for path in directory.glob("kb-*.sqlite"):
            path.unlink(missing_ok=True)


def store_directories() -> list[Path]:
    """Folders in which a store may be, best first."""
    places = [cache_directory()]
    if "COMPAT_CACHE_DIR" not in os.environ:
        places.append(Path(tempfile.gettempdir()) / f"compat-gpu-{os.getuid() if hasattr(os, 'getuid') else 'user'}")
    return places


def forget_old(directory: Path, keep: str) -> None:
    """Remove stores of earlier knowledge and scratch files that killed runs left behind."""
    with contextlib.suppress(OSError):
        stores = sorted(directory.glob("kb-*.sqlite"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in [path for path in stores if path.name != keep][_KEEP - 1 :]:
            path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        import time

        for path in directory.glob(".kb-*.tmp"):
            if time.time() - path.stat().st_mtime > 3600:
                path.unlink(missing_ok=True)
