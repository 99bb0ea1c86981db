"""Pairs of parts: which of them meet, and what the matrix says when they do.

Everything the planner knows of compatibility goes through `Pairs`; search, findings, explanation and validation ask the same way but
the validator keeps a table of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from compat import Claim, Verdict, Version
from compat.errors import InputError
from compat.scope import Scope
from compat.verdicts import ORDER, can_break
from planner.bans import HERE, bans_on
from planner.situation import Part, Situation

__all__ = ["Judgement", "Pairs", "is_no_worse"]


Versions = Mapping[str, Version]
"""Part key -> version."""


@dataclass(frozen=True)
class Judgement:
    """What the matrix says of one pair of parts."""

    one: str
    """Component and version, for people: ``gpu-operator 25.3.2``; the one that relies on the other comes first."""
    other: str
    keys: tuple[str, str]
    """Keys of the two parts."""
    verdict: Verdict
    relied_on: bool
    """Whether the plan must be able to vouch for the pair; of others only conflicts count."""

    @property
    def grade(self) -> str:
        """``broken``; ``unknown``, ``declared`` or ``tested`` for pairs that are relied on; else ``tested`` (nothing speaks against it)."""
        if self.verdict.grade == "broken" or self.relied_on:
            return self.verdict.grade
        return "tested"


class Pairs:
    """All pairs of parts of a situation that the knowledge base has something to say about."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.matrix = situation.matrix
        self._bundles: dict[str, dict[str, list[Claim]]] = {}
        self._can_break: dict[tuple[object, ...], bool] = {}
        self._shipped: dict[tuple[str, object, str], Version | None] = {}
        self._cache: dict[tuple[object, ...], Judgement | None] = {}
        self._thirds: dict[tuple[str, str], tuple[str, ...]] = {}
        self._alone: dict[tuple[str, object], list[Judgement]] = {}

    @cached_property
    def keys(self) -> list[tuple[str, str]]:
        """Pairs of part keys that can matter, in the order of the parts."""
        parts = self.situation.parts
        return [(one.key, other.key) for i, one in enumerate(parts) for other in parts[i + 1 :] if self._meet(one, other)]

    @cached_property
    def deciding(self) -> list[tuple[str, str]]:
        """Those of `keys` that can cost or forbid anything: the others have cautions to show and nothing to search for."""
        return [(one, other) for one, other in self.keys if self._can_decide(self.situation.by_key[one], self.situation.by_key[other])]

    def _breakable(self, a: str, b: str, scopes: list[Scope]) -> bool:
        key = (a, b, tuple(tuple(sorted(scope.items())) for scope in scopes))
        if key not in self._can_break:
            self._can_break[key] = any(can_break(claim, self.matrix.fit(claim, scope)) for scope in scopes for claim in self.matrix.between(a, b))
        return self._can_break[key]

    def _can_decide(self, one: Part, other: Part) -> bool:
        for a in self._names(one, other):
            for b in self._names(other, one):
                if other.component in self.matrix.reliances(a) or b in self.matrix.reliances(a) or a in self.matrix.reliances(b):
                    return True
                if self._breakable(a, b, self._scopes(a, one, b, other)):
                    return True
        return False

    def _meet(self, one: Part, other: Part) -> bool:
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
        own = {part.component for part in self.situation.parts}
        partners = own | {self.situation.control.component}
        found: dict[str, list[str]] = {}
        for part in self.situation.parts:
            if part.pool:
                continue
            carried = [claim.object for claim in self.matrix.about(part.component, "bundle") if _is_default(claim)]
            names = [
                name
                for name in dict.fromkeys(carried)
                if name not in own | self.situation.absent
                and self.situation.role(name) in ("addon", "operand")
                and any(self.related(name, other) for other in partners - {part.component})
            ]
            if names:
                found[part.component] = names
        return found

    def operand_version(self, carrier: str, version: Version, operand: str) -> Version | None:
        """Version of an operand that a release of its carrier ships by default."""
        key = (carrier, version.key, operand)
        if key not in self._shipped:
            self._shipped[key] = self._find_shipped(carrier, version, operand)
        return self._shipped[key]

    def _find_shipped(self, carrier: str, version: Version, operand: str) -> Version | None:
        if carrier not in self._bundles:
            for claim in self.matrix.about(carrier, "bundle"):
                if _is_default(claim):
                    self._bundles.setdefault(carrier, {}).setdefault(claim.object, []).append(claim)
        for claim in self._bundles.get(carrier, {}).get(operand, ()):
            if version in claim.subject_range:
                try:
                    return self.matrix.version(operand, claim.object_versions.removeprefix("=="))
                except InputError:
                    return None
        return None

    # -- judging

    def alone(self, key: str, version: Version) -> list[Judgement]:
        """What the matrix says of a part beside what has no version: hardware that it cannot drive, partners in an unknown version, bans."""
        cached = (key, version.key)
        if cached not in self._alone:
            part = self.situation.by_key[key]
            versions = part.standing(version)
            self._alone[cached] = [
                *self._beside_itself(part, version),
                *self._barred(part, version),
                *(item for each in versions for item in (*self._on_hardware(part, each), *self._beside_unknown(part, each))),
            ]
        return self._alone[cached]

    def _beside_itself(self, part: Part, version: Version) -> Iterator[Judgement]:
        """The oldest and the newest of a mix."""
        versions = part.standing(version)
        if len(versions) > 1 and self.matrix.between(part.component, part.component):
            for scope in self.situation.places(part):
                verdict = self.matrix.verdict((part.component, versions[0]), (part.component, versions[-1]), {**scope, "topology": ("ha",)})
                if verdict.grade == "broken":
                    names = [f"{part.component} {one.release}" for one in (versions[0], versions[-1])]
                    yield Judgement(names[0], names[1], (part.key, part.key), verdict, relied_on=False)
                    return

    def _barred(self, part: Part, version: Version) -> Iterator[Judgement]:
        for name, verdict in bans_on(self.situation, part, version, self.operand_version):
            yield Judgement(name, HERE, (part.key, HERE), verdict, relied_on=False)

    def _on_hardware(self, part: Part, version: Version) -> Iterator[Judgement]:
        for hardware in self.situation.hardware:
            if not self.matrix.between(part.component, hardware):
                continue
            for scope in [self.situation.scope(part.pool)] if part.pool else self.situation.cluster_scopes:
                verdict = self.matrix.verdict((part.component, version), (hardware, None), scope)
                if verdict.grade != "broken":  # hardware need not be vouched for; what to bear in mind stays
                    verdict = Verdict("unknown", cautions=verdict.cautions)
                if verdict.grade == "broken" or verdict.cautions:
                    where = "/".join(scope.get(self.situation.hardware[hardware], ("hardware",)))
                    yield Judgement(f"{part.component} {version.release}", where, (part.key, hardware), verdict, relied_on=False)
                    break

    def _beside_unknown(self, part: Part, version: Version) -> Iterator[Judgement]:
        for name, pool in self.situation.unversioned:
            if part.pool and pool and part.pool != pool:
                continue
            if not (self.situation.runs_on(part.component, pool) and self.situation.runs_on(name, part.pool)):
                continue
            other = Part(name, pool, version)
            if any(
                self.matrix.relies(name, part.component, scope) or self.matrix.relies(part.component, name, scope)
                for scope in self._scopes(name, other, part.component, part)
            ):
                place = f"pools[].{self.matrix.subjects[name].component.get('pool_field')} of pool {pool}" if pool else f"components.{name}"
                verdict = Verdict("unknown", question=f"The version of {name} is not known. Give it in the cluster state, {place}.")
                yield Judgement(f"{name} ?", f"{part.component} {version.release}", (other.key, part.key), verdict, relied_on=True)

    def thirds(self, one: str, other: str) -> tuple[str, ...]:
        """Keys of further parts whose version decides whether a claim about the two holds."""
        if (one, other) not in self._thirds:
            first, second = self.situation.by_key[one], self.situation.by_key[other]
            pool = first.pool or second.pool
            claims = [claim for a in self._names(first, second) for b in self._names(second, first) for claim in self.matrix.between(a, b)]
            named = {name for claim in claims if isinstance(when := claim.detail.get("when"), Mapping) for name in when}
            keys = [key for name in sorted(named) for key in (name, f"{name}@{pool}") if key in self.situation.by_key and key not in (one, other)]
            self._thirds[one, other] = tuple(keys)
        return self._thirds[one, other]

    def judge(self, one: str, one_version: Version, other: str, other_version: Version, beside: Versions | None = None) -> Judgement | None:
        """What the matrix says of two parts at two versions, with the versions of the `thirds` beside them; None if it has nothing to say.

        Where a part runs in several versions now, its start version stands for all of them, and the worst counts.
        """
        around = tuple(sorted((key, version.key) for key, version in (beside or {}).items()))
        key = (one, one_version.key, other, other_version.key, around)
        if key not in self._cache:
            first, second = self.situation.by_key[one], self.situation.by_key[other]
            context = {**self.situation.context, **{name.partition("@")[0]: version for name, version in (beside or {}).items()}}
            found = [self._judge(first, a, second, b, context) for a in first.standing(one_version) for b in second.standing(other_version)]
            self._cache[key] = min((item for item in found if item is not None), key=_badness, default=None)
        return self._cache[key]

    def _judge(self, one: Part, one_version: Version, other: Part, other_version: Version, context: Mapping[str, Version | None]) -> Judgement | None:
        worst: Judgement | None = None
        for a in self._names(one, other):
            a_version = self._version_as(one, one_version, a)
            for b in self._names(other, one):
                b_version = self._version_as(other, other_version, b)
                if a_version is None or b_version is None or not self.related(a, b):
                    continue
                carried = a in self.operands.get(one.component, ()) or b in self.operands.get(other.component, ())
                scopes = self._scopes(a, one, b, other)
                if carried and not self._breakable(a, b, scopes):
                    continue
                for scope in scopes:
                    verdict = self.matrix.verdict((a, a_version), (b, b_version), scope, context)
                    relied = not carried and (self.matrix.relies(a, b, scope) or self.matrix.relies(b, a, scope))
                    if carried and verdict.grade != "broken":
                        continue
                    names = [f"{a} {a_version.release}", f"{b} {b_version.release}"]
                    if not self.matrix.relies(a, b, scope) and self.matrix.relies(b, a, scope):
                        names.reverse()
                    found = Judgement(names[0], names[1], (one.key, other.key), verdict, relied)
                    if worst is None or _badness(found) < _badness(worst):
                        worst = found
        return worst

    def _version_as(self, part: Part, version: Version, name: str) -> Version | None:
        return self.operand_version(part.component, version, name) if name in self.operands.get(part.component, ()) else version

    def _scopes(self, a: str, one: Part, b: str, other: Part) -> list[Scope]:
        """Scopes in which two components meet: pool by pool where they share nodes, else what holds for the cluster."""
        pool = one.pool or other.pool
        if not pool and "control-plane" in (self.situation.role(a), self.situation.role(b)):
            return list(self.situation.cluster_scopes)
        found: list[Scope] = []
        for name in [pool] if pool else self.situation.gpu_pools:
            scope = dict(self.situation.scope(name))
            if self.situation.present(a, name) and self.situation.present(b, name):
                scope["node"] = ("same",)
            if scope not in found:
                found.append(scope)
        return found or list(self.situation.cluster_scopes)

    def all(self, versions: Versions) -> list[Judgement]:
        """Judgements of every pair at the given versions, worst first."""
        found = []
        for one, other in self.keys:
            judgement = self.judge(one, versions[one], other, versions[other], {key: versions[key] for key in self.thirds(one, other)})
            if judgement is not None:
                found.append(judgement)
        found += [judgement for key, version in versions.items() for judgement in self.alone(key, version)]
        return sorted(found, key=lambda item: (ORDER.index(item.grade), item.keys))

    def claims(self, judgements: list[Judgement]) -> list[Claim]:
        """Claims that the judgements rest on, each once."""
        return list(dict.fromkeys(claim for judgement in judgements for claim in judgement.verdict.claims))


def is_no_worse(judgement: Judgement, now: Judgement | None) -> bool:
    """Whether a broken pair only breaks what the cluster breaks already: no claim is violated that is not violated now."""
    return now is not None and now.grade == "broken" and set(judgement.verdict.claims) <= set(now.verdict.claims)


def _is_default(claim: Claim) -> bool:
    return claim.detail.get("role") == "default" and not claim.detail.get("optional") and not claim.scope


def _badness(judgement: Judgement) -> tuple[int, int, int]:
    """Worst first; among equals what is relied on, then what holds under conditions only."""
    return ORDER.index(judgement.grade), -int(judgement.relied_on), -len(judgement.verdict.conditions)
