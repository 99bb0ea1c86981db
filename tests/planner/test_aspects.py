"""What a plan moves that is no component: API versions in use and the way GPUs are allocated. All plans pass the validator."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat import Matrix
from compat.errors import InputError
from planner import Plan
from tests.conftest import DAY
from tests.planner.test_planning import make, path

# -- APIs in use

DUCK = "kubernetes: 1.1.0\napis: [pond.example/v1beta1/Duck]\n"
SERVED = """- id: api-pond-v1
  kind: api
  group: pond.example
  version: v1
  kinds: [Duck]
  introduced: '{introduced}'
  said: 2025-02-01
  source: skew
  summary: pond.example/v1 comes with {introduced}.
"""


def serving(folder: Path, introduced: str) -> Matrix:
    file = folder / "kubernetes.yaml"
    file.write_text(file.read_text() + SERVED.format(introduced=introduced))
    return Matrix.load(as_of=DAY, data=folder)


@pytest.mark.parametrize("introduced", ["1.1", "1.2"])
def test_an_api_is_left_between_the_release_that_brings_its_successor_and_the_one_that_takes_it(small_copy: Path, introduced: str) -> None:
    """v1beta1 goes in 1.3: the move to v1 is a step of its own, not before v1 is served and not after v1beta1 is gone."""
    found = make(serving(small_copy, introduced), DUCK, "1.4")
    steps = path(found)
    assert found.steps[steps.index("pond.example/Duck v1")].kind == "migrate-api"
    assert steps.index("pond.example/Duck v1") < steps.index("kubernetes 1.3.1")
    if introduced == "1.2":
        assert steps.index("kubernetes 1.2.0") < steps.index("pond.example/Duck v1")
    assert found.cost.steps == len(steps) == 4
    assert found.end["pond.example/Duck"] == "v1"


def test_an_api_that_stays_is_not_moved(small_copy: Path) -> None:
    """Up to 1.2 everything serves v1beta1."""
    assert path(make(serving(small_copy, "1.1"), DUCK, "1.2")) == ["kubernetes 1.2.0"]


def test_an_api_without_an_overlap_release_is_no_way(small_copy: Path) -> None:
    """v1beta1 goes in 1.3 and v1 comes with 1.3: no release serves both, so nothing can be moved in time."""
    found = make(serving(small_copy, "1.3"), DUCK, "1.4")
    assert found.conflict is not None
    assert {"api-pond-v1beta1", "api-pond-v1"} <= set(found.conflict.claims)
    assert found.end["kubernetes"] == "1.2.0"


def test_a_jump_over_the_overlap_needs_a_stop(small_copy: Path) -> None:
    """An add-on may skip releases; with its old API in use it has to stop where both versions are served."""
    file = small_copy / "queue.yaml"
    apis = "".join(
        f"- id: api-queue-{version}\n  kind: api\n  group: queue.example\n  version: {version}\n  kinds: [Line]\n{rest}  said: 2025-02-01\n"
        f"  source: {{repo: example/queue}}\n  summary: Lines in {version}.\n"
        for version, rest in (("v1beta1", "  removed: '0.1'\n  replacement: v1\n"), ("v1", "  introduced: '25.2'\n"))
    )
    file.write_text(file.read_text().replace("claims:\n", "claims:\n" + apis, 1))
    matrix = Matrix.load(as_of=DAY, data=small_copy)
    state = "kubernetes: 1.3.1\nprovider: pond\ncomponents: {queue: 25.1.0}\n"
    assert [step for step in path(make(matrix, state, "1.3", prefer="newest")) if step.startswith("queue ")] == ["queue 0.2.0"]
    steps = path(make(matrix, state + "apis: [queue.example/v1beta1/Line]\n", "1.3", prefer="newest"))
    assert [step for step in steps if step.startswith("queue")] == ["queue 25.2.0", "queue.example/Line v1", "queue 0.2.0"]


# -- how GPUs are allocated

SHARING = """
subject: sharing
title: How pods get GPUs
as_of: 2026-01-31
component:
  role: allocation
  part_of_drain: true
  procedures:
  - {scope: {allocation: dra}, do: [{text: 'Hand pool {pool} from {from} to {to}'}]}
also:
- {subject: plugin, title: A device plugin, component: {role: addon, present_in: {allocation: device-plugin}}}
- subject: dra
  title: A DRA driver
  component:
    role: addon
    present_in: {allocation: dra}
    relies_on: {kubernetes: {scope: {allocation: dra}, question: the notes of the DRA driver}}
releases:
- {subject: plugin, version: 1.0.0, released: 2025-01-01}
- {subject: dra, version: 1.0.0, released: 2025-01-01}
sources: {notes: {url: 'https://example.com/dra'}}
claims:
- id: dra-kubernetes
  kind: require
  subject: dra
  object: kubernetes
  object_versions: '>=1.3'
  scope: {allocation: dra}
  said: 2025-02-01
  source: notes
  summary: GPUs through claims need 1.3.
- id: never-both
  kind: conflict
  subject: dra
  object: plugin
  scope: {node: same}
  said: 2025-02-01
  source: notes
  summary: Never the plugin and the DRA driver on one node.
"""
POOL = "{{name: {name}, nodes: {nodes}, kubelet: 1.1.0, os: duck-2, runtime: runtime 2.0.0, allocation: device-plugin, gpu: {{per_node: 8}}}}"


def pools(*names: str, components: str = "plugin: 1.0.0, dra: 1.0.0") -> str:
    listed = ", ".join(POOL.format(name=name, nodes=2 + number) for number, name in enumerate(names))
    return f"kubernetes: 1.1.0\nprovider: pond\ncomponents: {{{components}}}\npools: [{listed}]\n"


@pytest.fixture
def shared(small_copy: Path) -> Matrix:
    """The small knowledge base with two ways of allocating GPUs."""
    (small_copy / "sharing.yaml").write_text(SHARING)
    return Matrix.load(as_of=DAY, data=small_copy)


def changes(found: Plan, pool: str) -> list[tuple[str, str]]:
    return [(step.id, change.component) for step in found.steps for change in step.changes if step.pool == pool and change.component == "sharing"]


def test_allocation_changes_in_a_drain_that_is_due_anyway(shared: Matrix) -> None:
    """The pool that changes does so with its kubelet, once 1.3 is there; the other one keeps the plugin; no drain is added."""
    plain = make(shared, pools("a", "b"), "1.4")
    found = make(shared, pools("a", "b"), "1.4", allocation={"b": "dra"})
    assert found.cost.gpu_nodes_drained == plain.cost.gpu_nodes_drained
    assert found.end["sharing@b"] == "dra"
    assert "sharing@a" not in found.end
    (step,) = [step for step in found.steps if any(change.component == "sharing" for change in step.changes)]
    assert step.pool == "b"
    position = found.steps.index(step)
    control = max(n for n, other in enumerate(found.steps) if other.component == "kubernetes" and other.to == "1.3.1")
    assert control < position
    assert any("Hand pool b from device-plugin to dra" in action.text for action in step.requires)


def test_allocation_alone_is_a_step_of_its_own(shared: Matrix) -> None:
    """A cluster that is there already changes only how GPUs are allocated, and that drains."""
    state = pools("a").replace("1.1.0, os", "1.4.0, os").replace("kubernetes: 1.1.0", "kubernetes: 1.4.0").replace("runtime 2", "runtime 3")
    found = make(shared, state, "1.4", allocation={"a": "dra"})
    assert [(step.kind, step.component, step.from_, step.to, step.drains.gpu_nodes) for step in found.steps] == [
        ("migrate-allocation", "sharing", "device-plugin", "dra", 2)
    ]
    assert found.goal.allocation == {"a": "dra"}


def test_pool_by_pool(shared: Matrix) -> None:
    """Two pools change in two steps, each without the two drivers ever meeting on a node."""
    found = make(shared, pools("a", "b"), "1.4", allocation={"a": "dra", "b": "dra"})
    assert (len(changes(found, "a")), len(changes(found, "b"))) == (1, 1)
    assert found.status != "impossible"


def test_what_the_new_way_asks_for_counts_only_where_it_is_used(shared: Matrix) -> None:
    """1.2 is too old for claims: a plan that ends there cannot hand the pool over, and says why; without handing over it is fine."""
    assert make(shared, pools("a"), "1.2").status != "impossible"
    found = make(shared, pools("a"), "1.2", allocation={"a": "dra"})
    assert found.conflict is not None
    assert "dra-kubernetes" in found.conflict.claims


@pytest.mark.parametrize(
    ("state", "wanted", "says"),
    [
        (pools("a"), {"c": "dra"}, "there is no pool c"),
        (pools("a"), {"a": "device-plugin"}, "allocates its GPUs through device-plugin already"),
        (pools("a", components="plugin: 1.0.0"), {"a": "dra"}, "dra is not in the cluster with a known version"),
        (pools("a").replace(" allocation: device-plugin,", ""), {"a": "dra"}, "how it allocates GPUs now is unknown"),
        (pools("a"), {"a": "magic"}, "magic"),
    ],
)
def test_what_cannot_be_asked_for(shared: Matrix, state: str, wanted: dict[str, str], says: str) -> None:
    """A clear error names the pool and what is missing."""
    with pytest.raises(InputError, match=says):
        make(shared, state, "1.4", allocation=wanted)


def test_the_validator_sees_an_allocation_that_did_not_change(shared: Matrix) -> None:
    """A plan that says it ends on DRA and does not is wrong."""
    from dataclasses import replace
    from json import loads

    from planner.validate import validate

    found = make(shared, pools("a"), "1.4", allocation={"a": "dra"})
    steps = tuple(replace(step, changes=tuple(change for change in step.changes if change.component != "sharing")) for step in found.steps)
    assert any("sharing@a ends at device-plugin" in fault for fault in validate(shared, loads(replace(found, steps=steps).to_json())))
