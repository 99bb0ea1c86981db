"""Ranges: the laws of sets, and the product's lineage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.errors import InvalidRangeError
from compat.ranges import for_people, parse_range
from compat.versions import Lineage, parse

DRA = Lineage("dra-driver", {0: 1})


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        (">=1.33,<1.38", ["1.33.0", "1.37.9-eks-1"], ["1.32.13", "1.38.0", "1.38.0a1"]),
        ("1.33 - 1.36", ["1.33.0", "1.36.99"], ["1.32.9", "1.37.0"]),
        ("26.7", ["26.7.0", "26.7.2"], ["26.6.9", "26.8.0", "26.70.0"]),
        ("580.126.20", ["580.126.20-ubuntu24.04"], ["580.126.21"]),
        ("4.6.0-4.8.3", ["4.6.0"], ["4.6.1"]),
        ("535.309.01 | 580.173.02", ["535.309.01", "580.173.2"], ["580.173.3", "550.1.1"]),
        ("", ["0.1", "999.9"], []),
        ("==1.7.*,!=1.7.3", ["1.7.2"], ["1.7.3", "1.8.0"]),
    ],
)
def test_contains(text: str, inside: list[str], outside: list[str]) -> None:
    """Every written form means what the documentation says."""
    found = parse_range(text)
    assert [version for version in inside if parse(version) not in found] == []
    assert [version for version in outside if parse(version) in found] == []


@pytest.mark.parametrize(
    ("text", "inside"), [(">=25.8", True), ("==25.*", False), ("!=25.*", True), ("==0.4.*", True), ("0.4", True), ("<26", False), (">=0.4,<0.6", True)]
)
def test_a_range_follows_the_lineage(text: str, inside: bool) -> None:
    """0.4.0, the successor of 25.12.0, satisfies >=25.8 and is no 25.x."""
    assert (parse("0.4.0", DRA) in parse_range(text, DRA)) is inside


@pytest.mark.parametrize(
    "text", ["nonsense", ">=", ">=x", "1.33 -", "|1", "1|", "1 | | 2", ">=1,,<2", "=>1", "^1.2", "~1.2", "1.x", ">=1.33; rm", "x" * 30_000]
)
def test_refuses_what_is_no_range(text: str) -> None:
    """An unreadable range names itself."""
    with pytest.raises(InvalidRangeError):
        parse_range(text)


points = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)).map(lambda parts: ".".join(map(str, parts)))
comparisons = st.builds(lambda op, point: op + point, st.sampled_from([">=", "<", ">", "<=", "==", "!="]), points)
specs = st.lists(comparisons, min_size=1, max_size=3).map(",".join)


@given(specs, specs, points)
def test_a_union_holds_what_either_side_holds(one: str, other: str, point: str) -> None:
    """v in (a | b) exactly if v in a or v in b, whichever way round."""
    version = parse(point)
    expected = version in parse_range(one) or version in parse_range(other)
    assert (version in parse_range(f"{one} | {other}")) is expected
    assert (version in parse_range(f"{other} | {one}")) is expected


@given(specs, points)
def test_clauses_are_an_intersection(text: str, point: str) -> None:
    """v lies in a comma list exactly if it lies in each clause."""
    version = parse(point)
    assert (version in parse_range(text)) is all(version in parse_range(clause) for clause in text.split(","))


@given(specs, specs, st.lists(points, max_size=20))
def test_covering_and_overlapping_agree_with_membership(one: str, other: str, sample: list[str]) -> None:
    """If a covers b, b has no member outside a; if they do not overlap, no member is in both."""
    a, b = parse_range(one), parse_range(other)
    for version in map(parse, sample):
        assert not (a.covers(b) and version in b and version not in a)
        assert a.overlaps(b) or not (version in a and version in b)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("==4.21.*", "4.21.x"),
        ("==1.2.3", "1.2.3"),
        ("==4.6.0-4.8.3", "4.6.0-4.8.3"),
        ("==1.2.* | ==1.4.*", "1.2.x | 1.4.x"),
        ("==26.3.*,!=26.3.1", "26.3.x,!=26.3.1"),
        (">=1.30,<1.35", ">=1.30,<1.35"),
        ("!=1.2.*", "!=1.2.*"),
        ("1.33 - 1.36", "1.33 - 1.36"),
        ("a == b", "a == b"),
    ],
)
def test_a_range_is_shown_as_people_write_it(text: str, shown: str) -> None:
    """The signs of the written form say nothing to a reader; those that do are kept."""
    assert for_people(text) == shown
