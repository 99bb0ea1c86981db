"""Writing a claim of one's own: the text of an overlay, or an overlay with one claim more and all else as it was."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from compat.documents import decode, read_document
from compat.errors import DocumentError, Fault, InputError
from compat.layers import OverlayText

__all__ = ["append_claim", "new_overlay"]


def new_overlay(identity: str, title: str, as_of: date, claim: Mapping[str, Any]) -> str:
    """Return the text of an overlay with one claim."""
    head = _dump({"overlay": identity, "title": title, "as_of": as_of})
    return f"{head}claims:\n{_item(claim, 0)}"


def append_claim(overlay: OverlayText, claim: Mapping[str, Any]) -> str:
    """Return the text of *overlay* with *claim* at the end of its claims; every other line stays as it is, comments included.

    Raises:
        DocumentError: if the overlay cannot be read, or its claims are written in a way that nothing can be added to.
    """
    import yaml

    text = decode(overlay.content, overlay.path)
    document = read_document(text, overlay.path)
    if not isinstance(document.value, dict) or not isinstance(document.value.get("claims") or [], list):
        raise DocumentError([Fault(overlay.path, "this is no overlay to which a claim could be added; see docs/data-format.md")])
    node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    entry = next(((key, value) for key, value in getattr(node, "value", ()) if getattr(key, "value", None) == "claims"), None)
    if entry is None:
        lines.append(f"claims:\n{_item(claim, 0)}")
    else:
        key, value = entry
        if value.value and value.flow_style:
            raise _unfit(overlay, key, "is a list in brackets; write one claim a line, each with a leading dash")
        if value.value:
            place = _end(value.value[-1], lines)
            lines.insert(place, _item(claim, value.start_mark.column))
        else:
            lines[key.start_mark.line] = f"{' ' * key.start_mark.column}claims:\n{_item(claim, key.start_mark.column)}"
    grown = "".join(lines)
    expected = {**document.value, "claims": [*(document.value.get("claims") or ()), dict(claim)]}
    if not _reads_as(grown, expected):  # an unusual layout, such as a list in brackets over several lines
        raise _unfit(overlay, entry[0] if entry else None, "is laid out in a way that nothing can be added to; paste the claim by hand (run without --into)")
    return grown


def _reads_as(text: str, expected: Any) -> bool:
    try:
        return bool(read_document(text, "overlay").value == expected)
    except DocumentError:
        return False


def _unfit(overlay: OverlayText, node: Any, what: str) -> DocumentError:
    return DocumentError([Fault(f"{overlay.path}:{node.start_mark.line + 1}" if node else overlay.path, f"claims {what}")])


def _end(node: Any, lines: list[str]) -> int:
    """Index of the line after the last one of a block item; the mark of the parser lies behind blank lines and comments."""
    end = min(int(node.end_mark.line) + (1 if node.end_mark.column else 0), len(lines))
    while end > node.start_mark.line + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _item(claim: Mapping[str, Any], indent: int) -> str:
    body = _dump(claim).splitlines()
    return "".join(f"{' ' * indent}{'- ' if number == 0 else '  '}{line}\n" for number, line in enumerate(body))


def _dump(value: Mapping[str, Any]) -> str:
    import yaml

    text = yaml.safe_dump(dict(value), sort_keys=False, allow_unicode=True, default_flow_style=False, width=140)
    if not _reads_as(str(text), dict(value)):
        raise InputError("this claim holds a text that cannot be written as plain YAML; use printable characters")
    return str(text)
