"""The plan: ``compat.plan/v1``.

Plain frozen values. `Plan.to_dict` gives the written form, in which every list and key has a fixed order: the same input gives the
same bytes. The digest is over that form without itself.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from compat.store import Snapshot

__all__ = [
    "OPTIONAL_FIELDS",
    "AcceptedBy",
    "Action",
    "Change",
    "CitedClaim",
    "Conflict",
    "Cost",
    "Drains",
    "Finding",
    "GoalEntry",
    "Hold",
    "Kind",
    "Knowledge",
    "LayerEntry",
    "PairEntry",
    "Plan",
    "Reason",
    "Severity",
    "Step",
    "written_form",
]

Severity = Literal["error", "warning", "info"]

Kind = Literal["upgrade", "recycle-pool", "migrate-allocation", "migrate-api", "prepare", "verify", "hold"]
Grade = Literal["tested", "declared", "unknown", "broken"]
Status = Literal["tested", "declared", "unknown", "impossible"]


@dataclass(frozen=True)
class LayerEntry:
    """An overlay that the plan rests on."""

    id: str
    title: str
    as_of: str
    digest: str


@dataclass(frozen=True)
class Knowledge:
    """Which knowledge the plan rests on."""

    version: str
    as_of: str
    schema: int
    digest: str
    """Over all of it, layers included."""
    layers: tuple[LayerEntry, ...] = ()
    """Overlays on top of the built-in knowledge."""

    @classmethod
    def of(cls, snapshot: Snapshot) -> Knowledge:
        """What a plan says of the knowledge that it was made with."""
        layers = tuple(LayerEntry(layer.id, layer.title, layer.as_of.isoformat(), layer.digest) for layer in snapshot.layers)
        return cls(snapshot.version, snapshot.as_of.isoformat(), snapshot.schema, snapshot.digest, layers)


@dataclass(frozen=True)
class GoalEntry:
    """Where the plan is to end."""

    kubernetes: str
    nodes: str
    allocation: dict[str, str] = field(default_factory=dict)
    """Pool -> how it is to allocate its GPUs, where that was to change."""


@dataclass(frozen=True)
class Cost:
    """What the plan costs, in the order of the objective; steps are those that move something."""

    unknown_pairs: int
    gpu_nodes_drained: int
    other_nodes_drained: int
    steps: int


@dataclass(frozen=True)
class Change:
    """One part going from a version to another."""

    component: str
    from_: str
    to: str


@dataclass(frozen=True)
class Drains:
    """Nodes that a step empties."""

    gpu_nodes: int = 0
    other_nodes: int = 0


@dataclass(frozen=True)
class Action:
    """Something that a person does or checks."""

    text: str
    when: Literal["before", "during", "after"] = "during"
    condition: str = ""
    """Only if this is so; empty: always."""
    command: str | None = None
    claims: tuple[str, ...] = ()
    phase: Literal["", "before", "drain", "change", "check", "return", "after"] = ""
    """For what is done in a step: once before its first node, on each node in turn (drain, change, check, return), once after its last node."""


@dataclass(frozen=True)
class AcceptedBy:
    """Who accepts a risk in an overlay."""

    owner: str
    expires: str
    """Last day on which it counts."""
    reason: str
    layer: str


@dataclass(frozen=True)
class PairEntry:
    """A pair of versions and what is known of it."""

    a: str
    b: str
    verdict: Grade
    question: str = ""
    """For an unknown pair: what would settle it."""
    id: str = ""
    """Name by which the risk can be accepted."""
    accepted: bool = False
    accepted_by: AcceptedBy | None = None
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reason:
    """Why a step stands where it does."""

    relation: Literal["enables", "after", "goal", "rides-along"]
    """``enables``: a later step would be wrong without it. ``after``: it would be wrong before an earlier step. ``goal``: the goal asks for it."""
    step: str | None
    text: str
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One step of a plan."""

    id: str
    kind: Kind
    component: str
    pool: str | None
    from_: str
    to: str
    changes: tuple[Change, ...] = ()
    drains: Drains = Drains()
    why: tuple[Reason, ...] = ()
    requires: tuple[Action, ...] = ()
    reversible: bool = True
    rollback: str = ""
    verify: tuple[Action, ...] = ()
    grade: Grade = "tested"
    """The weakest verdict that the state after the step relies on."""
    pairs: tuple[PairEntry, ...] = ()
    """Pairs that the step touches, as they are after it."""
    conditions: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hold:
    """A point that a plan must not pass without an answer."""

    before: str
    """Id of the step that relies on the unknown pairs."""
    pairs: tuple[PairEntry, ...]


@dataclass(frozen=True)
class Finding:
    """Something worth knowing about the cluster or the plan."""

    id: str
    severity: Severity
    text: str
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conflict:
    """Why the goal cannot be reached."""

    claims: tuple[str, ...]
    """A set of claims that together forbid it and of which none can be left out."""
    text: str
    farthest: dict[str, Any]
    """The farthest state that can be reached, as compat.cluster/v1; the plan's steps lead there."""
    unlock: tuple[str, ...]
    """Single changes that would open the way."""


@dataclass(frozen=True)
class CitedClaim:
    """A claim that the plan cites."""

    kind: str
    summary: str
    grade: str
    said: str
    source: dict[str, str]


@dataclass(frozen=True)
class Plan:
    """An ordered, safe upgrade path, or why there is none."""

    knowledge: Knowledge
    start: dict[str, Any]
    """compat.cluster/v1."""
    goal: GoalEntry
    status: Status
    cost: Cost
    optimal: bool
    steps: tuple[Step, ...]
    holds: tuple[Hold, ...]
    lasting: tuple[PairEntry, ...]
    """Pairs that nothing vouches for now and that are still the same at the end: the plan adds no risk, and leaves these."""
    findings: tuple[Finding, ...]
    conflict: Conflict | None
    conditions: tuple[str, ...]
    """What the whole plan rests on and nobody said, as alternatives: any one is enough."""
    end: dict[str, str]
    """Versions at the end, by part."""
    claims: dict[str, CitedClaim]
    schema: Literal["compat.plan/v1"] = "compat.plan/v1"
    digest: str = ""

    @property
    def exit_code(self) -> int:
        """Exit code that tells a pipeline the outcome."""
        if self.status == "impossible":
            return 20
        if self.status == "unknown":
            return 10 if all(pair.accepted for pair in self.open_pairs) else 30
        return 0

    @property
    def open_pairs(self) -> list[PairEntry]:
        """All pairs whose risk has to be accepted, or settled: those that steps enter, and those that stay."""
        return [*(pair for hold in self.holds for pair in hold.pairs), *self.lasting]

    def to_dict(self) -> dict[str, Any]:
        """The written form, digest included."""
        body = _plain(replace(self, digest=""))
        body.pop("digest")
        digest = self.digest or _digest(body)
        order = [
            "schema",
            "digest",
            "knowledge",
            "start",
            "goal",
            "status",
            "cost",
            "optimal",
            "end",
            "conditions",
            "steps",
            "holds",
            "lasting",
            "findings",
            "conflict",
            "claims",
        ]
        return {key: digest if key == "digest" else body[key] for key in order}

    def sealed(self) -> Plan:
        """The plan with its digest."""
        return replace(self, digest=self.to_dict()["digest"])

    def to_json(self) -> str:
        """The written form as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"


OPTIONAL_FIELDS = frozenset(("condition", "command", "question", "id", "accepted", "accepted_by", "allocation", "layers", "phase"))
"""Fields that are left out where they are empty, but for those of steps, findings and layers."""


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        found = {}
        for item in fields(value):
            inner = getattr(value, item.name)
            if item.name in OPTIONAL_FIELDS and not inner and not isinstance(value, (Step, Finding, LayerEntry)):
                continue
            found[item.name.rstrip("_")] = _plain(inner)
        return found
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def written_form(value: Any) -> Any:
    """A value of a plan as it is written."""
    return _plain(value)


def _digest(body: dict[str, Any]) -> str:
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"
