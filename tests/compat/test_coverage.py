"""Coverage: the best verdict per component and minor, and what a plan would find unknown, most important first."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from compat import InputError, Matrix
from compat.coverage import IMPORTANCE, coverage
from compat.verdicts import ORDER


def cells(matrix: Matrix, to: str, start: str) -> dict[str, list[tuple[str, str]]]:
    found = coverage(matrix, to, start)
    return {name: [(cell.best.grade, cell.release.text if cell.release else "") for cell in row] for name, row in found.rows.items()}


def test_the_best_verdict_and_the_newest_release_that_has_it(small: Matrix) -> None:
    """Read off the tables of the small knowledge base by hand."""
    found = cells(small, "1.4", "1.1")
    assert found["operator"] == [("tested", "11.0.0"), ("tested", "11.1.0"), ("tested", "12.0.0"), ("tested", "12.0.0")]
    assert found["runtime"] == [("tested", "2.0.0"), ("tested", "3.0.0"), ("tested", "3.0.0"), ("tested", "3.0.0")]
    assert found["queue"] == [("tested", "25.2.0"), ("tested", "25.2.0"), ("tested", "0.2.0"), ("tested", "0.2.0")]


def test_no_cell_is_better_than_its_best_release(small: Matrix, real: Matrix) -> None:
    """Against every single verdict."""
    for matrix, to, start in ((small, "1.4", "1.1"), (real, "1.37", "1.34")):
        found = coverage(matrix, to, start)
        for name, row in found.rows.items():
            for cell in row:
                if cell.release is None:
                    continue
                grades = [matrix.verdict((name, r.version), (found.control, cell.version)).grade for r in matrix.releases(name, stable_only=True)]
                assert ORDER.index(cell.best.grade) == max(map(ORDER.index, grades))


def test_what_blocks_comes_first(small: Matrix) -> None:
    """Before 2026-01-25 no operator was listed for 1.4: that blocks, and its place of publication is named."""
    found = coverage(small.on(date(2026, 1, 24)), "1.4", "1.1")
    first = found.unknowns[0]
    assert (first.importance, first.component, first.other_release) == ("blocks", "operator", "1.4.0")
    assert first.question == "the operator's support table"
    ranks = [IMPORTANCE.index(unknown.importance) for unknown in found.unknowns]
    assert ranks == sorted(ranks)


def test_a_missing_bridge_is_told(small: Matrix, small_copy: Path) -> None:
    """Operators 11.1 for 1.2 - 1.3 and 12 for 1.3 - 1.4 overlap at 1.3; without that row nothing carries the step from 1.2 to 1.3."""
    assert not [unknown for unknown in coverage(small, "1.4", "1.1").unknowns if unknown.importance == "no-bridge" and unknown.component == "operator"]
    file = small_copy / "operator.yaml"
    file.write_text(file.read_text().replace("{versions: '==11.1.*', object_versions: 1.2 - 1.3,", "{versions: '==11.1.*', object_versions: 1.2 - 1.2,"))
    found = coverage(Matrix.load(as_of=small.as_of, data=small_copy), "1.4", "1.1")
    (bridge,) = [unknown for unknown in found.unknowns if unknown.importance == "no-bridge" and unknown.component == "operator"]
    assert bridge.text == "no single release of operator is known to go with both kubernetes 1.2.0 and 1.3.1"


def test_the_newest_release_that_lags_is_told(small: Matrix, small_copy: Path) -> None:
    """An older release carries the target, the newest is not listed for it."""
    file = small_copy / "operator.yaml"
    file.write_text(file.read_text().replace("releases:\n", "releases:\n- {version: 13.0.0, released: 2026-01-20}\n"))
    found = coverage(Matrix.load(as_of=small.as_of, data=small_copy), "1.4", "1.3", components=["operator"])
    assert ("newest", "operator", "13.0.0") in {(unknown.importance, unknown.component, unknown.release) for unknown in found.unknowns}
    assert found.rows["operator"][-1].release
    assert found.rows["operator"][-1].release.text == "12.0.0"


def test_scope_counts(small: Matrix) -> None:
    """Operator 12 is listed on duck-2 only."""
    found = coverage(small, "1.4", "1.4", {"os": ("duck-1",)}, ["operator"])
    assert found.rows["operator"][0].best.grade == "unknown"


def test_by_default_it_begins_with_the_oldest_supported_minor(small: Matrix) -> None:
    """1.1 ended with 2025; of the others no end is known, so only the target is sure to matter."""
    assert [minor.release for minor in coverage(small.on(date(2025, 12, 31)), "1.3").minors] == ["1.1.0", "1.2.0", "1.3.1"]
    assert [minor.release for minor in coverage(small, "1.4").minors] == ["1.4.0"]


def test_what_cannot_be_asked_is_an_error(small: Matrix) -> None:
    """Unknown names and versions, a start after the end, and parts that rely on nothing."""
    for arguments, says in (
        (("1.9", None, None, ()), "is not known"),
        (("1.2", "1.4", None, ()), "comes after --to"),
        (("1.4", None, None, ["quue"]), "did you mean queue"),
        (("1.4", None, None, ["driver"]), "driver does not rely on kubernetes"),
    ):
        with pytest.raises(InputError, match=says):
            coverage(small, *arguments)


def test_what_the_shipped_knowledge_lacks_has_a_place_to_ask(real: Matrix) -> None:
    """Every unknown on the way to 1.37 names where an answer would be published."""
    found = coverage(real, "1.37", "1.33")
    assert {"gpu-operator", "containerd", "cri-o", "kueue", "dra-driver", "device-plugin"} <= set(found.rows)
    assert all(unknown.question for unknown in found.unknowns)
