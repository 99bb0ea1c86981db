"""Single changes that would open the way to a goal that cannot be reached; each is verified by planning again.

Only what a claim of the conflict itself advises is passed on as it is, and marked as not verified.

A change is tried only if it touches a claim of the smallest set that forbids the goal: with that set untouched the goal stays out of
reach. Tries are bounded, so the list may lack changes that would help; it never has one that does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from compat import Claim, Matrix
from compat.scope import Fit
from planner.goal import Goal
from planner.plan import Plan
from planner.relaxing import Relaxation
from planner.situation import Situation
from planner.state import ClusterState, ComponentState, Pool

__all__ = ["MOST_TRIES", "Replan", "unlocking"]

MOST_TRIES = 12
"""Plans made to verify changes."""
_MOST_VALUES = 3
"""Other values tried of one word."""
_MOST_POOLS = 4
"""Pools up to which a change is tried on each pool alone, not only on all that it concerns."""
_POOL_WORDS = ("provisioning", "os", "cgroup", "allocation", "driver_managed_by", "runtime", "sharing")
"""Scope words that a pool's owner can change, in the order in which they are tried."""

Replan = Callable[[Matrix, ClusterState, str], Plan | None]
"""Matrix, state and rule for the nodes -> the plan to the same goal; None if there is none."""


@dataclass(frozen=True)
class _Change:
    texts: tuple[str, ...]
    """Ways to make it; what a plan then comes to is the same."""
    matrix: Matrix
    state: ClusterState
    nodes: str


def unlocking(situation: Situation, goal: Goal, core: Sequence[Claim], relaxation: Relaxation, replan: Replan) -> list[str]:
    """Say which single changes open the way, each with what a plan would then come to.

    Args:
        situation: the cluster as it is.
        goal: what cannot be reached.
        core: a smallest set of claims that forbids it.
        relaxation: the problem, to see which claims need not be tried.
        replan: plans again under a change.
    """
    return list(_Trials(situation, goal, core, relaxation, replan).run())


class _Trials:
    def __init__(self, situation: Situation, goal: Goal, core: Sequence[Claim], relaxation: Relaxation, replan: Replan) -> None:
        self.situation = situation
        self.matrix = situation.matrix
        self.state = situation.state
        self.goal = goal
        self.core = core
        self.relaxation = relaxation
        self.replan = replan
        self.left = MOST_TRIES

    def run(self) -> Iterator[str]:
        if not self.core:
            return
        for claim in self.core:
            if claim.detail.get("action"):
                yield f"{claim.subject}: {claim.detail['action'].rstrip('.')} ({claim.id}; its advice, not verified by planning)"
        for change in (*self.lifted(), *self.later_nodes(), *self.absent(), *self.features()):
            yield from self.tried(change)
        yield from self.elsewhere()
        for word in _POOL_WORDS:
            yield from self.pools(word)

    def tried(self, change: _Change) -> list[str]:
        """The change with its outcome, if it opens the way and there is a try left."""
        if not self.left:
            return []
        self.left -= 1
        plan = self.replan(change.matrix, change.state, change.nodes)
        return [] if plan is None else [f"{text} (verified: then {_outcome(plan)})" for text in change.texts]

    def change(self, *texts: str, matrix: Matrix | None = None, state: ClusterState | None = None, nodes: str = "") -> _Change:
        return _Change(texts, matrix or self.matrix, state or self.state, nodes or self.goal.nodes)

    def lifted(self) -> Iterator[_Change]:
        """One claim taken back. Each opens this conflict; another one may remain."""
        for claim in self.core:
            if self.relaxation.is_reachable([other for other in self.relaxation.claims if other is not claim]):
                yield self.change(*_ways_out(claim), matrix=self.matrix.without([claim.id]))

    def later_nodes(self) -> Iterator[_Change]:
        if self.goal.nodes == "target" and self.state.pools:
            yield self.change("nodes may end on any version that is still supported (--nodes-at supported)", nodes="supported")

    def absent(self) -> Iterator[_Change]:
        """A party of the conflict left out of the cluster."""
        parties = dict.fromkeys(name for claim in self.core for name in (claim.subject, claim.object))
        for given in self.state.components:
            name = self.matrix.name(given)
            part = self.situation.by_key.get(name)
            if name in parties and part is not None and not self.situation.moves_with(part):
                rest = {**self.state.components, given: ComponentState(version="absent")}
                yield self.change(f"{name} removed from the cluster", state=replace(self.state, components=rest))

    def features(self) -> Iterator[_Change]:
        named = dict.fromkeys(item.partition("=")[0] for claim in self.core for item in claim.scope.get("feature", ()))
        for name in named:
            if name in self.state.features:
                on = not self.state.features[name]
                yield self.change(f"feature {name} {'on' if on else 'off'}", state=replace(self.state, features={**self.state.features, name: on}))

    def elsewhere(self) -> Iterator[str]:
        """Another provider."""
        now = self.situation.common_scope.get("provider", ("",))[0]
        offering = [name for name, subject in sorted(self.matrix.subjects.items()) if subject.role == "provider"]
        a_party = any(self.situation.role(claim.subject) == "provider" for claim in self.core)
        if now and (a_party or any(self.binds(claim, "provider", now) for claim in self.core)):
            for value in self.values("provider", now, offering):
                if a_party or not all(self.binds(claim, "provider", value) for claim in self.core if "provider" in claim.scope):
                    yield from self.tried(self.change(f"provider {value} instead of {now}", state=replace(self.state, provider=value)))

    def pools(self, word: str) -> Iterator[str]:
        """Another value of a word of some pools: of each pool alone, and where that is not enough of all that the conflict holds."""
        held: dict[str, list[Pool]] = {}
        for pool in self.state.pools:
            if word == "allocation" and pool.name in self.goal.allocation:
                continue  # the goal says how it ends
            for now in self.situation.scope(pool.name).get(word, ())[:1]:
                if any(self.binds(claim, word, now) for claim in self.core):
                    held.setdefault(now, []).append(pool)
        for now, pools in held.items():
            bound = [claim for claim in self.core if self.binds(claim, word, now)]
            for value in self.values(word, now):
                written = self.written(word, value)
                if not written or all(self.binds(claim, word, value) for claim in bound):
                    continue
                together = self.tried(self.with_pools(pools, word, value, written))
                single: list[str] = []
                if together and 1 < len(pools) <= _MOST_POOLS:
                    single = [text for pool in pools for text in self.tried(self.with_pools([pool], word, value, written))]
                yield from single or together

    def with_pools(self, pools: Sequence[Pool], word: str, value: str, written: str) -> _Change:
        names = ", ".join(pool.name for pool in pools)
        chosen = {pool.name for pool in pools}
        changed = {word: (written,) if word == "allocation" else written}
        state = replace(self.state, pools=tuple(replace(pool, **changed) if pool.name in chosen else pool for pool in self.state.pools))  # type: ignore[arg-type]  # the words are fields of a pool
        return self.change(f"pool{'s' if len(pools) > 1 else ''} {names} with {word.replace('_', ' ')} {written if word == 'runtime' else value}", state=state)

    def binds(self, claim: Claim, word: str, value: str) -> bool:
        """Whether a claim that asks for the word holds where it has this value."""
        return word in claim.scope and self.matrix.words.fit({word: claim.scope[word]}, {word: (value,)}).fit is Fit.YES

    def values(self, word: str, now: str, first: Iterable[str] = ()) -> list[str]:
        """Other values of a word: those that claims about the same parties name for this cluster, then those of the vocabulary."""
        pairs = dict.fromkeys((claim.subject, claim.object) for claim in self.core if claim.object)
        common = {key: given for key, given in self.situation.common_scope.items() if key != word}
        named = [
            value
            for one, other in pairs
            for claim in self.matrix.between(one, other)
            if self.matrix.words.fit({key: asked for key, asked in claim.scope.items() if key != word}, common).fit is not Fit.NO
            for value in claim.scope.get(word, ())
        ]
        known = self.matrix.words.known(word)
        return [value for value in dict.fromkeys((*first, *named, *known)) if value != now][:_MOST_VALUES]

    def written(self, word: str, value: str) -> str:
        """How a state gives the value: a runtime comes with its newest version."""
        if word != "runtime":
            return value
        subject = self.matrix.subjects.get(value)
        newest = self.matrix.releases(value, stable_only=True)[:1] if subject and subject.role == "runtime" else []
        return f"{value} {newest[0].text}" if newest else ""


def _ways_out(claim: Claim) -> Iterator[str]:
    """How a claim can come not to hold: by its owner, by what it says itself, by a later statement."""
    about = f"“{claim.summary.rstrip('.')}” ({claim.id})"
    if claim.detail.get("owner") and not claim.object:
        yield f"{claim.subject}: {claim.detail['owner']} lifts the ban {about}"
        return
    if claim.detail.get("unless"):
        yield f"{claim.subject}: it does not hold if {claim.detail['unless'].rstrip('.')} ({claim.id})"
    yield f"a later statement or a newer release of {claim.subject} that lifts {about}"


def _outcome(plan: Plan) -> str:
    words = f"{plan.status} in {plan.cost.steps} step{'' if plan.cost.steps == 1 else 's'}"
    if plan.cost.gpu_nodes_drained:
        words += f", {plan.cost.gpu_nodes_drained} GPU node drain{'' if plan.cost.gpu_nodes_drained == 1 else 's'}"
    if plan.open_pairs:
        words += f", {len(plan.open_pairs)} pair{'' if len(plan.open_pairs) == 1 else 's'} that nothing vouches for"
    return words
