"""Turn an exported problem into an answer set program for clingo.

``python -m scripts.problem_to_asp problem.json -o problem.lp``, then ``python -m clingo --opt-strategy=usc problem.lp``. The program
names the components of the cost as priorities of its minimization, so the optimum is lexicographic without any scaling.

The horizon is the number of moves that no path exceeds: every move takes at least one transition, and transitions only go up. Shorter
paths stay idle at the end. A path never comes back to a combination of values, for the same reason, so what it costs to enter one is
counted once, without a time. Two neighbouring moves of groups that share no table can be swapped at no cost, so only the order is kept
in which the earlier group goes first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path

from scripts.problem_document import Cost, Document, DocumentError, most_moves, quoted, read_file
from scripts.problem_to_pddl import write

__all__ = ["asp"]

_RULES = """
#defined near/2. #defined goal/1. #defined end/2. #defined way/4. #defined group/1. #defined member/2.
#defined barred/2. #defined barred/4. #defined barred/6. #defined entry/3. #defined entry/5. #defined entry/7.
#defined landing/3. #defined landing/5. #defined landing/7.
#defined group_cost/3. #defined way_cost/5. #defined entry_cost/3. #defined landing_cost/3.

time(1..horizon).
at(V,X,0) :- start(V,X).
{ go(G,T) : group(G) } 1 :- time(T).
:- go(_,T), T > 1, not go(_,T-1).
{ step(V,A,B,T) : way(V,A,B) } 1 :- go(G,T), member(G,V).
:- step(V,A,_,T), not at(V,A,T-1).
moved(V,T) :- step(V,_,_,T).
:- go(G,T), not moved(V,T) : member(G,V).
at(V,B,T) :- step(V,_,B,T).
at(V,X,T) :- at(V,X,T-1), time(T), not moved(V,T).
:- go(G,T), go(F,T+1), F < G, not near(F,G).
been(V,X) :- at(V,X,_).

:- barred(V,X), at(V,X,_).
:- barred(V,X,W,Y), at(V,X,T), at(W,Y,T).
:- barred(V,X,W,Y,U,Z), at(V,X,T), at(W,Y,T), at(U,Z,T).

entered(K,V,X) :- entry(K,V,X), at(V,X,_), not start(V,X).
entered(K,V,X,W,Y) :- entry(K,V,X,W,Y), at(V,X,T), at(W,Y,T).
entered(K,V,X,W,Y,U,Z) :- entry(K,V,X,W,Y,U,Z), at(V,X,T), at(W,Y,T), at(U,Z,T).

ended(V,X) :- at(V,X,horizon).
:- goal(V), not ended(V,X) : end(V,X).
landed(K) :- landing(K,V,X), ended(V,X).
landed(K) :- landing(K,V,X,W,Y), ended(V,X), ended(W,Y).
landed(K) :- landing(K,V,X,W,Y,U,Z), ended(V,X), ended(W,Y), ended(U,Z).

#minimize { C@P,go,G,T : go(G,T), group_cost(G,P,C) }.
#minimize { C@P,way,V,A,B : step(V,A,B,_), way_cost(V,A,B,P,C) }.
#minimize { C@P,entry,K : entered(K,_,_), entry_cost(K,P,C) ; C@P,entry,K : entered(K,_,_,_,_), entry_cost(K,P,C) ;
            C@P,entry,K : entered(K,_,_,_,_,_,_), entry_cost(K,P,C) }.
#minimize { C@P,land,K : landed(K), landing_cost(K,P,C) }.
#show step/4.
"""


def asp(document: Document, horizon: int | None = None) -> str:
    """Return the program. With a *horizon* smaller than `most_moves` its optimum is that of paths of so many moves only."""
    lines = [
        "% written by scripts/problem_to_asp.py from an exported problem",
        *(f"% priority {len(document.objective) - n}: {quoted(name)}" for n, name in enumerate(document.objective)),
        *(f"% {n} = {quoted(name)}: {', '.join(map(quoted, domain))}" for n, (name, domain) in enumerate(zip(document.names, document.domains, strict=True))),
        f"#const horizon = {most_moves(document) if horizon is None else horizon}.",
        *_facts(document),
        # a component that never costs anything still takes its place in the cost that clingo prints
        *(f"#minimize {{ 0@{n + 1} }}." for n in range(len(document.objective))),
    ]
    return "\n".join(lines) + "\n" + _RULES


def _facts(document: Document) -> Iterator[str]:
    yield from (f"start({v},{value})." for v, value in enumerate(document.start))
    for number, group in enumerate(document.groups):
        yield f"group({number})."
        yield from (f"member({number},{v})." for v in group.variables)
        yield from _costs(document, f"group_cost({number}", group.cost)
    for one, other in _near(document):
        yield f"near({one},{other})."
    for step in document.transitions:
        key = f"{step.variable},{step.start},{step.end}"
        yield f"way({key})."
        yield from _costs(document, f"way_cost({key}", step.cost)
    for v, goal in enumerate(document.goal):
        if goal is not None:
            yield f"goal({v})."
            yield from (f"end({v},{value})." for value in goal)
    entries = landings = 0
    for v, costs in enumerate(document.landing):
        for value, cost in enumerate(costs):
            if any(cost):
                yield f"landing({landings},{v},{value})."
                yield from _costs(document, f"landing_cost({landings}", cost)
                landings += 1
    for table in document.tables:
        start = tuple(document.start[v] for v in table.variables)
        for values in product(*(document.values(v) for v in table.variables)):
            key = ",".join(f"{v},{value}" for v, value in zip(table.variables, values, strict=True))
            if values not in table.allowed:
                yield f"barred({key})."
                continue
            if values != start and any(table.entry.get(values, ())):
                yield f"entry({entries},{key})."
                yield from _costs(document, f"entry_cost({entries}", table.entry[values])
                entries += 1
            if any(table.landing.get(values, ())):
                yield f"landing({landings},{key})."
                yield from _costs(document, f"landing_cost({landings}", table.landing[values])
                landings += 1


def _costs(document: Document, head: str, cost: Cost) -> Iterator[str]:
    for n, part in enumerate(cost):
        if part:
            yield f"{head},{len(document.objective) - n},{part})."


def _near(document: Document) -> Iterator[tuple[int, int]]:
    """Pairs of groups that share a table, smaller number first."""
    home = {v: number for number, group in enumerate(document.groups) for v in group.variables}
    found: set[tuple[int, int]] = set()
    for table in document.tables:
        found.update(combinations(sorted({home[v] for v in table.variables if v in home}), 2))
    yield from sorted(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.problem_to_asp", description="Turn an exported problem (compat.problem/v1) into a clingo program.")
    parser.add_argument("problem", type=Path, help="file that compat plan --export-problem wrote")
    parser.add_argument("-o", "--output", type=Path, default=Path("problem.lp"), help="file for the program (default: problem.lp)")
    options = parser.parse_args(arguments)
    try:
        write(options.output, asp(read_file(options.problem)))
    except DocumentError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {options.output}; clingo prints the components of the cost in the order of the objective", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
