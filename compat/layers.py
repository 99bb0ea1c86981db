"""Layers: the users' own knowledge on top of the built-in one.

An overlay file adds claims, releases and private components, bans versions, retires claims of other layers and accepts risks. It never
edits a claim. Its form is in `compat.overlay_schema`; `compat.places` knows where the configured ones are. No module needs this one as
long as there is no overlay.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from compat.errors import DocumentError, Fault, printable

__all__ = ["MAX_BYTES", "Acceptance", "Layer", "OverlayText", "Retirement", "read_overlay"]

MAX_BYTES = 8 * 1024 * 1024
"""Largest file of the knowledge base or overlay that is read."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One overlay that an answer rests on."""

    id: str
    title: str
    as_of: date
    digest: str
    """Over the bytes of its file, as ``sha256:...``."""


@dataclass(frozen=True, slots=True)
class Retirement:
    """A claim that another layer takes out of use."""

    claim: str
    layer: str
    reason: str
    said: date
    """The claim does not count from that day on."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A risk that somebody accepts until a day."""

    id: str
    """Id of the pair or hop, as the hold of a plan gives it."""
    owner: str
    expires: date
    """Last day on which it counts."""
    reason: str
    layer: str

    def counts_on(self, day: date) -> bool:
        """Whether the acceptance has not expired on *day*."""
        return day <= self.expires


@dataclass(frozen=True, slots=True)
class OverlayText:
    """An overlay file as it was read: once, so that digest and content are of the same bytes."""

    path: str
    """How messages call it."""
    content: bytes

    @property
    def name(self) -> str:
        """Name of the file without folders; what the store remembers, since it is the same on every machine."""
        return Path(self.path).name

    @property
    def digest(self) -> str:
        """Digest of the content."""
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"


def read_overlay(path: Path) -> OverlayText:
    """Read the bytes of an overlay file.

    Raises:
        DocumentError: if it cannot be read or is too large.
    """
    shown = printable(path, 200)
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise DocumentError([Fault(shown, f"cannot read the overlay: {error.strerror or error}")]) from error
    if len(content) > MAX_BYTES:
        raise DocumentError([Fault(shown, f"the overlay is larger than {MAX_BYTES:,} bytes, the most that is read")])
    return OverlayText(shown, content)
