"""Ranges over a product's versions, by `packaging.ranges.VersionRange`.

The written form is a PEP 440 specifier set over the product's own numbers, with three conveniences for people who edit tables:

* ``1.33 - 1.36`` from the first of one line to the last of another (here ``>=1.33,<1.37``),
* ``26.7`` or ``26.7.1`` without an operator: that release and everything below it (``==26.7.*``); a packager's suffix as in
  ``4.6.0-4.8.3`` is kept in the text and not compared,
* ``a | b`` either of two ranges.

The empty text means every version. Numbers are mapped through the product's lineage, so ``>=25.8`` of the NVIDIA DRA driver
contains 0.4.0, its successor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from packaging.ranges import VersionRange
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version as PackagingVersion

from compat.errors import InvalidRangeError
from compat.versions import PLAIN, Lineage, Version

__all__ = ["KnownRange", "Range", "for_people", "parse_range"]

_MAX_LENGTH = 20_000
_EXACT = re.compile(r"(?<![=~!<>])==\s*v?([0-9][0-9A-Za-z.!+-]*?)(\.\*)?(?=$|[\s,|;)])")
_CLAUSE = re.compile(r"^(?P<op>~=|==|!=|<=|>=|<|>)\s*v?(?P<version>[0-9][0-9A-Za-z.!+-]*?)(?P<star>\.\*)?$")
_BARE = re.compile(r"^v?(\d+(?:\.\d+)*)(?:-[0-9A-Za-z.]+)?$")
_SPAN = re.compile(r"^v?(\d+(?:\.\d+)*)\s+-\s+v?(\d+(?:\.\d+)*)$")


class Range:
    """A set of versions of one product."""

    __slots__ = ("_engine", "_known", "text")

    def __init__(self, text: str, engine: VersionRange) -> None:
        self.text = text
        self._engine = engine
        self._known: dict[PackagingVersion, bool] = {}

    def __contains__(self, version: Version) -> bool:
        found = self._known.get(version.key)
        if found is None:
            found = self._known[version.key] = self._engine.contains(version.key, prereleases=True)
        return found

    def __str__(self) -> str:
        return self.text or "any version"

    def __repr__(self) -> str:
        return f"Range({self.text!r})"

    @property
    def is_empty(self) -> bool:
        """Whether no version can lie in it."""
        return self._engine.is_empty

    def overlaps(self, other: Range) -> bool:
        """Whether some version lies in both."""
        return not self._engine.is_disjoint(other._engine)

    def covers(self, other: Range) -> bool:
        """Whether every version of *other* lies in this range."""
        return other._engine.is_subset(self._engine)


class KnownRange(Range):
    """A range of which it is known already which releases lie in it; only other versions are compared."""

    __slots__ = ("_lineage", "_members", "_positions")

    def __init__(self, text: str, lineage: Lineage, positions: Mapping[PackagingVersion, int], members: int) -> None:
        self.text = text
        self._lineage = lineage
        self._positions = positions
        self._members = members
        """Bit n: the release at position n lies in the range."""

    def __contains__(self, version: Version) -> bool:
        spot = version.spot
        if spot is None or spot[0] is not self._positions:
            spot = (self._positions, self._positions.get(version.key))
            object.__setattr__(version, "spot", spot)  # a memory, not a value: equality and hash do not see it
        position = spot[1]
        if position is None:
            return version in parse_range(self.text, self._lineage)
        return self._members >> position & 1 == 1


def _bump(number: str) -> str:
    head, _, last = number.rpartition(".")
    return f"{head}.{int(last) + 1}" if head else str(int(last) + 1)


def _with_epoch(number: str, lineage: Lineage) -> str:
    if "!" in number:
        return number
    epoch = lineage.epoch(int(re.match(r"\d+", number)[0]))  # type: ignore[index]  # _CLAUSE made sure of the digit
    return f"{epoch}!{number}" if epoch else number


def _clause(text: str, lineage: Lineage, whole: str) -> str:
    match = _CLAUSE.match(text)
    if match is None:
        raise InvalidRangeError(whole, f"{text!r} is not a comparison such as >=1.33 or ==26.7.*")
    return match["op"] + _with_epoch(match["version"], lineage) + (match["star"] or "")


def _alternative(text: str, lineage: Lineage, whole: str) -> VersionRange:
    if bare := _BARE.match(text):
        specifiers = f"=={_with_epoch(bare[1], lineage)}.*"
    elif span := _SPAN.match(text):
        low, high = (_with_epoch(span[1], lineage), _with_epoch(_bump(span[2]), lineage))
        specifiers = f">={low},<{high}"
    else:
        specifiers = ",".join(_clause(part.strip(), lineage, whole) for part in text.split(",")) if text else ""
    try:
        return SpecifierSet(specifiers).to_range()
    except (InvalidSpecifier, ValueError) as error:
        raise InvalidRangeError(whole, str(error)) from error


@lru_cache(maxsize=16384)
def parse_range(text: str, lineage: Lineage = PLAIN) -> Range:
    """Read *text* as a range over the versions of the product that *lineage* describes.

    Raises:
        InvalidRangeError: if it is not a range.
    """
    if len(text) > _MAX_LENGTH:
        raise InvalidRangeError(text, "it is absurdly long")
    first, *others = (part.strip() for part in text.split("|"))
    if others and not all((first, *others)):
        raise InvalidRangeError(text, "one side of '|' is empty")
    engine = _alternative(first, lineage, text)
    for other in others:
        engine = engine.union(_alternative(other, lineage, text))
    return Range(text, engine)


def for_people(text: str) -> str:
    """Return a range, or a text with ranges in it, as people write versions: ``4.21.x`` for ``==4.21.*``, ``1.2.3`` for ``==1.2.3``."""
    return _EXACT.sub(lambda found: found[1] + (".x" if found[2] else ""), text)
