"""The parts that a search works with: variables with what concerns only them, or them and the core."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise, product
from typing import TypeVar

from planner.solver.classes import Class
from planner.solver.problem import Move, Problem, State

__all__ = ["Component", "Part", "backward", "difference", "trace"]

_BOUND_LIMIT = 400
"""Largest number of combinations of a component and the core variables that its bound looks at."""

_Profile = tuple[list[State], list[tuple[int, int]]]
_Node = TypeVar("_Node", State, tuple[State, State])


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
        self._groups = [(tuple(variables.index(v) for v in g.variables), g.cost) for g in problem.groups if set(g.variables) <= own]
        combined = (*variables, *self.near)
        self._places = [tuple(combined.index(v) for v in table.variables) for table in self.tables]
        self._moves: dict[State, list[tuple[State, int, int]]] = {}
        self._masks = sorted(
            {sum(1 << p for p in chosen) for positions, _ in self._groups for n in range(len(positions)) for chosen in combinations(positions, n + 1)}
        )
        """Which variables a move may change together, as bits."""
        self._touched = [
            frozenset(n for n, table in enumerate(self.tables) if any(mask >> variables.index(v) & 1 for v in table.variables if v in own))
            for mask in self._masks
        ]
        """Per mask the tables whose combination such a move changes."""
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
        numbers = {mask: number for number, mask in enumerate(self._masks)}
        choices = [[(state[p], 0), *self.steps.get((self.variables[p], state[p]), ())] for p in positions]
        for combination in product(*choices):
            after = list(state)
            cost = price
            mask = 0
            for position, (value, extra) in zip(positions, combination, strict=True):
                if value != state[position]:
                    after[position] = value
                    mask |= 1 << position
                cost += extra
            if mask:
                yield tuple(after), cost, numbers[mask]

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
                found = None if profile is None else tuple(sum(price for number, price in profile[1] if number in touched) for touched in self._touched)
                rows[state] = found
                return found

        return row

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
        for number, (table, places) in enumerate(zip(self.tables, self._places, strict=True)):
            combination = tuple([values[place] for place in places])
            if combination in table.forbidden:
                return None
            found.append(combination)
            price = table.entry.get(combination)
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
        here = old[0] if old else [tuple([(*before, *near)[p] for p in places]) for places in self._places]
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
        for table, places in zip(self.tables, self._places, strict=True):
            if table.landing:
                cost += table.landing.get(tuple(values[place] for place in places), 0)
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
        self.least = self._togo.get((tuple(problem.start[v] for v in self._relaxed.near), self.start))
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
        around = tuple(near[position] for position in self._narrow)
        while heap:
            cost, state = heapq.heappop(heap)
            if state in done:
                continue
            rest = self._togo.get((around, state))
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
            ways = [cost + rest for s, cost in self.costs[number].items() if (rest := self._togo.get((near, s))) is not None]
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

    def _remaining(self, part: Part) -> dict[tuple[State, State], int]:
        """Cheapest way of *part* to its goal if the core may move as it likes and for nothing: exact, by backward search."""
        start = (tuple(self.problem.start[v] for v in part.near), self.start)
        order, seen = [start], {start}
        jumps: dict[State, list[State]] = {}
        edges: dict[tuple[State, State], list[tuple[tuple[State, State], int]]] = {}
        for near, state in order:
            if near not in jumps:
                jumps[near] = self._jumps(part.near, near)
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
            if all((goal := self.problem.goal[v]) is None or value in goal for v, value in zip(part.near, near, strict=True))
            and (last := part.ending(state, near)) is not None
        }
        return backward(goals, edges)

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
