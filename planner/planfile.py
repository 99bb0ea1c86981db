"""Reading a written plan: ``compat.plan/v1``, made by us or by others, and perhaps changed since.

A plan is read strictly: a key that is not in docs/schemas/compat.plan.v1.json may say something that must not be overlooked.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compat.documents import Document
from compat.errors import DocumentError, Fault, printable
from compat.json_documents import read_json, read_json_file
from planner.errors import PlanFileError
from planner.plan import Plan
from planner.state import ClusterState

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

__all__ = ["PlanFile", "canonical_digest"]

MAX_BYTES = 16 * 1024 * 1024
"""Largest plan file that is read."""
_MAX_STEPS = 2_000
_MAX_FAULTS = 30
_SCHEMA = "compat.plan/v1"


@dataclass(frozen=True)
class PlanFile:
    """A plan as it was written."""

    name: str
    """How messages call it."""
    plan: Plan
    state: ClusterState
    """The start."""

    @classmethod
    def load(cls, path: str | Path) -> PlanFile:
        """Read a plan file.

        Raises:
            DocumentError: with every fault of the file.
            PlanFileError: if it is no plan, or was changed after it was made.
        """
        return cls._from_document(read_json_file(Path(path), MAX_BYTES))

    @classmethod
    def parse(cls, text: str, name: str = "plan") -> PlanFile:
        """Read a plan from JSON text; raises as `load`."""
        return cls._from_document(read_json(text, name))

    @classmethod
    def from_value(cls, value: object, name: str = "plan") -> PlanFile:
        """Check plain values of the written form; raises as `load`."""
        return cls._from_document(Document(name=name, value=value))

    @classmethod
    def _from_document(cls, document: Document) -> PlanFile:
        value, name = document.value, document.name
        if not isinstance(value, dict) or value.get("schema") != _SCHEMA:
            found = printable(value.get("schema")) if isinstance(value, dict) else type(value).__name__
            raise PlanFileError(f"{name}: expected a plan, a JSON document of schema {_SCHEMA} (compat plan -o json), found {found!r}")
        plan = _checked(document)
        state = ClusterState.from_value(plan.start, f"{name}: start")
        faults = [Fault(name, what) for what in _references(plan, state)]
        if faults:
            raise DocumentError(faults)
        if plan.digest and plan.digest != (own := canonical_digest(value)):
            raise PlanFileError(
                f"{name}: the plan was changed after it was made: its digest is {printable(plan.digest)}, its content gives {own}."
                " Get the approved file again; a plan of your own is judged without a digest"
            )
        return cls(name, plan, state)


def canonical_digest(document: Mapping[str, Any]) -> str:
    """Digest over a written plan without its own ``digest``: sorted keys, no spaces, UTF-8."""
    body = {key: value for key, value in document.items() if key != "digest"}
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(canonical.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _checked(document: Document) -> Plan:
    from pydantic import ValidationError

    try:
        plan: Plan = _schema().validate_json(json.dumps(_spread(document.value)), strict=True)
    except ValidationError as error:
        raise DocumentError(list(_faults(document.name, error))) from error
    except (ValueError, RecursionError) as error:
        raise DocumentError([Fault(document.name, "the plan is nested too deeply")]) from error
    return plan


def _faults(name: str, error: ValidationError) -> Iterator[Fault]:
    found = error.errors()
    for item in found[:_MAX_FAULTS]:
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{printable(part).rstrip('_')}" for part in item["loc"]).lstrip(".")
        if item["type"] == "unexpected_keyword_argument":
            yield Fault(name, f"{place}: unknown key; a plan of a newer compat needs a newer compat")
        elif item["type"] == "missing":
            yield Fault(name, f"{place}: this key is missing")
        else:
            yield Fault(name, f"{place}: {item['msg']}, found {printable(item['input'], 60)!r}")
    if len(found) > _MAX_FAULTS:
        yield Fault(name, f"and {len(found) - _MAX_FAULTS:,} more faults")


def _spread(value: Mapping[str, Any]) -> dict[str, Any]:
    """The written form with the names of our fields: ``from`` is a word of Python."""
    full = dict(value)
    if isinstance(steps := value.get("steps"), list):
        full["steps"] = [_own_names(step, "changes") for step in steps]
    return full


def _own_names(entry: Any, inner: str = "") -> Any:
    if not isinstance(entry, dict):
        return entry
    found = {"from_" if key == "from" else key: value for key, value in entry.items()}
    if isinstance(items := found.get(inner), list):
        found[inner] = [_own_names(item) for item in items]
    return found


def _references(plan: Plan, state: ClusterState) -> Iterator[str]:
    """Names in the plan that lead nowhere."""
    if len(plan.steps) > _MAX_STEPS:
        yield f"the plan has {len(plan.steps):,} steps; at most {_MAX_STEPS:,} are read"
        return
    ids = [step.id for step in plan.steps]
    pools = {pool.name for pool in state.pools}
    for index, step in enumerate(plan.steps):
        if not step.id or ids.index(step.id) != index:
            yield f"steps[{index}].id: {printable(step.id)!r} is empty or the id of an earlier step"
        if step.pool is not None and step.pool not in pools:
            yield f"steps[{index}].pool: the start has no pool {printable(step.pool)!r}"
    for place, hold in enumerate(plan.holds):
        if hold.before not in ids:
            yield f"holds[{place}].before: there is no step {printable(hold.before)!r}"


_adapter: list[TypeAdapter[Any]] = []


def _schema() -> TypeAdapter[Any]:
    """The checker of the written form, made when it is first needed."""
    if not _adapter:
        from pydantic import TypeAdapter

        for entry in vars(sys.modules[Plan.__module__]).values():
            if isinstance(entry, type) and is_dataclass(entry):
                entry.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]  # how pydantic reads it from plain dataclasses
        _adapter.append(TypeAdapter(Plan))
    return _adapter[0]
