"""The compiled problem under only some of the claims that forbid something: can the goal be reached then?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from compat import Claim
from planner.compiling import Compiled
from planner.solver import Problem, Table, Transition, solve
from planner.solver.reduce import reduce

__all__ = ["Relaxation", "smallest"]


_ALWAYS = -1


class Relaxation:
    """A problem whose prohibitions can be lifted claim by claim; costs do not matter in it."""

    def __init__(self, compiled: Compiled) -> None:
        reasons = (*compiled.table_reasons.values(), *compiled.hop_reasons.values())
        self.claims: list[Claim] = list(dict.fromkeys(claim for found in reasons for claim in found))
        """Every claim that forbids something, in the order of the problem."""
        whole = compiled.whole
        hops = {hop: frozenset(self.claims.index(claim) for claim in claims) for hop, claims in compiled.hop_reasons.items()}
        forbidden: dict[tuple[tuple[int, ...], int], set[tuple[int, ...]]] = {}
        for (variables, combination), claims in compiled.table_reasons.items():
            for claim in claims:
                forbidden.setdefault((variables, self.claims.index(claim)), set()).add(combination)
        # One table per claim: a value is then left out only if another is no stricter whichever claims are lifted.
        for (variables, combination), claims in compiled.table_reasons.items():
            if not claims:  # not a claim's doing: nothing lifts it
                forbidden.setdefault((variables, _ALWAYS), set()).add(combination)
        owners = list(forbidden)
        free = replace(
            whole,
            tables=tuple(Table(variables, frozenset(forbidden[variables, claim])) for variables, claim in owners),
            transitions=(
                *(
                    Transition(v, i, j)
                    for v, variable in enumerate(whole.variables)
                    for i in range(len(variable.values))
                    for j in range(i + 1, len(variable.values))
                ),
                *(Transition(t.variable, t.start, t.end) for t in whole.transitions if t.end < t.start),
            ),
            landing=tuple((0,) * len(variable.values) for variable in whole.variables),
        )
        nothing: frozenset[int] = frozenset()

        def may_stand_in(variable: int, value: int, other: int) -> bool:
            into = all(hops.get((variable, start, other), nothing) <= hops.get((variable, start, value), nothing) for start in range(value))
            onward = range(other + 1, len(whole.variables[variable].values))
            return into and all(hops.get((variable, other, end), nothing) <= hops.get((variable, value, end), nothing) for end in onward)

        self._problem, kept = reduce(free, may_stand_in)
        self._owner = [claim for _, claim in owners]
        self._hops = {
            (variable, numbers.index(i), numbers.index(j)): hops[variable, i, j]
            for variable, numbers in enumerate(kept)
            for (v, i, j) in hops
            if v == variable and i in numbers and j in numbers
        }

    def is_reachable(self, enforced: Iterable[Claim]) -> bool:
        """Whether the goal can be reached if only these claims forbid anything."""
        numbers = {self.claims.index(claim) for claim in enforced}
        return solve(self._under(numbers)) is not None

    def _under(self, enforced: set[int]) -> Problem:
        merged: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
        for table, owner in zip(self._problem.tables, self._owner, strict=True):
            if owner == _ALWAYS or owner in enforced:
                merged.setdefault(table.variables, set()).update(table.forbidden)
        barred = {hop for hop, claims in self._hops.items() if claims & enforced}
        return reduce(
            replace(
                self._problem,
                tables=tuple(Table(variables, frozenset(combinations)) for variables, combinations in merged.items() if combinations),
                transitions=tuple(t for t in self._problem.transitions if (t.variable, t.start, t.end) not in barred),
            )
        )[0]


def smallest(claims: Sequence[Claim], is_reachable: Callable[[Sequence[Claim]], bool]) -> list[Claim]:
    """A set of claims under which the goal cannot be reached and of which none can be left out (QuickXplain, Junker 2004).

    Args:
        claims: claims under all of which the goal cannot be reached; earlier ones are kept rather than later ones.
        is_reachable: whether the goal can be reached under some of them.
    """

    def needed(background: list[Claim], tried: bool, rest: list[Claim]) -> list[Claim]:
        if tried and not is_reachable(background):
            return []
        if len(rest) == 1:
            return rest
        one, other = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        late = needed([*background, *one], bool(one), other)
        early = needed([*background, *late], bool(late), one)
        return [*early, *late]

    return needed([], True, list(claims)) if claims else []
