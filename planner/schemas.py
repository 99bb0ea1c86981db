"""JSON Schemas of what is read and written: ``compat.cluster/v1`` and ``compat.plan/v1``."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from planner.plan import OPTIONAL_FIELDS, Plan
from planner.state import ClusterState

__all__ = ["cluster_schema", "plan_schema"]


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
    schema = TypeAdapter(Plan).json_schema()
    for definition in (schema, *schema["$defs"].values()):
        if "properties" in definition:
            definition["properties"] = {name.rstrip("_"): entry for name, entry in definition["properties"].items()}
            whole = definition is schema or definition.get("title") in ("Step", "Finding", "LayerEntry")
            definition["required"] = [name for name in definition["properties"] if whole or name not in OPTIONAL_FIELDS]
            definition["additionalProperties"] = False
    cluster = cluster_schema()
    schema["$defs"].update(cluster.pop("$defs"), ClusterState=cluster)
    schema["properties"]["start"] = {"$ref": "#/$defs/ClusterState"}
    return schema
