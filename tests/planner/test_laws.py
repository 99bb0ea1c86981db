"""Laws of plans, over random small knowledge bases. What the laws say of the solver alone is in test_solver.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat import Matrix
from planner import ClusterState, Plan, plan
from planner.validate import validate
from tests.planner.knowledge import MINORS, Knowledge, claim, random_knowledge, random_state

seeds = st.integers(0, 10**9)
few = settings(max_examples=20)
GOAL = f"1.{MINORS}"
Loader = Callable[[Knowledge], Matrix]
Price = tuple[int, ...]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Loader:
    """Writes a knowledge base into a folder of its own and reads it."""
    root, numbers = tmp_path_factory.mktemp("knowledge"), count()

    def loader(knowledge: Knowledge) -> Matrix:
        return knowledge.load(root / str(next(numbers)))

    return loader


def make(matrix: Matrix, state: dict[str, Any]) -> Plan:
    """Plan; no test sees a plan that the validator has not passed."""
    found = plan(matrix, ClusterState.from_value(state), GOAL)
    assert validate(matrix, json.loads(found.to_json())) == []
    return found


def price(found: Plan) -> Price | None:
    """What counts, most important first; None if there is no way."""
    cost = found.cost
    return None if found.status == "impossible" else (cost.unknown_pairs, cost.gpu_nodes_drained, cost.other_nodes_drained, cost.steps)


def no_dearer(one: Price | None, other: Price | None) -> bool:
    """Whether *one* costs at most as much as *other*; no way at all is the dearest."""
    return other is None or (one is not None and one <= other)


@few
@given(seeds)
def test_the_validator_passes_every_plan(load: Loader, seed: int) -> None:
    """It replays the plan against the knowledge and shares nothing with the search."""
    knowledge = random_knowledge(seed)
    found = make(load(knowledge), random_state(knowledge, seed))
    assert found.optimal


@few
@given(seeds)
def test_a_claim_that_forbids_never_makes_a_plan_cheaper(load: Loader, seed: int) -> None:
    """One more conflict, about releases that do not run now."""
    knowledge, rng = random_knowledge(seed), Random(seed)
    state = random_state(knowledge, seed)
    subject, target = rng.choice(((0, 3), (1, 3), (0, 2)))
    low = rng.randint(1, MINORS if target == 3 else knowledge.sizes[2])
    conflict = claim(subject, rng.randint(2, knowledge.sizes[subject]), target, low, low + rng.randint(0, 1), kind="conflict")
    before, after = make(load(knowledge), state), make(load(replace(knowledge, extra=(conflict,))), state)
    assert no_dearer(price(before), price(after))


@few
@given(seeds)
def test_an_answer_to_an_unknown_never_makes_a_plan_dearer(load: Loader, seed: int) -> None:
    """A declared statement about pairs of which nothing was known."""
    knowledge, rng = random_knowledge(seed), Random(seed)
    state = random_state(knowledge, seed)
    subject, target = rng.choice(((0, 3), (1, 3), (0, 2)))
    low = rng.randint(1, MINORS if target == 3 else knowledge.sizes[2])
    answer = claim(subject, rng.randint(1, knowledge.sizes[subject]), target, low, low + rng.randint(0, 2))
    before, after = make(load(knowledge), state), make(load(replace(knowledge, extra=(answer,))), state)
    assert no_dearer(price(after), price(before))


@few
@given(seeds)
def test_names_and_order_change_nothing_else(load: Loader, seed: int) -> None:
    """Components under names that sort the other way round, pools renamed and written in another order."""
    knowledge = random_knowledge(seed)
    state = random_state(knowledge, seed)
    other = knowledge.renamed(("zinc", "yarn", "azure"))
    names = dict(zip(knowledge.names, other.names, strict=True))
    turned = deepcopy(state)
    turned["components"] = {names[name]: version for name, version in reversed(state["components"].items())}
    turned["pools"] = [pool | {"name": {"east": "zulu", "west": "alpha"}[pool["name"]]} for pool in reversed(state["pools"])]
    one, two = make(load(knowledge), state), make(load(other), turned)
    assert (one.status, price(one)) == (two.status, price(two))
    moved = sorted((names.get(step.component, step.component), step.from_, step.to) for step in one.steps if step.kind != "hold")
    assert moved == sorted((step.component, step.from_, step.to) for step in two.steps if step.kind != "hold")


@few
@given(seeds)
def test_from_any_state_on_the_way_the_rest_costs_no_more_than_planned(load: Loader, seed: int) -> None:
    """Whoever stops half-way and plans anew is not worse off."""
    knowledge = random_knowledge(seed)
    matrix, state = load(knowledge), random_state(knowledge, seed)
    whole = make(matrix, state)
    if whole.status == "impossible":
        return
    rest = [step for step in whole.steps if step.kind != "hold"]
    drained = [0, 0]
    current = deepcopy(state)
    for number, step in enumerate(rest, 1):
        drained = [drained[0] + step.drains.gpu_nodes, drained[1] + step.drains.other_nodes]
        for change in step.changes:
            field = {"kubelet": "kubelet", knowledge.names[2]: "driver"}.get(change.component)
            if change.component == "kubernetes":
                current["kubernetes"] = change.to
            elif field:
                next(pool for pool in current["pools"] if pool["name"] == step.pool)[field] = change.to
            else:
                current["components"][change.component] = change.to
        found = make(matrix, current)
        spent = price(found)
        assert spent is not None
        left = (whole.cost.gpu_nodes_drained - drained[0], whole.cost.other_nodes_drained - drained[1], len(rest) - number)
        if whole.cost.unknown_pairs == 0:
            assert spent <= (0, *left)
        else:
            assert spent[0] <= whole.cost.unknown_pairs


def test_the_knowledge_bases_are_worth_it(load: Loader) -> None:
    """They hold safe plans, plans with holds, and goals that cannot be reached."""
    ends = [make(load(knowledge), random_state(knowledge, seed)).status for seed in range(60) for knowledge in (random_knowledge(seed),)]
    assert {"tested", "declared", "unknown"} <= set(ends)
    assert "impossible" in ends
