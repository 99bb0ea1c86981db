"""Findings of pydantic as faults with the lines of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from compat.documents import Document
from compat.errors import Fault, nearest, printable

__all__ = ["model_faults"]


def model_faults(document: Document, error: ValidationError, model: type[BaseModel]) -> list[Fault]:
    """Turn pydantic's findings about *model* into faults with the lines of *document*."""
    faults = []
    for item in error.errors():
        path = _document_path(document, item["loc"])
        name = ".".join(str(part) for part in path)
        if item["type"] == "extra_forbidden":
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
        if (*path, part) in document.lines or position == len(loc) - 1:
            path = (*path, part)
    return path


def _keys_at(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """Keys that the model at *path* below *model* knows."""
    for part in path:
        if isinstance(part, int):
            continue
        field_info = next((info for key, info in model.model_fields.items() if part in (key, info.alias)), None)
        inner = _model_in(field_info.annotation) if field_info else None
        if inner is not None:
            model = inner
    return [info.alias or key for key, info in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        if (found := _model_in(argument)) is not None:
            return found
    return None
