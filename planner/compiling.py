"""From a situation and a goal to a `Problem` of small integers.

Versions that no claim tells apart collapse to their newest; judgements become tables; upgrade rules become transitions; what rides along
in one node drain becomes a group. Everything domain-specific ends here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from compat import Claim, Matrix, Version
from compat.hops import Hop, everywhere, hop
from compat.landing import barring
from compat.ranges import Range, parse_range
from compat.scope import Fit
from compat.verdicts import can_break
from planner.bans import carried_and_barred, is_barred
from planner.goal import Goal
from planner.images import agent_of, comes_with_node, shipped
from planner.judgements import Judgement, is_no_worse
from planner.pairs import Pairs
from planner.parts import Part
from planner.situation import Situation
from planner.solver import Group, Problem, Table, Transition, Variable
from planner.solver.problem import pack
from planner.solver.reduce import reduce

__all__ = ["OBJECTIVE", "PREFERENCES", "Compiled", "compile_problem"]

OBJECTIVE = (
    "unknown_pairs",
    "gpu_nodes_drained",
    "other_nodes_drained",
    "steps",
    "weak_at_end",
    "support_days_missing",
    "releases_behind",
    "changes",
    "landings_behind",
    "weak_on_the_way",
)
"""Components of a cost, most important first.

Pairs relied on that are unknown, counted when they are entered; nodes drained; steps. What follows decides between plans that are equal
in these: pairs at the end that are not tested, days of support that the versions at the end lack, releases they are behind; then the
number of single version changes, how far their landings are behind, and untested pairs on the way.
"""
PREFERENCES = {
    "fewest-drains": OBJECTIVE,
    "fewest-steps": ("unknown_pairs", "steps", "gpu_nodes_drained", "other_nodes_drained", *OBJECTIVE[4:]),
    "newest": (*OBJECTIVE[:3], "weak_at_end", "releases_behind", "steps", "support_days_missing", *OBJECTIVE[7:]),
}
"""``--prefer`` -> order of the objective."""
_HORIZON = 3650
"""Days of support that count; an end farther away, or none, is as good as this."""


@dataclass(frozen=True)
class Compiled:
    """A problem, and what its integers stand for."""

    problem: Problem
    parts: tuple[Part, ...]
    domains: tuple[tuple[Version, ...], ...]
    """Per variable the version that each value stands for."""
    objective: tuple[str, ...]
    whole: Problem
    """The problem before values that are never needed were left out; the reasons refer to it."""
    table_reasons: Mapping[tuple[tuple[int, ...], tuple[int, ...]], tuple[Claim, ...]]
    """Variables and forbidden combination -> the claims that forbid it."""
    hop_reasons: Mapping[tuple[int, int, int], tuple[Claim, ...]]
    """Variable, value before, value after -> the claims that forbid the hop."""


class _Compiler:
    def __init__(self, situation: Situation, goal: Goal, pairs: Pairs, prefer: str) -> None:
        self.situation = situation
        self.goal = goal
        self.pairs = pairs
        self.matrix: Matrix = situation.matrix
        self.objective = PREFERENCES[prefer]
        self.parts = situation.parts
        self.index = {part.key: number for number, part in enumerate(self.parts)}
        self.reasons: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[Claim, ...]] = {}

    def cost(self, **components: int) -> int:
        return pack(components.get(name, 0) for name in self.objective)

    # -- domains

    def candidates(self, part: Part) -> list[Version]:
        """Versions that the part may have, oldest first: what runs now and what can be reached."""
        if part.values:
            return list(part.values)
        if comes_with_node(self.situation, part):
            return self.carried(part)
        if self.matrix.text_scope(part.component, part.version):
            return [part.version]  # another flavour than the releases that are known: they are no newer versions of it
        role = self.situation.role(part.component)
        newest_now = max(part.mixed or (part.version,))  # a roll-out under way is finished or overtaken, never turned back
        out = [
            release.version
            for release in self.matrix.releases(part.component, stable_only=True)
            if release.version > part.version and release.version >= newest_now and release.version.parts > 1
        ]
        if role in ("control-plane", "node-agent"):
            target = self.goal.version
            newest: dict[tuple[int, int], Version] = {}
            for version in sorted(out):
                past = version.line > target.line or (version.line == target.line and (self.goal.exact or version >= target))
                if not past and version.parts > 2 and not (version.line in newest and is_barred(self.situation, part, version)):
                    newest[version.line] = version
            if not is_barred(self.situation, part, target):
                newest.pop(target.line, None)  # only where the newest of the target's line is barred an older one has to do
            for version in self._not_out_yet(part, target):
                newest.setdefault(version.line, version)
            found = {*newest.values(), target} if part.version < target else set(newest.values())
            return sorted({part.version, *(version for version in found if version > part.version and version >= newest_now)})
        return sorted({part.version, *(version for version in out if version.parts > 2 or not self._has_patches(version, out))})

    def carried(self, part: Part) -> list[Version]:
        """What runs now, and what comes with the nodes that the pool may get."""
        agent = agent_of(self.situation, part)
        later = {shipped(self.situation, part, agent, version)[0] for version in self.candidates(agent)} if agent else set()
        return [part.version, *sorted(later - {part.version})]

    def _not_out_yet(self, part: Part, target: Version) -> list[Version]:
        """First releases of lines below the target that were not out on the day: the way leads through them all the same."""
        later = [release.version for release in self.matrix.releases(part.component, out_only=False) if release.known_from > self.matrix.as_of]
        return sorted(version for version in later if part.version.line < version.line < target.line and not version.is_prerelease)

    @staticmethod
    def _has_patches(line: Version, versions: Iterable[Version]) -> bool:
        return any(other.parts > line.parts and other.key.release[: line.parts] == line.key.release[: line.parts] for other in versions)

    @cached_property
    def domains(self) -> list[list[Version]]:
        return [self.collapse(part, self.candidates(part)) for part in self.parts]

    def collapse(self, part: Part, versions: list[Version]) -> list[Version]:
        """Keep the start and of versions that no standing claim tells apart the newest."""
        if part.values or self.situation.role(part.component) in ("control-plane", "node-agent") or comes_with_node(self.situation, part):
            return versions
        ranges = list(self._tests(part))
        newest: dict[tuple[bool, ...], Version] = {}
        for version in versions:
            if version != part.version:
                newest[tuple(version in test for test in ranges)] = version
        return [part.version, *sorted(newest.values())]

    def _tests(self, part: Part) -> Iterable[Range]:
        """Ranges over the part's versions that some relevant claim uses."""
        seen: set[str] = set()

        def once(text: str) -> bool:
            fresh = bool(text) and text not in seen
            seen.add(text)
            return fresh

        for claim in self._relevant(part):
            for text, test in (
                (claim.versions if claim.subject == part.component else "", "subject_range"),
                (claim.object_versions if claim.object == part.component else "", "object_range"),
                (str(claim.detail.get("to_versions") or "") if claim.kind == "upgrade" else "", "to_range"),
            ):
                if once(text):
                    yield getattr(claim, test)
        for text in self._as_third(part):
            if once(text):
                yield parse_range(text, self.matrix.lineage(part.component))

    def _as_third(self, part: Part) -> Iterable[str]:
        """Ranges over the part's versions under which claims about two other parts hold."""
        for pair in self.pairs.deciding:
            if part.key in self.pairs.thirds(pair):
                for a in self.pairs.names(self.situation.by_key[pair.one]):
                    for b in self.pairs.names(self.situation.by_key[pair.other]):
                        for claim in self.matrix.between(a, b):
                            when = claim.detail.get("when")
                            if isinstance(when, Mapping) and part.component in when:
                                yield when[part.component]

    def _relevant(self, part: Part) -> Iterable[Claim]:
        """Claims that can make a difference to cost: what only warns or applies elsewhere tells no versions apart."""
        scopes = self.situation.places(part)
        partners = {name for other in self.parts if other.key != part.key for name in self.pairs.names(other)} | set(self.situation.hardware)
        for partner in sorted(partners):
            for claim in self.matrix.between(part.component, partner):
                matches = [self.matrix.fit(claim, scope) for scope in scopes]
                if (claim.kind in ("support", "require", "bundle") and any(match.fit is not Fit.NO or claim.closed for match in matches)) or any(
                    can_break(claim, self.matrix.fit(claim, {**scope, "node": ("same",)})) for scope in scopes
                ):
                    yield claim
        yield from (claim for claim in barring(self.matrix, part.component) if claim.severity == "must")
        for operand in dict.fromkeys([*self.pairs.operands.get(part.component, ()), *carried_and_barred(self.situation, part.component)]):
            yield from (claim for claim in self.matrix.about(part.component, "bundle") if claim.object == operand)
        for claim in self.matrix.about(part.component, "upgrade"):
            if claim.detail.get("rule") in ("allowed", "forbidden", "needs-stop", "unknown") and claim.object in ("", part.component):
                yield claim
        yield from self.matrix.about(part.component, "lifecycle")

    # -- tables

    def tables(self) -> Iterable[Table]:
        for pair in self.pairs.deciding:
            keys = (pair.one, pair.other, *self.pairs.thirds(pair))
            variables = tuple(self.index[key] for key in keys)
            forbidden: set[tuple[int, ...]] = set()
            entry: dict[tuple[int, ...], int] = {}
            landing: dict[tuple[int, ...], int] = {}
            now: Judgement | None = None
            for values in product(*(range(len(self.domains[variable])) for variable in variables)):
                judgement = self.pairs.judge(pair, {key: self.domains[variable][value] for key, variable, value in zip(keys, variables, values, strict=True)})
                if not any(values):
                    now = judgement  # the first: everything as it is
                grade = judgement.grade if judgement else "tested"
                if judgement and grade == "broken" and not is_no_worse(judgement, now):
                    forbidden.add(values)
                    self.reasons[variables, values] = judgement.verdict.claims
                elif grade in ("unknown", "broken"):
                    entry[values] = self.cost(unknown_pairs=1)
                    # what lists stop short of is better than what nothing speaks of at all
                    silent = int(judgement is not None and not judgement.verdict.claims)
                    landing[values] = self.cost(weak_at_end=1_000_000 if grade == "broken" else 1000 + silent)
                elif grade == "declared":
                    entry[values] = self.cost(weak_on_the_way=1)
                    landing[values] = self.cost(weak_at_end=1)
            if forbidden or entry or landing:
                yield Table(variables, frozenset(forbidden), entry, landing)
        for number, part in enumerate(self.parts):
            yield from self.lone_table(number, part)
            agent = agent_of(self.situation, part) if comes_with_node(self.situation, part) else None
            if agent:
                yield self.image_table(number, part, agent)

    def image_table(self, number: int, part: Part, agent: Part) -> Table:
        """Ties what comes with a node to the node's agent."""
        other = self.index[agent.key]
        forbidden: set[tuple[int, ...]] = set()
        for i, version in enumerate(self.domains[other]):
            carried, claims = shipped(self.situation, part, agent, version)
            for j, own in enumerate(self.domains[number]):
                if own != carried:
                    forbidden.add((i, j))
                    self.reasons[(other, number), (i, j)] = claims
        return Table((other, number), frozenset(forbidden))

    def lone_table(self, number: int, part: Part) -> Iterable[Table]:
        """What the versions of one part meet that has no version: hardware, the provider, and partners in an unknown version."""
        forbidden: set[tuple[int, ...]] = set()
        entry: dict[tuple[int, ...], int] = {}
        landing: dict[tuple[int, ...], int] = {}
        now = {judgement.identity: judgement for judgement in self.pairs.alone(part.key, self.domains[number][0])}
        for i, version in enumerate(self.domains[number]):
            unsafe = [judgement for judgement in self.pairs.alone(part.key, version) if judgement.grade in ("broken", "unknown")]
            worse = [judgement for judgement in unsafe if judgement.grade == "broken" and not is_no_worse(judgement, now.get(judgement.identity))]
            if worse:
                forbidden.add((i,))
                self.reasons[(number,), (i,)] = tuple(claim for judgement in worse for claim in judgement.verdict.claims)
            elif unsafe:
                entry[i,] = self.cost(unknown_pairs=len(unsafe))
                landing[i,] = self.cost(weak_at_end=sum(1_000_000 if judgement.grade == "broken" else 1000 for judgement in unsafe))
        if forbidden or entry:
            yield Table((number,), frozenset(forbidden), entry, landing)

    # -- moves

    @cached_property
    def hops(self) -> dict[tuple[int, int, int], Hop]:
        found = {}
        for variable, part in enumerate(self.parts):
            if part.values or comes_with_node(self.situation, part):  # no rules of their own: what forbids them are pairs
                count = len(self.domains[variable])
                back = not part.values  # the next image may carry less than this one, or what nobody says
                ways = [(i, j) for i in range(count) for j in range(count) if i < j or (back and j < i)]
                found.update({(variable, i, j): Hop("allowed", (), (), reversible=True) for i, j in ways})
                continue
            for i, start in enumerate(self.domains[variable]):
                for j in range(i + 1, len(self.domains[variable])):
                    end = self.domains[variable][j]
                    starts = [version for version in part.standing(start) if version < end]
                    places = self.situation.places(part)
                    found[variable, i, j] = everywhere([hop(self.matrix, part.component, one, end, scope, duties=False) for one in starts for scope in places])
        return found

    def transitions(self) -> Iterable[Transition]:
        for (variable, i, j), found in self.hops.items():
            if found.rule in ("allowed", "unknown"):
                behind = 0 if self.parts[variable].values else max(0, len(self.domains[variable]) - 1 - j)
                yield Transition(variable, i, j, self.cost(unknown_pairs=int(found.rule == "unknown"), changes=1, landings_behind=behind))

    def groups(self) -> Iterable[Group]:
        taken: set[int] = set()
        for number, part in enumerate(self.parts):
            if number in taken:
                continue
            members = [number, *(n for n, other in enumerate(self.parts) if not other.pool and self.situation.moves_with(other) == part.component)]
            cost = self.cost(steps=1)
            if self.situation.drains(part):
                members = [n for n, other in enumerate(self.parts) if other.pool == part.pool and self.situation.drains(other)]
                pool = self.situation.pools[part.pool]
                nodes = 1 if pool.nodes is None else pool.nodes
                cost = self.cost(steps=1, gpu_nodes_drained=nodes) if pool.has_gpus else self.cost(steps=1, other_nodes_drained=nodes)
            taken.update(members)
            yield Group(tuple(members), cost)

    # -- goal

    def goals(self) -> Iterable[frozenset[int] | None]:
        for part, domain in zip(self.parts, self.domains, strict=True):
            role = self.situation.role(part.component)
            if role == "control-plane":
                yield frozenset(n for n, version in enumerate(domain) if self.goal.reached(version))
            elif role == "node-agent":
                yield frozenset(n for n, version in enumerate(domain) if self.goal.accepts_node(self.matrix, part.component, version))
            elif part.allocates and part.pool in self.goal.allocation:
                yield frozenset((len(domain) - 1,))
            else:
                yield None

    def landing(self) -> Iterable[tuple[int, ...]]:
        for part, domain in zip(self.parts, self.domains, strict=True):
            if part.values or comes_with_node(self.situation, part):
                yield (0,) * len(domain)
                continue
            days = [self._support_days(part.component, version) for version in domain]
            known = [day for day in days if day is not None]
            default = max(known, default=_HORIZON)
            lacking = [_HORIZON - (default if day is None else day) for day in days]
            behind = [len(domain) - 1 - n for n in range(len(domain))]
            if (days[0] != 0 or part.key not in self.relied_on) and self.objective.index("releases_behind") > self.objective.index("steps"):
                # Nobody asked to leave what is supported, or what nothing vouches for: staying is as good as the best landing.
                lacking[0], behind[0] = min(lacking), 0
            yield tuple(self.cost(support_days_missing=days, releases_behind=releases) for days, releases in zip(lacking, behind, strict=True))

    @cached_property
    def relied_on(self) -> set[str]:
        """Parts that some pair which has to be vouched for is about."""
        start = {part.key: part.version for part in self.parts}
        return {key for judgement in self.pairs.all(start) if judgement.relied_on for key in judgement.keys}

    def _support_days(self, component: str, version: Version) -> int | None:
        subject = self.matrix.subjects[component]
        life = self.matrix.lifecycle(subject.releases_of or component, version)
        if life is None or life.until is None:
            return None  # an end that nobody has named is taken for no later than the latest that is
        return max(0, min(_HORIZON, (life.until - self.matrix.as_of).days))

    def compile(self) -> Compiled:
        problem = Problem(
            variables=tuple(Variable(part.key, tuple(version.release for version in domain)) for part, domain in zip(self.parts, self.domains, strict=True)),
            start=(0,) * len(self.parts),
            goal=tuple(self.goals()),
            tables=tuple(self.tables()),
            transitions=tuple(self.transitions()),
            groups=tuple(self.groups()),
            landing=tuple(self.landing()),
            width=len(self.objective),
            objective=self.objective,
        )
        reduced, kept = reduce(problem)
        domains = tuple(tuple(domain[number] for number in numbers) for domain, numbers in zip(self.domains, kept, strict=True))
        barred = {key: found.claims for key, found in self.hops.items() if found.rule in ("forbidden", "needs-stop")}
        return Compiled(reduced, self.parts, domains, self.objective, problem, self.reasons, barred)


def compile_problem(situation: Situation, goal: Goal, pairs: Pairs, prefer: str = "fewest-drains") -> Compiled:
    """Compile what the planner is to find into a `Problem`."""
    return _Compiler(situation, goal, pairs, prefer).compile()
