"""The file that updates write: one overlay, a section for each feed, replaced as a whole under a lock."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from compat import locking
from compat.documents import read_file
from compat.errors import DocumentError, Fault, StoreError, printable

__all__ = ["Overlay", "Section", "locked", "read_overlay_file", "write_overlay_file"]

_MAX_BYTES = 8 * 1024 * 1024
_HEADER = "# Written by `compat kb update`, which replaces it as a whole: changes made here are lost. Own facts belong in an overlay of your own.\n"
Written = dict[str, Any]


@dataclass
class Section:
    """What one feed has added to the knowledge."""

    subject: str
    read: date
    """Day of the last good reading."""
    source: Written
    releases: list[Written] = field(default_factory=list)
    claims: list[Written] = field(default_factory=list)
    secondary: bool = False


@dataclass
class Overlay:
    """The whole file."""

    as_of: date
    sections: dict[str, Section] = field(default_factory=dict)
    """Id of a feed -> what it has added."""

    def written(self) -> Written:
        """The overlay in its written form; a release that two feeds name is written once, with both of their names under `feeds`."""
        releases: dict[tuple[str, str], Written] = {}
        for section in self.sections.values():
            for entry in section.releases:
                releases.setdefault((entry["subject"], entry["version"]), entry)
        return {
            "overlay": "update",
            "title": "Releases and claims from public feeds, written by compat kb update",
            "as_of": self.as_of,
            "sources": {name: section.source for name, section in self.sections.items()},
            "releases": list(releases.values()),
            "claims": [claim for section in self.sections.values() for claim in section.claims],
            "feeds": [
                {
                    "id": name,
                    "subject": section.subject,
                    "read": section.read,
                    **({"secondary": True} if section.secondary else {}),
                    "releases": [entry["version"] for entry in section.releases],
                    "claims": [claim["id"] for claim in section.claims],
                }
                for name, section in self.sections.items()
            ],
        }

    def text(self) -> str:
        """The file as YAML that the reader of the knowledge base accepts."""
        import yaml

        class Plain(yaml.SafeDumper):
            def ignore_aliases(self, _: Any) -> bool:
                return True

        return _HEADER + yaml.dump(self.written(), Dumper=Plain, sort_keys=False, allow_unicode=True, width=150)


def read_overlay_file(path: Path) -> Overlay:
    """Read what earlier updates wrote; nothing, if there is no file.

    Raises:
        DocumentError: if the file cannot be read as one that an update wrote.
    """
    if not path.exists():
        return Overlay(date.min)
    document = read_file(path, _MAX_BYTES)
    try:
        value = document.value
        releases = {(entry["subject"], entry["version"]): entry for entry in value["releases"]}
        claims = {claim["id"]: claim for claim in value["claims"]}
        sections = {
            feed["id"]: Section(
                feed["subject"],
                feed["read"],
                value["sources"][feed["id"]],
                [releases[feed["subject"], version] for version in feed["releases"]],
                [claims[identity] for identity in feed["claims"]],
                feed.get("secondary", False),
            )
            for feed in value["feeds"]
        }
        return Overlay(value["as_of"], sections)
    except (KeyError, TypeError, AttributeError) as error:
        what = f"this is no file that `compat kb update` wrote (at {printable(error, 60)}); move it away, the next update makes it anew"
        raise DocumentError([Fault(document.name, what)]) from error


@contextlib.contextmanager
def locked(target: Path) -> Iterator[None]:
    """Let one update at a time replace *target*; a killed one leaves no lock behind.

    Raises:
        StoreError: if the folder cannot be made, or another update holds the lock for a minute.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with locking.locked(target, target.parent / f".{target.name}.lock"):
            yield
    except OSError as error:
        what = f"cannot write {printable(target, 200)}: {error.strerror or error}; what was there is unchanged"
        raise StoreError(f"{what}. Make room, or name another folder in COMPAT_UPDATE_DIR") from error


def write_overlay_file(target: Path, overlay: Overlay, check: Callable[[Path], None]) -> None:
    """Replace *target* as a whole, after *check* has read the new file without faults.

    Raises:
        OSError: if it cannot be written; the old file is then as it was.
    """
    for left in target.parent.glob(f".{target.name}-*.tmp"):  # of killed runs: nobody else writes while the lock is held
        left.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", suffix=".tmp", dir=target.parent)
    scratch = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(overlay.text())
            stream.flush()
            os.fsync(stream.fileno())
        check(scratch)
        scratch.chmod(0o644)
        scratch.replace(target)
        _settle(target.parent)
    finally:
        scratch.unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    """Have the change of name survive a power cut, where folders can be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
