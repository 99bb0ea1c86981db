"""One writer of a file at a time, across processes."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from compat.errors import StoreError, printable
from compat.places import store_directories

__all__ = ["locked", "own_lock"]

_WAIT = 60.0


@contextlib.contextmanager
def locked(target: Path, place: Path) -> Iterator[None]:
    """Hold the lock of *target*, which is the file *place*; a killed run leaves it free.

    Raises:
        OSError: if the file of the lock cannot be made.
        StoreError: if another run holds it for a minute.
    """
    from filelock import FileLock, Timeout

    try:
        with FileLock(place).acquire(timeout=_WAIT):
            yield
    except Timeout as error:
        raise StoreError(f"another run has been writing {printable(target, 200)} for {_WAIT:.0f} seconds; try again when it is done") from error


def own_lock(target: Path) -> Path:
    """Return the lock of a file of the user's: in the cache, so that nothing is left in a folder that may be a repository; else beside it."""
    for folder in store_directories():
        with contextlib.suppress(OSError):
            (folder / "locks").mkdir(parents=True, exist_ok=True)
            if os.access(folder / "locks", os.W_OK):
                return folder / "locks" / f"{hashlib.sha256(str(target).encode()).hexdigest()[:32]}.lock"
    return target.parent / f".{target.name}.lock"
