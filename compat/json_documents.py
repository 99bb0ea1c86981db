"""Reading JSON that programs wrote and strangers may have changed: with a limit of size and depth, without duplicate keys."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from compat.documents import Document, decode, read_whole
from compat.errors import DocumentError, Fault, printable

__all__ = ["read_json", "read_json_file"]


class _DuplicateKeyError(ValueError):
    pass


def read_json(text: str, name: str) -> Document:
    """Read one JSON document from *text*; *name* is used in messages.

    Raises:
        DocumentError: if it is no JSON, has a key twice, or is nested too deeply.
    """
    try:
        value = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise DocumentError([Fault(f"{name}:{error.lineno}", f"not valid JSON: {printable(error.msg)}")]) from error
    except _DuplicateKeyError as error:
        raise DocumentError([Fault(name, str(error))]) from error
    except (ValueError, RecursionError) as error:
        raise DocumentError([Fault(name, "not valid JSON: nested too deeply, or a number that is none")]) from error
    return Document(name=name, value=value)


def read_json_file(path: Path, max_bytes: int) -> Document:
    """Read the JSON file at *path*, which may have at most *max_bytes* bytes.

    Raises:
        DocumentError: if it cannot be read, is too large, or has faults.
    """
    shown = printable(path, 200)
    raw = read_whole(path, max_bytes, shown)
    return read_json(decode(raw.removeprefix(BOM_UTF8), shown), shown)


def _without_duplicates(entries: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in entries:
        if key in found:
            raise _DuplicateKeyError(f"duplicate key {printable(key, 40)!r}; keep one of them")
        found[key] = value
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)
