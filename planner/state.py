"""The state of a cluster: ``compat.cluster/v1``, as YAML, JSON or Python values."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator

from compat.documents import Document, read_document, read_file
from compat.errors import DocumentError, Fault
from compat.faults import model_faults

__all__ = ["ClusterState", "ComponentState", "Gpu", "Pool"]

MAX_BYTES = 1024 * 1024
_MAX_POOLS = 1000

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=128)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[ -~]+$")]
Allocation = Literal["device-plugin", "dra", "none"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Gpu(_Part):
    """GPUs of a pool's nodes."""

    product: Text | None = None
    """As the node label nvidia.com/gpu.product says it."""
    per_node: int | None = Field(default=None, ge=0, le=1024)


class ComponentState(_Part):
    """A cluster-wide part of which more is known than its version."""

    version: Text | None = None
    """None: installed, version unknown. ``absent``: not installed."""


class Pool(_Part):
    """Nodes that are alike and move together. What is not given is unknown."""

    name: Name
    nodes: int | None = Field(default=None, ge=0, le=100_000)
    kubelet: list[Text] | None = None
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
    allocation: list[Allocation] | None = None
    """How pods get GPUs; two values mean that the pool offers both, which is a finding."""
    sharing: Text | None = None
    conditions: dict[Name, int] = Field(default_factory=dict)
    """Nodes that are not in their normal state: condition -> how many."""

    @field_validator("kubelet", "allocation", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @property
    def has_gpus(self) -> bool:
        """Whether its nodes have GPUs, as far as is known: a driver, a GPU or an allocation says so."""
        if self.gpu is not None:
            return self.gpu.per_node != 0
        return self.driver is not None or (self.allocation is not None and self.allocation != ["none"])


class ClusterState(_Part):
    """One cluster as it is now. Only ``kubernetes`` is needed."""

    schema_: Literal["compat.cluster/v1"] = Field(default="compat.cluster/v1", alias="schema")
    name: Name | None = None
    provider: Text | None = None
    captured: datetime | date | None = None
    kubernetes: list[Text] = Field(min_length=1, max_length=16)
    """Version of the control plane; several while API servers differ."""
    features: dict[Name, bool] = Field(default_factory=dict)
    components: dict[Name, ComponentState] = Field(default_factory=dict)
    apis: list[Text] = Field(default_factory=list, max_length=10_000)
    pools: list[Pool] = Field(default_factory=list, max_length=_MAX_POOLS)
    assumed: list[str] = Field(default_factory=list)
    """Paths of what was filled in and not read from the cluster."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @field_validator("kubernetes", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("components", mode="before")
    @classmethod
    def _as_components(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: given if isinstance(given, (dict, ComponentState)) else {"version": None if given is None else str(given)} for name, given in value.items()}

    @field_validator("pools")
    @classmethod
    def _unique(cls, pools: list[Pool]) -> list[Pool]:
        names = [pool.name for pool in pools]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two pools are called {name!r}")
        return pools

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
    def _from_document(cls, document: Document) -> ClusterState:
        if not isinstance(document.value, dict):
            raise DocumentError([Fault(document.name, "expected a mapping with the key kubernetes, see docs/cluster-state.md")])
        try:
            return cls.model_validate(document.value)
        except ValidationError as error:
            raise DocumentError(model_faults(document, error, cls)) from error

    def dump(self) -> dict[str, Any]:
        """The state as plain values in the written form; what is unknown is left out."""
        value = self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        value = {"schema": self.schema_, **value}
        value["kubernetes"] = _short(value["kubernetes"])
        if "components" in value:
            value["components"] = {name: component.get("version") for name, component in value["components"].items()}
        for pool in value.get("pools", ()):
            for key in ("kubelet", "allocation"):
                if key in pool:
                    pool[key] = _short(pool[key])
        return value


def _short(values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else values
