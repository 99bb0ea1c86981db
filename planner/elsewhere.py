"""Where a pair that nothing vouches for would be vouched for: with another release, or on another operating system."""

from __future__ import annotations

from compat import Version
from compat.scope import Scope, describe
from planner.judgements import Judgement
from planner.situation import Situation

__all__ = ["elsewhere"]

_WORDS = ("os", "provider")
"""Scope words by which lists of what is tested differ most."""


def elsewhere(situation: Situation, judgement: Judgement) -> str:
    """A sentence about the newest release that is listed with the other part of a pair, here or on other systems; empty if there is none.

    Args:
        situation: the cluster.
        judgement: a pair that nothing vouches for.
    """
    for key, other in (judgement.keys, judgement.keys[::-1]):
        part, partner = situation.by_key.get(key), situation.by_key.get(other)
        if part is None or partner is None or part.pool or part.values or partner.values or situation.role(part.component) != "addon":
            continue
        names = [name.removeprefix(f"{partner.component} ") for name in (judgement.one, judgement.other) if name.startswith(f"{partner.component} ")]
        if not names or not names[0][:1].isdigit():
            continue
        version = situation.matrix.version(partner.component, names[0])
        scopes = [situation.scope(partner.pool)] if partner.pool else list(situation.cluster_scopes)
        for scope in scopes:
            if found := _listed(situation, part.component, partner.component, version, scope):
                return found
    return ""


def _listed(situation: Situation, component: str, partner: str, version: Version, scope: Scope) -> str:
    for release in situation.matrix.releases(component, stable_only=True):
        for given_up in ((), _WORDS[:1], _WORDS):
            place = {word: values for word, values in scope.items() if word not in given_up}
            verdict = situation.matrix.verdict((component, release.version), (partner, version), place)
            if verdict.is_safe:
                word = given_up[-1] if given_up else ""
                listed = dict.fromkeys(value for alternative in verdict.alternatives for value in alternative.get(word, ()))
                where = f" where {describe([(word, tuple(listed))])}" if listed else ""
                here = f"; here it is {', '.join(scope[word])}" if word in scope else ""
                return f"{component} {release.text} is {verdict.grade} with {partner} {version.release}{where}{here}."
    return ""
