"""Conditions of a stored plan beside those of today: what the plan could rest on and cannot any more.

A plan carries conditions in words (`compat.scope.describe`), any one alternative of which is enough. They are read back here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, product

from compat.scope import Fit, Scope, ScopeWords, describe

__all__ = ["lost_conditions", "read_conditions"]

_AND = re.compile(r" and (?=[a-z][a-z ]* is )")
_TERM = re.compile(r"^(?P<word>[a-z][a-z ]*?) is (?:one of )?(?P<values>.+)$")
_MOST = 20_000
"""Combinations of values that are looked at; whatever is beyond counts as lost."""


def read_conditions(text: str) -> list[Scope]:
    """Read alternatives such as ``os is one of a, b and provider is c or if os is d``."""
    found: list[Scope] = []
    for alternative in text.split(" or if "):
        terms = [_TERM.match(term) for term in _AND.split(alternative)]
        found.append(
            {term["word"].replace(" ", "_"): tuple(term["values"].split(", ")) for term in terms if term} if all(terms) else {"condition": (alternative,)}
        )
    return found


def lost_conditions(words: ScopeWords, before: Sequence[Scope], now: Sequence[Scope], places: Sequence[Scope] = ()) -> list[str]:
    """Say for which places the plan vouched and nothing vouches now, one value of each word at a time.

    Args:
        words: the vocabulary.
        before: alternatives of the plan; empty: it asked for nothing.
        now: alternatives of today, not empty.
        places: scopes of the cluster; what contradicts all of them is left out.
    """
    if not before:
        return ["whatever is not named"]
    found = []
    combinations = islice(dict.fromkeys(one for alternative in before for one in _combinations(alternative)), _MOST + 1)
    for count, combination in enumerate(combinations):
        if count == _MOST:
            found.append("more")
            break
        scope = {word: (value,) for word, value in combination}
        elsewhere = bool(places) and all(words.fit(scope, place).fit is Fit.NO for place in places)
        if not elsewhere and not any(words.fit(alternative, scope).fit is Fit.YES for alternative in now):
            found.append(describe(scope.items()))
    return found


def _combinations(alternative: Scope) -> Iterator[tuple[tuple[str, str], ...]]:
    names = sorted(alternative)
    for values in product(*(alternative[name] for name in names)):
        yield tuple(zip(names, values, strict=True))
