"""Parts: what a plan can move."""

from __future__ import annotations

from dataclasses import dataclass

from compat import Version

__all__ = ["ApiUse", "Part"]


@dataclass(frozen=True)
class ApiUse:
    """An API that is in use or stored; its version is what a plan can move."""

    group: str
    kind: str
    """Empty: which of the kinds nobody said."""
    owner: str
    """Key of the part that serves it."""


@dataclass(frozen=True)
class Part:
    """Something with a version that a plan can move: a component, an API in use, or the way a pool allocates its GPUs."""

    component: str
    """Id of the component in the knowledge base."""
    pool: str
    """Name of its pool; empty for what is cluster-wide."""
    version: Version
    """What runs now; the oldest where versions are mixed."""
    mixed: tuple[Version, ...] = ()
    """All versions, where several run."""
    values: tuple[Version, ...] = ()
    """What else than a release it can be, in the order in which it can move; empty for components, whose releases the knowledge base has."""
    api: ApiUse | None = None
    """Set for an API in use."""

    @property
    def allocates(self) -> bool:
        """Whether this is the way in which a pool allocates its GPUs."""
        return bool(self.values) and self.api is None

    def standing(self, version: Version) -> tuple[Version, ...]:
        """The versions that run while the part counts as being at *version*: all of the mix as long as it has not moved."""
        return self.mixed if self.mixed and version.key == self.version.key else (version,)

    @property
    def key(self) -> str:
        """Name that is unique in a plan: ``kueue``, ``kubelet@h100``."""
        return f"{self.component}@{self.pool}" if self.pool else self.component
