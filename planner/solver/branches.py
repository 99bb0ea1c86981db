"""The parts that the search for a front works with: as in `planner.solver.parts`, with a set of costs in the place of each."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from planner.solver.parts import Part, backward, difference, narrowed, ways
from planner.solver.problem import Move, Problem, State, least_unit

__all__ = ["Branch", "Keys", "ideal", "trace"]


class Keys:
    """Compares packed costs by their first components."""

    def __init__(self, width: int, components: int) -> None:
        self.components = components
        self._one = least_unit(1)
        self._bits = self._one.bit_length() - 1
        self.shift = self._bits * (width - components)
        self._guard = sum(1 << (self._bits * place + self._bits - 1) for place in range(components))

    def below(self, one: int, other: int) -> bool:
        """Whether one key is no more than another in each component; a borrow shows in the guard bit of its field."""
        return ((other | self._guard) - one) & self._guard == self._guard

    def stands_for(self, one: int, other: int) -> bool:
        """Whether a cost makes another one needless."""
        key, against = one >> self.shift, other >> self.shift
        return one <= other if key == against else self.below(key, against)

    def each(self, cost: int) -> Iterable[int]:
        """The components of a key, one by one, as costs."""
        key = cost >> self.shift
        for place in range(self.components):
            yield key & ((self._one - 1) << (self._bits * place))

    def add(self, found: list[int], cost: int) -> bool:
        """Add a cost to those of which none makes another needless; False if it is needless itself."""
        if any(self.stands_for(other, cost) for other in found):
            return False
        found[:] = [other for other in found if not self.stands_for(cost, other)]
        found.append(cost)
        return True


class Branch(Part):
    """A component, with a set of costs for every combination of values."""

    def __init__(self, problem: Problem, variables: tuple[int, ...], core: Part, keys: Keys) -> None:
        super().__init__(problem, variables, core.variables)
        self.keys = keys
        self.costs: list[dict[State, tuple[int, ...]]] = []
        self.known: list[int] = []
        """Keys that this component alone must not reach: where what is known already is no more."""
        self._numbers: dict[object, int] = {}
        self._carried: dict[tuple[int, State, State], int | None] = {}
        self._bounds: dict[tuple[int, State], int | None] = {}
        relaxed = narrowed(self, core)
        self._narrow = tuple(self.near.index(v) for v in relaxed.near)
        self._togo = ideal(keys, *ways(relaxed, core))
        self.least = self._togo.get((tuple(problem.start[v] for v in relaxed.near), self.start))
        """Least key, component by component; None if there is no way."""
        self.effort = 0

    def number(self, costs: dict[State, tuple[int, ...]]) -> int:
        """Number of a table of costs."""
        key = tuple(sorted(costs.items()))
        if key not in self._numbers:
            self._numbers[key] = len(self.costs)
            self.costs.append(costs)
        return self._numbers[key]

    def rest(self, state: State, near: State) -> int | None:
        """Least key still to come."""
        return self._togo.get((tuple(near[position] for position in self._narrow), state))

    def close(self, costs: dict[State, tuple[int, ...]], near: State) -> dict[State, tuple[int, ...]]:
        """All costs of every combination that own moves reach while the core stays where it is."""
        best: dict[State, list[int]] = {}
        heap: list[tuple[int, State]] = []
        row = self.entering(near)
        add, shift, below = self.keys.add, self.keys.shift, self.keys.below
        limits = self.known

        def reach(cost: int, state: State) -> None:
            """Note a cost, unless another one makes it needless or all that can follow is known already."""
            several = best.get(state)
            if several is None:
                rest = self.rest(state, near)
                if rest is None:
                    best[state] = [-1]  # makes everything needless
                    return
                if not any(below(known, (cost >> shift) + rest) for known in limits):
                    best[state] = [cost]
                    heapq.heappush(heap, (cost, state))
            elif cost not in several and add(several, cost):
                rest = self.rest(state, near)
                if rest is None or any(below(known, (cost >> shift) + rest) for known in limits):
                    several.remove(cost)
                else:
                    heapq.heappush(heap, (cost, state))

        for state, given in costs.items():
            for cost in given:
                reach(cost, state)
        done: dict[State, tuple[int, ...]] = {}
        while heap:
            cost, state = heapq.heappop(heap)
            if cost not in best[state]:
                continue  # a better one came later
            done[state] = (*done.get(state, ()), cost)
            self.effort += 1
            for after, price, mask in self.moves(state):
                entered = row(after)
                if entered is not None:
                    reach(cost + price + entered[mask], after)
        return done

    def enter(self, number: int, near: State, there: State) -> dict[State, tuple[int, ...]]:
        """Costs right after a move of the core, before any move here."""
        return {
            state: tuple(cost + price for cost in several)
            for state, several in self.costs[number].items()
            if (price := self.entry(state, near, state, there)) is not None
        }

    def carry(self, number: int, near: State, there: State) -> int | None:
        """Number of the table after a move of the core; None if no combination survives it."""
        if near == there:
            return number
        key = (number, near, there)
        if key not in self._carried:
            closed = self.close(self.enter(number, near, there), there)
            self._carried[key] = self.number(closed) if closed else None
        return self._carried[key]

    def bound(self, number: int, near: State) -> int | None:
        """Least key of all ways, component by component."""
        key = (number, near)
        if key not in self._bounds:
            shift = self.keys.shift
            totals = [(cost >> shift) + rest for s, several in self.costs[number].items() if (rest := self.rest(s, near)) is not None for cost in several]
            self._bounds[key] = sum(map(min, zip(*(self.keys.each(total << shift) for total in totals), strict=True))) if totals else None
        return self._bounds[key]

    def ends(self, number: int, near: State) -> list[int]:
        """Costs of ending with the core where it is."""
        found: list[int] = []
        for state, several in self.costs[number].items():
            if (last := self.ending(state, near)) is not None:
                for cost in several:
                    self.keys.add(found, cost + last)
        return sorted(found)


def ideal(keys: Keys, goals: dict, edges: dict) -> dict:  # type: ignore[type-arg]  # nodes of the core alone or of a component
    """Least key to go, component by component: no way may be that good in all of them."""
    found: dict[object, int] = {}
    for component in range(keys.components):

        def only(cost: int, place: int = component) -> int:
            return tuple(keys.each(cost))[place]

        least = backward({node: only(last) for node, last in goals.items()}, {node: [(b, only(p)) for b, p in into] for node, into in edges.items()})
        for node, cost in least.items():
            found[node] = found.get(node, 0) + cost
    return found


def trace(part: Branch, views: Sequence[State], tables: Sequence[int], share: int) -> list[list[Move]]:
    """Moves of one component along a core path that add up to *share*, each as late as that allows."""
    segments: list[list[Move]] = [[] for _ in views]
    last = len(views) - 1
    state, cost = min(
        (state, cost)
        for state, several in part.costs[tables[last]].items()
        for cost in several
        if (ending := part.ending(state, views[last])) is not None and cost + ending == share
    )
    for place in range(last, -1, -1):
        while (before := _predecessor(part, tables[place], state, cost, views[place])) is not None:
            segments[place].insert(0, difference(part.variables, before[0], state))
            state, cost = before
        if place and views[place - 1] != views[place]:
            entered = part.entry(state, views[place - 1], state, views[place])
            if entered is None or cost - entered not in part.costs[tables[place - 1]].get(state, ()):
                raise AssertionError("a cost without a way that leads to it")
            cost -= entered
    return segments


def _predecessor(part: Branch, table: int, state: State, cost: int, near: State) -> tuple[State, int] | None:
    """State and cost from which a move reaches *state* at *cost*, if there is one."""
    entered = part.entering(near)(state)
    if entered is None:
        return None
    for before, several in sorted(part.costs[table].items()):
        for after, price, mask in part.moves(before) if min(several) < cost else ():
            if after == state and cost - price - entered[mask] in several:
                return before, cost - price - entered[mask]
    return None
