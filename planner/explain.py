"""One step of a plan in full: what forces it, what must come before it, what it enables, and why it lands where it does.

Asked by experiment over the states of the plan: the step taken before each earlier one, left out up to each later one, and landing on
each other release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compat import Claim, Version
from compat.verdicts import ORDER
from planner.cites import Cites
from planner.errors import GoalError
from planner.journey import Journey, MoveOf, Stage
from planner.judgements import Judgement
from planner.plan import CitedClaim, Knowledge, PairEntry, Plan, Reason, Step, written_form

__all__ = ["Explanation", "Landing", "Note", "Relation", "explain"]

_BARRED = {"forbidden": "is forbidden", "needs-stop": "needs a stop on the way", "unknown": "is unknown to be supported"}


@dataclass(frozen=True)
class Relation:
    """Another step that this one must come before or after."""

    step: str
    label: str
    """What that step does."""
    text: str
    """Why, where it is no pair; else empty."""
    pairs: tuple[PairEntry, ...] = ()
    """Pairs that would be broken or unknown with the steps the other way round."""
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Landing:
    """Other releases that the step could land on, and what speaks against them."""

    component: str
    versions: tuple[str, ...]
    relation: Literal["newer", "older"]
    text: str
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Note:
    """Something to bear in mind about a pair that the step touches."""

    text: str
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """One step of a plan in full."""

    knowledge: Knowledge
    plan: str
    """Digest of the plan."""
    step: Step
    forced_by: tuple[Reason, ...]
    """What forces it to exist: the goal, or the first later step that would be wrong without it."""
    after: tuple[Relation, ...]
    """Every earlier step that it cannot precede."""
    enables: tuple[Relation, ...]
    """Every later step that cannot precede it."""
    landings: tuple[Landing, ...]
    cautions: tuple[Note, ...]
    claims: dict[str, CitedClaim]
    """Every claim that is cited, in full."""
    schema: Literal["compat.explanation/v1"] = "compat.explanation/v1"

    def to_dict(self) -> dict[str, Any]:
        """The written form."""
        written: dict[str, Any] = written_form(self)
        return {"schema": written.pop("schema"), **written}


def explain(plan: Plan, journey: Journey, name: str) -> Explanation:
    """Explain the step *name* of a plan whose states are those of *journey* (see `planner.planning.trip`).

    Raises:
        GoalError: if the plan has no such step; the message lists those that it has.
    """
    step = next((step for step in plan.steps if step.id == name), None)
    if step is None:
        raise GoalError(f"the plan has no step {name!r}; it has {', '.join(step.id for step in plan.steps) or 'none'}")
    moving = [step.id for step in plan.steps if step.kind != "hold"]
    cites = Cites()
    found = _Step(journey, moving, moving.index(name), cites) if name in moving else None
    forced = tuple(reason for reason in step.why if reason.relation != "after")
    after = tuple(found.after()) if found else ()
    enables = tuple(found.enables()) if found else ()
    landings = tuple(found.landings()) if found else ()
    cautions = tuple(found.cautions()) if found else ()
    cited = {*step.claims, *(claim for pair in step.pairs for claim in pair.claims)}
    cited |= {claim for reason in step.why for claim in reason.claims}
    cited |= {claim for action in (*step.requires, *step.verify) for claim in action.claims}
    claims = {**{name: plan.claims[name] for name in cited}, **cites.entries()}
    return Explanation(plan.knowledge, plan.to_dict()["digest"], step, forced, after, enables, landings, cautions, dict(sorted(claims.items())))


class _Step:
    def __init__(self, journey: Journey, names: Sequence[str], position: int, cites: Cites) -> None:
        self.journey = journey
        self.names = names
        self.position = position
        self.stage = journey.stages[position]
        self.cites = cites

    def after(self) -> Iterator[Relation]:
        """Take the whole step before each earlier one."""
        there = {move.part.key: move.end for move in self.stage.moves}
        for position in range(self.position):
            earlier = self.journey.stages[position]
            same = [(mine, other) for mine in self.stage.moves for other in earlier.moves if mine.part.key == other.part.key]
            if same:
                yield self.relation(position, *self.straight([(MoveOf(mine.part, other.start, mine.end), mine) for mine, other in same]))
            elif worse := self.worse(there, {**earlier.before, **there}, {**earlier.after, **there}):
                yield self.relation(position, "", (), worse)

    def enables(self) -> Iterator[Relation]:
        """Leave the whole step out up to each later one, or to where its part goes on."""
        left = {move.part.key: move for move in self.stage.moves}
        seen: set[tuple[str, str]] = set()
        for position in range(self.position + 1, len(self.journey.stages)):
            later = self.journey.stages[position]
            same = [(left.pop(other.part.key), other) for other in later.moves if other.part.key in left]
            missing = {key: move.start for key, move in left.items()}
            worse = [pair for pair in self.worse(missing, {**later.after, **missing}, later.after) if (pair.one, pair.other) not in seen]
            seen.update((pair.one, pair.other) for pair in worse)
            if same:
                text, claims = self.straight([(MoveOf(mine.part, mine.start, other.end), other) for mine, other in same])
                yield self.relation(position, text, claims, worse)
            elif worse:
                yield self.relation(position, "", (), worse)
            if not left:
                return

    def straight(self, hops: Iterable[tuple[MoveOf, MoveOf]]) -> tuple[str, tuple[Claim, ...]]:
        """Whether a part could skip one of two steps, by a hop in one."""
        texts: list[str] = []
        claims: list[Claim] = []
        for direct, planned in hops:
            known = self.journey.rule(direct)
            if known.rule in _BARRED and self.journey.rule(planned).rule != known.rule:
                texts.append(f"{direct.part.component} from {direct.start.release} straight to {direct.end.release} {_BARRED[known.rule]}")
                claims += known.claims
            else:
                texts.append(f"{direct.part.component} goes on from one step to the other")
        return "; ".join(texts), tuple(claims)

    def worse(self, keys: Iterable[str], versions: Mapping[str, Version], planned: Mapping[str, Version]) -> list[Judgement]:
        """Pairs that are broken or unknown at *versions*, and better as planned; each once."""
        keys = list(keys)
        good = {judgement.identity: judgement.grade for judgement in self.journey.pairs.touching(keys, planned)}
        return [judgement for judgement in self.journey.pairs.touching(keys, versions) if _is_worse(judgement, good)]

    def relation(self, position: int, text: str, claims: Sequence[Claim], worse: Iterable[Judgement] = ()) -> Relation:
        return Relation(self.names[position], _label(self.journey.stages[position]), text, tuple(map(self.entry, worse)), self.cites(claims))

    def entry(self, judgement: Judgement) -> PairEntry:
        question = judgement.verdict.question if judgement.grade == "unknown" else ""
        return PairEntry(judgement.one, judgement.other, judgement.grade, question, claims=self.cites(judgement.verdict.claims))  # type: ignore[arg-type]  # one of ORDER

    def cautions(self) -> Iterator[Note]:
        seen: set[str] = set()
        for judgement in self.journey.touched(self.stage):
            for caution in judgement.verdict.cautions:
                text = f"{judgement.one} with {judgement.other}: {caution}"
                if text not in seen:
                    seen.add(text)
                    yield Note(text, self.cites([caution.claim]))

    # -- other releases

    def landings(self) -> Iterator[Landing]:
        """Other releases of what moves, newest first; neighbours that share a reason together."""
        for move in self.stage.moves:
            group: list[Version] = []
            reason: tuple[str, str, tuple[Claim, ...]] | None = None
            for version in sorted(self.others(move), reverse=True):
                relation = "newer" if version > move.end else "older"
                this = (relation, *self.against(move, version))
                if group and this != reason:
                    yield self.landing(move, group, reason)
                    group = []
                group.append(version)
                reason = this
            if group:
                yield self.landing(move, group, reason)

    def landing(self, move: MoveOf, versions: Sequence[Version], reason: tuple[str, str, tuple[Claim, ...]] | None) -> Landing:
        relation, text, claims = reason or ("older", "", ())
        return Landing(move.part.component, tuple(version.release for version in versions), relation, text, self.cites(claims))  # type: ignore[arg-type]  # one of the two

    def others(self, move: MoveOf) -> list[Version]:
        """Releases that the part could be at after the step; of Kubernetes the newest of each minor."""
        situation = self.journey.pairs.situation
        if move.part.values:
            return []  # no component with releases
        releases = situation.matrix.releases(move.part.component, stable_only=True)
        found = sorted(release.version for release in releases if release.version > move.start and release.version.parts > 2)
        if situation.role(move.part.component) in ("control-plane", "node-agent"):
            newest = {version.line: version for version in found}
            found = [version for line, version in newest.items() if line != move.end.line]
        return [version for version in found if version.key != move.end.key]

    def against(self, move: MoveOf, version: Version) -> tuple[str, tuple[Claim, ...]]:
        """What speaks against landing on another release: the first thing that would be wrong."""
        known = self.journey.rule(MoveOf(move.part, move.start, version))
        if known.rule in _BARRED and self.journey.rule(move).rule != known.rule:
            return f"going there from {move.start.release} {_BARRED[known.rule]}", known.claims
        key = move.part.key
        weaker: tuple[str, tuple[Claim, ...]] | None = None
        for position in range(self.position, len(self.journey.stages)):
            stage = self.journey.stages[position]
            onward = next((other for other in stage.moves if other.part.key == key), None) if position > self.position else None
            if onward is not None:
                if version >= onward.end:
                    return f"{self.names[position]} goes to {onward.end.release} when that is needed", ()
                known = self.journey.rule(MoveOf(move.part, version, onward.end))
                if known.rule in _BARRED:
                    return f"going on from there to {onward.end.release} in {self.names[position]} {_BARRED[known.rule]}", known.claims
                break
            good = {judgement.identity: judgement.grade for judgement in self.journey.pairs.touching([key], stage.after)}
            for judgement in self.journey.pairs.touching([key], {**stage.after, key: version}):
                since = "" if position == self.position else f" from {self.names[position]} on"
                if _is_worse(judgement, good):
                    return f"{judgement.grade} with {_partner(judgement, move)}{since}", judgement.verdict.claims[:4]
                if weaker is None and ORDER.index(judgement.grade) < ORDER.index(good.get(judgement.identity, "tested")):
                    weaker = f"only {judgement.grade} with {_partner(judgement, move)}{since}", judgement.verdict.claims[:4]
        if weaker is not None:
            return weaker
        return self.support(move, version)

    def support(self, move: MoveOf, version: Version) -> tuple[str, tuple[Claim, ...]]:
        matrix = self.journey.pairs.situation.matrix
        name = matrix.subjects[move.part.component].releases_of or move.part.component
        mine, other = matrix.lifecycle(name, move.end), matrix.lifecycle(name, version)
        if mine and other and mine.until and other.until and other.until < mine.until:
            return f"its support ends on {other.until}, that of {move.end.release} on {mine.until}", (other.claim, mine.claim)
        return ("nothing against it in these states, and nothing gained" if version > move.end else "nothing against it; the newer one is taken"), ()


def _is_worse(judgement: Judgement, good: Mapping[tuple[str, str, str], str]) -> bool:
    return judgement.grade in ("broken", "unknown") and ORDER.index(judgement.grade) < ORDER.index(good.get(judgement.identity, "tested"))


def _partner(judgement: Judgement, move: MoveOf) -> str:
    """The other side of a pair; both sides where an operand speaks for the part."""
    own = f"{move.part.component} "
    if judgement.one.startswith(own):
        return judgement.other
    return judgement.one if judgement.other.startswith(own) else f"{judgement.other} ({judgement.one})"


def _label(stage: Stage) -> str:
    main = stage.main
    where = f" of pool {main.part.pool}" if main.part.pool else ""
    return f"{main.part.component}{where} {main.start.release} -> {main.end.release}"
