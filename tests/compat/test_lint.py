"""Warnings: each explains itself, and each one of the shipped knowledge has a reason to be there."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.knowledge import load_knowledge
from compat.layers import read_overlay
from compat.lint import lint, only_for_readers
from compat.store import data_directory
from tests.conftest import SMALL
from tests.overlays import write

CLAIM = """
- id: probe
  kind: {kind}
  subject: operator
  versions: '{versions}'
  object: kubernetes
  object_versions: '{objects}'
  grade: {grade}
  said: {said}
  source: {source}
  summary: {summary}
"""
SOUND = {"kind": "support", "versions": "12", "objects": "1.3", "grade": "tested", "said": "2025-12-01", "source": "{repo: example/x}", "summary": "A probe."}

JUSTIFIED = {
    "gpu-operator-driver-default-26.7.1-595.91.07": "the tag could not be read; a third party's audit names the default, which is therefore only declared",
    "jobset-0.13-ci-jobs": "the CI jobs of its release branch are there, the release is not out yet; the list is about nothing until it is",
}
"""Claim -> why its warning stays."""


def warnings(folder: Path, extra: str = "", **fields: str) -> list[str]:
    (folder / "probe.yaml").write_text("subject: probe\ntitle: Probe\nas_of: 2026-01-31\nclaims:" + CLAIM.format(**{**SOUND, **fields}) + extra)
    return [str(warning) for warning in lint(load_knowledge(folder))]


def test_sound_knowledge_has_no_warnings(small_copy: Path) -> None:
    """Neither the small knowledge base nor the probe without a mistake."""
    assert warnings(small_copy) == []


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"versions": "==11.7.*"}, "data/probe.yaml:5: empty-range: probe: no release line of operator lies in versions '==11.7.*', and no later one can (known: 10.0.0 to 12.0.0)"),
        ({"objects": "==0.9.*"}, "no release line of kubernetes lies in object_versions '==0.9.*'"),
        ({"versions": "13"}, "tested-unreleased: probe: versions '13' of operator has no release yet (newest 12.0.0)"),
        ({"grade": "declared", "source": "{path: hearsay}"}, "no-link: probe: the source 'hearsay' cannot be opened; give repo and path, or url"),
        ({"summary": "'Operator {version} is listed.'"}, "placeholder: probe: the summary shows '{version}' as it stands"),
        ({"said": "2025-12-01\n  until: 2025-12-01"}, "stands-on-no-day: probe: it is said and replaced on 2025-12-01"),
        ({"said": "2025-12-01\n  until: 2026-03-01"}, "until-ahead: probe: until 2026-03-01, after 2026-01-31"),
    ],
)  # fmt: skip
def test_a_warning_says_what_and_where(small_copy: Path, fields: dict[str, str], says: str) -> None:
    """Each kind of slip gets one sentence with file and line."""
    found = warnings(small_copy, **fields)
    assert len(found) == 1
    assert says in found[0]


@pytest.mark.parametrize(
    "fields",
    [
        {"versions": "13", "grade": "declared"},
        {"versions": ">=11.1.7"},
        {"versions": "==11.1.7"},
        {"kind": "upgrade", "versions": "<9"},
        {"kind": "bundle", "grade": "declared", "objects": "==0.9.1"},
    ],
)
def test_what_may_be_meant_is_not_warned_of(small_copy: Path, fields: dict[str, str]) -> None:
    """Later releases, patches that the list leaves out, and history before it."""
    assert warnings(small_copy, **fields) == []


def test_a_twin_is_named(small_copy: Path) -> None:
    """The same words under two ids count twice in every answer."""
    found = warnings(small_copy, CLAIM.format(**SOUND).replace("id: probe", "id: again").lstrip("\n"))
    assert ["twin: again: it says word for word what probe says; keep one" in text for text in found] == [True]


def test_dates_ahead_of_the_newest_source(small_copy: Path) -> None:
    """A release later than everything that was read."""
    queue = small_copy / "queue.yaml"
    queue.write_text(queue.read_text().replace("{version: 0.2.0, released: 2026-01-01}", "{version: 0.2.0, released: 2026-06-01}"))
    found = warnings(small_copy)
    assert len(found) == 1
    assert "released-ahead: queue 0.2.0: released 2026-06-01" in found[0]


def test_what_no_verdict_can_use_is_counted(small_copy: Path) -> None:
    """Claims about pairs with a thing that is no subject are for readers."""
    assert only_for_readers(load_knowledge(small_copy)) == {}
    (small_copy / "probe.yaml").write_text(
        "subject: probe\ntitle: Probe\nas_of: 2026-01-31\nclaims:" + CLAIM.format(**SOUND).replace("kubernetes", "cake").replace("'1.3'", "''")
    )
    assert only_for_readers(load_knowledge(small_copy)) == {"cake": 1}


def test_every_warning_of_the_shipped_knowledge_is_justified() -> None:
    """There are no faults, and a new warning needs a reason here or is mended; a reason that is no longer needed goes."""
    assert {warning.about for warning in lint(load_knowledge(data_directory()))} == set(JUSTIFIED)


@pytest.mark.parametrize(
    ("risk", "says"),
    [
        ("unknown:operator@11.1.0:kubernetes@1.4.0", ""),
        ("unknown:operator@?:kubernetes@1.4.0", ""),
        ("broken:driver@520.1.1:this@cluster", ""),
        ("unknown-hop:operator@11.1.0:12.0.0", ""),
        ("unknown:operatr@11.1.0:kubernetes@1.4.0", "there is no component operatr; did you mean operator?"),
        ("operator@11.1.0:kubernetes@1.4.0", "no plan gives such an id"),
        ("tested:operator@11.1.0:kubernetes@1.4.0", "no plan gives such an id"),
        ("unknown-hop:operator:12.0.0", "no plan gives such an id"),
        ("everything", "no plan gives such an id"),
    ],
)
def test_an_accepted_risk_that_no_plan_can_ask_for_is_a_warning(tmp_path: Path, risk: str, says: str) -> None:
    """Its owner believes to have accepted something."""
    overlay = read_overlay(write(tmp_path, f"accepted: [{{id: '{risk}', owner: o, expires: 2026-12-31, reason: r}}]\n"))
    found = [str(warning) for warning in lint(load_knowledge(SMALL, [overlay]))]
    assert found == [] if not says else says in found[0]
