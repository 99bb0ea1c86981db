"""Making a plan: resolve, compile, search, and write down what was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from compat import Matrix
from compat.errors import InputError, printable
from compat.scope import Scope, both_conditions, describe
from compat.verdicts import ORDER
from planner.acceptance import Acceptances
from planner.cites import Cites
from planner.compiling import Compiled, compile_problem
from planner.conflict import explain_conflict
from planner.elsewhere import elsewhere
from planner.errors import GoalError
from planner.findings import by_severity, findings
from planner.goal import Goal, make_goal
from planner.journey import Journey, Stage
from planner.judgements import Judgement
from planner.pairs import Pairs
from planner.parts import Part
from planner.plan import Change, Cost, Drains, GoalEntry, Hold, Kind, Knowledge, PairEntry, Plan, Reason, Step
from planner.preparing import preparations
from planner.procedures import Doing
from planner.reasons import reasons
from planner.requirements import floors, requirements
from planner.situation import Situation, resolve
from planner.solver import Solution, solve
from planner.state import ClusterState
from planner.way_back import way_back

__all__ = ["compile_for", "plan", "trip", "written"]

_HEADLINE = ("os", "provider")


def compile_for(
    matrix: Matrix, state: ClusterState, to: str, *, nodes: str = "target", prefer: str = "fewest-drains", allocation: Mapping[str, str] | None = None
) -> Compiled:
    """Compile the problem that `plan` would solve, without solving it.

    Raises:
        InputError: if state or goal cannot be used.
    """
    situation = situate(matrix, state, allocation)
    return compile_problem(situation, make_goal(situation, to, nodes), Pairs(situation), prefer)


def plan(
    matrix: Matrix,
    state: ClusterState,
    to: str,
    *,
    nodes: str = "target",
    prefer: str = "fewest-drains",
    accept: Iterable[str] = (),
    allocation: Mapping[str, str] | None = None,
) -> Plan:
    """Plan the way from *state* to Kubernetes *to*.

    Args:
        matrix: the knowledge, as of the day that counts.
        state: the cluster as it is.
        to: target of the control plane: a line such as ``1.37``, or a release.
        nodes: ``target`` if nodes must end on the target's minor, ``supported`` if any supported version within the skew will do.
        prefer: ``fewest-drains`` (the stated objective), ``fewest-steps`` or ``newest``.
        accept: ids of unknown pairs whose risk is accepted, besides those that the layers of *matrix* accept.
        allocation: pool -> how it is to allocate its GPUs in the end, where that is to change: ``{"h100": "dra"}``.

    Returns:
        The plan; its status is ``impossible`` and it has a conflict if there is no way.

    Raises:
        InputError: if state or goal cannot be used.
    """
    return trip(matrix, state, to, nodes=nodes, prefer=prefer, accept=accept, allocation=allocation)[0]


def trip(
    matrix: Matrix,
    state: ClusterState,
    to: str,
    *,
    nodes: str = "target",
    prefer: str = "fewest-drains",
    accept: Iterable[str] = (),
    allocation: Mapping[str, str] | None = None,
) -> tuple[Plan, Journey]:
    """As `plan`, with the states that the plan goes through."""
    situation = situate(matrix, state, allocation)
    goal = make_goal(situation, to, nodes)
    pairs = Pairs(situation)
    compiled = compile_problem(situation, goal, pairs, prefer)
    solution = solve(compiled.problem)
    accepted = Acceptances(matrix, accept)
    if solution is not None:
        writer = _Writer(situation, goal, pairs, compiled, solution, accepted)
        return writer.write(), writer.journey
    tried: list[_Writer] = []

    def nearer(compiled: Compiled, goal: Goal, solution: Solution) -> _Writer:
        tried.append(_Writer(situation, goal, pairs, compiled, solution, accepted))
        return tried[-1]

    def replan(matrix: Matrix, state: ClusterState, nodes: str) -> Plan | None:
        return _reach(matrix, state, to, nodes, prefer, accepted, allocation)

    found = explain_conflict(situation, goal, pairs, compiled, prefer, nearer, replan)
    return found, tried[-1].journey if tried else Journey(pairs, ())


def _reach(matrix: Matrix, state: ClusterState, to: str, nodes: str, prefer: str, accept: Acceptances, allocation: Mapping[str, str] | None) -> Plan | None:
    """The plan to a goal; None if there is no way, or the goal makes no sense for that state."""
    try:
        situation = situate(matrix, state, allocation)
        goal = make_goal(situation, to, nodes)
    except InputError:
        return None
    pairs = Pairs(situation)
    compiled = compile_problem(situation, goal, pairs, prefer)
    solution = solve(compiled.problem)
    return None if solution is None else _Writer(situation, goal, pairs, compiled, solution, accept).write()


def written(situation: Situation, goal: Goal, pairs: Pairs, compiled: Compiled, solution: Solution, accept: Iterable[str] = ()) -> Plan:
    """Write down a way that was found for a compiled problem, as `plan` does."""
    return _Writer(situation, goal, pairs, compiled, solution, Acceptances(situation.matrix, accept)).write()


def situate(matrix: Matrix, state: ClusterState, allocation: Mapping[str, str] | None) -> Situation:
    """Read a state for a plan.

    Raises:
        InputError: if the state cannot be used, or *allocation* names a pool that it does not have.
    """
    unknown = sorted(set(allocation or {}) - {pool.name for pool in state.pools})
    if unknown:
        names = ", ".join(pool.name for pool in state.pools) or "none"
        raise GoalError(f"there is no pool {printable(unknown[0])} whose allocation could change; the state has {names}")
    return resolve(matrix, state, allocation)


class _Writer:
    def __init__(self, situation: Situation, goal: Goal, pairs: Pairs, compiled: Compiled, solution: Solution, accept: Acceptances) -> None:
        self.situation = situation
        self.goal = goal
        self.solution = solution
        self.compiled = compiled
        self.accept = accept
        self.journey = Journey.of(pairs, compiled, solution)
        self.cites = Cites()
        self.asked: set[str] = set()

    def write(self) -> Plan:
        steps, holds = self.steps()
        lasting = self.lasting()
        status = self.status(holds)
        snapshot = self.situation.matrix.snapshot
        named = dict(zip(self.compiled.objective, self.solution.cost, strict=True))
        asked = [pair.id for pair in (*(pair for hold in holds for pair in hold.pairs), *lasting)]
        found = by_severity([*findings(self.journey, self.goal, self.cites), *self.accept.expired(asked)])
        return Plan(
            knowledge=Knowledge.of(snapshot),
            start=self.situation.state.dump(),
            goal=GoalEntry(self.goal.text, self.goal.nodes, dict(self.goal.allocation)),
            status=status,  # type: ignore[arg-type]  # one of the literals by construction
            cost=Cost(named["unknown_pairs"], named["gpu_nodes_drained"], named["other_nodes_drained"], named["steps"]),
            optimal=self.solution.cost == self.solution.bound,
            steps=tuple(steps),
            holds=tuple(holds),
            lasting=lasting,
            findings=found,
            conflict=None,
            conditions=self.conditions(),
            end={key: version.release for key, version in self.journey.end.items()},
            claims=self.cites.entries(),
        ).sealed()

    def status(self, holds: Sequence[Hold]) -> str:
        """What the plan as a whole relies on; what was wrong before and is mended on the way does not count against it."""
        entered = [judgement.grade for stage in self.journey.stages for judgement in self.journey.touched(stage)]
        worst = min([*entered, self.journey.worst(self.journey.end)], key=ORDER.index)
        return "unknown" if holds or worst in ("broken", "unknown") else worst

    def lasting(self) -> tuple[PairEntry, ...]:
        """Pairs at the end that nothing vouches for and that no step has touched."""
        start = {(judgement.one, judgement.other) for judgement in self.journey.pairs.all(self.journey.start)}
        found = [judgement for judgement in self.journey.pairs.all(self.journey.end) if judgement.grade in ("unknown", "broken")]
        return tuple(self.entry(judgement) for judgement in found if (judgement.one, judgement.other) in start)

    # -- steps and holds

    def steps(self) -> tuple[list[Step], list[Hold]]:
        names: dict[int, str] = {}
        held: dict[int, list[PairEntry]] = {}
        steps = preparations(self.journey, 1)
        count = len(steps)
        for position, stage in enumerate(self.journey.stages):
            pairs = [self.entry(judgement) for judgement in self.journey.entered_unsafe(stage)]
            pairs += [entry for move in stage.moves if (entry := self.unknown_hop(move.part.key, stage)) is not None]
            if pairs:
                held[position] = pairs
                count += 1
            count += 1
            names[position] = f"s{count}"
        holds = []
        for position, stage in enumerate(self.journey.stages):
            if position in held:
                hold = Hold(names[position], tuple(held[position]))
                holds.append(hold)
                steps.append(self.hold_step(hold, stage, f"s{int(names[position][1:]) - 1}"))
            steps.append(self.step(position, stage, names))
        return steps, holds

    def hold_step(self, hold: Hold, stage: Stage, name: str) -> Step:
        main = stage.main
        claims = tuple(dict.fromkeys(claim for pair in hold.pairs for claim in pair.claims))
        return Step(
            id=name,
            kind="hold",
            component=main.part.component,
            pool=main.part.pool or None,
            from_=main.start.release,
            to=main.end.release,
            why=(Reason("enables", hold.before, "Stop here until every question is answered: nothing that was published vouches for these pairs."),),
            grade=self.journey.worst(stage.before),  # type: ignore[arg-type]  # one of ORDER
            pairs=hold.pairs,
            claims=claims,
        )

    def step(self, position: int, stage: Stage, names: dict[int, str]) -> Step:
        main = stage.main
        touched = self.journey.touched(stage)
        hops = [self.journey.hop(move) for move in stage.moves]
        doing = Doing(self.journey, stage, self.cites)
        why = reasons(self.journey, position, names, self.cites)
        requires = requirements(self.journey, stage, self.cites, self.asked)
        judged = [claim for judgement in touched for claim in judgement.verdict.claims]
        ruled = [claim for found in hops for claim in found.claims]
        closing = way_back(self.journey, position, names)
        ways_back = doing.rollbacks
        if ways_back and closing:
            ways_back.append(closing)
        deepest = floors(self.journey, stage, self.cites)
        one_way = [claim.summary for found in hops if not found.reversible for claim in found.claims if claim.detail.get("reversible") is False]
        return Step(
            id=names[position],
            kind=self.kind(main.part),
            component=main.part.component,
            pool=main.part.pool or None,
            from_=main.start.release,
            to=main.end.release,
            changes=tuple(self.changes(stage)),
            drains=self.drains(stage),
            why=why,
            requires=tuple(requires),
            reversible=not one_way and doing.reversible and not any(final for _, final in deepest),
            rollback=" ".join([*(f"No way back: {text}" for text in one_way), *ways_back, *(text for text, _ in deepest)]),
            verify=doing.checks,
            grade=self.journey.worst(stage.after),  # type: ignore[arg-type]  # one of ORDER
            pairs=tuple(self.entry(judgement) for judgement in touched if judgement.relied_on),
            conditions=tuple(
                f"{judgement.one} with {judgement.other}: if {' or if '.join(judgement.verdict.conditions)}"
                for judgement in touched
                if judgement.verdict.conditions
            ),
            claims=self.cites([*judged, *ruled]),
        )

    def kind(self, part: Part) -> Kind:
        """What sort of step it is to move a part, and what moves along with it."""
        if part.api:
            return "migrate-api"
        if part.allocates:
            return "migrate-allocation"
        return "recycle-pool" if self.situation.drains(part) else "upgrade"

    def changes(self, stage: Stage) -> Iterable[Change]:
        matrix = self.situation.matrix
        for move in stage.moves:
            yield Change(move.part.component, move.start.release, move.end.release)
        own = {part.component for part in self.situation.parts}
        for move in stage.moves:
            shipped: dict[str, list[str]] = {}
            for place, version in enumerate((move.start, move.end)):
                for claim in matrix.about(move.part.component, "bundle"):
                    if (
                        claim.detail.get("role") == "default"
                        and not claim.detail.get("optional")
                        and claim.object not in own
                        and version in claim.subject_range
                    ):
                        shipped.setdefault(claim.object, ["", ""])[place] = claim.object_versions.removeprefix("==")
            for name, (before, after) in sorted(shipped.items()):
                if before and after and before != after:
                    yield Change(name, before, after)

    def drains(self, stage: Stage) -> Drains:
        if not self.situation.drains(stage.main.part):
            return Drains()
        pool = self.situation.pools[stage.main.part.pool]
        nodes = 1 if pool.nodes is None else pool.nodes
        return Drains(gpu_nodes=nodes) if pool.has_gpus else Drains(other_nodes=nodes)

    def entry(self, judgement: Judgement) -> PairEntry:
        one, other = judgement.one.replace(" ", "@"), judgement.other.replace(" ", "@")
        unsafe = judgement.grade in ("unknown", "broken")
        name = f"{judgement.grade}:{one}:{other}" if unsafe else ""
        question = judgement.verdict.question
        if judgement.grade == "unknown" and (listed := elsewhere(self.situation, judgement)):
            question = f"{question} {listed}"
        if judgement.grade == "broken":
            question = f"The cluster breaks this already: {judgement.verdict.claims[0].summary} Can it be lived with until it is mended?"
        return PairEntry(
            a=judgement.one,
            b=judgement.other,
            verdict=judgement.grade,  # type: ignore[arg-type]  # one of ORDER
            question=question if unsafe else "",
            id=name,
            accepted=self.accept.covers(name),
            accepted_by=self.accept.by(name),
            claims=self.cites(judgement.verdict.claims),
        )

    def unknown_hop(self, key: str, stage: Stage) -> PairEntry | None:
        move = next(item for item in stage.moves if item.part.key == key)
        found = self.journey.rule(move)
        if found.rule != "unknown":
            return None
        name = f"unknown-hop:{move.part.component}@{move.start.release}:{move.end.release}"
        question = f"Does the project support going from {move.start.release} to {move.end.release}? {found.claims[0].summary}"
        one, other = (f"{move.part.component} {version.release}" for version in (move.start, move.end))
        return PairEntry(one, other, "unknown", question, name, self.accept.covers(name), self.accept.by(name), self.cites(found.claims))

    # -- conditions of the plan as a whole

    def conditions(self) -> tuple[str, ...]:
        """What operating system and provider must be for the whole way, where the state leaves them open."""
        needed = [_headline(judgement.verdict.alternatives) for judgement in self.journey.relied_on if judgement.verdict.is_safe]
        try:
            joined: Sequence[Scope] = reduce(both_conditions, [alternatives for alternatives in needed if alternatives], [])
        except ValueError:
            return ("no operating system and provider satisfies every step; see the conditions of each step",)
        return tuple(describe(sorted(alternative.items())) for alternative in joined)


def _headline(alternatives: Sequence[Scope]) -> list[Scope]:
    """Alternatives that speak of operating system and provider only; they are what most readers have to check."""
    found = [alternative for alternative in alternatives if set(alternative) <= set(_HEADLINE)]
    return found or [
        {word: values for word, values in alternative.items() if word in _HEADLINE} for alternative in alternatives if set(alternative) & set(_HEADLINE)
    ]
