"""The form of a scenario file: known cases from the field, what is asked of the program, and what its answer has to say.

Every expectation is written from the case and its primary source, never from what the program prints. An unknown key is an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from compat.documents import read_file
from compat.errors import DocumentError, Fault
from compat.faults import model_faults

__all__ = ["Expect", "FindingExpect", "HoldExpect", "PairExpect", "Run", "Scenario", "StepExpect", "VersionExpect", "load"]

Texts = list[str]
"""Fragments that have to stand in one text, without regard to case and line breaks."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StepExpect(_Strict):
    """A step, told by what is given. As an expectation, everything given has to be so."""

    kind: str | None = None
    component: str | None = None
    pool: str | None = None
    start: str | None = Field(None, alias="from")
    """Range in which the step begins."""
    to: str | None = None
    """Range in which it ends."""
    changes: dict[str, str] = {}
    """Component that moves along -> range in which it ends."""
    requires: list[Texts] = []
    """For each entry one action with all its fragments; text, condition and command count."""
    verify: list[Texts] = []
    why: list[Texts] = []
    conditions: list[Texts] = []
    rollback: Texts = []
    reversible: bool | None = None
    grade: str | None = None
    lacks: Texts = []
    """Fragments that stand nowhere in the step."""

    @property
    def identity(self) -> StepExpect:
        """Which step is meant, without what is said of it."""
        said = ("requires", "verify", "why", "conditions", "rollback", "reversible", "grade", "lacks")
        return self.model_copy(update={name: type(self).model_fields[name].get_default() for name in said})


class Always(_Strict):
    """What has to be so of every step of a kind; there has to be one."""

    step: StepExpect
    expect: StepExpect


class HoldExpect(_Strict):
    """A hold before a step, with the ids of its pairs (``*`` stands for anything)."""

    before: StepExpect | None = None
    pairs: Texts = []


class FindingExpect(_Strict):
    """A finding, told by what is given."""

    id: str | None = None
    severity: Literal["error", "warning", "info"] | None = None
    text: Texts = []
    claims: Texts = []


class ConflictExpect(_Strict):
    """Why there is no way."""

    claims: Texts = []
    """Ids among those that forbid it."""
    text: Texts = []
    farthest: dict[str, str] = {}
    """Part -> range, of the farthest state: ``kubernetes``, ``karpenter``, ``kubelet@gpu``."""
    unlock: list[Texts] = []


class PairExpect(_Strict):
    """A pair of `check`, told by component names."""

    pair: list[str] = Field(min_length=2, max_length=2)
    verdict: str
    claims: Texts = []
    cautions: list[Texts] = []


class HopExpect(_Strict):
    """A hop of `check`."""

    hop: str
    """Component, or component@pool."""
    rule: str
    duties: list[Texts] = []
    lacks: Texts = []


class VersionExpect(_Strict):
    """How one text is read as a version."""

    text: str
    component: str = ""
    release: str | None = None
    suffix: str | None = None
    prerelease: bool | None = None
    inside: Texts = []
    outside: Texts = []
    error: Texts = []
    """Fragments of the refusal; then nothing else counts."""

    @model_validator(mode="after")
    def _says_something(self) -> VersionExpect:
        if not (self.error or self.release or self.inside or self.outside or self.prerelease is not None):
            raise ValueError("nothing is expected of this version")
        return self


class Expect(_Strict):
    """What the answer has to say."""

    exit: int | None = None
    error: Texts = []
    """Fragments of the refusal of bad input."""
    status: str | None = None
    optimal: bool | None = None
    # plan
    steps: list[StepExpect] = []
    """Steps in this order, others may stand between them."""
    moves: dict[str, Texts] = {}
    """Part (``kueue``, ``kubelet@gpu``) -> ranges of all its landings, in order; an empty list: it does not move."""
    before: list[list[StepExpect]] = []
    """Pairs of steps: the first one that is like the first stands before the first one that is like the second."""
    always: list[Always] = []
    no_steps: list[StepExpect] = []
    holds: list[HoldExpect] | None = None
    """Each has to be there; an empty list: there is none."""
    lasting: Texts | None = None
    """Ids of pairs that stay unvouched for, as with holds."""
    conflict: ConflictExpect | None = None
    conditions: list[Texts] = []
    end: dict[str, str] = {}
    """Part -> range at the end."""
    # plan and check
    findings: list[FindingExpect] = []
    no_findings: list[FindingExpect] = []
    # check
    pairs: list[PairExpect] = []
    no_pairs: list[list[str]] = []
    """Pairs of components that are not named."""
    hops: list[HopExpect] = []
    # why
    claims: Texts = []
    no_claims: Texts = []
    cautions: list[Texts] = []
    question: Texts = []
    # all
    says: list[Texts] = []
    """For each entry some text of the answer with all its fragments."""
    silent: Texts = []
    """Fragments that stand nowhere in the answer, but for the list of add-ons that were not considered."""
    # version
    versions: list[VersionExpect] = []
    ascending: Texts = []
    """Texts whose versions follow each other, each newer than the one before."""
    equal: list[Texts] = []
    """Texts that are one version."""


class Run(_Strict):
    """One question to the program."""

    name: str
    about: str = ""
    command: Literal["plan", "check", "why", "version"]
    todo: str = ""
    """Why this cannot pass yet; it is a failure once it does."""
    as_of: str = "2026-11-30"
    state: str | dict[str, Any] | None = None
    """A state of the file by name, or written out."""
    patch: dict[str, Any] = {}
    """Changes to the state: keys are replaced, mappings joined, null takes a key away; ``pools`` is a mapping by name."""
    start: str | None = Field(None, alias="from")
    given: dict[str, str] = Field({}, alias="with")
    provider: str | None = None
    assume: str = "era"
    to: str | None = None
    nodes: str = "target"
    prefer: str = "fewest-drains"
    accept: Texts = []
    allocation: dict[str, str] = {}
    """Pool -> how it is to allocate its GPUs in the end."""
    bumps: dict[str, str] = Field({}, alias="set")
    pair: list[str] = []
    """For `why`: two ``component=version``."""
    scope: Texts = []
    relation: str = "together"
    component: str = ""
    """For `version`: whose versions they are."""
    expect: Expect

    @model_validator(mode="after")
    def _complete(self) -> Run:
        needed = {
            "plan": self.to is not None and (self.state is None) != (self.start is None),
            "check": self.state is not None,
            "why": len(self.pair) == 2,
            "version": bool(self.expect.versions or self.expect.ascending or self.expect.equal),
        }
        if not needed[self.command]:
            raise ValueError(f"this is not all that {self.command} needs")
        if not self.expect.model_fields_set:
            raise ValueError("nothing is expected")
        return self


class Scenario(_Strict):
    """One known case."""

    id: str
    title: str
    source: str
    also: Texts = []
    notes: str = ""
    """Where what is asserted differs from what was first reported, and why."""
    states: dict[str, dict[str, Any]] = {}
    runs: list[Run] = Field(min_length=2)
    """The case itself, and others of its kind."""


def load(path: Path) -> Scenario:
    """Read a scenario file.

    Raises:
        DocumentError: with every fault and its line.
    """
    document = read_file(path, 1 << 20)
    try:
        found = Scenario.model_validate(document.value)
    except ValidationError as error:
        raise DocumentError(model_faults(document, error, Scenario)) from error
    faults = [Fault(document.name, f"the id is {found.id!r}")] if found.id != path.stem else []
    names = [run.name for run in found.runs]
    faults += [Fault(document.name, f"two runs are called {name!r}") for name in {name for name in names if names.count(name) > 1}]
    faults += [
        Fault(document.name, f"{run.name}: no state is called {run.state!r}")
        for run in found.runs
        if isinstance(run.state, str) and run.state not in found.states
    ]
    if faults:
        raise DocumentError(faults)
    return found
