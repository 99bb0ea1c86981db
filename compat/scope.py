"""Scope: where a claim holds, and whether a question lies in it.

A question gives some scope words and leaves others open. A claim applies (`Fit.YES`), does not (`Fit.NO`), or depends on words that
were left open (`Fit.OPEN`); then the words are named, so that the answer can carry them as a condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from compat.errors import InputError, nearest, printable
from compat.ranges import for_people

__all__ = ["Fit", "Match", "Scope", "ScopeWords", "both_conditions", "describe", "merge_conditions"]

Scope = Mapping[str, tuple[str, ...]]
"""Scope word -> values. In a claim: any of them. In a question: what is so (for ``feature`` and ``workload``: all that are)."""


class Fit(Enum):
    """Whether a claim speaks of the place that a question asks about."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Match:
    """Result of fitting a claim's scope to a question."""

    fit: Fit
    open: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Words that the question left open, with the values the claim asks for."""


class ScopeWords:
    """The vocabulary of scopes."""

    def __init__(self, words: Mapping[str, Mapping[str, Any]]) -> None:
        self._words = words

    def check(self, word: str, value: str) -> tuple[str, str]:
        """Return *word* and *value* if the vocabulary allows them.

        Raises:
            InputError: naming the nearest known word or value.
        """
        if word not in self._words:
            raise InputError(f"unknown scope word {printable(word)!r}{nearest(word, list(self._words))}; known: {', '.join(self._words)}")
        known = self._words[word].get("values") or ()
        if known and value not in known and value not in self._words[word].get("wider", ()):
            raise InputError(f"unknown {word} {printable(value)!r}{nearest(value, list(known))}; known: {', '.join(known)}")
        return word, value

    def known(self, word: str) -> list[str]:
        """Values of a word that the vocabulary names."""
        entry = self._words.get(word, {})
        return list(dict.fromkeys([*(entry.get("values") or ()), *entry.get("wider", {}), *entry.get("wider", {}).values()]))

    def implied(self, word: str, value: str) -> dict[str, str]:
        """Words that a value settles where nobody says otherwise."""
        entries = self._words.get(word, {}).get("implies", {})
        return next((dict(entries[wide]) for wide in self._widening(word, value) if wide in entries), {})

    def is_known(self, word: str, value: str) -> bool:
        """Whether the vocabulary names a value, or something wider that contains it."""
        known = set(self.known(word))
        return not known or any(wide in known for wide in self._widening(word, value))

    def parse(self, texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Read ``word=value`` texts; a word may be given several times.

        Raises:
            InputError: if a text is not of that form or the vocabulary does not know it.
        """
        found: dict[str, tuple[str, ...]] = {}
        for text in texts:
            word, equals, value = text.partition("=")
            if not equals or not value:
                raise InputError(f"cannot read the scope {printable(text)!r}; expected word=value, such as os=ubuntu-24.04")
            word, value = self.check(word.strip(), value.strip())
            found[word] = (*found.get(word, ()), value)
        return found

    def fit(self, claim: Scope, question: Scope) -> Match:
        """Fit the scope of a claim to that of a question."""
        left_open: list[tuple[str, tuple[str, ...]]] = []
        for word, values in claim.items():
            given = question.get(word)
            if given is None:
                default = self._words.get(word, {}).get("default")
                given = (default,) if default else None
            fit = self._features(values, given) if word == "feature" else self._word(word, values, given)
            if fit is Fit.NO:
                return Match(Fit.NO)
            if fit is Fit.OPEN:
                left_open.append((word, values))
        return Match(Fit.OPEN if left_open else Fit.YES, tuple(left_open))

    def _word(self, word: str, values: tuple[str, ...], given: tuple[str, ...] | None) -> Fit:
        if given is None:
            return Fit.OPEN
        result = Fit.NO
        for value in given:
            if any(wide in values for wide in self._widening(word, value)):
                return Fit.YES
            if any(value in self._widening(word, wanted) for wanted in values):
                result = Fit.OPEN
        return result

    def _features(self, values: tuple[str, ...], given: tuple[str, ...] | None) -> Fit:
        known = dict(item.partition("=")[::2] for item in given or ())
        fits = [Fit.OPEN if name not in known else Fit.YES if known[name] == state else Fit.NO for name, _, state in (item.partition("=") for item in values)]
        return Fit.YES if Fit.YES in fits else Fit.OPEN if Fit.OPEN in fits else Fit.NO

    def _widening(self, word: str, value: str) -> Iterable[str]:
        wider = self._words.get(word, {}).get("wider", {})
        seen: set[str] = set()
        while value and value not in seen:
            yield value
            seen.add(value)
            # an unknown release belongs to its line: rocky-8.6 to rocky-8
            value = wider.get(value, re.sub(r"[.-]?[^.-]*$", "", value) if wider else "")


def describe(open_words: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """Say in words what open scope words ask for: ``os is one of a, b and provider is eks``."""
    parts = []
    for word, values in open_words:
        verb = "is" if len(values) == 1 else "is one of"
        parts.append(f"{word.replace('_', ' ')} {verb} {', '.join(for_people(value) for value in values)}")
    return " and ".join(parts)


def merge_conditions(alternatives: Iterable[Iterable[tuple[str, tuple[str, ...]]]]) -> list[dict[str, tuple[str, ...]]]:
    """Join alternatives, any of which is enough, into as few as possible; empty if one asks for nothing.

    Alternatives that differ in one word only are joined as long as any can be, and what a wider one contains is left out.
    """
    pool: list[dict[str, tuple[str, ...]]] = []
    for alternative in alternatives:
        one = dict(sorted(alternative))
        if one not in pool:
            pool.append(one)
    if any(not alternative for alternative in pool):
        return []
    while _join_once(pool):
        pass
    return [one for one in pool if not any(other is not one and _contains(other, one) for other in pool)]


def _join_once(pool: list[dict[str, tuple[str, ...]]]) -> bool:
    for i, one in enumerate(pool):
        for j in range(i + 1, len(pool)):
            other = pool[j]
            differing = [word for word in one if one[word] != other.get(word)]
            if set(one) == set(other) and len(differing) <= 1:
                for word in differing:
                    one[word] = tuple(dict.fromkeys((*one[word], *other[word])))
                del pool[j]
                return True
    return False


def both_conditions(one: Sequence[Scope], other: Sequence[Scope]) -> list[dict[str, tuple[str, ...]]]:
    """Alternatives under which one of *one* and one of *other* hold; an empty list of alternatives asks for nothing.

    Raises:
        ValueError: if nothing satisfies both.
    """
    if not one or not other:
        return [dict(alternative) for alternative in (*one, *other)]
    found = []
    for first in one:
        for second in other:
            joined = dict(first)
            for word, values in second.items():
                joined[word] = tuple(value for value in joined[word] if value in values) if word in joined else tuple(values)
            if all(joined.values()):
                found.append(joined)
    if not found:
        raise ValueError("the conditions exclude each other")
    return merge_conditions(tuple(alternative.items()) for alternative in found)


def _contains(wide: Scope, narrow: Scope) -> bool:
    return all(word in narrow and set(narrow[word]) <= set(values) for word, values in wide.items())
