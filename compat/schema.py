"""The written form of the knowledge base: one YAML file per subject, checked by pydantic.

docs/data-format.md explains it to people; `compat kb check` and the loader apply it.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from compat.feed_schema import FeedEntry

__all__ = ["ClaimEntry", "Component", "ReleaseEntry", "SourceEntry", "SubjectFile", "TableEntry", "VersionRules", "Vocabulary"]


def _no_scheme(text: str) -> str:
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", text) and not re.match(r"https?://[^\s/?#@<>]+([/?#][^\s<>]*)?$", text):
        raise ValueError("expected a path, or an address that starts with https:// or http://")
    return text


Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._+-]*$", max_length=160)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
ScopeValue = str | list[str]
WebAddress = Annotated[str, StringConstraints(pattern=r"^(https?://[^\s/?#@<>]+([/?#][^\s<>]*)?)?$", max_length=2000)]
"""What a reader can open without harm, or nothing: no script, no local file, no name before the host that looks like another one."""
SourcePath = Annotated[str, StringConstraints(max_length=2000), AfterValidator(_no_scheme)]
"""A path in a repository or a folder, or an address like `WebAddress`."""


class Entry(BaseModel):
    """Base of all written entries: unknown keys are faults, values keep their types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SourceEntry(Entry):
    """Where a claim was read."""

    repo: str = ""
    ref: str = ""
    path: SourcePath = ""
    url: WebAddress = ""
    locator: str = ""


class Skew(Entry):
    """A relative rule: minor of the subject minus minor of the object."""

    unit: Literal["minor"] = "minor"
    max_older_minors: int = 0
    max_newer_minors: int = 0


class Stage(Entry):
    """A stage of a feature and the release it came with."""

    stage: Word
    from_: str = Field(alias="from")
    default: bool | str | None = None
    locked: bool | None = None
    said: date | None = None
    """When this stage was announced."""
    at_latest: bool | None = None
    """The stage was reached by that release, perhaps earlier."""
    note: str | None = None


class StepSize(Entry):
    """The largest hop of an upgrade."""

    unit: Literal["minor"] = "minor"
    max: int = 1


class ObjectCondition(Entry):
    """A condition on the life cycle of the object on the as-of day."""

    branch_type: list[str] = Field(default_factory=list)
    """One of these words as ``branch_type`` of the object's life cycle."""
    supported: bool = True
    """The object's branch has not reached its ``supported_until`` day."""


class ClaimFields(Entry):
    """Fields that claims, table defaults and table rows share; all optional here."""

    kind: Literal["support", "require", "conflict", "upgrade", "bundle", "lifecycle", "feature", "api", "offer", "order"] | None = None
    subject: Id | None = None
    versions: str | None = None
    object: Word | None = None
    object_versions: str | None = None
    object_where: ObjectCondition | None = None
    scope: dict[str, ScopeValue] | None = None
    grade: Literal["tested", "declared", "inferred"] | None = None
    severity: Literal["must", "should"] | None = None
    closed: bool | None = None
    basis: Literal["documentation", "ci", "install-check", "code", "release-notes"] | None = None
    role: Literal["default", "recommended", "listed", "documented"] | None = None
    optional: bool | None = None
    """For ``bundle``: shipped, but not deployed unless asked for."""
    said: date | None = None
    said_after: date | None = None
    said_before: date | None = None
    until: date | None = None
    until_after: date | None = None
    until_before: date | None = None
    source: SourceEntry | str | None = None
    ref: str | None = None
    summary: Text | None = None
    confidence: Literal["high", "medium", "low"] | None = None
    corroborated_by: list[str] | None = None
    contradicted_by: list[str] | None = None
    superseded_by: list[str] | None = None
    # upgrade and order
    rule: Literal["allowed", "forbidden", "needs-stop", "needs-action", "note", "unknown"] | None = None
    to_versions: str | None = None
    stop: str | None = None
    action: str | None = None
    first: str | None = None
    then: list[str] | str | None = None
    before: str | None = None
    step: StepSize | None = None
    skew: Skew | None = None
    reversible: bool | None = None
    rollback_floor: str | None = None
    due: Literal["before", "during", "after"] | None = None
    who: str | None = None
    affects: list[str] | None = None
    urgent: bool | None = None
    gates: list[str] | None = None
    flags: list[str] | None = None
    when: dict[str, str] | str | None = None
    unless: str | None = None
    unless_scope: dict[str, ScopeValue] | None = None
    condition: str | None = None
    # life cycle and offers
    status: str | None = None
    supported_until: date | None = None
    maintenance_until: date | None = None
    extended_until: date | None = None
    available_from: date | None = None
    standard_until: date | None = None
    branch: str | None = None
    branch_type: str | None = None
    cve: list[str] | None = None
    cvss: float | str | None = None
    fixed_in: str | None = None
    # features and APIs
    gate: str | None = None
    stages: list[Stage] | None = None
    topic: str | None = None
    group: str | None = None
    version: str | None = None
    kinds: list[str] | None = None
    introduced: str | None = None
    deprecated: str | None = None
    removed: str | None = None
    replacement: str | None = None
    default_served: str | bool | None = None
    relation: Literal["equal-version", "equal-config", "backward-compatible", "not-bundled", "coexist"] | None = None
    notes: dict[str, Any] | None = None
    """Whatever else the source says, for readers; nothing reads it."""


class ClaimEntry(ClaimFields):
    """One claim, written out."""

    id: Id


class RowEntry(ClaimFields):
    """One row of a table: overrides the table's defaults; with `cells`, one claim per cell."""

    id: Id | None = None
    cells: dict[str, str] | None = None
    """Object -> range of its versions."""


class TableEntry(ClaimFields):
    """Many like claims: defaults for all, then one row for each."""

    id: Id
    rows: list[RowEntry]


class ReleaseEntry(Entry):
    """One release."""

    version: Word
    released: date | None = None
    channel: Word = "stable"
    subject: Id | None = None
    note: str | None = None
    planned: date | None = None
    confidence: Literal["high", "medium", "low"] | None = None


class VersionRules(Entry):
    """How the numbers of a subject are read."""

    epochs: dict[str, int] = Field(default_factory=dict)
    pattern: str = ""


class Reliance(Entry):
    """A pair that a plan must be able to vouch for."""

    scope: dict[str, ScopeValue] = Field(default_factory=dict)
    """Only in clusters or pools of which this holds."""
    question: str = ""
    """Where an answer would be published."""


class Action(Entry):
    """Something a person does or checks."""

    text: Text
    command: str | None = None
    scope: dict[str, ScopeValue] = Field(default_factory=dict)
    """Only where this is so after the step; where it is not known, the action is asked for under that condition."""
    only: list[Literal["first", "last", "even", "split", "newest", "behind", "uneven", "alone", "along"]] = Field(default_factory=list)
    """Only in such a step, compared with the other pools that move in this way; all have to hold."""
    each: Literal["pool"] | None = None
    """Once for every pool of the cluster."""
    claims: list[Id] = Field(default_factory=list)
    """Claims that it rests on or fulfils."""


class Deed(Action):
    """Something a person does, at a point of the step."""

    phase: Literal["before", "drain", "change", "check", "return", "after"] = "change"


class Procedure(Entry):
    """How a part is moved. Placeholders are listed in docs/data-format.md."""

    scope: dict[str, ScopeValue] = Field(default_factory=dict)
    versions: str = ""
    """Range in which the move starts; empty: any."""
    to_versions: str = ""
    """Range in which it ends; empty: any."""
    means: dict[str, ScopeValue] = Field(default_factory=dict)
    """What is so where the part is moved in this way; duties of which it is not so are not asked for."""
    do: list[Deed] = Field(default_factory=list)
    verify: list[Action] = Field(default_factory=list)
    rollback: str = ""
    reversible: bool = True


class TextScope(Entry):
    """Scope words that a version settles by the way it is written."""

    pattern: str
    """Regular expression, searched for in the text as it was given, whatever the case."""
    scope: dict[str, ScopeValue]


class Component(Entry):
    """What matrix and planner need to know about a subject."""

    scope_word: str = ""
    """For hardware: the scope word that says which it is, so that claims about it can be asked for every pool."""
    role: Literal[
        "control-plane", "node-agent", "driver", "runtime", "addon", "operand", "provider", "hardware", "feature", "allocation", "api", "condition", "other"
    ] = "other"
    relies_on: dict[str, Reliance] = Field(default_factory=dict)
    channels: list[str] = Field(default_factory=list)
    """Channels whose releases a plan may land on; none named: all but pre-releases and what is only announced."""
    node_pairs: bool = False
    """Whether its pairs with the control plane are about the node agent beside it (a container runtime)."""
    assume_with: str = ""
    """With ``--assume era|newest``, add the newest release tested with that component."""
    implies: dict[str, str] = Field(default_factory=dict)
    """Pool fields that its presence implies in an assumed pool."""
    text_scope: list[TextScope] = Field(default_factory=list)
    """What the written form of a version tells about the place where it runs: a GRID driver is no data-center driver."""
    gpu_nodes_only: bool = False
    """Whether it runs on nodes with GPUs only, so that pools without have nothing to do with it."""
    present_in: dict[str, ScopeValue] = Field(default_factory=dict)
    """Only on nodes of which this holds, however it came to the cluster."""
    part_of_drain: bool = False
    """Whether moving it empties the node."""
    comes_with_node: list[dict[str, ScopeValue]] = Field(default_factory=list)
    """Where it comes with the node (an image, a distribution) and moves only with the node agent: any of these scopes."""
    runs_beside: list[str] = Field(default_factory=list)
    """For a node agent: one of these is beside it; where a pool names none, the first is there in an unknown version."""
    needed_in: dict[str, ScopeValue] = Field(default_factory=dict)
    """Nodes of which this holds cannot do without it: where it is not given it is there in an unknown version."""
    moves_with: str = ""
    """Component with which it moves in one step: a distribution brings its control plane."""
    pool_field: str = ""
    """Field of a pool that holds its version."""
    managed_by: str = ""
    """Value of driver_managed_by when this component manages the driver."""
    procedures: list[Procedure] = Field(default_factory=list)
    hint: str = ""
    """How a user gives his own version."""


class SubjectFile(Entry):
    """One file under ``data/``."""

    subject: Id
    title: Text
    as_of: date
    aliases: list[Id] = Field(default_factory=list)
    releases_of: Id | None = None
    versions: VersionRules = Field(default_factory=VersionRules)
    component: Component = Field(default_factory=Component)
    sources: dict[Id, SourceEntry] = Field(default_factory=dict)
    also: list[SubSubject] = Field(default_factory=list)
    releases: list[ReleaseEntry] = Field(default_factory=list)
    claims: list[ClaimEntry] = Field(default_factory=list)
    tables: list[TableEntry] = Field(default_factory=list)
    feeds: list[FeedEntry] = Field(default_factory=list)
    """Public feeds that serve the subjects of the file."""


class SubSubject(Entry):
    """A further subject that has no file of its own."""

    subject: Id
    title: Text
    aliases: list[Id] = Field(default_factory=list)
    releases_of: Id | None = None
    versions: VersionRules = Field(default_factory=VersionRules)
    component: Component = Field(default_factory=Component)


class ScopeWord(Entry):
    """One word of the scope vocabulary."""

    meaning: Text
    values: list[str] = Field(default_factory=list)
    """Known values; empty: any."""
    default: str | None = None
    """Value of a question that leaves the word open; without one the word stays open."""
    implies: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Value -> words that it settles where nobody says otherwise: an operating system and its control groups."""
    wider: dict[str, str] = Field(default_factory=dict)
    """Value -> the wider value that contains it (rhel-9.4 -> rhel-9)."""


class Product(Entry):
    """A piece of hardware by the name that nodes report."""

    pattern: Text
    """Regular expression, searched in the reported name without regard to case."""
    scope: dict[str, list[str]]
    """Scope words that the product settles."""


class Vocabulary(Entry):
    """``data/vocabulary.yaml``: scope words, products, objects without a subject."""

    scope: dict[str, ScopeWord]
    products: list[Product] = Field(default_factory=list)
    objects: dict[str, Text] = Field(default_factory=dict)


SubjectFile.model_rebuild()
