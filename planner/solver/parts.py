"""The parts that a search works with: variables with what concerns only them, or them and the core."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise, product
from operator import itemgetter
from typing import TypeVar

from planner.solver.classes import Class
from planner.solver.problem import Move, Problem, State

__all__ = ["Component", "Part", "backward", "difference", "trace"]

_BOUND_LIMIT = 400
"""Largest number of combinations of a component and the core variables that its bound looks at."""

_Profile = tuple[list[State], list[tuple[int, int]]]
_Node = TypeVar("_Node")


def _look(places: tuple[int, ...]) -> Callable[[State], tuple[int, ...]]:
    """What a table sees of a state."""
    if len(places) == 1:
        place = places[0]
        return lambda values: (values[place],)
    return itemgetter(*places)


class Part:
    """A few variables, with what concerns only them, or them and the core."""

    def __init__(self, problem: Problem, variables: tuple[int, ...], core: tuple[int, ...]) -> None:
        self.problem = problem
        self.variables = variables
        own = set(variables)
        # tables between the core and a component belong to the component
        self.tables = [table for table in problem.tables if own & set(table.variables) and set(table.variables) <= own | set(core)]
        self.near = tuple(v for v in core if any(v in table.variables for table in self.tables))
        """Variables of the core that matter here; a `near` state has their values."""
        self.view = tuple(core.index(v) for v in self.near)
        self.start = tuple(problem.start[v] for v in variables)
        self.steps: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for transition in problem.transitions:
            if transition.variable in own:
                self.steps.setdefault((transition.variable, transition.start), []).append((transition.end, transition.cost))
        self._groups = [(tuple(sorted(variables.index(v) for v in g.variables)), g.cost) for g in problem.groups if set(g.variables) <= own]
        combined = (*variables, *self.near)
        self._looks = [_look(tuple(combined.index(v) for v in table.variables)) for table in self.tables]
        self._rules = [(number, look, table.forbidden, table.entry) for number, (look, table) in enumerate(zip(self._looks, self.tables, strict=True))]
        self._moves: dict[State, list[tuple[State, int, int]]] = {}
        self._masks = sorted(
            {sum(1 << p for p in chosen) for positions, _ in self._groups for n in range(len(positions)) for chosen in combinations(positions, n + 1)}
        )
        """Which variables a move may change together, as bits."""
        self._mask_numbers = {mask: number for number, mask in enumerate(self._masks)}
        self._nothing = (0,) * len(self._masks)
        self._masks_of = [
            [number for number, mask in enumerate(self._masks) if any(mask >> variables.index(v) & 1 for v in table.variables if v in own)]
            for table in self.tables
        ]
        """Per table the masks of the moves that change its combination."""
        self._entering: dict[State, dict[State, tuple[int, ...] | None]] = {}
        self._profiles: dict[tuple[State, State], _Profile | None] = {}

    def look(self, core: State) -> State:
        """The values of a core state that matter here."""
        return tuple(core[position] for position in self.view)

    def moves(self, state: State) -> list[tuple[State, int, int]]:
        """Moves out of *state*: where to, cost before tables are looked at, and number of the mask of what changes."""
        found = self._moves.get(state)
        if found is None:
            found = self._moves[state] = [move for positions, price in self._groups for move in self._group_moves(state, positions, price)]
        return found

    def _group_moves(self, state: State, positions: tuple[int, ...], price: int) -> Iterable[tuple[State, int, int]]:
        values, extras, bits = [], [], []
        for position in positions:
            steps = self.steps.get((self.variables[position], state[position]), ())
            values.append([state[position], *[end for end, _ in steps]])
            extras.append([0, *[extra for _, extra in steps]])
            bits.append([0, *[1 << position] * len(steps)])
        first, last = positions[0], positions[-1] + 1
        before, behind = state[:first], state[last:]
        if len(positions) < last - first:  # variables of other groups lie in between
            for position in range(first, last):
                if position not in positions:
                    place = position - first
                    values.insert(place, [state[position]])
                    extras.insert(place, [0])
                    bits.insert(place, [0])
        numbers = self._mask_numbers
        found = zip(product(*values), map(sum, product(*extras)), map(sum, product(*bits)), strict=True)
        return [(before + after + behind, price + extra, numbers[mask]) for after, extra, mask in found if mask]

    def entering(self, near: State) -> Callable[[State], tuple[int, ...] | None]:
        """For a state of the core: what it costs to get into a state by a move, per mask; None if a table forbids the state.

        The combinations that a move enters are those of the tables that it touches, wherever it comes from.
        """
        rows = self._entering.setdefault(near, {})

        def row(state: State) -> tuple[int, ...] | None:
            try:
                return rows[state]
            except KeyError:
                profile = self.profile(state, near)
                found = None if profile is None else self._by_mask(profile[1]) if profile[1] else self._nothing
                rows[state] = found
                return found

        return row

    def _by_mask(self, prices: list[tuple[int, int]]) -> tuple[int, ...]:
        """What entering the priced combinations costs, per mask of the move."""
        costs = [0] * len(self._masks)
        for number, price in prices:
            for mask in self._masks_of[number]:
                costs[mask] += price
        return tuple(costs)

    def profile(self, state: State, near: State) -> _Profile | None:
        """Combinations of the tables, and which of them cost how much to enter; None if a table forbids one."""
        key = (state, near)
        try:
            return self._profiles[key]
        except KeyError:
            found = self._profiles[key] = self._profile(state + near)
            return found

    def _profile(self, values: State) -> _Profile | None:
        found = []
        prices = []
        for number, look, forbidden, entry in self._rules:
            combination = look(values)
            if combination in forbidden:
                return None
            found.append(combination)
            price = entry.get(combination)
            if price:
                prices.append((number, price))
        return found, prices

    def entry(self, before: State, near: State, after: State, there: State) -> int | None:
        """Cost of the combinations that are entered; None if one is forbidden."""
        new = self.profile(after, there)
        if new is None:
            return None
        if not new[1]:
            return 0
        old = self.profile(before, near)
        here = old[0] if old else [look(before + near) for look in self._looks]
        return sum([price for number, price in new[1] if new[0][number] != here[number]])

    def ending(self, state: State, near: State) -> int | None:
        """Cost of ending there; None if it is no goal."""
        cost = 0
        for variable, value in zip(self.variables, state, strict=True):
            goal = self.problem.goal[variable]
            if goal is not None and value not in goal:
                return None
            cost += self.problem.landing[variable][value]
        values = state + near
        for table, look in zip(self.tables, self._looks, strict=True):
            if table.landing:
                cost += table.landing.get(look(values), 0)
        return cost


class Component(Part):
    """A part beside the core, for all that are alike. Cost tables are in units, and numbered, so that equal ones are worked on once."""

    def __init__(self, problem: Problem, alike: Class, core: Part) -> None:
        variables = alike.members[0]
        super().__init__(problem, variables, core.variables)
        self.alike = alike
        self._core = core
        self.costs: list[dict[State, int]] = []
        self._numbers: dict[tuple[tuple[State, int], ...], int] = {}
        self._carried: dict[tuple[int, State, State], int | None] = {}
        self._bounds: dict[tuple[int, State], int | None] = {}
        self._ends: dict[tuple[int, State], int | None] = {}
        self._relaxed = Part(problem, variables, self._bounding())
        self._relaxed._moves = self._moves  # the same moves, found once
        self._relaxed.view = tuple(core.variables.index(v) for v in self._relaxed.near)
        self._narrow = tuple(self.near.index(v) for v in self._relaxed.near)
        self._togo = self._remaining(self._relaxed)
        self.least = self._togo[tuple(problem.start[v] for v in self._relaxed.near)].get(self.start)
        """Least cost, in units, of one of these components if the core goes the way that suits it best; None if it has no way at all."""
        self._limit: int | None = None

    def restrict(self, slack: int | None) -> None:
        """Look only at states through which a way leads that costs at most *slack* more than the least; None: at all."""
        self._limit = None if slack is None or self.least is None else self.least + slack
        self.costs.clear()
        for memory in (self._numbers, self._carried, self._bounds, self._ends):
            memory.clear()

    def _number(self, costs: dict[State, int]) -> int:
        key = tuple(sorted(costs.items()))
        if key not in self._numbers:
            self._numbers[key] = len(self.costs)
            self.costs.append(costs)
        return self._numbers[key]

    def begin(self, near: State) -> int:
        """Number of the cost table at the start."""
        return self._number(self.close({self.start: 0}, near))

    def carry(self, number: int, near: State, there: State) -> int | None:
        """Number of the cost table after a move of the core; None if no combination survives it."""
        if near == there:
            return number
        key = (number, near, there)
        if key not in self._carried:
            moved = self.enter(self.costs[number], near, there)
            self._carried[key] = self._number(self.close(moved, there)) if moved else None
        return self._carried[key]

    def enter(self, costs: dict[State, int], near: State, there: State) -> dict[State, int]:
        """Costs right after a move of the core, before any move here."""
        return {s: cost + price for s, cost in costs.items() if (price := self.entry(s, near, s, there)) is not None}

    def close(self, costs: dict[State, int], near: State) -> dict[State, int]:
        """Least cost of every combination that own moves reach while the core stays where it is."""
        done: dict[State, int] = {}
        heap = [(cost, state) for state, cost in costs.items()]
        heapq.heapify(heap)
        best = dict(costs)
        row = self.entering(near)
        togo = self._togo[tuple(near[position] for position in self._narrow)]
        while heap:
            cost, state = heapq.heappop(heap)
            if state in done:
                continue
            rest = togo.get(state)
            if rest is None or (self._limit is not None and cost + rest > self._limit):
                continue
            done[state] = cost
            for after, price, mask in self.moves(state):
                if after in done or (entered := row(after)) is None:
                    continue
                total = cost + price + entered[mask]
                if total < best.get(after, total + 1):
                    best[after] = total
                    heapq.heappush(heap, (total, after))
        return done

    def bound(self, number: int, core: State) -> int | None:
        """Least cost of all that are alike, so far and still to come, if the core goes the way that suits them best."""
        near = self._relaxed.look(core)
        key = (number, near)
        if key not in self._bounds:
            togo = self._togo[near]
            ways = [cost + rest for s, cost in self.costs[number].items() if (rest := togo.get(s)) is not None]
            self._bounds[key] = self.alike.scaled(min(ways)) if ways else None
        return self._bounds[key]

    def end(self, number: int, near: State) -> int | None:
        """Least cost of all that are alike of ending with the core where it is."""
        key = (number, near)
        if key not in self._ends:
            ways = [cost + last for s, cost in self.costs[number].items() if (last := self.ending(s, near)) is not None]
            self._ends[key] = self.alike.scaled(min(ways)) if ways else None
        return self._ends[key]

    def _bounding(self) -> tuple[int, ...]:
        """Variables of the core that the bound looks at: as many as keep the table small, small domains first."""
        total = self.problem.size(self.variables)
        chosen: list[int] = []
        for variable in sorted(self.near, key=lambda v: (len(self.problem.variables[v].values), v)):
            total *= len(self.problem.variables[variable].values)
            if total <= _BOUND_LIMIT or not chosen:
                chosen.append(variable)
        return tuple(variable for variable in self._core.variables if variable in chosen)

    def _remaining(self, part: Part) -> dict[State, dict[State, int]]:
        """Cheapest way of *part* to its goal if the core may move as it likes and for nothing: exact, by backward search.

        By state of the core that matters here, then by state of the part.
        """
        states = list(product(*(range(len(self.problem.variables[v].values)) for v in part.variables)))
        origins: dict[State, list[tuple[State, int, int]]] = {state: [] for state in states}
        for state in states:
            for after, price, mask in part.moves(state):
                origins[after].append((state, price, mask))
        nears = list(product(*(range(len(self.problem.variables[v].values)) for v in part.near)))
        sources: dict[State, list[State]] = {near: [] for near in nears}
        for near in nears:
            for there in self._jumps(part.near, near):
                sources[there].append(near)
        best: dict[State, dict[State, int]] = {near: {} for near in nears}
        heap: list[tuple[int, State, State]] = []
        for near in nears:
            if all((goal := self.problem.goal[v]) is None or value in goal for v, value in zip(part.near, near, strict=True)):
                for state in states:
                    last = part.ending(state, near)
                    if last is not None and part.profile(state, near) is not None:
                        best[near][state] = last
                        heap.append((last, near, state))
        heapq.heapify(heap)
        done: dict[State, dict[State, int]] = {near: {} for near in nears}
        rows = {near: part.entering(near) for near in nears}
        while heap:
            cost, near, state = heapq.heappop(heap)
            settled = done[near]
            if state in settled:
                continue
            settled[state] = cost
            entered = rows[near](state)
            if entered is None:
                continue  # only the start may be in a forbidden combination, and nothing leads there
            known = best[near]
            for before, price, mask in origins[state]:
                total = cost + price + entered[mask]
                if before not in known or total < known[before]:
                    known[before] = total
                    heapq.heappush(heap, (total, near, before))
            for here in sources[near]:
                extra = part.entry(state, here, state, near)
                if extra is not None:
                    total = cost + extra
                    others = best[here]
                    if state not in others or total < others[state]:
                        others[state] = total
                        heapq.heappush(heap, (total, here, state))
        return done

    def _jumps(self, variables: tuple[int, ...], near: State) -> list[State]:
        """Where one move of the core can take a few of its variables."""
        place = {variable: index for index, variable in enumerate(variables)}
        found: dict[State, None] = {}
        for group in self.problem.groups:
            inside = [variable for variable in group.variables if variable in place]
            choices = [[near[place[v]], *(end for end, _ in self._core.steps.get((v, near[place[v]]), ()))] for v in inside]
            for combination in product(*choices):
                after = list(near)
                for variable, value in zip(inside, combination, strict=True):
                    after[place[variable]] = value
                if tuple(after) != near:
                    found[tuple(after)] = None
        return list(found)


def trace(part: Component, views: list[State]) -> list[list[Move]]:
    """Moves of one component along a core path, each as late as the least cost allows."""
    entered = [{part.start: 0}]
    closed = [part.close(entered[0], views[0])]
    for near, there in pairwise(views):
        moved = part.enter(closed[-1], near, there) if near != there else closed[-1]
        entered.append(moved)
        closed.append(part.close(moved, there))
    ends = [(cost + last, state) for state, cost in closed[-1].items() if (last := part.ending(state, views[-1])) is not None]
    state = min(ends)[1]
    segments: list[list[Move]] = [[] for _ in views]
    for place in range(len(views) - 1, -1, -1):
        while (before := _predecessor(part, closed[place], state, views[place])) is not None:
            segments[place].insert(0, difference(part.variables, before, state))
            state = before
        if place and state not in entered[place]:
            raise AssertionError("a cost without a way that leads to it")
    return segments


def _predecessor(part: Component, costs: dict[State, int], state: State, near: State) -> State | None:
    """The state from which a move reaches *state* at its least cost, if there is one."""
    entered = part.entering(near)(state)
    for before in sorted(costs):
        if costs[before] < costs[state]:
            for after, price, mask in part.moves(before):
                if after == state and entered is not None and costs[before] + price + entered[mask] == costs[state]:
                    return before
    return None


def difference(variables: tuple[int, ...], before: State, after: State) -> Move:
    return tuple((variable, one, other) for variable, one, other in zip(variables, before, after, strict=True) if one != other)


def backward(goals: dict[_Node, int], edges: dict[_Node, list[tuple[_Node, int]]]) -> dict[_Node, int]:
    """Least cost from every node to a goal, given the edges by where they lead."""
    best = dict(goals)
    heap = [(cost, node) for node, cost in goals.items()]
    heapq.heapify(heap)
    done: dict[_Node, int] = {}
    while heap:
        cost, node = heapq.heappop(heap)
        if node in done:
            continue
        done[node] = cost
        for before, price in edges.get(node, ()):
            total = cost + price
            if before not in done and total < best.get(before, total + 1):
                best[before] = total
                heapq.heappush(heap, (total, before))
    return done
