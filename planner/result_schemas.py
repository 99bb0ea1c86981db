"""JSON Schemas of what is only written: ``compat.recheck/v1`` and ``compat.fleet/v1``."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from planner.plan import Cost, Knowledge
from planner.rechecked import Recheck
from planner.schemas import plan_schema

__all__ = ["fleet_schema", "recheck_schema"]


def recheck_schema() -> dict[str, Any]:
    """Return the schema of a re-check as it is written."""
    return _closed(TypeAdapter(Recheck).json_schema())


def fleet_schema() -> dict[str, Any]:
    """Return the schema of the plans of a fleet as they are written."""
    plan = plan_schema()
    definitions = {**plan.pop("$defs"), "Plan": plan}
    texts = {"type": "array", "items": {"type": "string"}}
    cluster = {
        "file": {"type": "string"},
        "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "status": plan["properties"]["status"],
        "exit_code": {"type": "integer"},
        "plan": {"type": "string", "description": "Digest of the cluster's own plan."},
        "group": {"type": "string"},
        "cost": _closed(TypeAdapter(Cost).json_schema()),
    }
    group = {"id": {"type": "string"}, "clusters": texts, "plan": {"$ref": "#/$defs/Plan", "description": "The plan of the first of the clusters."}}
    whole = {
        "schema": {"const": "compat.fleet/v1", "type": "string"},
        "knowledge": _closed(TypeAdapter(Knowledge).json_schema()),
        "exit_code": {"type": "integer"},
        "clusters": {"type": "array", "items": _object(cluster)},
        "groups": {"type": "array", "items": _object(group)},
        "failed": {"type": "array", "items": _object({"file": {"type": "string"}, "errors": texts})},
    }
    return {"$defs": definitions, "title": "Fleet", **_object(whole)}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Every field is written, and nothing else."""
    for definition in (schema, *schema.get("$defs", {}).values()):
        if "properties" in definition:
            definition["required"] = list(definition["properties"])
            definition["additionalProperties"] = False
    return schema
