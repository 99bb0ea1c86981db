"""Runtimes and drivers that come with the nodes: they move with the node agent, to what the provider says its image carries, else to nobody knows what."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from compat import Matrix
from planner import Plan
from planner.validate import validate
from tests.conftest import DAY
from tests.planner.test_planning import make, path

PROVIDER = """
subject: lake
title: A provider
as_of: 2026-01-31
component: {role: provider}
sources: {images: {url: 'https://example.com/images'}}
"""
IMAGE = """- id: image-{minor}-{said}
  kind: bundle
  object: runtime
  object_versions: =={carries}
  when: {{kubernetes: ==1.{minor}.*}}
  said: {said}
  source: images
  summary: The image for 1.{minor} carries runtime {carries}.
"""
STATE = "kubernetes: 1.2.0\nprovider: lake\ncomponents: {operator: 11.1.0}\npools: [{name: gpu, nodes: 4, kubelet: 1.2.0, os: duck-2, runtime: runtime 2.0.0, provisioning: managed}]\n"


def lake(folder: Path, *images: tuple[int, str, str]) -> Matrix:
    claims = "".join(IMAGE.format(minor=minor, carries=carries, said=said) for minor, carries, said in images)
    (folder / "lake.yaml").write_text(PROVIDER + ("claims:\n" + claims if claims else ""))
    runtime, operator = folder / "runtime.yaml", folder / "operator.yaml"
    runtime.write_text(runtime.read_text().replace("component:\n", "component:\n  comes_with_node: [{provisioning: managed}]\n", 1))
    operator.write_text(operator.read_text().replace("  relies_on:\n", "  relies_on:\n    runtime: {question: the list of the operator}\n", 1))
    return Matrix.load(as_of=DAY, data=folder)


def brought(found: Plan) -> list[tuple[str, str, str]]:
    return [(step.id, change.from_, change.to) for step in found.steps for change in step.changes if change.component == "runtime"]


def test_the_image_decides(small_copy: Path) -> None:
    """The newest statement about the image of a line says what comes with it; the runtime never moves by itself."""
    found = make(lake(small_copy, (3, "2.0.0", "2025-10-01"), (3, "3.0.0", "2025-12-01")), STATE, "1.3")
    assert [(before, after) for _, before, after in brought(found)] == [("2.0.0", "3.0.0")]
    assert not any(step.startswith("runtime") for step in path(found))


def test_an_image_of_which_nobody_says_what_it_carries(small_copy: Path) -> None:
    """What relies on it is unknown, and the hold says what to look up; within the image nothing is asked."""
    found = make(lake(small_copy), STATE, "1.3")
    assert [(before, after) for _, before, after in brought(found)] == [("2.0.0", "?")]
    asked = [pair for hold in found.holds for pair in hold.pairs if "?" in pair.b or "?" in pair.a]
    assert [(pair.a, pair.b) for pair in asked] == [("operator 11.1.0", "runtime ?")]
    assert "Which runtime comes with the nodes of pool gpu" in asked[0].question
    assert found.end["runtime@gpu"] == "?"


def test_a_statement_about_an_older_image_than_what_runs_says_nothing(small_copy: Path) -> None:
    """The pool already has more than the image is said to carry: that statement is out of date."""
    state = STATE.replace("runtime 2.0.0", "runtime 3.0.0")
    found = make(lake(small_copy, (3, "2.0.0", "2025-10-01")), state, "1.3")
    assert [(before, after) for _, before, after in brought(found)] == [("3.0.0", "?")]


def test_elsewhere_it_moves_by_itself(small_copy: Path) -> None:
    """On nodes of one's own the runtime stays a part like others."""
    found = make(lake(small_copy), STATE.replace("managed", "static"), "1.3")
    assert "?" not in found.end.values()


@pytest.mark.parametrize("to", ["2.0.0", "3.0.0"])
def test_the_validator_knows_what_nodes_bring(small_copy: Path, to: str) -> None:
    """A plan that says otherwise is wrong."""
    matrix = lake(small_copy, (3, "3.0.0", "2025-12-01"))
    found = make(matrix, STATE, "1.3")
    steps = tuple(
        replace(step, changes=tuple(replace(change, to=to) if change.component == "runtime" else change for change in step.changes)) for step in found.steps
    )
    faults = [fault for fault in validate(matrix, json.loads(replace(found, steps=steps).to_json())) if "its nodes bring" in fault]
    assert bool(faults) == (to == "2.0.0")


def test_the_next_image_may_carry_less(small_copy: Path) -> None:
    """Two new images in a row, the second with an older runtime than the first: the nodes have what each of them carries."""
    state = STATE.replace("1.2.0", "1.1.0").replace("operator: 11.1.0", "operator: absent").replace("runtime 2.0.0", "runtime 1.9.0")
    file = small_copy / "runtime.yaml"
    file.write_text(file.read_text().replace("releases:\n", "releases:\n- {version: 1.9.0, released: 2024-06-01}\n"))
    images = [(2, "2.0.0", "2025-10-01"), (3, "3.0.0", "2025-10-01"), (4, "2.0.0", "2025-10-01")]
    found = make(lake(small_copy, *images), state, "1.4")
    carried = [after for _, _, after in brought(found)]
    assert carried[-1] == "2.0.0"
    assert found.end["runtime@gpu"] == "2.0.0"
    assert found.status != "impossible"
