"""Plans of many clusters: which count as the same, and what the fleet comes to."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import jsonschema
import pytest

from compat import Matrix
from planner import ClusterState, plan_fleet
from planner.fleet import Outcome, combine, same_for_all
from planner.result_schemas import fleet_schema

START = """
kubernetes: 1.1.0
name: {name}
components: {{operator: 10.0.0, queue: 25.2.0}}
pools:
- {{name: gpu, nodes: {nodes}, kubelet: 1.1.0, driver: 510.1.1, driver_managed_by: gpu-operator, allocation: device-plugin{more}}}
"""


def state(name: str, nodes: int = 4, more: str = "") -> ClusterState:
    return ClusterState.parse(START.format(name=name, nodes=nodes, more=more))


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (state("b"), True),
        (state("b", nodes=9), True),
        (state("b", more=", os: duck-2"), False),
        (ClusterState.parse(START.format(name="b", nodes=4, more="").replace("25.2.0", "0.1.0")), False),
        (ClusterState.parse(START.format(name="b", nodes=4, more="").replace("name: gpu", "name: other")), False),
        (state("b", more=", conditions: {not-ready: 1}"), False),
    ],
)
def test_plans_are_the_same_if_people_do_the_same(small: Matrix, other: ClusterState, same: bool) -> None:
    """The name and the number of nodes do not matter; another version, pool, condition or thing to do does."""
    fleet = plan_fleet(small, {"a": state("a"), "b": other}, "1.4")
    assert len(fleet.groups) == (1 if same else 2)


def test_an_accepted_risk_makes_another_plan(small: Matrix) -> None:
    """A plan that waits for an answer is not the same as one whose risk is accepted."""
    early = small.on(date(2026, 1, 24))
    held = plan_fleet(early, {"a": state("a")}, "1.4")
    name = held.groups[0].plan.open_pairs[0].id
    accepted = plan_fleet(early, {"a": state("a")}, "1.4", accept=[name])
    assert (held.exit_code, accepted.exit_code) == (30, 10)
    assert len(combine([*held.outcomes, Outcome(file="b", plan=accepted.outcomes[0].plan)], held.knowledge).groups) == 2


def test_one_bad_cluster_does_not_stop_the_rest(small: Matrix) -> None:
    """It is reported with what is wrong; the others are planned, in the order of the input, the largest group first."""
    states = {"late": ClusterState.parse("kubernetes: 1.3.1\npools: []"), "bad": ClusterState.parse("kubernetes: 9.9"), "a": state("a"), "b": state("b", 2)}
    fleet = plan_fleet(small, states, "1.4")
    document = fleet.to_dict()
    jsonschema.validate(json.loads(fleet.to_json()), fleet_schema())
    assert [cluster["file"] for cluster in document["clusters"]] == ["late", "a", "b"]
    assert [group["clusters"] for group in document["groups"]] == [["a", "b"], ["late"]]
    assert [cluster["group"] for cluster in document["clusters"]] == ["g2", "g1", "g1"]
    ((failed),) = document["failed"]
    assert failed["file"] == "bad"
    assert "kubernetes 9.9 is not known" in failed["errors"][0]
    assert fleet.exit_code == 2
    assert {status: len(found) for status, found in fleet.by_status().items() if found} == {"tested": 1, "declared": 2, "failed": 1}


def test_the_plan_of_a_group_has_no_name_of_one_cluster(small: Matrix) -> None:
    """A single cluster keeps its own."""
    fleet = plan_fleet(small, {"a": state("a"), "b": state("b"), "c": state("c", more=", os: duck-2")}, "1.4")
    assert ["name" in same_for_all(group).start for group in fleet.groups] == [False, True]


@pytest.mark.parametrize(
    ("targets", "failed", "code"),
    [(("1.2",), None, 0), (("1.2", "held"), None, 30), (("1.2", "accepted"), None, 10), (("held", "impossible"), None, 20), (("impossible",), False, 2), (("1.2",), True, 1), ((), None, 0)],
)  # fmt: skip
def test_the_exit_code_is_the_worst(small: Matrix, targets: tuple[str, ...], failed: bool | None, code: int) -> None:
    """1 and 2 for clusters without a plan, then 20, 30, 10, 0."""
    early = small.on(date(2026, 1, 24))
    held = ClusterState.parse(START.format(name="a", nodes=1, more=""))
    stuck = ClusterState.parse("kubernetes: 1.1.0\ncomponents: {queue: 25.1.0}\nfeatures: {Multi: true}\npools: [{name: a, kubelet: 1.1.0}]")
    plans = {
        "1.2": lambda: plan_fleet(early, {"x": held}, "1.2"),
        "held": lambda: plan_fleet(early, {"x": held}, "1.4"),
        "accepted": lambda: plan_fleet(early, {"x": held}, "1.4", accept=["unknown:operator@11.1.0:kubernetes@1.4.0"]),
        "impossible": lambda: plan_fleet(early, {"x": stuck}, "1.4"),
    }
    outcomes = [Outcome(file=name, plan=plans[name]().outcomes[0].plan) for name in targets]
    if failed is not None:
        outcomes.append(Outcome(file="bad", errors=("bad",), internal=failed))
    knowledge = plan_fleet(early, {}, "1.4").knowledge
    assert combine(outcomes, knowledge).exit_code == code
    assert combine(outcomes, knowledge, stopped=True).exit_code == 130


def test_the_written_form_is_that_of_the_schema(golden: Callable[[str, str], None]) -> None:
    """docs/schemas/compat.fleet.v1.json is that of the code."""
    golden(str(Path("..", "..", "docs", "schemas", "compat.fleet.v1.json")), json.dumps(fleet_schema(), indent=2, sort_keys=True) + "\n")
