"""What the matrix says of one part by itself: on its hardware, at its provider, beside what has no known version, and of bans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from compat import Verdict, Version
from planner.bans import HERE, bans_on
from planner.images import in_one_image, is_unsaid
from planner.judgements import Judgement, merged, violated
from planner.parts import Part

if TYPE_CHECKING:
    from planner.pairs import Pairs

__all__ = ["Lone"]


class Lone:
    """Judgements of parts beside what is no part."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.situation = pairs.situation
        self.matrix = pairs.matrix

    def judgements(self, part: Part, version: Version) -> list[Judgement]:
        """All of them, of a part at a version."""
        if part.api or part.allocates:
            return []
        if is_unsaid(version):
            return list(self._unsaid_driver(part))
        versions = part.standing(version)
        return [
            *self._beside_itself(part, version),
            *self._barred(part, version),
            *(item for each in versions for item in (*self._on_hardware(part, each), *self._at_provider(part, each), *self._beside_unknown(part, each))),
        ]

    def _beside_itself(self, part: Part, version: Version) -> Iterator[Judgement]:
        """The oldest and the newest of a mix."""
        versions = part.standing(version)
        if len(versions) > 1 and self.matrix.between(part.component, part.component):
            first, last = versions[0], versions[-1]
            names = [f"{part.component} {one.release}" for one in (first, last)]
            found = []
            for scope in self.situation.places(part):
                verdict = self.matrix.verdict((part.component, first), (part.component, last), {**scope, "topology": ("ha",)})
                if verdict.grade == "broken":
                    found.append(Judgement(names[0], names[1], (part.key, part.key), verdict, False, violated(verdict, part.component, first, last)))
            if worst := merged(found):
                yield worst

    def _barred(self, part: Part, version: Version) -> Iterator[Judgement]:
        for name, verdict in bans_on(self.situation, part, version, self.pairs.shipped):
            yield Judgement(name, HERE, (part.key, HERE), verdict, False, violated(verdict, part.component, version, None))

    def _on_hardware(self, part: Part, version: Version) -> Iterator[Judgement]:
        for hardware in self.situation.hardware:
            found = []
            for scope in self.situation.places(part) if self.matrix.between(part.component, hardware) else ():
                verdict = self.matrix.verdict((part.component, version), (hardware, None), scope)
                if verdict.grade != "broken":  # hardware need not be vouched for; what to bear in mind stays
                    verdict = Verdict("unknown", cautions=verdict.cautions)
                if verdict.grade == "broken" or verdict.cautions:
                    where = "/".join(scope.get(self.situation.hardware[hardware], ("hardware",)))
                    names = (f"{part.component} {version.release}", where)
                    found.append(Judgement(*names, (part.key, hardware), verdict, False, violated(verdict, part.component, version, None)))
            if worst := merged(found):
                yield worst

    def _at_provider(self, part: Part, version: Version) -> Iterator[Judgement]:
        """What the provider has on offer."""
        provider = self.situation.offering
        if not provider or not self.pairs.related(provider, part.component):
            return
        found = []
        for scope in self.situation.places(part):
            verdict = self.matrix.verdict((provider, None), (part.component, version), scope, self.situation.context)
            relied = self.matrix.relies(provider, part.component, scope)
            if relied or verdict.grade == "broken":
                names = (provider, f"{part.component} {version.release}")
                found.append(Judgement(*names, (provider, part.key), verdict, relied, violated(verdict, provider, None, version)))
        if worst := merged(found):
            yield worst

    def _beside_unknown(self, part: Part, version: Version) -> Iterator[Judgement]:
        for name, pool in self.situation.unversioned:
            if part.pool and pool and part.pool != pool:
                continue
            if not (self.situation.runs_on(part.component, pool) and self.situation.runs_on(name, part.pool)):
                continue
            other = Part(name, pool, version)
            if in_one_image(self.situation, other, part):
                continue
            if any(
                self.matrix.relies(name, part.component, scope) or self.matrix.relies(part.component, name, scope)
                for scope in self.pairs.scopes(name, other, part.component, part)
            ):
                field = self.matrix.subjects[name].component.get("pool_field")
                place = f"components.{name}" if not field else f"pools[].{field} of pool {pool}" if pool else f"pools[].{field} (pools: [] if there are none)"
                verdict = self._whatever(name, part, version) or Verdict(
                    "unknown", question=f"The version of {name} is not known. Give it in the cluster state, {place}."
                )
                against = violated(verdict, part.component, version, None)
                yield Judgement(f"{name} ?", f"{part.component} {version.release}", (other.key, part.key), verdict, True, against)

    def _unsaid_driver(self, part: Part) -> Iterator[Judgement]:
        """A driver that comes with the nodes in a version that nobody says, beside GPUs that it may not drive."""
        if self.situation.role(part.component) == "driver" and self.situation.pools[part.pool].has_gpus:
            question = (
                f"Which {part.component} comes with the nodes of pool {part.pool} is not said anywhere. Does it drive their GPUs? Look it up at the provider."
            )
            yield Judgement(f"{part.component} ?", f"gpus {part.pool}", (part.key, "gpus"), Verdict("unknown", question=question), relied_on=True)

    def _whatever(self, name: str, part: Part, version: Version) -> Verdict | None:
        """The verdict if a partner in an unknown version would be broken beside a part whichever of its releases it is."""
        newest: Verdict | None = None
        for release in self.matrix.releases(name, stable_only=True):
            for scope in self.situation.places(part):
                verdict = self.matrix.verdict((name, release.version), (part.component, version), scope, self.situation.context)
                if verdict.grade != "broken":
                    return None
                newest = newest or verdict
        return newest
