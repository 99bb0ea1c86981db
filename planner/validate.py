"""Checking a plan without knowing how it was found.

The validator replays the written plan (``compat.plan/v1``) step by step against the knowledge base. It shares the reading of cluster
states and the matrix with the planner, and nothing of its search: it meets pairs, hops and costs on its own.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from compat import Claim, Matrix, Verdict, Version
from compat.hops import resolve_hop
from compat.landing import resolve_landing
from compat.scope import Scope
from compat.verdicts import excess
from planner.aspects import not_served
from planner.errors import PlanFileError
from planner.images import UNSAID, agent_of, comes_with_node, is_unsaid, shipped
from planner.parts import Part
from planner.situation import ALLOCATION, Situation, resolve
from planner.state import ClusterState

__all__ = ["validate"]

_BARRED = "(itself)"
_WORSE = {"broken": 0, "unknown": 1, "declared": 2, "tested": 3}


def validate(matrix: Matrix, document: Mapping[str, Any]) -> list[str]:
    """Return everything that is wrong with a written plan; an empty list if it is right.

    Raises:
        PlanFileError: if the document is no plan.
    """
    if document.get("schema") != "compat.plan/v1":
        raise PlanFileError(f"expected a document of schema compat.plan/v1, found {document.get('schema')!r}")
    return list(_Replay(matrix, document).run())


_Moved = tuple[str, Version, Version, str]
"""Key, versions and rule of what moved."""


class _Replay:
    def __init__(self, matrix: Matrix, document: Mapping[str, Any]) -> None:
        self.matrix = matrix
        self.document = document
        self.situation: Situation = resolve(matrix, ClusterState.from_value(document["start"]), document["goal"].get("allocation"))
        self.versions: dict[str, Version] = {part.key: part.version for part in self.situation.parts}
        self.begun = dict(self.versions)

    def run(self) -> Iterator[str]:
        drained = {"gpu_nodes": 0, "other_nodes": 0}
        count = unknown = 0
        held = {hold["before"]: hold["pairs"] for hold in self.document["holds"]}
        for step in self.document["steps"]:
            name = step["id"]
            if step["kind"] in ("hold", "prepare"):
                if step["changes"] or any(step["drains"].values()):
                    yield f"{name}: is of kind {step['kind']} and moves something"
                continue
            count += 1
            before = self.grades()
            moved = yield from self.move(step)
            after = self.grades()
            new = [pair for pair in after if pair not in before]
            for pair in new:
                if after[pair] == "broken" and not self.broken_before(pair):
                    yield f"{name}: {pair[0]} with {pair[1]} is broken after the step"
            entered = [pair for pair in new if after[pair] in ("unknown", "broken")]
            unknown += len(entered)
            unsure = sum(1 for hop in moved if hop[3] == "unknown")
            unknown += unsure
            if (entered or unsure) and name not in held:
                yield f"{name}: relies on unknown pairs ({entered}) without a hold"
            if len(held.get(name, ())) != len(entered) + unsure:
                yield f"{name}: the hold names {len(held.get(name, ()))} pairs, there are {len(entered) + unsure}"
            worst = min(after.values(), key=lambda grade: _WORSE[grade], default="tested")
            if step["grade"] != worst:
                yield f"{name}: graded {step['grade']}, the state after it is {worst}"
            for kind in drained:
                drained[kind] += step["drains"][kind]
            yield from self.drain(step, moved)
            yield from self.cited(step)
        yield from self.goal()
        cost = self.document["cost"]
        if (cost["steps"], cost["gpu_nodes_drained"], cost["other_nodes_drained"], cost["unknown_pairs"]) != (
            count,
            drained["gpu_nodes"],
            drained["other_nodes"],
            unknown,
        ):
            yield f"the cost {cost} is not what the steps add up to: {count} steps, {drained}, {unknown} unknown"

    # -- moving

    def move(self, step: Mapping[str, Any]) -> Generator[str, None, list[_Moved]]:
        """Apply a step; returns key, versions and rule of each part that moved."""
        moved: list[_Moved] = []
        for change in step["changes"]:
            key = f"{change['component']}@{step['pool']}" if step["pool"] and f"{change['component']}@{step['pool']}" in self.versions else change["component"]
            if key not in self.versions:
                continue  # an operand that its carrier brings along
            here = self.versions[key]
            if here.release != change["from"]:
                yield f"{step['id']}: starts {key} at {change['from']}, it is at {here.release}"
            part = self.situation.by_key[key]
            if part.values:
                turned = yield from self.turn(step, part, change)
                moved.append((key, here, turned, "allowed"))
                continue
            brought = comes_with_node(self.situation, part)
            there = UNSAID if brought and change["to"] == UNSAID.text else self.matrix.version(change["component"], change["to"])
            if brought:
                moved.append((key, here, there, "allowed"))
                self.versions[key] = there
                continue
            if there <= here:
                yield f"{step['id']}: {key} does not go forward"
            scopes = self.situation.places(part)
            starts = [one for one in self.running(part) if one < there]
            rules = [resolve_hop(self.matrix, (change["component"], one), (change["component"], there), scope).rule for one in starts for scope in scopes]
            rule = next((rule for rule in ("forbidden", "needs-stop", "unknown") if rule in rules), "allowed")
            if rule in ("forbidden", "needs-stop"):
                yield f"{step['id']}: {key} {here.release} -> {there.release} is {rule}"
            moved.append((key, here, there, rule))
            self.versions[key] = there
        if not moved:
            yield f"{step['id']}: moves nothing"
        yield from self.images(step)
        return moved

    def images(self, step: Mapping[str, Any]) -> Iterator[str]:
        """What comes with nodes is what their agent's image carries."""
        for part in self.situation.parts:
            agent = agent_of(self.situation, part) if comes_with_node(self.situation, part) else None
            expected = shipped(self.situation, part, agent, self.versions[agent.key])[0] if agent else self.begun[part.key]
            if comes_with_node(self.situation, part) and self.versions[part.key] != expected:
                yield f"{step['id']}: {part.key} is at {self.versions[part.key].release}, its nodes bring {expected.release}"

    def turn(self, step: Mapping[str, Any], part: Part, change: Mapping[str, str]) -> Generator[str, None, Version]:
        """Change an API in use, or how a pool allocates its GPUs."""
        here = self.versions[part.key]
        there = next((value for value in part.values if value.text == change["to"]), here)
        if there <= here:
            yield f"{step['id']}: {part.key} does not go forward"
        self.versions[part.key] = there
        return there

    def broken_before(self, pair: tuple[str, str]) -> bool:
        """Whether the pair violates only what the start violates with the same parts, and nothing by more."""
        keys = tuple(name.split(" ")[0] for name in pair)
        now = self.violated(*keys)
        kept, self.versions = self.versions, self.begun
        then = self.violated(*keys)
        self.versions = kept
        return bool(then) and all(any(claim.asks_no_more_than(old) and by <= before for old, before in then) for claim, by in now)

    def violated(self, key: str, other: str) -> list[tuple[Claim, int]]:
        """Claims that two parts violate as they are, and by how many minors where that can be said."""
        part = self.situation.by_key[key]
        if other == _BARRED:
            return [(claim, 0) for claim in self.barred(part)]
        if other in self.situation.by_key and other != key:
            partner = self.situation.by_key[other]
            if part.api or partner.api:
                return [(claim, 0) for claim in self.gone(part, partner)]
            found = [(verdict, sides) for place in ("", *self.situation.changing) for verdict, _, sides in self.verdicts(part, partner, place)]
        else:
            scopes = [self.situation.scope(part.pool)] if part.pool else list(self.situation.cluster_scopes)
            found = [
                (self.matrix.verdict((part.component, version), (other, None), scope), {part.component: version})
                for scope in scopes
                for version in self.running(part)
                if other != key
            ]
            found += [(verdict, {}) for verdict in self.mixtures(part)] if other == key else []
        return [
            (claim, excess(claim, sides.get(claim.subject), sides.get(claim.object)))
            for verdict, sides in found
            if verdict.grade == "broken"
            for claim in verdict.claims
        ]

    def drain(self, step: Mapping[str, Any], moved: list[_Moved]) -> Iterator[str]:
        pools = {self.situation.by_key[key].pool for key, *_ in moved if self.situation.drains(self.situation.by_key[key])}
        nodes = {"gpu_nodes": 0, "other_nodes": 0}
        for name in pools:
            pool = self.situation.pools[name]
            nodes["gpu_nodes" if pool.has_gpus else "other_nodes"] += 1 if pool.nodes is None else pool.nodes
        if nodes != dict(step["drains"]):
            yield f"{step['id']}: says it drains {dict(step['drains'])}, it drains {nodes}"
        alone = [part for key, *_ in moved if not self.situation.moves_with(part := self.situation.by_key[key])]
        if len({self.situation.by_key[key].pool for key, *_ in moved}) > 1 or (not step["pool"] and len(alone) > 1):
            yield f"{step['id']}: moves parts that no drain joins"

    def cited(self, step: Mapping[str, Any]) -> Iterator[str]:
        named = [*step["claims"], *(claim for item in (*step["requires"], *step["why"], *step["pairs"]) for claim in item.get("claims", ()))]
        for claim in named:
            if claim not in self.document["claims"]:
                yield f"{step['id']}: cites the claim {claim}, which the plan does not carry"

    def goal(self) -> Iterator[str]:
        if self.document["status"] == "impossible":
            return
        control = self.situation.control
        target = self.matrix.version(control.component, self.document["goal"]["kubernetes"])
        if self.versions[control.key].line < target.line or (target.parts > 2 and self.versions[control.key] < target):
            yield f"the plan ends at {self.versions[control.key].release}, short of {target.text}"
        for part in self.situation.parts:
            if part.allocates and self.versions[part.key] != part.values[-1]:
                yield f"{part.key} ends at {self.versions[part.key].text}, not at {part.values[-1].text}"
            if (
                self.situation.role(part.component) == "node-agent"
                and self.document["goal"]["nodes"] == "target"
                and self.versions[part.key].line < target.line
            ):
                yield f"{part.key} ends at {self.versions[part.key].release}, short of {target.text}"
        for key, release in self.document["end"].items():
            if key not in self.versions:
                yield f"the plan says where {key} ends, and has no such part"
            elif self.versions[key].release != release:
                yield f"the plan says {key} ends at {release}, it ends at {self.versions[key].release}"

    # -- judging a state

    def grades(self) -> dict[tuple[str, str], str]:
        """Grade of every pair that matters in the state as it is: pairs that are relied on, and whatever is broken."""
        found: dict[tuple[str, str], str] = {}
        parts = self.situation.parts
        for i, one in enumerate(parts):
            for other in parts[i + 1 :]:
                if (one.pool and other.pool and one.pool != other.pool) or one.allocates or other.allocates:
                    continue
                if one.api or other.api:
                    if self.gone(one, other):
                        found[f"{one.key} {self.versions[one.key].release}", f"{other.key} {self.versions[other.key].release}"] = "broken"
                    continue
                if not (self.situation.runs_on(one.component, other.pool) and self.situation.runs_on(other.component, one.pool)):
                    continue
                apart = self.by_allocation(one, other)
                for place in ["", *self.situation.changing] if apart and not (one.pool or other.pool) else [""]:
                    grade = self.pair(one, other, place)
                    if grade is not None:
                        pool = place or one.pool or other.pool
                        way = f" [{self.situation.changing[pool].key} {self.allocation(pool)}]" if apart and pool in self.situation.changing else ""
                        found[self.named(one, other) + way, f"{other.key} {self.versions[other.key].release}"] = grade
        for one in parts:
            if is_unsaid(self.versions[one.key]) and self.situation.role(one.component) == "driver" and self.situation.pools[one.pool].has_gpus:
                found[f"{one.key} {self.versions[one.key].release}", "gpus ?"] = "unknown"
            for name, grade in self.lone(one) if not (one.values or is_unsaid(self.versions[one.key])) else ():
                found[f"{one.key} {self.versions[one.key].release}", f"{name} ?"] = grade
        return found

    def gone(self, one: Part, other: Part) -> list[Claim]:
        """For an API in use and what serves it: a claim that it does not."""
        used, owner = (one, other) if one.api else (other, one)
        if used.api is None or used.api.owner != owner.key:
            return []
        claim = not_served(self.matrix, used, owner, self.versions[used.key], self.versions[owner.key])
        return [claim] if claim else []

    def allocation(self, pool: str) -> str:
        """How a pool that changes that allocates its GPUs at this point; empty for others."""
        part = self.situation.changing.get(pool)
        return self.versions[part.key].text if part else ""

    def by_allocation(self, one: Part, other: Part) -> bool:
        """Whether a claim, a reliance or the presence of one of two parts depends on how GPUs are allocated."""
        names = [{name for name, _, _ in self.faces(part, beside)} for part, beside in ((one, other), (other, one))]
        return any(ALLOCATION in (self.matrix.subjects[name].component.get("present_in") or {}) for name in names[0] | names[1]) or any(
            ALLOCATION in scope
            for a in names[0]
            for b in names[1]
            for scope in (*(claim.scope for claim in self.matrix.between(a, b)), *self.matrix.reliance_scopes(a, b))
        )

    def named(self, one: Part, other: Part) -> str:
        """The first of a pair with its version, and the versions of third parts on which a claim about the pair depends."""
        names = [{name for name, _, _ in self.faces(part, beside)} for part, beside in ((one, other), (other, one))]
        claims = [claim for a in names[0] for b in names[1] for claim in self.matrix.between(a, b)]
        named = sorted({name for claim in claims if isinstance(when := claim.detail.get("when"), dict) for name in when})
        pool = one.pool or other.pool
        keys = [key for name in named for key in (name, f"{name}@{pool}") if key in self.versions and key not in (one.key, other.key)]
        beside = "".join(f" [{key} {self.versions[key].release}]" for key in keys)
        return f"{one.key} {self.versions[one.key].release}{beside}"

    def lone(self, part: Part) -> Iterator[tuple[str, str]]:
        """What a part meets that has no version: hardware that it cannot drive, partners in an unknown version, bans on its version."""
        if self.barred(part):
            yield _BARRED, "broken"
        scopes = [self.situation.scope(part.pool)] if part.pool else list(self.situation.cluster_scopes)
        for name, subject in self.matrix.subjects.items():
            if subject.role == "hardware" and any(
                self.matrix.verdict((part.component, version), (name, None), scope).grade == "broken" for scope in scopes for version in self.running(part)
            ):
                yield name, "broken"
        provider = self.situation.offering
        for version in self.running(part) if provider else ():
            verdicts = [
                (self.matrix.verdict((provider, None), (part.component, version), scope, dict.fromkeys(self.situation.absent)), scope) for scope in scopes
            ]
            grades = [verdict.grade for verdict, scope in verdicts if verdict.grade == "broken" or self.matrix.relies(provider, part.component, scope)]
            if grades:
                yield provider, min(grades, key=lambda grade: _WORSE[grade])
        if any(verdict.grade == "broken" for verdict in self.mixtures(part)):
            yield part.key, "broken"
        for name, pool in self.situation.unversioned:
            meets = not (pool and part.pool) or pool == part.pool
            places = [self.situation.scope(pool)] if pool else scopes
            meets = meets and self.situation.runs_on(part.component, pool) and self.situation.runs_on(name, part.pool)
            meets = meets and not self.one_image(Part(name, pool, self.begun[part.key]), part)
            if meets and any(self.matrix.relies(name, part.component, scope) or self.matrix.relies(part.component, name, scope) for scope in places):
                releases = self.matrix.releases(name, stable_only=True)
                grades_of = (
                    self.matrix.verdict((name, release.version), (part.component, version), scope, dict.fromkeys(self.situation.absent)).grade
                    for release in releases
                    for version in self.running(part)
                    for scope in self.situation.places(part)
                )
                yield f"{name}@{pool}" if pool else name, "broken" if releases and all(grade == "broken" for grade in grades_of) else "unknown"

    def mixtures(self, part: Part) -> list[Verdict]:
        """Verdicts of the oldest with the newest of a mix."""
        mix = self.running(part)
        scopes = [self.situation.scope(part.pool)] if part.pool else list(self.situation.cluster_scopes)
        both = [(part.component, mix[0]), (part.component, mix[-1])]
        return [self.matrix.verdict(both[0], both[1], {**scope, "topology": ("ha",)}) for scope in scopes] if len(mix) > 1 else []

    def barred(self, part: Part) -> list[Claim]:
        """Claims against the version itself to which a part has moved, or against that of an operand that it ships."""
        here = self.versions[part.key]
        if here == self.begun[part.key] or is_unsaid(here):
            return []
        scopes = [self.situation.scope(part.pool)] if part.pool else list(self.situation.cluster_scopes)
        faces = [(name, version) for name, version, _ in self.faces(part, part)]
        return [claim for face in faces for scope in scopes for claim in resolve_landing(self.matrix, face, scope).claims]

    def pair(self, one: Part, other: Part, place: str) -> str | None:
        worst: str | None = None
        if is_unsaid(self.versions[one.key]) or is_unsaid(self.versions[other.key]):
            return "unknown" if not self.one_image(one, other) and any(relied for _, relied, _ in self.verdicts(one, other, place)) else None
        for verdict, relied, _ in self.verdicts(one, other, place):
            grade = verdict.grade if relied or verdict.grade == "broken" else None
            if grade is not None and (worst is None or _WORSE[grade] < _WORSE[worst]):
                worst = grade
        return worst

    def one_image(self, one: Part, other: Part) -> bool:
        """Whether two parts of a pool come with its nodes together."""
        brought = [comes_with_node(self.situation, part) for part in (one, other)]
        agents = [self.situation.role(part.component) == "node-agent" for part in (one, other)]
        return bool(one.pool) and one.pool == other.pool and any(brought) and all(b or a for b, a in zip(brought, agents, strict=True))

    def running(self, part: Part) -> tuple[Version, ...]:
        """All versions that run of a part: its mix until it moves."""
        here = self.versions[part.key]
        return part.mixed if part.mixed and here == self.begun[part.key] else (here,)

    def context(self, pool: str) -> dict[str, Version | None]:
        """Everything else that is known to be, or not to be, in the same place."""
        present = {part.component: self.versions[part.key] for part in self.situation.parts if part.pool in ("", pool)}
        return {**dict.fromkeys(self.situation.absent), **present}

    def verdicts(self, one: Part, other: Part, place: str) -> Iterator[tuple[Verdict, bool, dict[str, Version]]]:
        """Verdicts under all names and in all places in which two parts meet, each with whether the pair is relied on and the versions."""
        for a, a_version, a_own in self.faces(one, other):
            for b, b_version, b_own in self.faces(other, one):
                for scope in self.scopes(a, one, b, other, place):
                    verdict = self.matrix.verdict((a, a_version), (b, b_version), scope, self.context(one.pool or other.pool))
                    relied = a_own and b_own and not self.one_image(one, other) and (self.matrix.relies(a, b, scope) or self.matrix.relies(b, a, scope))
                    yield verdict, relied, {a: a_version, b: b_version}

    def faces(self, part: Part, beside: Part) -> Iterator[tuple[str, Version, bool]]:
        """Names and versions under which claims speak of a part: itself, its operands, and Kubernetes where a runtime means the kubelet."""
        subjects = self.matrix.subjects
        runtime_beside = bool(subjects[beside.component].component.get("node_pairs"))
        if subjects[part.component].role == "control-plane" and runtime_beside:
            return
        own = {item.component for item in self.situation.parts} | self.situation.absent
        for version in self.running(part):
            yield part.component, version, True
            if subjects[part.component].role == "node-agent" and runtime_beside:
                yield self.situation.control.component, version, True
            for claim in self.matrix.about(part.component, "bundle") if not part.pool else ():
                ships = claim.detail.get("role") == "default" and not claim.detail.get("optional") and not claim.scope and version in claim.subject_range
                if ships and claim.object not in own and claim.object in subjects and subjects[claim.object].role in ("addon", "operand"):
                    yield claim.object, self.matrix.version(claim.object, claim.object_versions.removeprefix("==")), False

    def scopes(self, a: str, one: Part, b: str, other: Part, place: str) -> list[Scope]:
        """Where two components meet; *place* names a pool whose way of allocating GPUs changes, else it is those that keep theirs."""
        situation = self.situation
        pool = one.pool or other.pool or place
        apart = bool(situation.changing) and self.by_allocation(one, other)
        pools = [pool] if pool else [name for name in situation.gpu_pools if not (apart and name in situation.changing)]
        if not (one.pool or other.pool) and any(situation.role(name) == "control-plane" for name in (a, b)):
            return [situation.at_large(name, self.allocation(name)) for name in pools] or ([] if apart else list(situation.cluster_scopes))
        found: list[Scope] = []
        for name in pools:
            value = self.allocation(name)
            together = situation.present(a, name, value) and situation.present(b, name, value)
            found.append({**situation.scope(name, value), **({"node": ("same",)} if together else {})})
        return found or ([] if apart else list(situation.cluster_scopes))
