"""Verdicts: the rules of docs/semantics.md on a small knowledge base."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat import Matrix
from compat.errors import InputError, UnknownComponentError, UnknownVersionError
from compat.scope import both_conditions, merge_conditions
from compat.verdicts import ORDER
from tests.conftest import DAY, SMALL

OS2 = {"os": ("duck-2",)}


def grade(matrix: Matrix, one: str, other: str, scope: Mapping[str, tuple[str, ...]] | None = None) -> str:
    first, second = (tuple(text.split("=")) for text in (one, other))
    return matrix.verdict(first, second, scope).grade  # type: ignore[arg-type]


def test_a_listed_pair_is_tested(small: Matrix) -> None:
    """The vendor's table decides, and is cited."""
    verdict = small.verdict(("operator", "12.0.0"), ("kubernetes", "1.3.1"), OS2)
    assert verdict.grade == "tested"
    assert [claim.source.ref for claim in verdict.claims] == ["v12.1"]


def test_outside_a_closed_list_is_unknown_whatever_the_floor(small: Matrix) -> None:
    """A support table is closed: the chart's floor and the table of another line do not reach."""
    assert grade(small, "operator=10.0.0", "kubernetes=1.3.0", OS2) == "unknown"
    assert "the operator's support table" in small.verdict(("operator", "10.0.0"), ("kubernetes", "1.3.0"), OS2).question


def test_an_install_check_never_makes_a_pair_declared(small: Matrix) -> None:
    """operator 12 on 1.1: the chart would install, nothing vouches for it."""
    assert grade(small, "operator=12.0.0", "kubernetes=1.1.0", OS2) == "unknown"


def test_outside_a_ci_list_an_open_statement_declares(small: Matrix) -> None:
    """CI ends at 1.2; the documentation asks for 1.1 or newer."""
    assert grade(small, "queue=25.2.0", "kubernetes=1.2.0") == "tested"
    assert grade(small, "queue=25.2.0", "kubernetes=1.3.0") == "declared"


def test_below_a_requirement_is_broken(small_copy: Path) -> None:
    """A hard minimum is a minimum."""
    text = (small_copy / "queue.yaml").read_text().replace("object_versions: '>=1.1'", "object_versions: '>=1.2'")
    (small_copy / "queue.yaml").write_text(text)
    assert grade(Matrix.load(as_of=DAY, data=small_copy), "queue=25.2.0", "kubernetes=1.1.0") == "broken"


def test_a_conflict_breaks_and_names_its_exception(small: Matrix) -> None:
    """A known conflict wins over the open minimum, which is shown as contradicted."""
    verdict = small.verdict(("queue", "25.1.0"), ("kubernetes", "1.3.0"))
    assert verdict.grade == "broken"
    assert [claim.id for claim in verdict.claims] == ["queue-broken"]
    assert verdict.conditions == ("unless the old API is switched on",)
    assert [claim.id for claim in verdict.contradicted] == ["queue-floor"]


def test_an_open_scope_makes_a_condition_of_a_positive_claim(small: Matrix) -> None:
    """No OS given: tested, if the OS is one of the table's."""
    verdict = small.verdict(("operator", "11.0.0"), ("kubernetes", "1.2.0"))
    assert (verdict.grade, verdict.conditions) == ("tested", ("os is one of duck-1, duck-2",))


def test_a_given_scope_decides(small: Matrix) -> None:
    """An OS that no row names is unknown; a minor of a named one is not."""
    assert grade(small, "operator=11.0.0", "kubernetes=1.2.0", {"os": ("swan-1",)}) == "unknown"
    assert grade(small, "operator=11.0.0", "kubernetes=1.2.0", {"os": ("duck-1.1",)}) == "tested"
    assert small.verdict(("operator", "11.0.0"), ("kubernetes", "1.2.0"), {"os": ("duck-1.1",)}).conditions == ()


def test_an_open_scope_makes_a_warning_of_a_negative_claim(small: Matrix) -> None:
    """A conflict of a feature that may be on warns and does not break; given, it breaks; denied, it is silent."""
    verdict = small.verdict(("queue", "0.2.0"), ("kubernetes", "1.4.0"))
    assert verdict.grade == "tested"
    assert [str(caution) for caution in verdict.cautions] == ["if feature is Multi=true: Multi fails on 1.4."]
    assert grade(small, "queue=0.2.0", "kubernetes=1.4.0", {"feature": ("Multi=true",)}) == "broken"
    assert small.verdict(("queue", "0.2.0"), ("kubernetes", "1.4.0"), {"feature": ("Multi=false",)}).cautions == ()


def test_as_of_sees_what_was_said_then(small: Matrix) -> None:
    """The table was amended on 2026-01-25: before that 1.4 was not in it."""
    pair = (("operator", "12.0.0"), ("kubernetes", "1.4.0"))
    assert small.verdict(*pair, OS2).grade == "tested"
    assert small.on(date(2026, 1, 24)).verdict(*pair, OS2).grade == "unknown"


def test_supported_branches_follow_the_life_cycle_of_the_day(small: Matrix) -> None:
    """All active LTS drivers: 530 is one; 510 was one until its end; 520 is none."""
    scope = {"driver_managed_by": ("gpu-operator",)}
    assert grade(small, "operator=12.0.0", "driver=530.1.1", scope) == "declared"
    assert grade(small, "operator=12.0.0", "driver=510.1.1", scope) == "tested"
    assert grade(small, "operator=11.1.0", "driver=520.1.1", scope) == "unknown"
    early = small.on(date(2025, 12, 20))
    assert early.lifecycle("driver", early.version("driver", "510.1.1")).supported  # type: ignore[union-attr]
    assert not small.lifecycle("driver", small.version("driver", "510.1.1")).supported  # type: ignore[union-attr]


def test_skew_is_relative(small: Matrix) -> None:
    """Two minors behind is fine, three are not, and ahead never."""
    assert grade(small, "kubelet=1.1.0", "kubernetes=1.3.0") == "tested"
    assert grade(small, "kubelet=1.1.0", "kubernetes=1.4.0") == "broken"
    assert grade(small, "kubelet=1.3.0", "kubernetes=1.2.0") == "broken"


def test_the_pair_can_be_asked_either_way_round(small: Matrix) -> None:
    """The order of a question does not matter."""
    assert grade(small, "kubernetes=1.3.0", "queue=25.1.0") == "broken"


def test_nothing_said_is_unknown(small: Matrix) -> None:
    """Two components that no claim joins."""
    verdict = small.verdict(("queue", "25.1.0"), ("runtime", "2.0.0"))
    assert verdict.grade == "unknown"
    assert verdict.question.startswith("No claim speaks of")


def test_names_and_versions(small: Matrix) -> None:
    """Aliases resolve; a line stands for its newest release out on the day; unknown ones are errors."""
    assert small.name("K8S") == "kubernetes"
    assert small.version("kubernetes", "1.3").release == "1.3.1"
    assert small.on(date(2025, 10, 10)).version("kubernetes", "1.3").release == "1.3.0"
    with pytest.raises(UnknownComponentError, match="did you mean queue"):
        small.name("queu")
    with pytest.raises(UnknownVersionError, match=r"the newest release known is 1\.4\.0"):
        small.version("kubernetes", "1.9")
    with pytest.raises(InputError, match="needs a version"):
        small.verdict(("queue", None), ("kubernetes", "1.3"))


def test_supported_lists_newest_first(small: Matrix) -> None:
    """The library's shortest question; the lineage decides what is newest."""
    assert [release.text for release in small.supported("queue", kubernetes="1.4")] == ["0.2.0", "0.1.0", "25.2.0"]
    assert [release.text for release in small.supported("queue", minimum="tested", kubernetes="1.4")] == ["0.2.0"]
    with pytest.raises(InputError, match="minimum"):
        small.supported("queue", minimum="good", kubernetes="1.4")


def test_a_sharper_list_wins_over_a_wider_one(small_copy: Path) -> None:
    """A row for one provider that leaves a version out decides there; elsewhere the wide row does."""
    path = small_copy / "operator.yaml"
    row = "  - {versions: '12', object_versions: 1.3 - 1.3, scope: {os: duck-2, provider: pond}, said: 2026-01-25, ref: v12.1}\n"
    path.write_text(path.read_text().replace("- id: operator-driver\n", row + "- id: operator-driver\n", 1))
    matrix = Matrix.load(as_of=DAY, data=small_copy)
    assert grade(matrix, "operator=12.0.0", "kubernetes=1.4.0", {**OS2, "provider": ("pond",)}) == "unknown"
    assert grade(matrix, "operator=12.0.0", "kubernetes=1.4.0", {**OS2, "provider": ("lake",)}) == "tested"


words = st.dictionaries(st.sampled_from("abc"), st.lists(st.sampled_from("123"), min_size=1, max_size=3, unique=True).map(tuple), max_size=3)
worlds = st.fixed_dictionaries({word: st.sampled_from("123") for word in "abc"})


def holds(alternatives: list[dict[str, tuple[str, ...]]], world: dict[str, str]) -> bool:
    return not alternatives or any(all(world[word] in values for word, values in one.items()) for one in alternatives)


@given(st.lists(words, min_size=1, max_size=5), worlds)
def test_joining_conditions_keeps_their_meaning(alternatives: list[dict[str, tuple[str, ...]]], world: dict[str, str]) -> None:
    """However alternatives are joined, they hold in the same worlds."""
    joined = merge_conditions(one.items() for one in alternatives)
    expected = any(all(world[word] in values for word, values in one.items()) for one in alternatives)
    assert holds(joined, world) is expected


@given(st.lists(words, min_size=1, max_size=4), st.lists(words, min_size=1, max_size=4), worlds)
def test_both_conditions_hold_where_each_does(one: list[dict[str, tuple[str, ...]]], other: list[dict[str, tuple[str, ...]]], world: dict[str, str]) -> None:
    """The intersection of two sets of alternatives is just that."""
    a, b = merge_conditions(item.items() for item in one), merge_conditions(item.items() for item in other)
    try:
        joined = both_conditions(a, b)
    except ValueError:
        assert not (holds(a, world) and holds(b, world))
        return
    assert holds(joined, world) is (holds(a, world) and holds(b, world))


@given(
    st.sampled_from(["10.0.0", "11.0.0", "11.1.0", "12.0.0"]),
    st.sampled_from(["1.1.0", "1.2.0", "1.3.0", "1.4.0"]),
    st.sampled_from(["duck-1", "duck-2", "swan-1"]),
)
def test_saying_more_never_makes_a_condition_a_verdict_does_not_have(operator: str, kubernetes: str, system: str) -> None:
    """A verdict with a given OS has no condition on the OS, and an open question is at least as good as its worst answer."""
    matrix = Matrix.load(as_of=DAY, data=SMALL)
    given_os = matrix.verdict(("operator", operator), ("kubernetes", kubernetes), {"os": (system,)})
    open_os = matrix.verdict(("operator", operator), ("kubernetes", kubernetes))
    assert not any("os" in condition for condition in given_os.conditions)
    assert ORDER.index(open_os.grade) >= ORDER.index(given_os.grade)
