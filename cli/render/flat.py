"""Texts for the terminal: what others wrote stays on its line and drives nothing.

Every table and paragraph goes through here, so that a text of an overlay, a state or a plan can neither begin a line of its own, which a
reader could take for a verdict of ours, nor send control characters.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from tabulate import tabulate

__all__ = ["Flat", "fill", "flat", "table"]


class Flat(str):
    """A text that is harmless already; it may hold colours of ours."""

    __slots__ = ()


def flat(text: object) -> str:
    """Return *text* on one line, without control characters."""
    if isinstance(text, Flat):
        return text
    return Flat("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(str(text).split())))


def table(rows: Iterable[Sequence[Any]], headers: Sequence[str] = (), tablefmt: str = "simple", **options: Any) -> str:
    """Return a table whose cells hold one line each, unless they are wrapped to a width."""
    body = [["" if cell is None else flat(cell) for cell in row] for row in rows]
    return tabulate(body, headers=[flat(header) for header in headers], tablefmt=tablefmt, disable_numparse=True, **options)


def fill(text: str, width: int, first: str = "", rest: str = "") -> str:
    """Return *text* in lines of at most *width* characters, of which only the first begins with *first*."""
    return textwrap.fill(flat(text), width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
