"""Every trade-off: the cheapest ways of which none is worse than another in all of the first components of a cost.

The search is that of `planner.solver.search` with sets of costs in the place of single ones. A cost is left out where another one is no
more in each of the first components (the key) and, where it is equal in these, no more in the rest. Such costs stay so however both
go on, so nothing that is left out leads to a point of the front. What is known of each component's least cost to go, and of the points
found before, prunes what cannot lead to a new one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from planner.solver.branches import Branch, Keys, core_ways, ideal, trace
from planner.solver.order import canonical
from planner.solver.parts import Part, difference
from planner.solver.problem import Move, Problem, State, pack, unpack
from planner.solver.search import Solution, solve
from planner.solver.splitting import split

__all__ = ["Front", "front"]

EFFORT = 300_000
"""Costs that are looked at before the search gives up."""


@dataclass(frozen=True)
class Front:
    """Ways that trade one component of a cost for another."""

    solutions: tuple[Solution, ...]
    """By cost, least first. Each is the cheapest in the rest among those with its key."""
    complete: bool
    """Whether these are all. Else they are those that come first in some order of the components."""


def front(problem: Problem, components: int, beside: Iterable[Sequence[int]] = (), effort: int = EFFORT) -> Front:
    """Find the Pareto front over the first *components* of a cost.

    Args:
        problem: what is to be solved.
        components: how many components of a cost are traded for each other.
        beside: keys of ways that are there anyhow: what is no better than one of them in any component is left out.
        effort: costs that are looked at before the search gives up.

    Raises:
        ValueError: if a group moves for nothing.
    """
    others = [tuple(key) for key in beside]

    def wanted(solutions: dict[int, Solution]) -> tuple[Solution, ...]:
        kept = (solutions[cost] for cost in sorted(solutions))
        return tuple(item for item in kept if not any(all(x <= y for x, y in zip(key, item.cost, strict=False)) for key in others))

    known: dict[int, Solution] = {}
    base = tuple(range(components))
    for order in [(first, *(other for other in base if other != first)) for first in base]:
        solution = _least(problem, order)
        if solution is None:
            return Front((), True)
        known.setdefault(pack(solution.cost), solution)
    try:
        found = _Search(problem, components, [*(unpack(cost, problem.width)[:components] for cost in known), *others], effort).run()
    except _TooMuchError:
        for order in permutations(base):
            solution = _least(problem, order)
            if solution is not None:
                known.setdefault(pack(solution.cost), solution)
        return Front(wanted(known), False)
    return Front(wanted({**found, **known}), True)


def _least(problem: Problem, order: tuple[int, ...]) -> Solution | None:
    """The cheapest way if the first components of a cost matter in another order."""
    if order == tuple(range(len(order))):
        return solve(problem)
    full = (*order, *range(len(order), problem.width))
    memory: dict[int, int] = {}

    def turned(cost: int) -> int:
        if cost not in memory:
            vector = unpack(cost, problem.width)
            memory[cost] = pack(vector[component] for component in full)
        return memory[cost]

    solution = solve(
        replace(
            problem,
            tables=tuple(
                replace(table, entry={c: turned(p) for c, p in table.entry.items()}, landing={c: turned(p) for c, p in table.landing.items()})
                for table in problem.tables
            ),
            transitions=tuple(replace(item, cost=turned(item.cost)) for item in problem.transitions),
            groups=tuple(replace(group, cost=turned(group.cost)) for group in problem.groups),
            landing=tuple(tuple(map(turned, costs)) for costs in problem.landing),
        )
    )
    if solution is None:
        return None
    vector = tuple(cost for _, cost in sorted(zip(full, solution.cost, strict=True)))
    return replace(solution, cost=vector, bound=vector)


class _TooMuchError(Exception):
    """The search is over its effort."""


@dataclass(frozen=True, slots=True)
class _Node:
    core: State
    spent: int
    tables: tuple[int, ...]
    before: int
    """Number of the node that it comes from; -1: none."""


class _Search:
    def __init__(self, problem: Problem, components: int, known: Iterable[Sequence[int]], effort: int) -> None:
        core, parts = split(problem)
        self.problem = problem
        self.keys = Keys(problem.width, components)
        self.core = Part(problem, core, ())
        self.parts = [Branch(problem, variables, self.core, self.keys) for variables in parts]
        self.togo: dict[State, int] = ideal(self.keys, *core_ways(self.core))
        self.known = [pack(key) for key in known]
        """Keys to which no other way is wanted."""
        self.found: list[int] = []
        self.origin: dict[int, tuple[int, tuple[int, ...]]] = {}
        """Cost found -> node where its way ends, and what each component adds to it."""
        self.nodes: list[_Node] = []
        self.effort = effort

    def run(self) -> dict[int, Solution]:
        """All points beyond the known ones."""
        start = self.core.start
        least = [part.least for part in self.parts]
        if start not in self.togo or None in least:
            return {}
        total = self.togo[start] + sum(item for item in least if item is not None)
        for part in self.parts:
            others = total - (part.least or 0)
            part.known = [key - others for key in self.known if self.keys.below(others, key)]
        tables = tuple(part.number(part.close({part.start: (0,)}, part.look(start))) for part in self.parts)
        heap: list[tuple[int, int]] = []
        self._push(heap, _Node(start, 0, tables, -1))
        settled: dict[State, list[_Node]] = {}
        while heap:
            _, number = heapq.heappop(heap)
            node = self.nodes[number]
            if self._is_needless(node) or any(self._stands_for(other, node) for other in settled.get(node.core, ())):
                continue
            settled.setdefault(node.core, []).append(node)
            self._end(node, number)
            for after, price, _ in self.core.moves(node.core):
                entered = self.core.entry(node.core, (), after, ())
                carried = None if entered is None else self._carry(node, after)
                if entered is not None and carried is not None:
                    self._push(heap, _Node(after, node.spent + price + entered, carried, number))
            if len(self.nodes) + sum(part.effort for part in self.parts) > self.effort:
                raise _TooMuchError
        return {cost: self._solution(cost) for cost in self.found}

    def _push(self, heap: list[tuple[int, int]], node: _Node) -> None:
        bound = self._bound(node)
        if bound is not None and not self._is_needless(node):
            self.nodes.append(node)
            heapq.heappush(heap, (bound, len(self.nodes) - 1))

    def _bound(self, node: _Node) -> int | None:
        """Least key of all ways through a node, component by component."""
        total = self.togo.get(node.core)
        if total is None:
            return None
        total += node.spent >> self.keys.shift
        for part, table in zip(self.parts, node.tables, strict=True):
            least = part.bound(table, part.look(node.core))
            if least is None:
                return None
            total += least
        return total

    def _is_needless(self, node: _Node) -> bool:
        """Whether every way through a node is no better than one that is known; of the found ones a cheaper twin may still come."""
        bound = self._bound(node)
        if bound is None or any(self.keys.below(known, bound) for known in self.known):
            return True
        return any((key := cost >> self.keys.shift) != bound and self.keys.below(key, bound) for cost in self.found)

    def _carry(self, node: _Node, after: State) -> tuple[int, ...] | None:
        carried = []
        for part, table in zip(self.parts, node.tables, strict=True):
            following = part.carry(table, part.look(node.core), part.look(after))
            if following is None:
                return None
            carried.append(following)
        return tuple(carried)

    def _stands_for(self, one: _Node, other: _Node) -> bool:
        """Whether whatever can follow *other* can follow *one* at no higher cost."""
        stands_for = self.keys.stands_for
        if not stands_for(one.spent, other.spent):
            return False
        for part, mine, theirs in zip(self.parts, one.tables, other.tables, strict=True):
            if mine != theirs:
                costs = part.costs[mine]
                if any(not any(stands_for(own, cost) for own in costs.get(s, ())) for s, several in part.costs[theirs].items() for cost in several):
                    return False
        return True

    def _end(self, node: _Node, number: int) -> None:
        """Note what it costs to end at a node, for all combinations of what the components add."""
        last = self.core.ending(node.core, ())
        if last is None:
            return
        sums: dict[int, tuple[int, ...]] = {node.spent + last: ()}
        for part, table in zip(self.parts, node.tables, strict=True):
            kept: list[int] = []
            following: dict[int, tuple[int, ...]] = {}
            for total, chosen in sums.items():
                for cost in part.ends(table, part.look(node.core)):
                    if self.keys.add(kept, total + cost):
                        following[total + cost] = (*chosen, cost)
                        self.effort -= 1
            sums = {cost: following[cost] for cost in kept}
        for cost, chosen in sorted(sums.items()):
            key = cost >> self.keys.shift
            if not any(self.keys.below(known, key) for known in self.known) and self.keys.add(self.found, cost):
                self.origin[cost] = (number, chosen)

    # -- the way found, step by step

    def _solution(self, cost: int) -> Solution:
        number, chosen = self.origin[cost]
        path: list[_Node] = []
        while number >= 0:
            path.insert(0, self.nodes[number])
            number = self.nodes[number].before
        segments: list[list[Move]] = [[] for _ in path]
        for index, (part, share) in enumerate(zip(self.parts, chosen, strict=True)):
            for place, found in enumerate(trace(part, [part.look(node.core) for node in path], [node.tables[index] for node in path], share)):
                segments[place].extend(found)
        moves: list[Move] = []
        for place, node in enumerate(path):
            moves.extend(segments[place])
            if place + 1 < len(path):
                moves.append(difference(self.core.variables, node.core, path[place + 1].core))
        vector = unpack(cost, self.problem.width)
        return Solution(canonical(self.problem, moves), vector, vector, len(self.nodes))
