"""What people do in a step: commands, checks and the way back, from the templates of the knowledge base."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from compat import Claim, Version
from compat.ranges import parse_range
from compat.scope import Fit, Match, Scope, describe
from planner.cites import Cites
from planner.images import is_unsaid
from planner.journey import Journey, MoveOf, Stage
from planner.parts import Part
from planner.plan import Action

__all__ = ["PHASES", "Doing", "actions", "in_charge", "procedure"]

PHASES = ("before", "drain", "change", "check", "return", "after")
"""Points of a step, in their order."""

_PLACEHOLDER = re.compile(r"\{([a-z][a-z_-]*)\}")

Procedure = Mapping[str, Any]


def procedure(journey: Journey, move: MoveOf, versions: Mapping[str, Version]) -> Procedure:
    """The procedure of the knowledge base that fits where the move is made; an empty one if there is none.

    Args:
        journey: the plan.
        move: the move.
        versions: what runs after it.
    """
    lineage = journey.pairs.situation.matrix.lineage(move.part.component)
    for entry in _procedures(journey, move.part):
        ways = (move.start in parse_range(entry.get("versions", ""), lineage), move.end in parse_range(entry.get("to_versions", ""), lineage))
        if all(ways) and _fits(journey, entry, move.part, versions):
            return entry
    return {}


def _procedures(journey: Journey, part: Part) -> Sequence[Procedure]:
    subject = journey.pairs.situation.subject(part)
    found: Sequence[Procedure] = subject.component.get("procedures", ()) if subject else ()
    return found


def _fits(journey: Journey, entry: Mapping[str, Any], part: Part, versions: Mapping[str, Version]) -> bool:
    matches = _matches(journey, entry.get("scope", {}), part, versions)
    return all(match.fit is Fit.YES for match in matches)


def _matches(journey: Journey, scope: Mapping[str, Any], part: Part, versions: Mapping[str, Version]) -> list[Match]:
    wanted = {word: (value,) if isinstance(value, str) else tuple(value) for word, value in scope.items()}
    return [journey.pairs.situation.matrix.words.fit(wanted, place) for place in _places(journey, part, versions)]


def _places(journey: Journey, part: Part, versions: Mapping[str, Version]) -> Sequence[Scope]:
    """What holds where a part runs, once *versions* run. Nodes of the control plane are in no pool."""
    situation = journey.pairs.situation
    if part.pool:
        return (_place(journey, part.pool, versions),)
    if part.key == situation.control.key:
        return (situation.common_scope,)
    scopes = []
    for name in situation.gpu_pools:
        allocation = _allocation(journey, name, versions)
        scopes.append({**situation.at_large(name), **({situation.allocation_word: allocation} if allocation else {})})
    return scopes or situation.cluster_scopes


def _place(journey: Journey, pool: str, versions: Mapping[str, Version]) -> Scope:
    allocation = _allocation(journey, pool, versions)
    scope = journey.pairs.situation.scope(pool)
    return {**scope, journey.pairs.situation.allocation_word: allocation} if allocation else scope


def _allocation(journey: Journey, pool: str, versions: Mapping[str, Version]) -> tuple[str, ...]:
    """How the GPUs of a pool are allocated; nothing if that is not known."""
    situation = journey.pairs.situation
    gpu = situation.pools[pool].gpu
    if gpu is not None and gpu.per_node == 0:
        return ("none",)
    changing = situation.changing.get(pool)
    if changing and changing.key in versions:
        return (versions[changing.key].text,)
    return tuple(situation.scope(pool).get(situation.allocation_word, ()))


def in_charge(journey: Journey, manager: str, part: Part) -> bool:
    """Whether a component may have a say about the version of a part: a driver that someone else manages is not its business."""
    situation = journey.pairs.situation
    subject = situation.matrix.subjects.get(manager)
    managed_by = str(subject.component.get("managed_by", "")) if subject else ""
    if not managed_by or not part.pool or situation.role(part.component) != "driver":
        return True
    given = situation.scope(part.pool).get("driver_managed_by")
    return given is None or managed_by in given


def actions(entries: Sequence[Mapping[str, Any]], values: Mapping[str, str], when: str) -> list[Action]:
    """Actions of a procedure that ask for nothing else, with their placeholders filled in."""
    return [
        Action(text=_fill(entry["text"], values), when=when, command=_fill(entry["command"], values) if entry.get("command") else None)  # type: ignore[arg-type]  # callers pass one of the literals
        for entry in entries
    ]


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Put versions and names into a template; a placeholder without a value stays readable as NAME."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[1].upper().replace("-", "_")), template)


@dataclass(frozen=True)
class Doing:
    """What is done in one stage of a plan: the procedures of all parts that move, composed."""

    journey: Journey
    stage: Stage
    cites: Cites

    @cached_property
    def moves(self) -> list[tuple[MoveOf, Procedure]]:
        """Moves with their procedures, without those that another part brings about: a distribution brings its control plane."""
        situation = self.journey.pairs.situation
        found = [(move, procedure(self.journey, move, self.stage.after)) for move in self.stage.moves]
        brought = {situation.moves_with(move.part) for move, entry in found if entry and not move.part.pool}
        return [(move, entry) for move, entry in found if move.part.component not in brought]

    @cached_property
    def deeds(self) -> tuple[Action, ...]:
        """What is done, by phases; what several parts ask for in one phase is done once."""
        found = [action for move, entry in self.moves for action in self._actions(entry.get("do", ()), move, "during")]
        return tuple(dict.fromkeys(sorted(found, key=lambda action: PHASES.index(action.phase))))

    @cached_property
    def checks(self) -> tuple[Action, ...]:
        """What shows that the step has succeeded."""
        return tuple(dict.fromkeys(action for move, entry in self.moves for action in self._actions(entry.get("verify", ()), move, "after")))

    @property
    def rollbacks(self) -> list[str]:
        """Sentences about the way back."""
        return list(dict.fromkeys(_fill(entry["rollback"], self._values(move)) for move, entry in self.moves if entry.get("rollback")))

    @property
    def reversible(self) -> bool:
        """Whether the procedures know a way back."""
        return all(entry.get("reversible", True) for _, entry in self.moves)

    def _actions(self, entries: Sequence[Mapping[str, Any]], move: MoveOf, when: str) -> Iterator[Action]:
        for entry in entries:
            if not all(self._is(word, move) for word in entry.get("only", ())):
                continue
            pools = list(self.journey.pairs.situation.pools) if entry.get("each") else [move.part.pool]
            for pool in pools:
                condition = self._condition(entry, Part(move.part.component, pool, move.end) if pool else move.part)
                if condition is not None:
                    values = self._values(move) | ({"pool": pool} if pool else {})
                    yield Action(
                        text=_fill(entry["text"], values),
                        when=when,  # type: ignore[arg-type]  # one of the literals
                        condition=condition,
                        command=_fill(entry["command"], values) if entry.get("command") else None,
                        claims=self.cites(self.journey.pairs.situation.matrix.named(entry.get("claims", ()))),
                        phase=entry.get("phase", "change") if when == "during" else "",
                    )

    def _condition(self, entry: Mapping[str, Any], part: Part) -> str | None:
        """Under which condition an action is asked for: none, one in words, or None if it is not asked for."""
        matches = _matches(self.journey, entry.get("scope", {}), part, self.stage.after)
        if any(match.fit is Fit.YES for match in matches):
            return ""
        return next((describe(match.open) for match in matches if match.fit is Fit.OPEN), None)

    def rules_out(self, move: MoveOf, claim: Claim) -> bool:
        """Whether a claim speaks of another way to move the part than that which is taken."""
        entry = next((entry for other, entry in self.moves if other is move), {})
        meant = {word: (value,) if isinstance(value, str) else tuple(value) for word, value in entry.get("means", {}).items()}
        wanted = {word: values for word, values in claim.scope.items() if word in meant}
        return self.journey.pairs.situation.matrix.words.fit(wanted, meant).fit is Fit.NO

    # -- other pools that move in the same way

    def _alike(self, move: MoveOf) -> list[Part]:
        """The same component in all pools where it is moved by the same procedure; for what is cluster-wide the drivers in its charge."""
        situation = self.journey.pairs.situation
        if not move.part.pool:
            drivers = [part for part in situation.parts if part.pool and situation.role(part.component) == "driver"]
            return [part for part in drivers if in_charge(self.journey, move.part.component, part)]
        chosen = next(entry for other, entry in self.moves if other is move)
        return [
            part
            for part in situation.parts
            if part.component == move.part.component
            and next((entry for entry in _procedures(self.journey, part) if _fits(self.journey, entry, part, self.stage.after)), None) is chosen
        ]

    def _is(self, word: str, move: MoveOf) -> bool:
        keys = {part.key for part in self._alike(move) if not is_unsaid(self.stage.after[part.key])}
        stages = [stage for stage in self.journey.stages if keys & stage.keys]
        ends = {self.journey.end[key].key for key in keys}
        newer = any(self.stage.after[key] > move.end for key in keys)
        situation = self.journey.pairs.situation
        along = any(situation.role(other.part.component) == "node-agent" for other in self.stage.moves if other.part.pool)
        answers = {
            "first": self.stage is stages[0] if stages else True,
            "last": self.stage is stages[-1] if stages else True,
            "even": len(ends) < 2,
            "split": len(ends) > 1,
            "newest": not newer,
            "behind": newer,
            "uneven": any(self.stage.after[key] != move.end for key in keys),
            "along": along,
            "alone": not along,
        }
        return answers[word]

    def _values(self, move: MoveOf) -> dict[str, str]:
        """What placeholders stand for."""
        values = {"from": move.start.release, "to": "the version that comes with the nodes" if is_unsaid(move.end) else move.end.release}
        if move.part.pool:
            values["pool"] = move.part.pool
        if move.part.api:
            values |= {"group": move.part.api.group, "kind": move.part.api.kind or "KIND", "resource": move.part.api.kind.lower() or "RESOURCE"}
        for prefix, version in (("from", move.start), ("to", move.end)):
            values[f"{prefix}_minor"] = f"{version.line[0]}.{version.line[1]}"
        alike = self._alike(move)
        values["others"] = ", ".join(f"{part.pool} {self.stage.after[part.key].release}" for part in alike if part.key != move.part.key) or "none"
        values["ends"] = ", ".join(f"{part.pool} {self.journey.end[part.key].release}" for part in alike)
        newest: dict[str, Version] = {}
        for key, version in self.stage.after.items():
            if is_unsaid(version):
                continue
            part = self.journey.pairs.situation.by_key[key]
            ours = part.pool in ("", move.part.pool) if move.part.pool else in_charge(self.journey, move.part.component, part)
            if ours and not part.api and (part.component not in newest or version > newest[part.component]):
                newest[part.component] = version
        return {component: version.release for component, version in newest.items()} | values
