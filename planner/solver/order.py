"""Bringing the moves of a solution into one canonical order.

Moves that do not depend on each other can be taken either way round. Which way a search happens to give them says nothing, so neighbours
are swapped as long as the move of the earlier variable can go first at no higher cost. The result has the same cost, and does not depend
on how the problem was split.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.solver.problem import Move, Problem, State

__all__ = ["canonical"]


def canonical(problem: Problem, moves: Sequence[Move]) -> tuple[Move, ...]:
    """Return the moves with the earlier variables' as early as the cost allows."""
    ordered = list(moves)
    states = _states(problem, ordered)
    changed = True
    while changed:
        changed = False
        for place in range(len(ordered) - 1):
            one, other = ordered[place], ordered[place + 1]
            if _rank(other) < _rank(one) and not _share(one, other) and _swaps(problem, states[place], one, other):
                ordered[place], ordered[place + 1] = other, one
                states = _states(problem, ordered)
                changed = True
    return tuple(ordered)


def _rank(move: Move) -> int:
    return min(variable for variable, _, _ in move)


def _share(one: Move, other: Move) -> bool:
    return bool({variable for variable, _, _ in one} & {variable for variable, _, _ in other})


def _swaps(problem: Problem, state: State, one: Move, other: Move) -> bool:
    """Whether taking *other* first is allowed and costs no more."""
    straight = _entered(problem, state, one, other)
    turned = _entered(problem, state, other, one)
    return turned is not None and (straight is None or turned <= straight)


def _entered(problem: Problem, state: State, first: Move, second: Move) -> int | None:
    """Cost of the combinations entered by two moves in turn; None if one is forbidden."""
    cost = 0
    for move in (first, second):
        after = _apply(state, move)
        moved = {variable for variable, _, _ in move}
        for table in problem.tables:
            if moved & set(table.variables):
                there = tuple(after[v] for v in table.variables)
                if there in table.forbidden:
                    return None
                cost += table.entry.get(there, 0)
        state = after
    return cost


def _apply(state: State, move: Move) -> State:
    after = list(state)
    for variable, _, end in move:
        after[variable] = end
    return tuple(after)


def _states(problem: Problem, moves: Sequence[Move]) -> list[State]:
    states = [problem.start]
    for move in moves:
        states.append(_apply(states[-1], move))
    return states
