"""Cluster states: what is read, and how faults are reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compat import Matrix
from compat.errors import DocumentError, InputError
from planner.situation import resolve
from planner.state import ClusterState

FULL = """
schema: compat.cluster/v1
name: prod-gpu-1
provider: eks
captured: 2026-11-30T10:00:00Z
kubernetes: v1.33.5-eks-113cf36
features: {DRAPartitionableDevices: true}
components:
  gpu-operator: v25.3.2
  dra-driver: 25.3.1
  kueue: 0.12.3
apis: [resource.k8s.io/v1beta1/ResourceClaimTemplate, kueue.x-k8s.io/v1beta1/ClusterQueue]
pools:
  - name: h100
    nodes: 16
    kubelet: v1.33.5-eks-113cf36
    provisioning: managed
    os: ubuntu-22.04
    kernel: 6.8.0-1031
    runtime: containerd 1.7.27
    cgroup: v2
    gpu: {product: NVIDIA-H100-80GB-HBM3, per_node: 8}
    driver: 570.172.08
    driver_managed_by: gpu-operator
    allocation: device-plugin
    sharing: none
    conditions: {upgrade-required: 3, not-ready: 1}
"""


def test_the_documented_state_is_read_and_written_back() -> None:
    """The example of the documentation survives a round trip, as YAML and as JSON."""
    state = ClusterState.parse(FULL)
    again = ClusterState.parse(json.dumps(state.dump()), "x.json")
    assert again == state
    assert state.dump()["kubernetes"] == "v1.33.5-eks-113cf36"


def test_only_kubernetes_is_needed() -> None:
    """1.30 without quotes is not 1.3."""
    assert ClusterState.parse("kubernetes: 1.30").kubernetes == ("1.30",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty"),
        ("{}", "kubernetes: this key is missing"),
        ("- 1", "expected a mapping with the key kubernetes"),
        ("kubernetes: 1.33\npols: []", "x:2: unknown key 'pols'; did you mean pools?"),
        ("kubernetes: 1.33\npools:\n- {name: a, kubelett: 1}", "x:3: unknown key 'kubelett'; did you mean kubelet?"),
        ("kubernetes: 1.33\npools:\n- {name: a}\n- {name: a}", "two pools are called 'a'"),
        ("kubernetes: 1.33\npools:\n- {name: 'a|b`$(id)'}", "pools.0.name"),
        ("kubernetes: 1.33\npools:\n- {name: a, nodes: -1}", "pools.0.nodes"),
        ("kubernetes: 1.33\npools:\n- {name: a, nodes: many}", "pools.0.nodes"),
        ("kubernetes: 1.33\npools:\n- {name: a, allocation: magic}", "pools.0.allocation"),
        ("kubernetes: \"1.33\\e[31m\"", "kubernetes"),
        ("kubernetes: []", "kubernetes"),
        ("schema: compat.cluster/v9\nkubernetes: 1.33", "schema"),
    ],
)  # fmt: skip
def test_faults_name_file_line_and_field(text: str, says: str) -> None:
    """Each fault on one line, with what was found and the nearest known key."""
    with pytest.raises(DocumentError) as caught:
        ClusterState.parse(text, "x")
    assert any(says in str(fault) and "\n" not in str(fault) for fault in caught.value.faults), caught.value


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    """A state has a sensible size."""
    path = tmp_path / "huge.yaml"
    path.write_text("kubernetes: 1.33\nname: " + "x" * 2_000_000)
    with pytest.raises(DocumentError, match="larger than"):
        ClusterState.load(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kubernetes: 9.9", "kubernetes: kubernetes 9.9 is not known"),
        ("kubernetes: 1.2\ncomponents: {oprator: 1}", "components.oprator: unknown component 'oprator'; did you mean operator?"),
        ("kubernetes: 1.2\ncomponents: {operator: 99.0.0}", "components.operator: operator 99.0.0 is not known"),
        ("kubernetes: 1.2\ncomponents: {driver: 510.1.1}", "components.driver: driver belongs to driver, not to components"),
        ("kubernetes: 1.2\npools: [{name: a, runtime: x}]", "expected name and version"),
        ("kubernetes: 1.2\npools: [{name: a, runtime: rntime 2.0.0}]", "did you mean runtime?"),
        ("kubernetes: 1.2\nprovider: pont", "unknown provider 'pont'; did you mean pond?"),
        ("kubernetes: 1.2\ncomponents: {kubernetes: 1.2}", "belongs to control-plane"),
    ],
)
def test_what_the_knowledge_base_does_not_know_is_named(small: Matrix, text: str, says: str) -> None:
    """Misspelt components and unknown versions are errors that name the field."""
    with pytest.raises(InputError) as caught:
        resolve(small, ClusterState.parse(text)).common_scope  # noqa: B018  # reading it is the test
    assert says in str(caught.value)


def test_absent_and_unversioned_are_different(small: Matrix) -> None:
    """`absent` says it is not there; null says it is there in some version."""
    situation = resolve(small, ClusterState.parse("kubernetes: 1.2\ncomponents: {operator: absent, queue: null}\npools: []"))
    assert situation.absent == {"operator"}
    assert situation.unversioned == (("queue", ""),)
    assert [part.key for part in situation.parts] == ["kubernetes"]


def test_a_product_settles_its_architecture(small: Matrix) -> None:
    """The name that nodes report is looked up in the vocabulary."""
    situation = resolve(small, ClusterState.parse("kubernetes: 1.2\npools: [{name: a, gpu: {product: BIRD-Mallard-80GB}}]"))
    assert situation.scope("a")["gpu_arch"] == ("bird",)


def test_mixed_versions_count_from_the_oldest(small: Matrix) -> None:
    """A pool with several kubelets is as old as its oldest."""
    part = resolve(small, ClusterState.parse("kubernetes: 1.3.1\npools: [{name: a, kubelet: [1.3.0, 1.2.0]}]")).by_key["kubelet@a"]
    assert part.version.release == "1.2.0"
    assert [version.release for version in part.mixed] == ["1.2.0", "1.3.0"]
