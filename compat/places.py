"""Where knowledge, overlays and compiled stores are kept, and the digest that joins them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from compat.errors import InputError, StoreError, printable

if TYPE_CHECKING:
    from compat.layers import OverlayText

__all__ = [
    "SCHEMA_VERSION",
    "cache_directory",
    "combined_digest",
    "configured_overlays",
    "content_digest",
    "data_directory",
    "forget_old",
    "forget_scratch",
    "forget_stores",
    "overlays_in",
    "store_directories",
    "update_folder",
]

SCHEMA_VERSION = 1
"""Version of the written form and its tables."""
_SCRATCH_SECONDS = 600
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


def combined_digest(base: str, overlays: Iterable[OverlayText]) -> str:
    """Digest of the built-in knowledge together with overlays, in their order; *base* itself if there are none."""
    digest = None
    for overlay in overlays:
        digest = digest or hashlib.sha256(f"compat layers\n{base}\n".encode())
        digest.update(f"{overlay.name} {overlay.digest}\n".encode())
    return f"sha256:{digest.hexdigest()}" if digest else base


def overlays_in(folder: Path) -> list[Path]:
    """Return the overlay files of *folder*, in name order; none if it is not there."""
    return sorted(path for path in folder.glob("*.yaml") if path.is_file())


def configured_overlays() -> list[Path]:
    """Return the overlay files of the configured folders: the user's own, then those that ``kb update`` wrote.

    Raises:
        InputError: if ``COMPAT_OVERLAY_DIR`` names no folder; bans that are silently not read would be worse.
    """
    own = os.environ.get("COMPAT_OVERLAY_DIR")
    if own and not Path(own).is_dir():
        raise InputError(f"COMPAT_OVERLAY_DIR: there is no folder {printable(own, 200)}; make it or unset the variable")
    return [*overlays_in(Path(own) if own else _user_folder("overlays")), *overlays_in(update_folder())]


def update_folder() -> Path:
    """Return the folder that ``kb update`` writes: ``COMPAT_UPDATE_DIR``, or one in the user's data directory."""
    given = os.environ.get("COMPAT_UPDATE_DIR")
    return Path(given) if given else _user_folder("updates")


def _user_folder(name: str) -> Path:
    from platformdirs import user_config_path, user_data_path

    return (user_config_path if name == "overlays" else user_data_path)("compat-gpu") / name


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
    """Remove stores of earlier knowledge."""
    with contextlib.suppress(OSError):
        stores = sorted(directory.glob("kb-*.sqlite"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in [path for path in stores if path.name != keep][_KEEP - 1 :]:
            path.unlink(missing_ok=True)


def forget_scratch(directory: Path) -> None:
    """Remove what killed runs left behind: files that nobody has written to for longer than any compilation takes."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(directory):
            if entry.name.startswith(".kb-") and time.time() - entry.stat().st_mtime > _SCRATCH_SECONDS:
                Path(entry.path).unlink(missing_ok=True)
