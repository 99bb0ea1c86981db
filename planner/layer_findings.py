"""Findings about what users' layers say: bans on what runs now, claims that were retired, statements that are too new to count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from compat.claims import BUILT_IN
from compat.retired import retired_claims, retired_note
from planner.bans import bans_now
from planner.cites import Cites
from planner.journey import Journey
from planner.plan import Finding

__all__ = ["layer_findings"]


def layer_findings(journey: Journey, cites: Cites) -> Iterator[Finding]:
    """Findings of the state, whatever is planned; what is barred now is told with what the plan does about it."""
    yield from _barred(journey, cites)
    if journey.pairs.matrix.snapshot.layers:
        yield from _retired(journey, cites)
        yield from _too_new(journey)


def _barred(journey: Journey, cites: Cites) -> Iterator[Finding]:
    for part, version, found in bans_now(journey.pairs.situation):
        where = f" of pool {part.pool}" if part.pool else ""
        stays = "" if not journey.stages else " The plan leaves it there." if journey.end[part.key].key == part.version.key else " The plan moves it."
        text = f"{part.component}{where} runs {version.release}, to which no plan goes: {found.claims[0].summary.rstrip('.')}.{stays}"
        yield Finding("banned-version", "warning", text, cites(found.claims))


def _retired(journey: Journey, cites: Cites) -> Iterator[Finding]:
    situation = journey.pairs.situation
    here = {name for part in situation.parts for name in journey.pairs.names(part)}
    for claim in retired_claims(situation.matrix):
        if claim.subject in here and claim.object in here | {"", *situation.hardware}:
            text = f"Does not count: {claim.summary.rstrip('.')} ({claim.id}); {retired_note(claim).rstrip('.')}."
            yield Finding("retired-claim", "info", text, cites([claim]))


def _too_new(journey: Journey) -> Iterator[Finding]:
    matrix = journey.pairs.matrix
    later = Counter(claim.layer for claim in matrix.store.claims("layer <> ? and known_from > ?", (BUILT_IN, matrix.as_of.isoformat())))
    for layer, count in sorted(later.items()):
        what = f"{count} statement{'s' if count > 1 else ''} of the layer {layer} that {'were' if count > 1 else 'was'} said after {matrix.as_of}"
        yield Finding("not-considered", "info", f"Not considered, {what}, the day this is asked for.")
