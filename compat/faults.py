"""Findings of pydantic as faults with the lines of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ValidationError

from compat.documents import Document
from compat.errors import Fault, nearest, printable

__all__ = ["model_faults"]


def model_faults(document: Document, error: ValidationError, model: type[Any]) -> list[Fault]:
    """Turn pydantic's findings about *model* into faults with the lines of *document*."""
    faults = []
    for item in error.errors():
        path = _document_path(document, item["loc"])
        name = ".".join(str(part) for part in path)
        if item["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            word = str(item["loc"][-1])
            what = f"unknown key {printable(word)!r}{nearest(word, _keys_at(model, path[:-1]))}"
        elif item["type"] == "missing":
            what = f"{name or 'the file'}: this key is missing"
        else:
            what = f"{printable(name, 120) or 'the file'}: {item['msg']}, found {printable(item['input'], 60)!r}"
        fault = Fault(document.where(path), what)
        if fault not in faults:
            faults.append(fault)
    return faults


def _document_path(document: Document, loc: Sequence[str | int]) -> tuple[str | int, ...]:
    """Drop from a pydantic location what names a branch of a union and not a place in the file."""
    path: tuple[str | int, ...] = ()
    for position, part in enumerate(loc):
        if (*path, part) in document.lines or (
            position == len(loc) - 1 and not str(part).startswith(("function-", "tuple[", "dict[", "list[", "constrained-"))
        ):
            path = (*path, part)
    return path


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
