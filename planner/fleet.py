"""Plans of many clusters: which are the same, and how the fleet stands as a whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from compat import Matrix
from compat.errors import InputError
from planner.plan import Knowledge, Plan
from planner.planning import plan
from planner.state import ClusterState

__all__ = ["Fleet", "Group", "Outcome", "combine", "plan_fleet", "same_for_all"]

_WORST = (20, 30, 10, 0)
"""Exit codes of plans, worst first."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of one cluster."""

    file: str
    """Where its state is, as messages call it."""
    plan: Plan | None = None
    errors: tuple[str, ...] = ()
    """Why there is no plan."""
    internal: bool = False
    """Whether that is no fault of the input."""

    @property
    def name(self) -> str:
        """Name of the cluster; the file where it has none."""
        return str(self.plan.start.get("name") or self.file) if self.plan else self.file


@dataclass(frozen=True, kw_only=True)
class Group:
    """Clusters with the same plan."""

    id: str
    clusters: tuple[Outcome, ...]

    @property
    def plan(self) -> Plan:
        """The plan, as that of the first cluster; see `same_for_all` for the form without what is that cluster's own."""
        found = self.clusters[0].plan
        assert found is not None  # noqa: S101  # a group is made of outcomes with a plan
        return found


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """Plans of many clusters, in the order of the input."""

    knowledge: Knowledge
    outcomes: tuple[Outcome, ...]
    groups: tuple[Group, ...]
    """Largest first, then in the order of the input."""
    stopped: bool = False
    """Whether somebody stopped it before all were planned."""

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """Clusters without a plan."""
        return tuple(outcome for outcome in self.outcomes if outcome.plan is None)

    @property
    def exit_code(self) -> int:
        """The worst of all: stopped 130, internal error 1, a file that failed 2, then 20, 30, 10 and 0 of the plans."""
        if self.stopped:
            return 130
        if self.failed:
            return 1 if any(outcome.internal for outcome in self.failed) else 2
        codes = {outcome.plan.exit_code for outcome in self.outcomes if outcome.plan}
        return next((code for code in _WORST if code in codes), 0)

    def by_status(self) -> dict[str, list[Outcome]]:
        """Status of the plan, or ``failed``, to its clusters."""
        found: dict[str, list[Outcome]] = {status: [] for status in ("tested", "declared", "unknown", "impossible", "failed")}
        for outcome in self.outcomes:
            found[outcome.plan.status if outcome.plan else "failed"].append(outcome)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The written form, ``compat.fleet/v1``."""
        group_of = {outcome.file: group.id for group in self.groups for outcome in group.clusters}
        return {
            "schema": "compat.fleet/v1",
            "knowledge": asdict(self.knowledge),
            "exit_code": self.exit_code,
            "clusters": [
                {
                    "file": outcome.file,
                    "name": outcome.plan.start.get("name"),
                    "status": outcome.plan.status,
                    "exit_code": outcome.plan.exit_code,
                    "plan": outcome.plan.digest,
                    "group": group_of[outcome.file],
                    "cost": asdict(outcome.plan.cost),
                }
                for outcome in self.outcomes
                if outcome.plan
            ],
            "groups": [{"id": group.id, "clusters": [outcome.file for outcome in group.clusters], "plan": group.plan.to_dict()} for group in self.groups],
            "failed": [{"file": outcome.file, "errors": list(outcome.errors)} for outcome in self.failed],
        }

    def to_json(self) -> str:
        """The written form as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"


def plan_fleet(
    matrix: Matrix,
    states: Mapping[str, ClusterState],
    to: str,
    *,
    nodes: Literal["target", "supported"] = "target",
    prefer: str = "fewest-drains",
    accept: Iterable[str] = (),
) -> Fleet:
    """Plan for many clusters, one after another; one that cannot be planned does not stop the rest.

    Args:
        matrix: the knowledge, as of the day that counts.
        states: name -> cluster.
        to: target of the control planes.
        nodes: as for `planner.plan`.
        prefer: as for `planner.plan`.
        accept: as for `planner.plan`.
    """
    accepted = tuple(accept)
    outcomes = []
    for name, state in states.items():
        try:
            outcomes.append(Outcome(file=name, plan=plan(matrix, state, to, nodes=nodes, prefer=prefer, accept=accepted)))
        except InputError as error:
            outcomes.append(Outcome(file=name, errors=tuple(str(error).splitlines())))
    return combine(outcomes, Knowledge.of(matrix.snapshot))


def combine(outcomes: Sequence[Outcome], knowledge: Knowledge, *, stopped: bool = False) -> Fleet:
    """Put the plans of many clusters together; those that are the same but for what is a cluster's own form a group."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.plan is not None:
            groups.setdefault(_fingerprint(outcome.plan), []).append(outcome)
    ordered = sorted(groups.values(), key=len, reverse=True)
    named = tuple(Group(id=f"g{number}", clusters=tuple(members)) for number, members in enumerate(ordered, 1))
    return Fleet(knowledge=knowledge, outcomes=tuple(outcomes), groups=named, stopped=stopped)


def same_for_all(group: Group) -> Plan:
    """The plan of a group without the name of its first cluster; numbers of nodes are those of that cluster."""
    found = group.plan
    if len(group.clusters) == 1:
        return found
    return replace(found, start={key: value for key, value in found.start.items() if key not in ("name", "captured")})


def _fingerprint(found: Plan) -> str:
    """What two plans must have in common so that one can be read for the other.

    Everything that a person acts on: status, every step with its versions, actions, commands, verdicts and conditions, holds and what is
    accepted, what stays unknown, the conflict, the versions at the end, and findings that are errors or warnings. Not the name of the
    cluster, when its state was read, nor how many nodes it has: drains and costs follow from that.
    """
    body = found.to_dict()
    for key in ("digest", "start", "cost", "claims", "knowledge"):
        del body[key]
    for step in body["steps"]:
        del step["drains"]
    body["findings"] = [finding for finding in body["findings"] if finding["severity"] != "info"]
    if body["conflict"] is not None:
        del body["conflict"]["farthest"]
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
