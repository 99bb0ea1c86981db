"""Errors of the matrix.

::

    CompatError                 anything a caller may want to show to a person
    ├── InputError              what the user gave cannot be used (exit code 2)
    │   ├── InvalidVersionError     a text that is no version of that product
    │   ├── InvalidRangeError       a text that is no version range
    │   ├── UnknownComponentError   a name that no subject of the knowledge base has
    │   ├── UnknownVersionError     a version that the knowledge base does not list
    │   └── DocumentError           a YAML or JSON file with faults, each with its line
    │       └── KnowledgeError      the same for a file of the knowledge base
    └── StoreError              the compiled store cannot be built or read
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

__all__ = [
    "CompatError",
    "DocumentError",
    "Fault",
    "InputError",
    "InvalidRangeError",
    "InvalidVersionError",
    "KnowledgeError",
    "StoreError",
    "UnknownComponentError",
    "UnknownVersionError",
    "nearest",
    "printable",
]


def printable(text: object, limit: int = 80) -> str:
    """Return *text* on one line, without control characters, cut to *limit* characters."""
    cleaned = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return cleaned if len(cleaned) <= limit else cleaned[: limit - 1] + "…"


def nearest(word: str, known: Sequence[str]) -> str:
    """Return ``"; did you mean X?"`` for the nearest *known* word, or the empty string."""
    found = get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return f"; did you mean {found[0]}?" if found else ""


class CompatError(Exception):
    """Root of all errors that are meant to be read by a person."""


class InputError(CompatError):
    """Something the user gave cannot be used."""


class InvalidVersionError(InputError):
    """A text that cannot be read as a version."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"cannot read {printable(text)!r} as a version: {why}")
        self.text = text


class InvalidRangeError(InputError):
    """A text that cannot be read as a version range."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"cannot read {printable(text)!r} as a version range: {why}")
        self.text = text


class UnknownComponentError(InputError):
    """A component that the knowledge base does not know."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        hint = nearest(name, known)
        super().__init__(f"unknown component {printable(name)!r}{hint or '; see `compat kb list`'}")
        self.name = name


class UnknownVersionError(InputError):
    """A version that the knowledge base does not list for a component."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault in a document."""

    where: str
    """File and, where known, line: ``data/kueue.yaml:17``."""
    what: str
    """What was found, what was expected and what to do."""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class DocumentError(InputError):
    """A file with one or more faults; all of them are reported together."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class KnowledgeError(DocumentError):
    """A file of the knowledge base with faults."""


class StoreError(CompatError):
    """The compiled store cannot be built or read."""
