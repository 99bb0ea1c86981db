"""What a plan could be traded for: against going through every way of the compiled problem."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from compat import Matrix
from planner import ClusterState, compile_for, plan
from planner.alternatives import Alternatives, alternatives
from planner.assume import assumed_state
from planner.schemas import alternatives_schema
from planner.solver.problem import unpack
from planner.validate import validate
from tests.conftest import DAY
from tests.planner.test_front import exhaustive_front

STATE = """
kubernetes: 1.1.0
components: {operator: 10.0.0, queue: 25.2.0}
pools:
- {name: gpu, nodes: 4, kubelet: 1.1.0, os: duck-2, runtime: runtime 2.0.0, driver: 510.1.1, driver_managed_by: gpu-operator, allocation: device-plugin}
"""
BAN = """- id: ban-{number}
  kind: conflict
  versions: '{versions}'
  object: {object}
  object_versions: '{object_versions}'
  said: 2026-01-01
  source: {{repo: example/operator}}
  summary: Ban {number}.
"""
Point = tuple[tuple[int, ...], str]


def brute(matrix: Matrix, state: ClusterState, to: str) -> set[Point]:
    """The front over both rules: counts, and whether nodes end on the target."""
    found: set[Point] = set()
    for rule in ("target", "supported"):
        whole = compile_for(matrix, state, to, nodes=rule).whole
        found |= {(unpack(cost, whole.width)[:4], rule) for cost in exhaustive_front(whole, 4)}

    def beats(one: Point, other: Point) -> bool:
        return one != other and all(a <= b for a, b in zip(one[0], other[0], strict=True)) and (one[1] == "target" or other[1] == "supported")

    return {point for point in found if not any(beats(other, point) for other in found)}


def points(found: Alternatives) -> set[Point]:
    return {
        ((one.cost.unknown_pairs, one.cost.gpu_nodes_drained, one.cost.other_nodes_drained, one.cost.steps), one.nodes)
        for one in found.alternatives
        if one.on_front
    }


def check(matrix: Matrix, state: ClusterState, to: str, found: Alternatives, **question: Any) -> None:
    """Each plan is sound, has the counts that are said of it, and is given by its flags; the first is the plan that the question gives."""
    assert found.alternatives[0].plan == found.recommended == plan(matrix, state, to, **question)
    assert [one.id for one in found.alternatives] == [f"a{number + 1}" for number in range(len(found.alternatives))]
    for one in found.alternatives:
        assert validate(matrix, json.loads(one.plan.to_json())) == []
        assert one.plan.cost == one.cost
        assert bool(one.trades) is (one is not found.alternatives[0])
        if one.flags:
            _, nodes, _, prefer = one.flags.split()
            assert plan(matrix, state, to, nodes=nodes, prefer=prefer) == one.plan
        else:
            assert not one.plan.optimal


@pytest.mark.parametrize("seed", range(10))
def test_the_front_is_that_of_every_way(small_copy: Path, seed: int) -> None:
    """On small problems nothing is missing and nothing is beaten, whatever the question."""
    draw = random.Random(seed)
    bans = "".join(
        BAN.format(
            number=number,
            versions=draw.choice(["==10.*", "==11.*", "==12.*"]),
            object=draw.choice(["kubernetes", "runtime"]),
            object_versions=draw.choice(["==1.2.*", "==1.3.*", "==1.4.*", "==2.*"]),
        )
        for number in range(draw.randint(0, 2))
    )
    file = small_copy / "operator.yaml"
    file.write_text(file.read_text().replace("also:\n", bans + "also:\n"))
    matrix = Matrix.load(as_of=DAY, data=small_copy)
    state = ClusterState.parse(STATE.replace("510.1.1", draw.choice(["500.1.1", "510.1.1", "520.1.1"])).replace("nodes: 4", f"nodes: {draw.randint(1, 9)}"))
    nodes, prefer = draw.choice(["target", "supported"]), draw.choice(["fewest-drains", "fewest-steps", "newest"])
    found = alternatives(matrix, state, "1.4", nodes=nodes, prefer=prefer)
    expected = brute(matrix, state, "1.4")
    if found.recommended.status == "impossible":
        assert not found.alternatives
        return
    check(matrix, state, "1.4", found, nodes=nodes, prefer=prefer)
    assert found.complete
    assert points(found) == expected


def test_nodes_that_end_behind_are_a_trade(small: Matrix) -> None:
    """A plan that leaves nodes behind the target is there only if that saves something."""
    state = ClusterState.parse(STATE)
    found = alternatives(small, state, "1.4")
    assert points(found) == brute(small, state, "1.4")
    behind = [one for one in found.alternatives if one.nodes == "supported"]
    assert behind
    for one in behind:
        assert "kubelet of pool gpu ends on" in one.trades
        assert "fewer" in one.trades


def test_over_its_effort_the_best_of_each_order_are_left(small: Matrix) -> None:
    """What is returned then is on the front, and `complete` says that there may be more."""
    state = ClusterState.parse(STATE)
    found = alternatives(small, state, "1.4", effort=0)
    expected = brute(small, state, "1.4")
    assert points(found) <= expected
    assert min(expected) in points(found)
    assert found.complete is False


def test_no_way_no_alternatives(small_copy: Path) -> None:
    """Nothing can be traded for a plan that leads nowhere."""
    file = small_copy / "operator.yaml"
    file.write_text(file.read_text().replace("also:\n", BAN.format(number=1, versions="", object="kubernetes", object_versions=">=1.4") + "also:\n"))
    found = alternatives(Matrix.load(as_of=DAY, data=small_copy), ClusterState.parse(STATE), "1.4")
    assert (found.recommended.status, found.alternatives) == ("impossible", ())
    jsonschema.validate(json.loads(json.dumps(found.to_dict())), alternatives_schema())


def test_the_written_form_is_that_of_the_schema(small: Matrix, golden: Callable[[str, str], None]) -> None:
    """docs/schemas/compat.alternatives.v1.json is that of the code, and accepts what it writes."""
    golden(str(Path("..", "..", "docs", "schemas", "compat.alternatives.v1.json")), json.dumps(alternatives_schema(), indent=2, sort_keys=True) + "\n")
    document = json.loads(json.dumps(alternatives(small, ClusterState.parse(STATE), "1.4").to_dict()))
    jsonschema.validate(document, alternatives_schema())
    assert document["recommended"] == document["alternatives"][0]["id"]


def test_the_main_job_can_be_traded(real: Matrix) -> None:
    """1.33 to 1.37: one GPU drain less if nodes may end on 1.36, and one step less without the hop to GPU Operator 26.7."""
    state = assumed_state(real, "1.33", {})
    found = alternatives(real, state, "1.37")
    assert found.complete
    check(real, state, "1.37", found)
    assert ((1, 2, 0, 9), "target") in points(found)
    assert ((0, 1, 0, 8), "supported") in points(found)
    fewer = next(one for one in found.alternatives if one.cost.unknown_pairs == 2 and one.nodes == "target")
    assert fewer.trades.startswith("1 fewer step for 1 more unknown pair; nothing vouches for gpu-operator 26.3")
