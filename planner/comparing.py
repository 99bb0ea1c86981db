"""A stored plan beside what is known now: each step is judged anew, as the planner would, and compared with what the plan says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from compat import Claim
from compat.ranges import for_people
from compat.scope import Scope
from compat.verdicts import ORDER
from planner.acceptance import Acceptances
from planner.cites import Cites
from planner.conditions import lost_conditions, read_conditions
from planner.fates import Fates
from planner.findings import MOVED, findings
from planner.goal import Goal
from planner.journey import Journey, MoveOf, Stage
from planner.judgements import Judgement
from planner.plan import PairEntry, Plan, Step
from planner.rechecked import Difference, Effect, PairChange
from planner.requirements import requirements

__all__ = ["Comparison", "pair_id"]

_SAFE = ("declared", "tested")
_UNSAFE = ("broken", "unknown")
_OWN_WORDS = ("assumed", "not-considered", "knowledge-ends", "weaker-than-tested")
"""Findings about the planner's own view, which changes with the state that is given and says nothing of the plan."""
_OF_THE_DAY = "unreleased-target"
"""A finding whose text names the day that is asked for."""
_SHOWN = 4
_Pair = frozenset[str]
_T = TypeVar("_T")


def pair_id(judgement: Judgement) -> str:
    """Id by which the risk of a pair can be accepted."""
    return f"{judgement.grade}:{judgement.one.replace(' ', '@')}:{judgement.other.replace(' ', '@')}"


class Comparison:
    """The steps of a plan that are ahead, judged anew."""

    def __init__(self, plan: Plan, journey: Journey, steps: Sequence[Step], cites: Cites, fates: Fates) -> None:
        self.plan = plan
        self.journey = journey
        self.steps = tuple(steps)
        """Steps that move parts, one for each stage of the journey."""
        self.cites = cites
        self.fates = fates
        self.open: dict[str, list[PairEntry]] = {}
        """Step, or empty for what stays to the end -> pairs that nothing vouches for, as they are now."""
        self._held = {hold.before: hold.pairs for hold in plan.holds}
        matrix = journey.pairs.situation.matrix
        day = matrix.as_of.isoformat()
        given = (pair.id for pair in plan.open_pairs if pair.accepted and (pair.accepted_by is None or day <= pair.accepted_by.expires))
        self._accepted = Acceptances(matrix, given)
        self._asked = {claim for step in plan.steps for action in step.requires for claim in action.claims}
        self._said = {action.text for step in plan.steps for action in step.requires}

    def differences(self, goal: Goal) -> Iterator[Difference]:
        """Everything that is not as the plan says, step by step."""
        yield from self._lasting()
        asked: set[str] = set()
        for step, stage in zip(self.steps, self.journey.stages, strict=True):
            found = [*self._pairs(step, stage), *self._hops(step, stage), *self._duties(step, stage, asked)]
            yield from found
            told = {ended.id for difference in found for ended in difference.ended}
            rest = tuple(ended for ended in self.fates.of(_cited(step)) if ended.id not in told)
            if rest:
                yield Difference(
                    step=step.id, kind="claim", effect="info", text="Claims that it cites do not stand as they did; its verdicts are the same.", ended=rest
                )
        yield from self._findings(goal)

    # -- pairs

    def _pairs(self, step: Step, stage: Stage) -> Iterator[Difference]:
        held = [pair for pair in self._held.get(step.id, ()) if not _is_hop(pair)]
        before = _worst_entries([*step.pairs, *held])
        touched = self.journey.touched(stage)
        now = _worst_judgements(judgement for judgement in touched if judgement.relied_on or judgement.grade == "broken")
        for judgement in self.journey.entered_unsafe(stage):
            self._leave_open(step.id, judgement)
        for pair in dict.fromkeys([*now, *before]):
            yield from self._pair(step, before.get(pair), now.get(pair))
        yield from self._conditions(step, touched, before)

    def _pair(self, step: Step, before: PairEntry | None, now: Judgement | None) -> Iterator[Difference]:
        if now is None:
            if before is not None and before.verdict in _UNSAFE:
                text = f"{before.a} with {before.b} was {before.verdict}; it need not be vouched for any more."
                change = PairChange(a=before.a, b=before.b, was=before.verdict, now=None)
                yield Difference(step=step.id, kind="settled", effect="info", text=text, pair=change, ended=self.fates.of(before.claims))
            return
        was = before.verdict if before is not None else None
        if was == now.grade or (was is None and now.grade in _SAFE):
            return
        name = f"{now.one} with {now.other}"
        known = set(before.claims) if before is not None else set()
        deciding = [claim for claim in now.verdict.claims if claim.id not in known]
        effect: Effect = "info"
        if now.grade in _UNSAFE and (was is None or ORDER.index(now.grade) < ORDER.index(was)):
            effect, why = "breaks", _why(now)
            text = f"{name} is {now.grade}; the plan does not name this pair.{why}" if was is None else f"{name} was {was} and is {now.grade} now.{why}"
        elif was is not None and ORDER.index(now.grade) < ORDER.index(was):
            effect, text = "warning", f"{name} was {was} and is {now.grade} now: still vouched for, by less."
        else:
            text = f"{name} was {was} and is {now.grade} now."
        yield Difference(
            step=step.id,
            kind="settled" if was in _UNSAFE and effect == "info" and now.grade in _SAFE else "verdict",
            effect=effect,
            text=text,
            pair=PairChange(a=now.one, b=now.other, was=was, now=now.grade),
            ended=self.fates.of(before.claims if before is not None else ()),
            claims=self.cites(deciding),
        )

    def _conditions(self, step: Step, touched: Iterable[Judgement], before: Mapping[_Pair, PairEntry]) -> Iterator[Difference]:
        """Pairs that hold only if something is so of which the plan does not say that it has to be so."""
        stated: dict[str, list[Scope]] = {}
        for text in step.conditions:
            name, _, alternatives = text.partition(": if ")
            stated.setdefault(name, []).extend(read_conditions(alternatives))
        situation = self.journey.pairs.situation
        places = [*(situation.scope(pool) for pool in situation.pools), *situation.cluster_scopes]
        for judgement in touched:
            name = f"{judgement.one} with {judgement.other}"
            entry = before.get(frozenset((judgement.one, judgement.other)))
            if judgement.grade not in _SAFE or not judgement.relied_on or not judgement.verdict.conditions or (entry and entry.verdict in _UNSAFE):
                continue
            lost = lost_conditions(situation.matrix.words, stated.get(name, ()), judgement.verdict.alternatives, places)
            if lost:
                more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
                yield Difference(
                    step=step.id,
                    kind="condition",
                    effect="breaks",
                    text=f"{name} holds only if {' or if '.join(judgement.verdict.conditions)}; no more if {' or if '.join(lost[:_SHOWN])}{more}.",
                    ended=self.fates.of(entry.claims if entry else ()),
                    claims=self.cites([claim for claim in judgement.verdict.claims if entry is None or claim.id not in entry.claims]),
                )

    def _lasting(self) -> Iterator[Difference]:
        start = {(judgement.one, judgement.other) for judgement in self.journey.pairs.all(self.journey.start)}
        found = [judgement for judgement in self.journey.pairs.all(self.journey.end) if judgement.grade in _UNSAFE]
        lasting = [judgement for judgement in found if (judgement.one, judgement.other) in start]
        known = _worst_entries(self.plan.open_pairs)
        for judgement in lasting:
            before = known.get(frozenset((judgement.one, judgement.other)))
            self._leave_open("", judgement)
            if before is None or ORDER.index(judgement.grade) < ORDER.index(before.verdict):
                was = before.verdict if before else None
                text = f"{judgement.one} with {judgement.other} is {judgement.grade} now, and no step ahead changes that.{_why(judgement)}"
                change = PairChange(a=judgement.one, b=judgement.other, was=was, now=judgement.grade)
                yield Difference(step=None, kind="verdict", effect="breaks", text=text, pair=change, claims=self.cites(judgement.verdict.claims))
        left = {frozenset((judgement.one, judgement.other)) for judgement in found}
        for before in self.plan.lasting:
            if frozenset((before.a, before.b)) not in left:
                text = f"{before.a} with {before.b} was {before.verdict} to the end; it is not any more."
                change = PairChange(a=before.a, b=before.b, was=before.verdict, now=None)
                yield Difference(step=None, kind="settled", effect="info", text=text, pair=change, ended=self.fates.of(before.claims))

    def _leave_open(self, step: str, judgement: Judgement) -> None:
        name = pair_id(judgement)
        grade: Literal["broken", "unknown"] = "broken" if judgement.grade == "broken" else "unknown"
        entry = PairEntry(judgement.one, judgement.other, grade, judgement.verdict.question, name, self._accepted.covers(name))
        self.open.setdefault(step, []).append(entry)

    # -- hops

    def _hops(self, step: Step, stage: Stage) -> Iterator[Difference]:
        held = {pair.id for pair in self._held.get(step.id, ()) if _is_hop(pair)}
        for move in stage.moves:
            found = self.journey.hop(move)
            name = f"unknown-hop:{move.part.component}@{move.start.release}:{move.end.release}"
            what = f"Going from {move.part.component} {move.start.release} to {move.end.release}"
            if found.rule == "unknown":
                self.open.setdefault(step.id, []).append(PairEntry(_at(move, 0), _at(move, 1), "unknown", what, name, self._accepted.covers(name)))
            if found.rule in ("forbidden", "needs-stop") or (found.rule == "unknown" and name not in held):
                stop = f" Only by way of {for_people(found.stop)}." if found.stop else ""
                text = f"{what} {'needs a stop on the way' if found.rule == 'needs-stop' else f'is {found.rule}'} now.{stop}"
                yield Difference(step=step.id, kind="hop", effect="breaks", text=text, claims=self.cites(found.claims))
            elif found.rule == "allowed" and name in held:
                yield Difference(step=step.id, kind="settled", effect="info", text=f"{what} was unknown and is allowed now.", claims=self.cites(found.claims))
            if step.reversible and not found.reversible:
                text = f"{what} cannot be undone any more, as is known now; the plan promises a way back."
                yield Difference(step=step.id, kind="rollback", effect="breaks", text=text, claims=self.cites(found.claims))

    def _duties(self, step: Step, stage: Stage, asked: set[str]) -> Iterator[Difference]:
        noted = _Noted()
        for action in requirements(self.journey, stage, noted, asked):
            if not action.claims or set(action.claims) <= self._asked or action.text in self._said:
                continue
            claims = [noted.claims[identity] for identity in action.claims]
            effect: Effect = "breaks" if any(claim.severity == "must" for claim in claims) else "warning"
            condition = f"If {action.condition}: " if action.condition else ""
            yield Difference(
                step=step.id, kind="duty", effect=effect, text=f"New to do {action.when} the step: {condition}{action.text}", claims=self.cites(claims)
            )

    # -- the plan as a whole

    def _findings(self, goal: Goal) -> Iterator[Difference]:
        known = {(finding.id, finding.text if finding.id != _OF_THE_DAY else "") for finding in self.plan.findings}
        open_pairs = tuple(f"{pair.a} with {pair.b}" for pair in self.plan.open_pairs)
        noted = _Noted()
        for finding in findings(self.journey, goal, noted):
            text = finding.text if finding.id != _OF_THE_DAY else ""
            if (finding.id, text) in known or finding.id in _OWN_WORDS:
                continue
            if finding.id in ("broken-now", "unknown-now") and finding.text.startswith(open_pairs):
                continue  # entered by a step that is done, with its hold
            if finding.id == "end-of-support" and finding.text.endswith(MOVED):
                continue  # what the plan leaves behind
            effect: Effect = "info" if finding.severity == "info" else "warning"
            text = f"{finding.id}: {finding.text}"
            yield Difference(step=None, kind="finding", effect=effect, text=text, claims=self.cites([noted.claims[claim] for claim in finding.claims]))


class _Noted(Cites):
    """Keeps the claims of what may turn out to be known already."""

    def __init__(self) -> None:
        super().__init__()
        self.claims: dict[str, Claim] = {}

    def __call__(self, claims: Iterable[Claim]) -> tuple[str, ...]:
        kept = list(claims)
        self.claims.update((claim.id, claim) for claim in kept)
        return super().__call__(kept)


def _cited(step: Step) -> list[str]:
    inner = [*(action.claims for action in step.requires), *(reason.claims for reason in step.why), *(pair.claims for pair in step.pairs)]
    return [*step.claims, *(claim for claims in inner for claim in claims)]


def _is_hop(pair: PairEntry) -> bool:
    return pair.id.startswith("unknown-hop:")


def _at(move: MoveOf, end: int) -> str:
    return f"{move.part.component} {(move.start, move.end)[end].release}"


def _why(judgement: Judgement) -> str:
    claims = judgement.verdict.claims
    return f" {claims[0].summary}" if judgement.grade == "broken" and claims else f" {judgement.verdict.question}".rstrip()


def _worst_entries(pairs: Iterable[PairEntry]) -> dict[_Pair, PairEntry]:
    return _worst((frozenset((pair.a, pair.b)), pair.verdict, pair) for pair in pairs)


def _worst_judgements(judgements: Iterable[Judgement]) -> dict[_Pair, Judgement]:
    return _worst((frozenset((judgement.one, judgement.other)), judgement.grade, judgement) for judgement in judgements)


def _worst(items: Iterable[tuple[_Pair, str, _T]]) -> dict[_Pair, _T]:
    """The worst of what is said of each pair, the first of equals."""
    found: dict[_Pair, tuple[int, _T]] = {}
    for pair, grade, item in items:
        rank = ORDER.index(grade)
        if pair not in found or rank < found[pair][0]:
            found[pair] = (rank, item)
    return {pair: item for pair, (_, item) in found.items()}
