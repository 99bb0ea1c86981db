"""Random small problems, and the oracle that solves them by going through every state."""

from __future__ import annotations

import heapq
import random
from itertools import product

from planner.solver import Group, Problem, Table, Transition, Variable
from planner.solver.problem import pack

WIDTH = 3


def random_problem(seed: int, *, variables: int | None = None, values: int = 4, dense: float = 0.5) -> Problem:
    """A problem with a hub, some neighbours of it, a few tables between these, and groups of one or two variables."""
    rng = random.Random(seed)
    count = variables or rng.randint(1, 5)
    sizes = [rng.randint(2, values) for _ in range(count)]
    tables = []
    for one in range(count):
        for other in range(one + 1, count):
            if one != 0 and rng.random() > dense / 2:
                continue
            combinations: list[tuple[int, ...]] = [c for c in product(range(sizes[one]), range(sizes[other])) if c != (0, 0)]
            forbidden = frozenset(c for c in combinations if rng.random() < 0.3)
            entry = {c: pack((rng.randint(0, 1), 0, 0)) for c in combinations if rng.random() < 0.2}
            landing = {c: pack((0, 0, rng.randint(1, 3))) for c in combinations if rng.random() < 0.2}
            tables.append(Table((one, other), forbidden, entry, landing))
    transitions = [
        Transition(v, i, j, pack((rng.randint(0, 9) // 9, 0, rng.randint(0, 1))))
        for v in range(count)
        for i in range(sizes[v])
        for j in range(i + 1, sizes[v])
        if j == i + 1 or rng.random() < 0.4
    ]
    groups, rest = [], list(range(1, count))
    groups.append(Group((0,), pack((0, 1, 0))))
    while rest:
        members = tuple(rest.pop(0) for _ in range(min(len(rest), rng.choice((1, 1, 2)))))
        groups.append(Group(members, pack((0, rng.randint(1, 3), 0))))
    goal = [frozenset(rng.sample(range(size), rng.randint(1, size))) if rng.random() < 0.4 else None for size in sizes]
    goal[0] = frozenset((sizes[0] - 1,))
    return Problem(
        variables=tuple(Variable(f"v{n}", tuple(map(str, range(size)))) for n, size in enumerate(sizes)),
        start=(0,) * count,
        goal=tuple(goal),
        tables=tuple(tables),
        transitions=tuple(transitions),
        groups=tuple(groups),
        landing=tuple(tuple(pack((0, 0, rng.randint(0, 2))) for _ in range(size)) for size in sizes),
        width=WIDTH,
    )


def moves(problem: Problem, state: tuple[int, ...]) -> list[tuple[tuple[int, ...], int]]:
    """Every move out of a state that no table forbids, with its whole cost: written for clarity, not shared with the solver."""
    ways: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for item in problem.transitions:
        ways.setdefault((item.variable, item.start), []).append((item.end, item.cost))
    found = []
    for group in problem.groups:
        for chosen in product(*([(state[v], 0), *ways.get((v, state[v]), [])] for v in group.variables)):
            after = list(state)
            cost = group.cost
            for variable, (value, price) in zip(group.variables, chosen, strict=True):
                after[variable] = value
                cost += price
            if tuple(after) == state:
                continue
            bad = False
            for table in problem.tables:
                here, there = (tuple(s[v] for v in table.variables) for s in (state, after))
                bad = bad or there in table.forbidden
                cost += table.entry.get(there, 0) if here != there else 0
            if not bad:
                found.append((tuple(after), cost))
    return found


def ending(problem: Problem, state: tuple[int, ...]) -> int | None:
    """Cost of ending in a state; None if it is no goal."""
    if any(goal is not None and value not in goal for goal, value in zip(problem.goal, state, strict=True)):
        return None
    cost = sum(problem.landing[v][value] for v, value in enumerate(state))
    return cost + sum(table.landing.get(tuple(state[v] for v in table.variables), 0) for table in problem.tables)


def exhaustive(problem: Problem) -> int | None:
    """Least packed cost by Dijkstra over whole states; None if no goal can be reached."""
    heap = [(0, problem.start)]
    done: set[tuple[int, ...]] = set()
    best: int | None = None
    while heap:
        cost, state = heapq.heappop(heap)
        if state in done:
            continue
        done.add(state)
        last = ending(problem, state)
        if last is not None and (best is None or cost + last < best):
            best = cost + last
        for after, price in moves(problem, state):
            if after not in done:
                heapq.heappush(heap, (cost + price, after))
    return best
