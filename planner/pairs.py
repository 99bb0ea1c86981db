"""Pairs of parts: which of them meet, and what the matrix says when they do.

Everything the planner knows of compatibility goes through `Pairs`; search, findings, explanation and validation ask the same way but
the validator keeps a table of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from compat import Claim, Verdict, Version
from compat.ranges import parse_range
from compat.scope import Scope
from compat.verdicts import ORDER, can_break
from planner.aspects import not_served
from planner.images import agent_of, in_one_image, is_unsaid
from planner.judgements import Judgement, merged, violated
from planner.lone import Lone
from planner.operands import Operands
from planner.parts import Part
from planner.situation import Situation

__all__ = ["PairKey", "Pairs"]

Versions = Mapping[str, Version]
"""Part key -> version."""


class PairKey(NamedTuple):
    """Which parts meet, and where."""

    one: str
    other: str
    place: str = ""
    """For two cluster-wide parts on a pool that changes how it allocates GPUs: the key of the part that says how."""


class Pairs:
    """All pairs of parts of a situation that the knowledge base has something to say about."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.matrix = situation.matrix
        self._operands = Operands(situation)
        self._lone = Lone(self)
        self._can_break: dict[tuple[object, ...], bool] = {}
        self._cache: dict[tuple[object, ...], Judgement | None] = {}
        self._thirds: dict[PairKey, dict[str, list[str]]] = {}
        self._alike: dict[tuple[str, ...], dict[object, tuple[Version, tuple[bool, ...]]]] = {}
        self._alone: dict[tuple[str, object], list[Judgement]] = {}

    @cached_property
    def keys(self) -> list[PairKey]:
        """Pairs of parts that can matter, in the order of the parts."""
        parts = self.situation.parts
        found: list[PairKey] = []
        for i, one in enumerate(parts):
            for other in parts[i + 1 :]:
                if self._meet(one, other):
                    found.append(PairKey(one.key, other.key))
                    if not one.pool and not other.pool and self._by_allocation(one, other):
                        found.extend(PairKey(one.key, other.key, part.key) for part in self.situation.migrating)
        return found

    @cached_property
    def deciding(self) -> list[PairKey]:
        """Those of `keys` that can cost or forbid anything: the others have cautions to show and nothing to search for."""
        return [key for key in self.keys if self._can_decide(self.situation.by_key[key.one], self.situation.by_key[key.other], key.place)]

    def _by_allocation(self, one: Part, other: Part) -> bool:
        """Whether what is said of two parts depends on how GPUs are allocated."""
        word = self.situation.allocation_word
        names = self._names(one, other), self._names(other, one)
        present = any(word in (subject.component.get("present_in") or {}) for name in (*names[0], *names[1]) if (subject := self.matrix.subjects.get(name)))
        return present or any(
            any(word in claim.scope for claim in self.matrix.between(a, b)) or any(word in scope for scope in self.matrix.reliance_scopes(a, b))
            for a in names[0]
            for b in names[1]
        )

    def _breakable(self, a: str, b: str, scopes: list[Scope]) -> bool:
        key = (a, b, tuple(tuple(sorted(scope.items())) for scope in scopes))
        if key not in self._can_break:
            self._can_break[key] = any(can_break(claim, self.matrix.fit(claim, scope)) for scope in scopes for claim in self.matrix.between(a, b))
        return self._can_break[key]

    def _can_decide(self, one: Part, other: Part, place: str) -> bool:
        if one.api or other.api:
            return True
        for a in self._names(one, other):
            for b in self._names(other, one):
                if other.component in self.matrix.reliances(a) or b in self.matrix.reliances(a) or a in self.matrix.reliances(b):
                    return True
                if any(
                    self._breakable(a, b, self.scopes(a, one, b, other, place, value)) for value in self.situation.values_at(place or one.pool or other.pool)
                ):
                    return True
        return False

    def _meet(self, one: Part, other: Part) -> bool:
        if one.allocates or other.allocates:
            return False
        if one.api or other.api:
            return (one.api or other.api).owner in (one.key, other.key) if not (one.api and other.api) else False  # type: ignore[union-attr]  # one of them is
        if one.pool and other.pool and one.pool != other.pool:
            return False
        if not (self.situation.runs_on(one.component, other.pool) and self.situation.runs_on(other.component, one.pool)):
            return False
        return any(self.related(a, b) for a in self._names(one, other) for b in self._names(other, one))

    def related(self, one: str, other: str) -> bool:
        """Whether the knowledge base has anything to say about two components."""
        return bool(self.matrix.between(one, other)) or other in self.matrix.reliances(one) or one in self.matrix.reliances(other)

    def names(self, part: Part) -> list[str]:
        """All component names under which claims may speak of a part, whatever it is beside."""
        extra = [self.situation.control.component] if self.situation.role(part.component) == "node-agent" else []
        return [part.component, *self.operands.get(part.component, ()), *extra]

    def _names(self, part: Part, partner: Part) -> list[str]:
        """Component names under which claims may speak of a part beside another one.

        Its own; those of the operands it carries; and for a node agent beside a runtime that of the control plane, because runtimes
        publish what they were tested with as Kubernetes versions and mean the kubelet beside them.
        """
        names = [part.component, *self.operands.get(part.component, ())]
        if self.situation.role(part.component) == "node-agent" and self._pairs_on_node(partner):
            names.append(self.situation.control.component)
        elif self.situation.role(part.component) == "control-plane" and self._pairs_on_node(partner):
            return []
        return names

    def _pairs_on_node(self, part: Part) -> bool:
        subject = self.matrix.subjects.get(part.component)
        return bool(subject and subject.component.get("node_pairs"))

    @cached_property
    def operands(self) -> dict[str, list[str]]:
        """Carrier -> operands that come with it, are not parts of their own and have something to do with other parts."""
        return self._operands.names(self.related)

    def shipped(self, carrier: str, version: Version, operand: str) -> Version | None:
        """Version of an operand that a release of its carrier ships by default."""
        return self._operands.version(carrier, version, operand)

    # -- judging

    def alone(self, key: str, version: Version) -> list[Judgement]:
        """What the matrix says of a part beside what has no version: hardware, the provider, partners in an unknown version, bans."""
        cached = (key, version.key)
        if cached not in self._alone:
            part = self.situation.by_key[key]
            self._alone[cached] = self._lone.judgements(part, version)
        return self._alone[cached]

    def thirds(self, pair: PairKey) -> tuple[str, ...]:
        """Keys of further parts whose version, or way of allocating GPUs, decides whether a claim about the two holds."""
        return tuple(self._ranges_of_thirds(pair))

    def _ranges_of_thirds(self, pair: PairKey) -> dict[str, list[str]]:
        """Third parts, each with the ranges that claims about the two ask it to be in; none for the one that says how GPUs are allocated."""
        if pair not in self._thirds:
            first, second = self.situation.by_key[pair.one], self.situation.by_key[pair.other]
            pool = first.pool or second.pool
            claims = [claim for a in self._names(first, second) for b in self._names(second, first) for claim in self.matrix.between(a, b)]
            found: dict[str, list[str]] = {}
            for claim in claims:
                when = claim.detail.get("when")
                for name, text in when.items() if isinstance(when, Mapping) else ():
                    for key in (name, f"{name}@{pool}"):
                        if key in self.situation.by_key and key not in (pair.one, pair.other) and text not in found.setdefault(key, []):
                            found[key].append(text)
            here = [pair.place] if pair.place else [part.key for part in self.situation.migrating if part.pool == pool]
            if here and self._by_allocation(first, second):
                found[here[0]] = []
            self._thirds[pair] = dict(sorted(found.items()))
        return self._thirds[pair]

    def _standing_in(self, pair: PairKey, beside: Versions) -> dict[str, Version]:
        """The versions beside a pair, each replaced by the first that was seen to be in the same of the ranges that claims ask about."""
        found = {}
        for key, version in beside.items():
            if not self._ranges_of_thirds(pair)[key] or is_unsaid(version):
                found[key] = version
                continue
            memory = self._alike.setdefault((*pair, key), {})
            if version.key not in memory:
                lineage = self.matrix.lineage(self.situation.by_key[key].component)
                inside = tuple(version in parse_range(text, lineage) for text in self._ranges_of_thirds(pair)[key])
                memory[version.key] = next((known for known, known_inside in memory.values() if known_inside == inside), version), inside
            found[key] = memory[version.key][0]
        return found

    def judge(self, pair: PairKey, versions: Versions) -> Judgement | None:
        """What the matrix says of two parts, given the versions of both and of their `thirds`; None if it has nothing to say.

        Where a part runs in several versions now, its start version stands for all of them, and the worst counts.
        """
        one_version, other_version = versions[pair.one], versions[pair.other]
        beside = self._standing_in(pair, {key: versions[key] for key in self.thirds(pair)}) if self.thirds(pair) else {}
        key = (pair, one_version.key, other_version.key, *(version.key for version in beside.values()))
        if key not in self._cache:
            first, second = self.situation.by_key[pair.one], self.situation.by_key[pair.other]
            if first.api or second.api:
                self._cache[key] = self._serves(first, one_version, second, other_version)
                return self._cache[key]
            if is_unsaid(one_version) or is_unsaid(other_version):
                self._cache[key] = self._unsaid(first, one_version, second, other_version)
                return self._cache[key]
            known = {name.partition("@")[0]: version for name, version in beside.items() if not is_unsaid(version)}
            context = {**self.situation.context, **known}
            value = next((version.text for name, version in beside.items() if self.situation.by_key[name].allocates), "")
            found = [self._judge(first, a, second, b, context, pair.place, value) for a in first.standing(one_version) for b in second.standing(other_version)]
            self._cache[key] = merged([item for item in found if item is not None])
        return self._cache[key]

    def _unsaid(self, one: Part, one_version: Version, other: Part, other_version: Version) -> Judgement | None:
        """A part beside one that comes with the node in a version that nobody says."""
        if in_one_image(self.situation, one, other):
            return None
        carried = one if is_unsaid(one_version) else other
        agent = agent_of(self.situation, carried)
        scopes = [scope for a in self._names(one, other) for b in self._names(other, one) for scope in self.scopes(a, one, b, other)]
        if not any(
            self.matrix.relies(a, b, scope) or self.matrix.relies(b, a, scope)
            for a in self._names(one, other)
            for b in self._names(other, one)
            for scope in scopes
        ):
            return None
        question = (
            f"Which {carried.component} comes with the nodes of pool {carried.pool} at the new {agent.component if agent else 'node'} is not said anywhere. "
            f"Look it up at the provider, and say it in an overlay (kind bundle, subject {self.situation.provider or 'PROVIDER'}, object {carried.component})."
        )
        shown = (f"{one.component} {one_version.release}", f"{other.component} {other_version.release}")
        return Judgement(*shown, (one.key, other.key), Verdict("unknown", question=question), relied_on=True)

    def _serves(self, one: Part, one_version: Version, other: Part, other_version: Version) -> Judgement | None:
        """An API in use beside what serves it, or no longer does."""
        (used, at), (owner, release) = ((one, one_version), (other, other_version)) if one.api else ((other, other_version), (one, one_version))
        claim = not_served(self.matrix, used, owner, at, release)
        if claim is None:
            return None
        verdict = Verdict("broken", (claim,))
        names = (f"{used.component} {at.text}", f"{owner.component} {release.release}")
        return Judgement(*names, (used.key, owner.key), verdict, relied_on=False, violations=((claim, 0),))

    def _judge(
        self, one: Part, one_version: Version, other: Part, other_version: Version, context: Mapping[str, Version | None], place: str, value: str
    ) -> Judgement | None:
        judged: list[Judgement] = []
        together = in_one_image(self.situation, one, other)
        for a in self._names(one, other):
            a_version = self._version_as(one, one_version, a)
            for b in self._names(other, one):
                b_version = self._version_as(other, other_version, b)
                if a_version is None or b_version is None or not self.related(a, b):
                    continue
                carried = a in self.operands.get(one.component, ()) or b in self.operands.get(other.component, ())
                scopes = self.scopes(a, one, b, other, place, value)
                if carried and not self._breakable(a, b, scopes):
                    continue
                for scope in scopes:
                    verdict = self.matrix.verdict((a, a_version), (b, b_version), scope, context)
                    relied = not carried and not together and (self.matrix.relies(a, b, scope) or self.matrix.relies(b, a, scope))
                    if carried and verdict.grade != "broken":
                        continue
                    names = [f"{a} {a_version.release}", f"{b} {b_version.release}"]
                    if not self.matrix.relies(a, b, scope) and self.matrix.relies(b, a, scope):
                        names.reverse()
                    violations = violated(verdict, a, a_version, b_version)
                    judged.append(Judgement(names[0], names[1], (one.key, other.key), verdict, relied, violations, place))
        return merged(judged)

    def _version_as(self, part: Part, version: Version, name: str) -> Version | None:
        return self._operands.version(part.component, version, name) if name in self.operands.get(part.component, ()) else version

    def scopes(self, a: str, one: Part, b: str, other: Part, place: str = "", value: str = "") -> list[Scope]:
        """Scopes in which two components meet: pool by pool where they share nodes, else what holds for the cluster.

        Args:
            place: the part that says how a pool allocates GPUs, if only that pool is meant. Without it two cluster-wide parts meet on the
                pools that stay as they are, if what is said of them depends on that.
            value: how GPUs are allocated there, where that changes.
        """
        situation = self.situation
        pool = one.pool or other.pool or (situation.by_key[place].pool if place else "")
        staying = [name for name in situation.gpu_pools if name not in situation.changing or not self._by_allocation(one, other)]
        pools = [pool] if pool else staying
        if not (one.pool or other.pool) and "control-plane" in (situation.role(a), situation.role(b)):
            return situation.distinct([situation.at_large(name, value) for name in pools]) if pools or situation.changing else list(situation.cluster_scopes)
        found: list[Scope] = []
        for name in pools:
            scope = dict(situation.scope(name, value))
            if situation.present(a, name, value) and situation.present(b, name, value):
                scope["node"] = ("same",)
            if scope not in found:
                found.append(scope)
        return found or ([] if situation.changing else list(situation.cluster_scopes))

    @cached_property
    def _touching(self) -> dict[str, list[PairKey]]:
        """Part -> the pairs that it is in, or decides about as a third part."""
        found: dict[str, list[PairKey]] = {part.key: [] for part in self.situation.parts}
        for pair in self.keys:
            for key in dict.fromkeys((pair.one, pair.other, *self.thirds(pair))):
                found[key].append(pair)
        return found

    def all(self, versions: Versions) -> list[Judgement]:
        """Judgements of every pair at the given versions, worst first."""
        return self._judgements(self.keys, versions, versions)

    def touching(self, parts: Iterable[str], versions: Versions) -> list[Judgement]:
        """Judgements of the pairs that these parts are in, or decide about, worst first."""
        keys = list(parts)
        return self._judgements(dict.fromkeys(pair for key in keys for pair in self._touching[key]), versions, keys)

    def _judgements(self, pairs: Iterable[PairKey], versions: Versions, lone: Iterable[str]) -> list[Judgement]:
        found = [judgement for pair in pairs if (judgement := self.judge(pair, versions)) is not None]
        found += [judgement for key in lone for judgement in self.alone(key, versions[key])]
        return sorted(found, key=lambda item: (ORDER.index(item.grade), item.identity))

    def claims(self, judgements: list[Judgement]) -> list[Claim]:
        """Claims that the judgements rest on, each once."""
        return list(dict.fromkeys(claim for judgement in judgements for claim in judgement.verdict.claims))
