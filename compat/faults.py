"""Findings of pydantic as faults with the lines of the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from pydantic import BaseModel, ValidationError

from compat.documents import Document
from compat.errors import Fault, nearest, printable

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = ["model_faults"]


_FORMS = {
    r"^[a-z0-9][a-z0-9._+-]*$": "an id of lower-case letters, digits and . _ + -",
    r"^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$": "a repository such as owner/name",
    r"^[A-Za-z0-9][A-Za-z0-9._/+-]*$": "a branch or tag",
    r"^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$": "a path in a repository",
    r"^[A-Za-z0-9._/+-]*\{version\}[A-Za-z0-9._/+-]*$": "the name of a tag with {version} in it",
    r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$": "keys joined by dots",
    r"^https://[^\s]+$": "an address that starts with https://",
    r"^(https?://[^\s/?#@<>]+([/?#][^\s<>]*)?)?$": "an address that starts with https:// or http://",
    r"^[A-Za-z0-9._-]+$": "a name of letters, digits and . _ -",
    r"^[a-z0-9.+-]+$": "a name of lower-case letters, digits and . + -",
    r"^[!-~]+$": "printable ASCII without spaces",
    r"^[A-Za-z0-9][A-Za-z0-9._-]*$": "a name of letters, digits and . _ -",
    r"^([a-z0-9][a-z0-9._+-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*$": "the name of a feature gate, or component/gate",
    r"^[ -~]+$": "printable ASCII",
}
"""Patterns of fields -> what they ask for, in words; a test looks whether one is missing."""
_KEY = re.compile(r"[\w][\w .+/-]{0,59}")
"""A key that may be shown; a line of another file that was taken for a key may not."""
_KINDS = {
    "string": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "date": "a date such as 2026-09-30",
    "datetime": "a date such as 2026-09-30",
    "dict": "a mapping",
    "model": "a mapping",
    "dataclass": "a mapping",
    "list": "a list",
    "tuple": "a list",
}
"""First word of pydantic's names of faults -> what was expected."""


def model_faults(document: Document, error: ValidationError, model: type[Any]) -> list[Fault]:
    """Turn pydantic's findings about *model* into faults with the lines of *document*."""
    faults = []
    for item in error.errors():
        if item["type"] == "too_short" and len(item["input"]) >= item["ctx"]["min_length"]:
            continue  # a list with a value at fault, which pydantic does not count
        path = _document_path(document, item["loc"])
        name = ".".join(str(part) for part in path)
        if item["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            word = str(item["loc"][-1])
            what = f"unknown key{f' {word!r}' if _KEY.fullmatch(word) else ''}{nearest(word, _keys_at(model, path[:-1]))}"
        elif item["type"] == "missing":
            what = f"{name or 'the file'}: this key is missing"
        else:
            what = f"{printable(name, 120) or 'the file'}: {_expected(item)}, found {_shown(item['input'])}"
        fault = Fault(document.where(path), what)
        if fault not in faults:
            faults.append(fault)
    return faults


def _expected(item: ErrorDetails) -> str:
    """What a field asks for, in the words of the one who writes it and not of the library that checks it."""
    kind, limits = item["type"], item.get("ctx", {})
    first = kind.partition("_")[0]
    if kind == "string_pattern_mismatch":
        found = _FORMS.get(limits["pattern"], "a text of another form")
    elif kind in ("too_short", "too_long"):
        most = limits.get("min_length", limits.get("max_length"))
        found = f"at {'least' if kind == 'too_short' else 'most'} {most:,} {'value' if most == 1 else 'values'}"
    elif kind == "string_too_short":
        found = "a text that is not empty" if limits["min_length"] == 1 else f"at least {limits['min_length']} characters"
    elif kind == "string_too_long":
        found = f"at most {limits['max_length']:,} characters"
    elif kind.startswith(("greater_than", "less_than")):
        found = f"a number that is {item['msg'].removeprefix('Input should be ')}"
    elif kind == "literal_error":
        found = f"one of {limits['expected']}" if " or " in limits["expected"] else str(limits["expected"])
    elif kind in ("value_error", "assertion_error"):
        return item["msg"].partition(", ")[2]
    elif first in _KINDS:
        found = _KINDS[first]
    else:
        return item["msg"]
    return f"expected {found}"


def _shown(value: object) -> str:
    """A value at fault: short, and of a collection no more than its kind, since the file may be one that was not meant."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    return "nothing" if value is None else repr(printable(value, 40))


def _document_path(document: Document, loc: Sequence[str | int]) -> tuple[str | int, ...]:
    """Drop from a pydantic location what names a branch of a union and not a place in the file."""
    path: tuple[str | int, ...] = ()
    inside = document.value
    for position, part in enumerate(loc):
        if path and not isinstance(inside, (dict, list)):
            break  # a plain value has no parts
        if (*path, part) in document.lines or (
            position == len(loc) - 1 and not str(part).startswith(("function-", "tuple[", "dict[", "list[", "constrained-"))
        ):
            path = (*path, part)
            inside = _part(inside, part)
    return path


def _part(value: object, key: str | int) -> object:
    if isinstance(value, dict):
        return value.get(key, value)
    return value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else value


def _keys_at(model: type[Any], path: Sequence[str | int]) -> list[str]:
    """Keys that the model at *path* below *model* knows; a model is a pydantic one or a dataclass."""
    for part in path:
        if isinstance(part, int):
            continue
        inner = _model_in(_annotations(model).get(part))
        if inner is not None:
            model = inner
    return list(_annotations(model))


def _annotations(model: type[Any]) -> dict[str, Any]:
    if issubclass(model, BaseModel):
        return {info.alias or key: info.annotation for key, info in model.model_fields.items()}
    hints = get_type_hints(model)
    return {item.name: hints[item.name] for item in fields(model)}


def _model_in(annotation: Any) -> type[Any] | None:
    if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or is_dataclass(annotation)):
        return annotation
    for argument in get_args(annotation):
        if (found := _model_in(argument)) is not None:
            return found
    return None
