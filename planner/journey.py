"""A plan as a sequence of states: what holds before and after each move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from compat import Version
from compat.hops import Hop, everywhere, hop
from compat.verdicts import ORDER
from planner.compiling import Compiled
from planner.images import comes_with_node
from planner.judgements import Judgement
from planner.pairs import Pairs
from planner.parts import Part
from planner.solver import Solution

__all__ = ["Journey", "MoveOf", "Stage"]


@dataclass(frozen=True)
class MoveOf:
    """One part going from a version to another."""

    part: Part
    start: Version
    end: Version


@dataclass(frozen=True)
class Stage:
    """One move of the plan with the states around it."""

    moves: tuple[MoveOf, ...]
    before: Mapping[str, Version]
    after: Mapping[str, Version]

    @property
    def main(self) -> MoveOf:
        """The move that gives the step its name: parts of a pool are in the order agent, runtime, driver."""
        return self.moves[0]

    @property
    def keys(self) -> frozenset[str]:
        """Parts that move."""
        return frozenset(move.part.key for move in self.moves)


class Journey:
    """All stages of a plan, and questions about them."""

    def __init__(self, pairs: Pairs, stages: Sequence[Stage]) -> None:
        self.pairs = pairs
        self.stages = tuple(stages)
        self._hops: dict[tuple[str, object, object], Hop] = {}

    @classmethod
    def of(cls, pairs: Pairs, compiled: Compiled, solution: Solution) -> Journey:
        """Translate a solution back into parts and versions."""
        versions = {part.key: part.version for part in compiled.parts}
        stages = []
        for move in solution.moves:
            moves = tuple(MoveOf(compiled.parts[v], compiled.domains[v][a], compiled.domains[v][b]) for v, a, b in move)
            after = {**versions, **{item.part.key: item.end for item in moves}}
            stages.append(Stage(moves, dict(versions), after))
            versions = after
        return cls(pairs, stages)

    @property
    def start(self) -> dict[str, Version]:
        """Versions before the first step."""
        return {part.key: part.version for part in self.pairs.situation.parts}

    @property
    def end(self) -> Mapping[str, Version]:
        """Versions after the last step."""
        return self.stages[-1].after if self.stages else self.start

    def touched(self, stage: Stage) -> list[Judgement]:
        """Pairs that a stage changes, itself or through a third part that decides about them, as they are after it, worst first."""
        return self.pairs.touching(stage.keys, stage.after)

    def entered_unsafe(self, stage: Stage) -> list[Judgement]:
        """Pairs that the stage enters and nothing vouches for: unknown ones, and those that go on breaking what is broken now."""
        return [judgement for judgement in self.touched(stage) if judgement.grade in ("unknown", "broken")]

    def rule(self, move: MoveOf) -> Hop:
        """Whether one part may make a hop, without what the hop asks of people."""
        return self._everywhere(move, duties=False)

    def hop(self, move: MoveOf) -> Hop:
        """What is known of one part's hop, with all that it asks of people."""
        key = (move.part.key, move.start.key, move.end.key)
        if key not in self._hops:
            self._hops[key] = self._everywhere(move, duties=True)
        return self._hops[key]

    def _everywhere(self, move: MoveOf, *, duties: bool) -> Hop:
        if move.part.values or comes_with_node(self.pairs.situation, move.part):
            return Hop("allowed", (), (), reversible=True)
        situation = self.pairs.situation
        starts = [version for version in move.part.standing(move.start) if version < move.end]
        return everywhere(
            [hop(situation.matrix, move.part.component, start, move.end, scope, duties=duties) for start in starts for scope in situation.places(move.part)]
        )

    def worst(self, versions: Mapping[str, Version]) -> str:
        """The weakest verdict that a state relies on."""
        return min((judgement.grade for judgement in self.pairs.all(versions)), key=ORDER.index, default="tested")

    @cached_property
    def relied_on(self) -> list[Judgement]:
        """Every pair that some state of the way relies on, each once, in the order in which it is met."""
        found: dict[tuple[str, str], Judgement] = {}
        for versions in [self.start, *(stage.after for stage in self.stages)]:
            for judgement in self.pairs.all(versions):
                if judgement.relied_on:
                    found.setdefault((judgement.one, judgement.other), judgement)
        return list(found.values())
