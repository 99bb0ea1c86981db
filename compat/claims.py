"""What the knowledge base is made of: claims, releases, subjects.

These are plain frozen values. How they are written in ``data/`` is described in `compat.schema`; how they are read, in
`compat.knowledge` (from YAML) and `compat.store` (from the compiled store).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from compat.ranges import KnownRange, Range, parse_range
from compat.versions import PLAIN, Lineage, Version

__all__ = ["BUILT_IN", "GRADES", "KINDS", "Claim", "LifeCycle", "Release", "Source", "Subject"]

KINDS = ("support", "require", "conflict", "upgrade", "bundle", "lifecycle", "feature", "api", "offer", "order")
"""Kinds of claims, see docs/data-format.md."""
GRADES = ("inferred", "declared", "tested")
"""How well a claim is founded, weakest first. ``inferred`` is ours and never makes a pair safe."""


BUILT_IN = "built-in"
"""Layer of the claims that come with the program."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a claim was read."""

    repo: str = ""
    """GitHub repository, ``owner/name``."""
    ref: str = ""
    """Tag, branch or commit at which it was read."""
    path: str = ""
    """File in the repository, or the name of a page."""
    url: str = ""
    """Address, where the place is no file of a repository."""
    locator: str = ""
    """Where in the file or page."""

    @property
    def link(self) -> str:
        """An address that a reader can open, or the empty string."""
        if self.url:
            return self.url
        if not self.repo:
            return self.path if self.path.startswith(("https://", "http://")) else ""
        if not self.path:
            return f"https://github.com/{self.repo}"
        if self.path.startswith(("https://", "http://")):
            return self.path
        return f"https://github.com/{self.repo}/blob/{self.ref or 'HEAD'}/{self.path}"

    def __str__(self) -> str:
        place = self.url or "/".join(part for part in (self.repo, self.path) if part)
        return f"{place} ({self.ref})" if self.ref else place


@dataclass(frozen=True, eq=False)
class Claim:
    """One fact from one source; identified by its id, compared by identity."""

    id: str
    kind: str
    """One of `KINDS`."""
    subject: str
    """Component that the fact is about."""
    versions: str
    """Range of the subject's versions; empty: all."""
    object: str
    """The other component, feature, API or provider; may be empty."""
    object_versions: str
    """Range of the object's versions; empty: all."""
    scope: Mapping[str, tuple[str, ...]]
    """Where it holds: scope word -> any of these values. Empty: everywhere."""
    grade: str
    """One of `GRADES`."""
    severity: str
    """``must``: ignoring it breaks something. ``should``: advice."""
    closed: bool
    """For ``support``: the vendor's list is meant to be complete, so what is outside it is unknown."""
    known_from: date
    """First day on which the statement could be read."""
    known_until: date | None
    """Day on which it was replaced or taken back; None while it stands."""
    source: Source
    summary: str
    """One sentence in our own words."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What only some kinds have: rule, to_versions, stop, action, skew, stages..."""
    layer: str = BUILT_IN
    """Where the claim comes from: `BUILT_IN` or the id of an overlay."""
    subject_lineage: Lineage = PLAIN
    object_lineage: Lineage = PLAIN

    def __getattr__(self, name: str) -> Any:
        """Decode source and detail of a claim from the store when they are first asked for: most claims are only weighed."""
        undecoded = self.__dict__.get("undecoded", {})
        if name not in undecoded:
            raise AttributeError(name)
        value = json.loads(undecoded[name])
        self.__dict__[name] = Source(**value) if name == "source" else value
        return self.__dict__[name]

    @classmethod
    def undecoded(cls, source: str, detail: str, **plain: Any) -> Claim:
        """Make a claim whose source and detail are still JSON text.

        Besides the fields *plain* may have ``members``, which releases lie in the claim's ranges, as hexadecimal bits, and ``positions``,
        which gives for a component the position of each release in these bits.
        """
        claim = cls.__new__(cls)
        claim.__dict__.update(plain, undecoded={"source": source, "detail": detail})
        if detail == "{}":
            claim.__dict__["detail"] = {}
        return claim

    @cached_property
    def is_plain(self) -> bool:
        """Whether the claim is settled by scope and ranges alone, without a rule or condition of its own."""
        return not any(key in self.detail for key in ("skew", "relation", "object_where", "when", "condition", "status"))

    @cached_property
    def subject_range(self) -> Range:
        """`versions`, parsed."""
        return self._range("subject", self.versions, self.subject, self.subject_lineage)

    @cached_property
    def object_range(self) -> Range:
        """`object_versions`, parsed."""
        return self._range("object", self.object_versions, self.object, self.object_lineage)

    @cached_property
    def to_range(self) -> Range:
        """``to_versions`` of an upgrade rule, parsed."""
        return self._range("to", str(self.detail.get("to_versions") or ""), self.subject, self.subject_lineage)

    def _range(self, which: str, text: str, component: str, lineage: Lineage) -> Range:
        members, positions = self.__dict__.get("members", {}).get(which), self.__dict__.get("positions")
        if members is None or positions is None:
            return parse_range(text, lineage)
        return KnownRange(text, lineage, positions(component), int(members, 16))

    def stands_on(self, day: date) -> bool:
        """Whether the statement could be read on *day*."""
        return self.known_from <= day and (self.known_until is None or day < self.known_until)


@dataclass(frozen=True)
class Release:
    """One release of a subject."""

    subject: str
    version: Version
    released: date | None
    """Day of the release, where known."""
    known_from: date
    """First day on which this knowledge base counts it as available."""
    channel: str
    """``stable``, ``lts``, ``production``, ``rc``, ``alpha``, ``planned``..."""

    @property
    def text(self) -> str:
        """The version as the project writes it."""
        return self.version.text


@dataclass(frozen=True, slots=True)
class LifeCycle:
    """What is known of how long a version is supported, as of some day."""

    branch_type: str
    """``lts``, ``production``...; empty where the product has no such branches."""
    supported: bool
    """Whether it is supported on that day."""
    until: date | None
    """Last day of support, as far as is known."""
    claim: Claim
    """The statement that says so."""


@dataclass(frozen=True)
class Subject:
    """A component, product, provider or set of rules."""

    id: str
    title: str
    as_of: date
    """Date of the newest source read."""
    aliases: tuple[str, ...] = ()
    lineage: Lineage = PLAIN
    releases_of: str = ""
    """Another subject whose releases are also this one's (a kubelet has the releases of Kubernetes)."""
    component: Mapping[str, Any] = field(default_factory=dict)
    """What planner and matrix need to know about it, see `compat.schema.Component`."""

    @property
    def role(self) -> str:
        """``control-plane``, ``node-agent``, ``driver``, ``runtime``, ``addon``, ``operand``, ``provider``, or empty."""
        return str(self.component.get("role", ""))
