"""Exact search.

The variables are split into a core and components that only meet through the core (in an upgrade problem: the control plane, and what
all pools share). Given a path of the core, the components are independent, so for each a table "value combination -> least cost so
far" is carried along the path. A* runs over core paths; its bound adds, for every component, the exact cost that the component alone
would still have if the core went the way that suits it best. Costs are added and compared exactly, so the first path that is finished
is optimal; what it cost equals the bound.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

from planner.solver.classes import classify
from planner.solver.order import canonical
from planner.solver.parts import Component, Part, backward, difference, trace
from planner.solver.problem import Move, Problem, State, least_unit, unpack
from planner.solver.splitting import split

__all__ = ["Solution", "solve"]


@dataclass(frozen=True, slots=True)
class Solution:
    """A cheapest sequence of moves."""

    moves: tuple[Move, ...]
    cost: tuple[int, ...]
    bound: tuple[int, ...]
    """Lower bound that the search proved; equal to the cost."""
    expanded: int
    """Core states that were expanded."""


def solve(problem: Problem) -> Solution | None:
    """Find a cheapest sequence of moves from the start to the goal; None if there is none.

    Raises:
        ValueError: if a group moves for nothing; the way back from a cost to the moves that make it up would not be unique.
    """
    if any(group.cost <= 0 for group in problem.groups):
        raise ValueError("every group needs a cost")
    found = _Search(problem).run()
    return None if found is None else replace(found, moves=canonical(problem, found.moves))


class _Search:
    def __init__(self, problem: Problem) -> None:
        core, parts = split(problem)
        self.problem, classes = classify(problem, parts)
        self.core = Part(problem, core, ())
        self.parts = [Component(self.problem, alike, self.core) for alike in classes]
        self.togo = self._core_remaining()

    def _core_remaining(self) -> dict[State, int]:
        """Cheapest way of the core alone to its goal, by backward search over the core states that it can reach."""
        core = self.core
        order, seen = [core.start], {core.start}
        edges: dict[State, list[tuple[State, int]]] = {}
        for state in order:
            for after, price, _ in core.moves(state):
                if (entered := core.entry(state, (), after, ())) is not None:
                    edges.setdefault(after, []).append((state, price + entered))
                    if after not in seen:
                        seen.add(after)
                        order.append(after)
        goals = {state: last for state in order if (last := core.ending(state, ())) is not None}
        return backward(goals, edges)

    def _bound(self, core: State, tables: tuple[int, ...]) -> int | None:
        total = self.togo.get(core)
        if total is None:
            return None
        for part, number in zip(self.parts, tables, strict=True):
            rest = part.bound(number, core)
            if rest is None:
                return None
            total += rest
        return total

    def run(self) -> Solution | None:
        """Search in ever wider surroundings of the bound.

        A solution that costs at most *slack* more than the bound has no component that costs more than *slack* above its least. So what
        is found within the slack, looking at nothing beyond it, is optimal.
        """
        base = self.togo.get(self.core.start)
        if base is None:
            return None
        bound = base
        for part in self.parts:
            if part.least is None:
                return None
            bound += part.alike.scaled(part.least)
        for kept in (3, 2, 1):
            slack = least_unit(max(self.problem.width - kept, 0)) - 1
            found = self._within(slack, bound + slack)
            if found is not None:
                return found
        return self._within(None, None)

    def _within(self, slack: int | None, most: int | None) -> Solution | None:
        for part in self.parts:
            part.restrict(slack)
        start = self.core.start
        tables = tuple(part.begin(part.look(start)) for part in self.parts)
        bound = self._bound(start, tables)
        if bound is None:
            return None
        # equal estimates are taken in the order of their paths: first what moves the earlier variables (the others late), then larger hops
        heap: list[tuple[int, tuple[State, ...], int, int]] = [(bound, (_preference(start),), 1, 0)]
        nodes: list[tuple[State, int, tuple[int, ...], tuple[State, ...]]] = [(start, 0, tables, (start,))]
        settled: dict[State, list[tuple[int, tuple[int, ...]]]] = {}
        expanded = 0
        while heap:
            estimate, key, kind, number = heapq.heappop(heap)
            if most is not None and estimate > most:
                return None
            core, spent, tables, path = nodes[number]
            if kind == 0:
                return self._solution(path, estimate, expanded)
            if any(self._dominates(other, (spent, tables)) for other in settled.get(core, ())):
                continue
            settled.setdefault(core, []).append((spent, tables))
            expanded += 1
            ending = self._ending(core, tables)
            if ending is not None:
                heapq.heappush(heap, (spent + ending, key, 0, number))
            for after, price, _ in self.core.moves(core):
                entered = self.core.entry(core, (), after, ())
                carried = None if entered is None else self._carry(core, after, tables)
                if entered is None or carried is None:
                    continue
                total = spent + price + entered
                rest = self._bound(after, carried)
                if rest is not None:
                    nodes.append((after, total, carried, (*path, after)))
                    heapq.heappush(heap, (total + rest, (*key, _preference(after)), 1, len(nodes) - 1))
        return None

    def _carry(self, core: State, after: State, tables: tuple[int, ...]) -> tuple[int, ...] | None:
        carried = []
        for part, number in zip(self.parts, tables, strict=True):
            following = part.carry(number, part.look(core), part.look(after))
            if following is None:
                return None
            carried.append(following)
        return tuple(carried)

    def _ending(self, core: State, tables: tuple[int, ...]) -> int | None:
        total = self.core.ending(core, ())
        if total is None:
            return None
        for part, number in zip(self.parts, tables, strict=True):
            last = part.end(number, part.look(core))
            if last is None:
                return None
            total += last
        return total

    def _dominates(self, one: tuple[int, tuple[int, ...]], other: tuple[int, tuple[int, ...]]) -> bool:
        """Whether whatever can follow *other* can follow *one* at no higher cost."""
        if one[0] > other[0]:
            return False
        for part, mine, theirs in zip(self.parts, one[1], other[1], strict=True):
            if mine != theirs:
                costs = part.costs[mine]
                if any(costs.get(state, cost + 1) > cost for state, cost in part.costs[theirs].items()):
                    return False
        return True

    # -- the way found, step by step

    def _solution(self, path: tuple[State, ...], cost: int, expanded: int) -> Solution:
        segments: list[list[Move]] = [[] for _ in path]
        for part in self.parts:
            for place, found in enumerate(trace(part, [part.look(core) for core in path])):
                for member in part.alike.members:
                    name = dict(zip(part.variables, member, strict=True))
                    segments[place].extend(tuple((name[variable], one, other) for variable, one, other in move) for move in found)
        moves: list[Move] = []
        for place, core in enumerate(path):
            moves.extend(segments[place])
            if place + 1 < len(path):
                moves.append(difference(self.core.variables, core, path[place + 1]))
        vector = unpack(cost, self.problem.width)
        return Solution(tuple(moves), vector, vector, expanded)


def _preference(state: State) -> State:
    return tuple(-value for value in state)
