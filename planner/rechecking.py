"""Re-checking an approved plan: does it still hold with what is known now, and from where the cluster is now?

Each step ahead is judged anew and compared with what the plan says (`planner.comparing`). The independent validator then replays the
plan with the verdicts of today written into it, as a second opinion: what it finds wrong makes the plan not hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from compat import Matrix
from compat.errors import printable
from planner.cites import Cites
from planner.comparing import Comparison
from planner.errors import PlanFileError
from planner.fates import Fates
from planner.goal import NODES_AT, make_goal
from planner.journey import Journey, MoveOf, Stage
from planner.pairs import Pairs
from planner.plan import Knowledge, Plan, Step
from planner.planfile import PlanFile
from planner.progress import Progress, Route, locate, pending
from planner.rechecked import Difference, Outcome, Recheck
from planner.situation import Situation
from planner.state import ClusterState
from planner.validate import validate

__all__ = ["recheck"]

_CALENDAR = re.compile(r"^\d{1,4}(\.\d{1,2}){2}$")


def recheck(matrix: Matrix, plan: PlanFile, state: ClusterState | None = None, *, done: str | None = None) -> Recheck:
    """Check whether a stored plan still holds.

    Args:
        matrix: the knowledge of today.
        plan: the plan as it was stored.
        state: the cluster as it is now; default: where the plan starts, or is after *done*.
        done: id of a step that is done, with all steps before it.

    Raises:
        InputError: if a component or version of plan or state is not known, or there is no step *done*.
    """
    return _Recheck(matrix, plan, state, done).run()


class _Recheck:
    def __init__(self, matrix: Matrix, file: PlanFile, state: ClusterState | None, done: str | None) -> None:
        self.matrix = matrix
        self.file = file
        self.plan: Plan = file.plan
        if self.plan.goal.nodes not in NODES_AT:
            raise PlanFileError(f"{file.name}: goal.nodes: expected one of {', '.join(NODES_AT)}, found {printable(self.plan.goal.nodes)!r}")
        self.day = _day(file)
        self.route = Route(matrix, self.plan, file.state)
        said = self.route.after(done) if done is not None else self.route.start
        self.state = said if state is None else self.route.pinned(state)
        self.given = state is not None
        self.progress: Progress = locate(self.route, self.state, done)
        self.situation: Situation = self.route.read(self.state)
        self.cites = Cites()
        self.fates = Fates(matrix, self.plan.claims)

    def run(self) -> Recheck:
        ahead = [step for step in self.plan.steps if step.id not in self.progress.done]
        moving = [(step, moves) for step in ahead if step.kind not in ("hold", "prepare") and (moves := pending(self.route, step, self.situation))]
        journey = Journey(Pairs(self.situation), _stages(self.situation, [moves for _, moves in moving]))
        comparison = Comparison(self.plan, journey, [step for step, _ in moving], self.cites, self.fates)
        differences = [*self.drift(), *self.conflict()]
        if not self.progress.drift:
            goal = make_goal(self.situation, self.plan.goal.kubernetes, self.plan.goal.nodes)
            found = list(comparison.differences(goal))
            differences += found
            unreleased = list(self.unreleased(ahead))
            differences += unreleased
            explained = tuple(f"{one.step}: " for one in found if one.effect == "breaks" and one.kind in ("verdict", "hop"))
            differences += [] if unreleased else self.faults(journey, comparison, ahead, explained)
            differences += self.newer(journey)
        places: dict[str | None, int] = {step.id: place for place, step in enumerate(self.plan.steps)}
        places[None] = -1
        differences.sort(key=lambda one: (places[one.step], ("breaks", "warning", "info").index(one.effect)))
        pairs = [pair for pairs in comparison.open.values() for pair in pairs]
        accepted = tuple(dict.fromkeys(pair.id for pair in pairs if pair.accepted))
        still_open = tuple(dict.fromkeys(pair.id for pair in pairs if not pair.accepted))
        snapshot = self.matrix.snapshot
        outcome: Outcome = "holds"
        if self.outdated():
            outcome = "outdated"
        elif any(one.effect == "breaks" for one in differences):
            outcome = "broken"
        return Recheck(
            plan=self.plan.digest,
            name=self.route.start.name,
            made=self.plan.knowledge,
            knowledge=Knowledge.of(snapshot),
            outcome=outcome,
            exit_code=self.exit_code(outcome, still_open, accepted),
            progress=self.progress,
            differences=tuple(differences),
            open=still_open,
            accepted=accepted,
            claims=self.claims(differences),
        )

    def exit_code(self, outcome: Outcome, still_open: Sequence[str], accepted: Sequence[str]) -> int:
        if outcome != "holds":
            return 40 if outcome == "outdated" else 60
        if self.plan.status == "impossible":
            return 20
        return 30 if still_open else 10 if accepted else 0

    def outdated(self) -> bool:
        """Whether the plan was made with newer knowledge than this."""
        made, snapshot = self.plan.knowledge, self.matrix.snapshot
        newer = _CALENDAR.match(made.version) and _CALENDAR.match(snapshot.version) and _numbers(made.version) > _numbers(snapshot.version)
        return bool(newer) or self.day > self.matrix.as_of or made.schema > snapshot.schema

    # -- what is not as the plan says, besides its steps

    def drift(self) -> Iterator[Difference]:
        for text in self.progress.drift:
            yield Difference(step=None, kind="drift", effect="breaks", text=f"{text}.")
        for text in self.progress.differs if self.given else ():
            yield Difference(step=None, kind="state", effect="warning", text=f"{text}.")

    def unreleased(self, ahead: Sequence[Step]) -> Iterator[Difference]:
        """Steps to a line of which no release was out on the plan's day, and one is now: the plan does not say to which."""
        for step in ahead:
            for key, at in self.route.moves[step.id].items():
                there = self.route.path[key][at]
                if there.release != there.text.removeprefix("v") and there.parts < 3 and not self.route.situation.by_key[key].values:
                    name = f"{key.replace('@', ' of pool ')} {there.text}"
                    text = f"It goes to {name}, of which no release was out on {self.day}; {there.release} is now. Plan anew."
                    yield Difference(step=step.id, kind="unreleased", effect="breaks", text=text)

    def conflict(self) -> Iterator[Difference]:
        """Whether what makes a goal impossible still stands."""
        if self.plan.conflict is not None:
            ended = self.fates.of(self.plan.conflict.claims)
            gone = [one for one in ended if not one.fate.startswith("is worded")]
            if gone:
                text = "What the plan gives as the reason that there is no way does not stand as it did; plan anew."
                yield Difference(step=None, kind="conflict", effect="breaks", text=text, ended=tuple(gone))

    def newer(self, journey: Journey) -> Iterator[Difference]:
        """Releases that came since the plan was made, beyond what it ends on."""
        seen: set[str] = set()
        for key, end in journey.end.items():
            if self.situation.by_key[key].values:
                continue
            component = key.partition("@")[0]
            owner = self.matrix.subjects[component].releases_of or component
            if owner in seen:
                continue
            seen.add(owner)
            is_kubernetes = self.situation.role(component) in ("control-plane", "node-agent")
            for release in self.matrix.releases(component, stable_only=True):
                same = not is_kubernetes or release.version.line == end.line
                if same and release.version > end and release.known_from > self.day:
                    text = f"{component} {release.text} came out on {release.known_from}; the plan ends on {end.release}."
                    yield Difference(step=None, kind="newer-release", effect="info", text=text)
                    break

    # -- the second opinion

    def faults(self, journey: Journey, comparison: Comparison, ahead: Sequence[Step], explained: tuple[str, ...]) -> Iterator[Difference]:
        """What the validator says of the plan as written, where that is not explained by newer knowledge, and of the way ahead as it is judged now."""
        written = {**self.plan.to_dict(), "start": self.route.start.dump()}
        found: dict[str, None] = {}
        if not self.given:
            on_its_day = set(validate(self.matrix.on(self.day), written)) if self.day <= self.matrix.as_of else set()
            found = dict.fromkeys(fault for fault in validate(self.matrix, written) if fault in on_its_day)
        judged = validate(self.matrix, self.amended(written, journey, comparison, ahead))
        decisive = [fault for fault in judged if not fault.startswith(explained)]
        for fault in dict.fromkeys([*decisive, *found]):
            yield Difference(step=None, kind="fault", effect="breaks" if fault in decisive else "warning", text=f"The validator says: {fault}.")

    def amended(self, written: Mapping[str, Any], journey: Journey, comparison: Comparison, ahead: Sequence[Step]) -> dict[str, Any]:
        """The way ahead as a plan of its own, with the grades, holds and costs of today: only what is wrong otherwise is left to find."""
        stages = dict(zip((step.id for step in comparison.steps), journey.stages, strict=True))
        entries = {entry["id"]: entry for entry in written["steps"]}
        steps = []
        for step in ahead:
            entry = dict(entries[step.id])
            stage = stages.get(step.id)
            if stage is not None:
                entry["grade"] = journey.worst(stage.after)
                own = self.route.moves[step.id].keys() - stage.keys
                entry["changes"] = [one for one in entry["changes"] if not {one["component"], f"{one['component']}@{step.pool}"} & own]
                if self.given:
                    entry["drains"] = self.drains(stage)
            if stage is not None or not self.route.moves[step.id]:
                steps.append(entry)
        done = self.progress.done
        counted = [entry for entry in steps if entry["kind"] not in ("hold", "prepare")]
        cost = dict(written["cost"])
        if self.given or done:
            cost["steps"] = len(counted)
            cost.update({f"{kind}_drained": sum(entry["drains"][kind] for entry in counted) for kind in ("gpu_nodes", "other_nodes")})
        cost["unknown_pairs"] = sum(len(pairs) for step, pairs in comparison.open.items() if step)
        holds = [{"before": step, "pairs": [{"id": pair.id} for pair in pairs]} for step, pairs in comparison.open.items() if step]
        goal = {**written["goal"], "allocation": {part.pool: part.values[-1].text for part in self.situation.migrating}}
        end = {key: release for key, release in written["end"].items() if key in self.situation.by_key or key not in self.route.path}
        return {**written, "start": self.state.dump(), "goal": goal, "end": end, "steps": steps, "holds": holds, "cost": cost}

    def drains(self, stage: Stage) -> dict[str, int]:
        nodes = {"gpu_nodes": 0, "other_nodes": 0}
        if self.situation.drains(stage.main.part):
            pool = self.situation.pools[stage.main.part.pool]
            nodes["gpu_nodes" if pool.has_gpus else "other_nodes"] = 1 if pool.nodes is None else pool.nodes
        return nodes

    def claims(self, differences: Sequence[Difference]) -> dict[str, Any]:
        """Every claim that a difference names."""
        replacing = Cites()
        replacing(self.fates.replacing.values())
        known = {**replacing.entries(), **self.cites.entries()}
        named = {claim for one in differences for claim in (*one.claims, *(heir for ended in one.ended for heir in ended.replaced_by))}
        ended = {one.id: self.plan.claims[one.id] for difference in differences for one in difference.ended}
        return dict(sorted({**ended, **{name: known[name] for name in named}}.items()))


def _stages(situation: Situation, steps: Sequence[Sequence[Any]]) -> list[Stage]:
    versions = {part.key: part.version for part in situation.parts}
    stages = []
    for moves in steps:
        made = tuple(MoveOf(part, versions[part.key], there) for part, there in moves)
        after = {**versions, **{move.part.key: move.end for move in made}}
        stages.append(Stage(made, dict(versions), after))
        versions = after
    return stages


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _day(file: PlanFile) -> date:
    try:
        return date.fromisoformat(file.plan.knowledge.as_of)
    except ValueError as error:
        raise PlanFileError(f"{file.name}: knowledge.as_of: expected a date such as 2026-09-30, found {printable(file.plan.knowledge.as_of)!r}") from error
