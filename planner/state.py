"""The state of a cluster: ``compat.cluster/v1``, as YAML, JSON or Python values.

These are plain values; pydantic checks what comes from outside against them. Since only that needs it, and importing it takes longer
than planning, the constraints of the fields are put in place by `_schema` when something is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from compat.documents import Document, read_document, read_file
from compat.errors import DocumentError, Fault, nearest

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from planner.fields import Count, FeatureName, Name, SchemaName, Text, Texts, Versions

__all__ = ["ClusterState", "ComponentState", "Gpu", "Pool"]

MAX_BYTES = 1024 * 1024
"""Largest state file that is read."""
_SCHEMA = "compat.cluster/v1"
_STRICT = {"extra": "forbid"}


@dataclass(frozen=True)
class Gpu:
    """GPUs of a pool's nodes."""

    __pydantic_config__ = _STRICT

    product: Text | None = None
    """As the node label nvidia.com/gpu.product says it."""
    per_node: Count | None = None


@dataclass(frozen=True)
class ComponentState:
    """A cluster-wide part of which more may be known than its version."""

    __pydantic_config__ = _STRICT

    version: Text | None = None
    """None: installed, version unknown. ``absent``: not installed."""


@dataclass(frozen=True)
class Pool:
    """Nodes that are alike and move together. What is not given is unknown."""

    __pydantic_config__ = _STRICT

    name: Name
    nodes: Count | None = None
    kubelet: Versions | None = None
    """One version, or the mix that was found."""
    provisioning: Text | None = None
    os: Text | None = None
    kernel: Text | None = None
    runtime: Text | None = None
    """Name and version, as in ``containerd 1.7.27``."""
    cgroup: Literal["v1", "v2"] | None = None
    gpu: Gpu | None = None
    driver: Text | None = None
    driver_managed_by: Literal["gpu-operator", "host", "provider"] | None = None
    driver_image: Literal["conventional", "precompiled"] | None = None
    """Whether driver containers are compiled on the node, or precompiled for its kernel."""
    allocation: tuple[Literal["device-plugin", "dra", "none"], ...] | None = None
    """How pods get GPUs; two values mean that the pool offers both, which is a finding."""
    sharing: Text | None = None
    conditions: dict[Name, Count] = field(default_factory=dict)
    """Nodes that are not in their normal state: condition -> how many."""

    @property
    def has_gpus(self) -> bool:
        """Whether its nodes have GPUs, as far as is known: a driver, a GPU or an allocation says so."""
        if self.gpu is not None:
            return self.gpu.per_node != 0
        return self.driver is not None or (self.allocation is not None and self.allocation != ("none",))


class _Unlisted(tuple[Pool, ...]):
    """The pools of a state that says nothing of them; an empty list says that there are none."""

    __slots__ = ()


@dataclass(frozen=True)
class ClusterState:
    """One cluster as it is now. Only ``kubernetes`` is needed."""

    __pydantic_config__ = _STRICT

    kubernetes: Versions
    """Version of the control plane; several while API servers differ."""
    schema: SchemaName = _SCHEMA  # type: ignore[assignment]  # the literal, by another name
    name: Name | None = None
    provider: Text | None = None
    captured: datetime | date | None = None
    features: dict[FeatureName, bool] = field(default_factory=dict)
    """Feature gates known to differ from their default."""
    components: dict[Name, ComponentState] = field(default_factory=dict)
    apis: Texts = ()
    """API versions in use or stored, as ``group/version/Kind``."""
    pools: tuple[Pool, ...] = field(default_factory=_Unlisted)
    """An empty list: there are none. Not given: nothing is known of the nodes, see `lists_pools`."""
    assumed: Texts = ()
    """What was filled in and not read from the cluster, in words."""

    @property
    def lists_pools(self) -> bool:
        """Whether it says which pools there are."""
        return not isinstance(self.pools, _Unlisted)

    @classmethod
    def load(cls, path: str | Path) -> ClusterState:
        """Read a state file.

        Raises:
            DocumentError: with every fault of the file and its line.
        """
        return cls._from_document(read_file(Path(path), MAX_BYTES))

    @classmethod
    def parse(cls, text: str, name: str = "cluster state") -> ClusterState:
        """Read a state from YAML or JSON text.

        Raises:
            DocumentError: with every fault of the text and its line.
        """
        return cls._from_document(read_document(text, name))

    @classmethod
    def from_value(cls, value: Mapping[str, Any], name: str = "cluster state") -> ClusterState:
        """Check plain values of the written form.

        Raises:
            DocumentError: with every fault.
        """
        return cls._from_document(Document(name=name, value=dict(value)))

    @classmethod
    def _from_document(cls, document: Document) -> ClusterState:
        keys = [item.name for item in fields(cls)]
        if not isinstance(document.value, dict) or (document.value and not any(key in keys or nearest(key, keys) for key in document.value)):
            raise DocumentError([Fault(document.name, "expected a mapping with the key kubernetes, see docs/cluster-state.md")])
        from pydantic import ValidationError

        from compat.faults import model_faults

        try:
            state: ClusterState = _schema().validate_python(_spread(document.value))
        except ValidationError as error:
            raise DocumentError(model_faults(document, error, cls)) from error
        names = [pool.name for pool in state.pools]
        twice = [Fault(document.where(("pools", index)), f"two pools are called {name!r}") for index, name in enumerate(names) if name in names[:index]]
        if twice:
            raise DocumentError(twice)
        return state

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """JSON Schema of the written form."""
        return _schema().json_schema()

    def dump(self) -> dict[str, Any]:
        """The state as plain values in the written form; what is unknown is left out."""
        value = _plain(self)
        value = {"schema": self.schema, **value, "kubernetes": _short(self.kubernetes)}
        if self.lists_pools:
            value.setdefault("pools", [])
        if self.components:
            value["components"] = {name: component.version for name, component in self.components.items()}
        for pool, entry in zip(self.pools, value.get("pools", ()), strict=False):
            for key in ("kubelet", "allocation"):
                if getattr(pool, key) is not None:
                    entry[key] = _short(getattr(pool, key))
        return value


def _spread(value: dict[str, Any]) -> dict[str, Any]:
    """Bring the short forms that people write into the full one: a version for a component, one value for a list."""
    full = dict(value)
    full["kubernetes"] = _listed(value["kubernetes"]) if "kubernetes" in value else None
    if full["kubernetes"] is None:
        del full["kubernetes"]
    if isinstance(components := value.get("components"), dict):
        full["components"] = {
            name: given if isinstance(given, dict) else {"version": None if given is None else str(given)} for name, given in components.items()
        }
    if isinstance(pools := value.get("pools"), list):
        full["pools"] = [
            {key: _listed(item) if key in ("kubelet", "allocation") else item for key, item in pool.items()} if isinstance(pool, dict) else pool
            for pool in pools
        ]
    return full


def _listed(value: Any) -> Any:
    return [str(value)] if isinstance(value, (str, int)) and not isinstance(value, bool) else value


def _short(values: tuple[str, ...]) -> str | list[str]:
    return values[0] if len(values) == 1 else list(values)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        found = {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
        return {key: item for key, item in found.items() if item not in (None, [], {}) or (key == "gpu" and item == {})}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value.isoformat() if isinstance(value, (date, datetime)) else value


_adapter: list[TypeAdapter[Any]] = []


def _schema() -> TypeAdapter[Any]:
    """The checker of the written form, made when it is first needed."""
    if not _adapter:
        from pydantic import TypeAdapter

        from planner import fields as types

        globals().update({name: getattr(types, name) for name in types.__all__})
        _adapter.append(TypeAdapter(ClusterState))
    return _adapter[0]
