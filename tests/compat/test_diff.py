"""Differences: every claim that came, went or changed, and the verdicts that follow."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from compat import InputError, Matrix
from compat.diff import Difference, compare
from compat.exports import export
from tests.conftest import DAY, SMALL


def verdicts(found: Difference) -> set[tuple[str, str, str, str]]:
    return {
        (f"{change.one[0]} {change.one[1]}", f"{change.other[0]} {change.other[1]}", change.before.grade, change.after.grade)
        for change in found.verdicts
        if change.before and change.after and not change.scope
    }


@pytest.fixture
def edited(small_copy: Path) -> Callable[[str, str, str], Matrix]:
    """The small knowledge base with one text replaced."""

    def edit(file: str, old: str, new: str) -> Matrix:
        path = small_copy / file
        assert path.read_text().count(old) == 1
        path.write_text(path.read_text().replace(old, new))
        return Matrix.load(as_of=DAY, data=small_copy)

    return edit


def test_an_amended_table_is_an_ended_claim_a_new_one_and_a_verdict(small: Matrix) -> None:
    """On 2026-01-25 the table of operator 12 began to list 1.4; nothing else happened in that week."""
    found = compare(small.on(date(2026, 1, 24)), small)
    assert [(change.what, change.claim.object_versions, change.reason) for change in found.claims] == [
        ("ended", "1.3 - 1.3", "until 2026-01-25"),
        ("new", "1.3 - 1.4", "said 2026-01-25"),
    ]
    assert verdicts(found) == {("operator 12.0.0", "kubernetes 1.4.0", "unknown", "tested")}
    assert (found.came, found.went) == ((), ())


def test_releases_that_came_are_named_and_their_pairs_marked(small: Matrix) -> None:
    """1.4.0 came out on 2026-01-20: its pairs count, and it is said that it was not out."""
    found = compare(small.on(date(2026, 1, 15)), small)
    assert [release.text for release in found.came] == ["1.4.0"]
    (change,) = (change for change in found.verdicts if change.one[0] == "operator" and change.other[0] == "kubernetes" and not change.scope)
    assert change.not_out == ("kubernetes 1.4.0",)


def test_the_same_day_twice_differs_in_nothing(small: Matrix) -> None:
    """No difference is invented."""
    assert compare(small, small.on(DAY)) == Difference((), (), (), ())


def test_backwards_new_is_ended(small: Matrix) -> None:
    """The order of the sides is that of the question, not that of time."""
    found = compare(small, small.on(date(2026, 1, 15)))
    assert [release.text for release in found.went] == ["1.4.0"]
    assert {(change.what, change.claim.object_versions) for change in found.claims if change.claim.subject == "operator"} == {
        ("new", "1.3 - 1.3"),
        ("ended", "1.3 - 1.4"),
    }


def test_a_corrected_claim_is_changed_field_by_field(small: Matrix, edited: Callable[[str, str, str], Matrix]) -> None:
    """Same id, another content: the fields are named, and what follows is judged."""
    after = edited("runtime.yaml", "object_versions: 1.1 - 1.2", "object_versions: 1.1 - 1.3")
    found = compare(small, after)
    assert [(change.what, change.claim.id, change.fields) for change in found.claims] == [("changed", "runtime-2", ("object_versions",))]
    assert verdicts(found) == {("runtime 2.0.0", "kubernetes 1.3.1", "unknown", "tested")}


def test_a_claim_that_was_taken_out_and_one_that_was_put_in(small: Matrix, edited: Callable[[str, str, str], Matrix]) -> None:
    """Between snapshots of one day, the reason is the knowledge and not the calendar."""
    after = edited("runtime.yaml", "- id: runtime-2\n", "- id: runtime-two\n")
    found = compare(small, after)
    assert {(change.what, change.claim.id, change.reason) for change in found.claims} == {
        ("ended", "runtime-2", "no longer in the knowledge"),
        ("new", "runtime-two", "added, said 2025-01-01"),
    }
    assert found.verdicts == ()


def test_a_change_in_one_place_is_told_for_that_place(small: Matrix, edited: Callable[[str, str, str], Matrix]) -> None:
    """Asked openly the verdict stays; on duck-1 it does not."""
    after = edited(
        "operator.yaml",
        "{versions: '12', object_versions: 1.3 - 1.4, scope: {os: duck-2}",
        "{versions: '12', object_versions: 1.3 - 1.4, scope: {os: [duck-1, duck-2]}",
    )
    found = compare(small, after)
    assert {(str(change.other[1]), change.scope["os"], change.before and change.before.grade, change.after and change.after.grade) for change in found.verdicts} == {
        (version, ("duck-1",), "unknown", "tested") for version in ("1.3.1", "1.4.0")
    }  # fmt: skip


def test_a_component_that_one_side_does_not_know(small: Matrix, small_copy: Path) -> None:
    """It has no verdict there, which is told apart from an unknown one."""
    (small_copy / "runtime.yaml").unlink()
    after = Matrix.load(as_of=DAY, data=small_copy)
    found = compare(small, after, ["runtime"])
    assert {change.claim.id for change in found.claims} == {"runtime-2", "runtime-3"}
    assert [release.text for release in found.went] == ["3.0.0", "2.0.0"]
    assert found.verdicts
    assert all(change.after is None for change in found.verdicts)


def test_one_subject_only(small: Matrix) -> None:
    """What is about others is left out; an unknown name is an error."""
    before = small.on(date(2025, 6, 1))
    found = compare(before, small, ["queue"])
    assert found.claims
    assert all("queue" in (change.claim.subject, change.claim.object) for change in found.claims)
    assert {release.subject for release in found.came} == {"queue"}
    with pytest.raises(InputError, match="did you mean queue"):
        compare(before, small, ["quue"])


def test_a_snapshot_and_its_source_differ_in_nothing(small: Matrix, tmp_path: Path) -> None:
    """Across two stores claims are compared by content."""
    path = tmp_path / "kb.json"
    path.write_bytes(export(small.store, "json"))
    assert compare(Matrix.load(as_of=DAY, snapshot=path), Matrix.load(as_of=DAY, data=SMALL)) == Difference((), (), (), ())
