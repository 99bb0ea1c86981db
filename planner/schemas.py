"""JSON Schemas of what is read and written: ``compat.cluster/v1``, ``compat.plan/v1`` and the views of a plan."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from planner.alternatives import Alternatives
from planner.explain import Explanation
from planner.plan import OPTIONAL_FIELDS, Plan
from planner.state import ClusterState

__all__ = ["alternatives_schema", "cluster_schema", "explanation_schema", "plan_schema"]


def cluster_schema() -> dict[str, Any]:
    """Return the schema of a cluster state, with the short forms that people write."""
    schema = ClusterState.json_schema()
    own, pool = schema["properties"], schema["$defs"]["Pool"]["properties"]
    for properties, name in ((own, "kubernetes"), (pool, "kubelet"), (pool, "allocation")):
        _or_single(properties[name])
    entries = own["components"]["patternProperties"]
    for pattern, component in entries.items():
        entries[pattern] = {"anyOf": [component, {"type": ["string", "number", "null"]}]}
    return schema


def _or_single(entry: dict[str, Any]) -> None:
    """Let one value stand for a list of one."""
    lists = [entry] if entry.get("type") == "array" else [item for item in entry["anyOf"] if item.get("type") == "array"]
    items = lists[0].get("items", {})
    if entry.get("type") == "array":
        array = {key: entry.pop(key) for key in ("type", "items", "minItems", "maxItems") if key in entry}
        entry["anyOf"] = [array]
    entry["anyOf"] += [items] if "enum" in items else [items, {"type": "number"}]


def plan_schema() -> dict[str, Any]:
    """Return the schema of a plan as it is written."""
    return _as_written(TypeAdapter(Plan).json_schema(), "Plan")


def alternatives_schema() -> dict[str, Any]:
    """Return the schema of a plan with what it could be traded for."""
    schema = _as_written(TypeAdapter(Alternatives).json_schema(), "Alternatives")
    schema["properties"]["recommended"] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    schema["properties"]["knowledge"] = {"$ref": "#/$defs/Knowledge"}
    schema["required"] = sorted(schema["properties"])
    return schema


def explanation_schema() -> dict[str, Any]:
    """Return the schema of one step in full."""
    return _as_written(TypeAdapter(Explanation).json_schema(), "Explanation")


def _as_written(schema: dict[str, Any], title: str) -> dict[str, Any]:
    """Bring the schema of plain values to the names and the optional fields of the written form."""
    definitions = schema["$defs"]
    for definition in (schema, *definitions.values()):
        if "properties" in definition:
            definition["properties"] = {name.rstrip("_"): entry for name, entry in definition["properties"].items()}
            whole = definition.get("title") in (title, "Plan", "Step", "Finding", "LayerEntry")
            definition["required"] = [name for name in definition["properties"] if whole or name not in OPTIONAL_FIELDS]
            definition["additionalProperties"] = False
    for plan in (schema if title == "Plan" else None, definitions.get("Plan")):
        if plan:
            cluster = cluster_schema()
            definitions.update(cluster.pop("$defs"), ClusterState=cluster)
            plan["properties"]["start"] = {"$ref": "#/$defs/ClusterState"}
    return schema
