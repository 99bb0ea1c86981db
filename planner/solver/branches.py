"""The parts that the search for a front works with: as in `planner.solver.parts`, with a set of costs in the place of each."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from itertools import product

from planner.solver.parts import Part, backward, difference
from planner.solver.problem import Move, Problem, State, least_unit

__all__ = ["Branch", "Keys", "core_ways", "ideal", "trace"]

_BOUND_LIMIT = 400
"""Largest number of combinations of a component and the core variables that its bound looks at."""


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
        relaxed = _narrowed(self, core)
        self._narrow = tuple(self.near.index(v) for v in relaxed.near)
        self._togo = ideal(keys, *_ways(relaxed, core))
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


def _narrowed(part: Part, core: Part) -> Part:
    """The same part beside as many variables of the core as keep the table of its ways small, small domains first."""
    total = part.problem.size(part.variables)
    chosen: list[int] = []
    for variable in sorted(part.near, key=lambda v: (len(part.problem.variables[v].values), v)):
        total *= len(part.problem.variables[variable].values)
        if total <= _BOUND_LIMIT or not chosen:
            chosen.append(variable)
    found = Part(part.problem, part.variables, tuple(variable for variable in core.variables if variable in chosen))
    found._moves = part._moves  # the same moves, found once
    found.view = tuple(core.variables.index(v) for v in found.near)
    return found


_Edges = dict[tuple[State, State], list[tuple[tuple[State, State], int]]]


def _ways(part: Part, core: Part) -> tuple[dict[tuple[State, State], int], _Edges]:
    """Goals of *part* with what ending there costs, and all moves by where they lead, if the core may move as it likes and for nothing."""
    start = (tuple(part.problem.start[v] for v in part.near), part.start)
    order, seen = [start], {start}
    jumps: dict[State, list[State]] = {}
    edges: _Edges = {}
    for near, state in order:
        if near not in jumps:
            jumps[near] = _jumps(part.near, near, core)
        row = part.entering(near)
        following = [((near, after), price + entered[mask]) for after, price, mask in part.moves(state) if (entered := row(after)) is not None]
        following += [((there, state), cost) for there in jumps[near] if (cost := part.entry(state, near, state, there)) is not None]
        for node, price in following:
            edges.setdefault(node, []).append(((near, state), price))
            if node not in seen:
                seen.add(node)
                order.append(node)
    goals = {
        (near, state): last
        for near, state in order
        if all((goal := part.problem.goal[v]) is None or value in goal for v, value in zip(part.near, near, strict=True))
        and (last := part.ending(state, near)) is not None
    }
    return goals, edges


def _jumps(variables: tuple[int, ...], near: State, core: Part) -> list[State]:
    """Where one move of the core can take a few of its variables."""
    place = {variable: index for index, variable in enumerate(variables)}
    found: dict[State, None] = {}
    for group in core.problem.groups:
        inside = [variable for variable in group.variables if variable in place]
        choices = [[near[place[v]], *(end for end, _ in core.steps.get((v, near[place[v]]), ()))] for v in inside]
        for combination in product(*choices):
            after = list(near)
            for variable, value in zip(inside, combination, strict=True):
                after[place[variable]] = value
            if tuple(after) != near:
                found[tuple(after)] = None
    return list(found)


def core_ways(core: Part) -> tuple[dict[State, int], dict[State, list[tuple[State, int]]]]:
    """Goals of the core alone with what ending there costs, and its moves by where they lead."""
    order, seen = [core.start], {core.start}
    edges: dict[State, list[tuple[State, int]]] = {}
    for state in order:
        for after, price, _ in core.moves(state):
            if (entered := core.entry(state, (), after, ())) is not None:
                edges.setdefault(after, []).append((state, price + entered))
                if after not in seen:
                    seen.add(after)
                    order.append(after)
    return {state: last for state in order if (last := core.ending(state, ())) is not None}, edges


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
