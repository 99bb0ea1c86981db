"""What a plan could be traded for: every plan that no other one beats.

The Pareto front over unknown pairs entered, GPU nodes drained, other nodes drained and steps, with nodes that end on the target counted
as better than nodes that end behind it. Among plans with the same counts the one is shown that comes first by the rest of the objective.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from compat import Matrix
from planner.compiling import OBJECTIVE, Compiled, compile_problem
from planner.goal import make_goal
from planner.pairs import Pairs
from planner.plan import Cost, Plan, written_form
from planner.planning import plan as make_plan
from planner.planning import situate, written
from planner.solver.front import EFFORT, front
from planner.solver.problem import Problem
from planner.state import ClusterState

__all__ = ["Alternative", "Alternatives", "alternatives"]

_COUNTS = ("unknown_pairs", "gpu_nodes_drained", "other_nodes_drained", "steps")
"""What is traded; the first components of every cost."""
_NOUNS = {"unknown_pairs": "unknown pair", "gpu_nodes_drained": "GPU node drain", "other_nodes_drained": "other node drain", "steps": "step"}
_MOST_NAMED = 3


@dataclass(frozen=True)
class Alternative:
    """One plan that no other beats."""

    id: str
    """``a1``, ``a2``... for the same question and knowledge."""
    cost: Cost
    nodes: Literal["target", "supported"]
    """``target``: nodes end on the target's minor. ``supported``: some end behind it, where they are still supported."""
    flags: str | None
    """Options of ``compat plan`` that give this plan; None: it is the best by no order that ``--prefer`` offers."""
    on_front: bool
    """False only of a recommended plan that another one beats in these counts, such as one of ``--prefer newest``."""
    trades: str
    """What it gives and takes against the recommended plan; empty for that plan itself."""
    plan: Plan
    """``optimal`` says whether it is the best by the order of its flags."""

    def to_dict(self) -> dict[str, Any]:
        """The written form."""
        return {**{item.name: written_form(getattr(self, item.name)) for item in fields(self) if item.name != "plan"}, "plan": self.plan.to_dict()}


@dataclass(frozen=True)
class Alternatives:
    """The plan that was asked for, and what it could be traded for."""

    recommended: Plan
    """What ``compat plan`` prints with the same options."""
    complete: bool
    """Whether these are all plans that no other beats. Else they are the best by each order of the counts, and there may be more between them."""
    alternatives: tuple[Alternative, ...]
    """The recommended one first, then by cost; none if no way leads to the goal."""
    schema: Literal["compat.alternatives/v1"] = "compat.alternatives/v1"

    def to_dict(self) -> dict[str, Any]:
        """The written form."""
        return {
            "schema": self.schema,
            "knowledge": written_form(self.recommended.knowledge),
            "recommended": self.alternatives[0].id if self.alternatives else None,
            "complete": self.complete,
            "alternatives": [one.to_dict() for one in self.alternatives],
        }


def alternatives(
    matrix: Matrix,
    state: ClusterState,
    to: str,
    *,
    nodes: str = "target",
    prefer: str = "fewest-drains",
    accept: Iterable[str] = (),
    allocation: Mapping[str, str] | None = None,
    effort: int = EFFORT,
) -> Alternatives:
    """Find every plan that no other one beats, over both rules for the nodes.

    Args:
        matrix: the knowledge, as of the day that counts.
        state: the cluster as it is.
        to: target of the control plane.
        nodes: rule for the nodes of the recommended plan.
        prefer: order of the objective of the recommended plan.
        accept: ids of unknown pairs whose risk is accepted.
        allocation: pool -> how it is to allocate its GPUs in the end, where that is to change.
        effort: how much is looked at before only the best by each order are returned.

    Raises:
        InputError: if state or goal cannot be used.
    """
    accepted = tuple(accept)
    recommended = make_plan(matrix, state, to, nodes=nodes, prefer=prefer, accept=accepted, allocation=allocation)
    if recommended.status == "impossible":
        return Alternatives(recommended, True, ())
    situation = situate(matrix, state, allocation)
    pairs = Pairs(situation)
    found: list[_Found] = []
    complete = True
    for rule in ("target", "supported"):
        goal = make_goal(situation, to, rule)
        compiled = compile_problem(situation, goal, pairs)
        part = front(_problem(compiled), len(_COUNTS), beside=[item.key for item in found], effort=effort)
        complete = complete and part.complete
        quick = make_plan(matrix, state, to, nodes=rule, prefer="fewest-steps", accept=accepted, allocation=allocation)
        ways = [_Found(written(situation, goal, pairs, compiled, solution, accepted), rule) for solution in part.solutions]
        for one in ways:
            if one.key == _key(quick):
                one.plan, one.flags = quick, _flags(rule, "fewest-steps")
        for one in ways[:1]:
            best = make_plan(matrix, state, to, nodes=rule, accept=accepted, allocation=allocation)
            if one.key == _key(best):
                one.plan, one.flags = best, _flags(rule, "fewest-drains")
        found += ways
    mine = next((one for one in found if (one.key, one.rule) == (_key(recommended), nodes)), None)
    own = _Found(recommended, nodes, _flags(nodes, prefer), on_front=mine is not None)
    rest = sorted((one for one in found if one is not mine), key=lambda one: (one.key, one.rule != "target"))
    entries = [
        Alternative(
            id=f"a{number}",
            cost=one.plan.cost,
            nodes=one.rule,  # type: ignore[arg-type]  # one of the two by construction
            flags=one.flags,
            on_front=one.on_front,
            trades="" if one is own else _trades(own.plan, one.plan),
            plan=one.plan if one.flags else replace(one.plan, optimal=False, digest="").sealed(),
        )
        for number, one in enumerate([own, *rest], 1)
    ]
    return Alternatives(recommended, complete, tuple(entries))


@dataclass
class _Found:
    plan: Plan
    rule: str
    flags: str | None = None
    on_front: bool = True

    @property
    def key(self) -> tuple[int, ...]:
        return _key(self.plan)


def _problem(compiled: Compiled) -> Problem:
    """The problem, after a look at whether its cost begins with what is traded."""
    if compiled.objective[: len(_COUNTS)] != _COUNTS:
        raise AssertionError(f"the objective {OBJECTIVE} does not begin with {_COUNTS}")
    return compiled.problem


def _key(plan: Plan) -> tuple[int, ...]:
    return tuple(getattr(plan.cost, name) for name in _COUNTS)


def _flags(nodes: str, prefer: str) -> str:
    return f"--nodes-at {nodes} --prefer {prefer}"


def _trades(recommended: Plan, other: Plan) -> str:
    """What another plan gives and takes, in words."""
    less: list[str] = []
    more: list[str] = []
    for name, noun in _NOUNS.items():
        difference = getattr(other.cost, name) - getattr(recommended.cost, name)
        if difference:
            words = f"{abs(difference)} {'more' if difference > 0 else 'fewer'} {noun}{'' if abs(difference) == 1 else 's'}"
            (more if difference > 0 else less).append(words)
    price = " for ".join(_joined(words) for words in (less, more) if words) or "the same counts"
    known = {(pair.a, pair.b) for pair in recommended.open_pairs}
    fresh = list(dict.fromkeys(f"{pair.a} with {pair.b}" for pair in other.open_pairs if (pair.a, pair.b) not in known))
    notes = [f"nothing vouches for {_listed(fresh)}"] if fresh else []
    return "; ".join([price, *notes, *_ends(recommended, other)])


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _ends(recommended: Plan, other: Plan) -> list[str]:
    """Where parts end elsewhere: nodes first."""
    differing = [key for key in other.end if key in recommended.end and other.end[key] != recommended.end[key]]
    words = []
    for key in sorted(differing, key=lambda key: "@" not in key):
        component, _, pool = key.partition("@")
        what = f"{component} of pool {pool}" if pool else component
        words.append(f"{what} ends on {other.end[key]} instead of {recommended.end[key]}")
    return words[:_MOST_NAMED] + ([f"further parts that end elsewhere: {len(words) - _MOST_NAMED}"] if len(words) > _MOST_NAMED else [])


def _listed(texts: Sequence[str]) -> str:
    rest = len(texts) - _MOST_NAMED
    return ", ".join(texts[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
