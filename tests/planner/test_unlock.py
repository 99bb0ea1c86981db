"""What would open the way: every change that is listed does so when it is made, and what does not is not listed."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from compat import Matrix
from planner import ClusterState, Plan, plan
from tests.conftest import DAY, SMALL

BAN = """- id: {id}
  kind: conflict
  versions: '{versions}'
  object: {object}
  object_versions: '{object_versions}'
  scope: {scope}
  said: 2026-01-01
  source: {{repo: example/operator}}
  summary: Ban {id}.
"""


def ban(name: str, *, versions: str = "", target: str = "kubernetes", object_versions: str = "==1.4.*", scope: str = "{}") -> tuple[str, str]:
    return name, BAN.format(id=name, versions=versions, object=target, object_versions=object_versions, scope=scope)


def load(folder: Path, bans: dict[str, str], without: str = "") -> Matrix:
    """The small knowledge base with bans of the operator, without one of all its claims."""
    for file in sorted(SMALL.glob("*.yaml")):
        text = file.read_text()
        if file.name == "operator.yaml":
            text = text.replace("also:\n", "".join(bans.values()) + "also:\n")
        text = re.sub(rf"^- id: {re.escape(without)}\n(?:  .*\n)+", "", text, flags=re.M) if without else text
        (folder / file.name).write_text(text)
    return Matrix.load(as_of=DAY, data=folder)


def state(**changes: Any) -> dict[str, Any]:
    pool = {"nodes": 2, "kubelet": "1.1.0", "os": "duck-2", "provisioning": "slow", "runtime": "runtime 2.0.0"}
    pools = [{"name": "old", **pool}, {"name": "new", **pool, "os": "duck-1"}]
    return {
        "kubernetes": "1.1.0",
        "provider": "pond",
        "features": {"Quack": True},
        "components": {"operator": "10.0.0", "queue": "25.2.0"},
        "pools": pools,
        **changes,
    }


def applied(folder: Path, bans: dict[str, str], given: dict[str, Any], text: str) -> Plan:
    """Make the change that a line names, by other means than the planner, and plan."""
    given = yaml.safe_load(yaml.safe_dump(given))
    nodes, lifted = "target", ""
    if found := re.search(r"that lifts “.*” \((\S+)\) \(verified", text):
        lifted = found[1]
    elif found := re.match(r"(\w+) removed from the cluster ", text):
        given["components"][found[1]] = "absent"
    elif found := re.match(r"feature (\w+) (on|off) ", text):
        given["features"][found[1]] = found[2] == "on"
    elif found := re.match(r"provider (\S+) instead of (\S+) ", text):
        given["provider"] = found[1]
    elif found := re.match(r"pools? (.+?) with (driver managed by|\w+) (.+?) \(verified", text):
        for pool in given["pools"]:
            if pool["name"] in found[1].split(", "):
                pool[found[2].replace(" ", "_")] = found[3]
    else:
        assert text.startswith("nodes may end on any version that is still supported (--nodes-at supported) ")
        nodes = "supported"
    return plan(load(folder, bans, without=lifted), ClusterState.from_value(given), "1.4", nodes=nodes)


def unlocked(folder: Path, bans: dict[str, str], given: dict[str, Any]) -> list[str]:
    """Lines of the conflict, each checked by making the change."""
    found = plan(load(folder, bans), ClusterState.from_value(given), "1.4")
    assert found.conflict is not None
    for text in found.conflict.unlock:
        assert "not verified" not in text  # no claim of these gives advice
        then = applied(folder, bans, given, text)
        assert then.status != "impossible", text
        assert f"(verified: then {then.status} in {then.cost.steps} step" in text
    return [text.partition(" (verified")[0] for text in found.conflict.unlock]


def test_each_kind_of_change_is_named_where_it_helps(small_copy: Path) -> None:
    """A ban on nodes that come into being slowly: take it back, or leave the operator out."""
    lines = unlocked(small_copy, dict([ban("no-slow", scope="{provisioning: slow}")]), state())
    assert lines == [
        "a later statement or a newer release of operator that lifts “Ban no-slow” (no-slow)",
        "operator removed from the cluster",
    ]  # the vocabulary of the small knowledge base names no other value


def test_what_only_claims_name_is_tried(small_copy: Path) -> None:
    """Values of a scope come from claims about the same parties, too; where one pool alone is not enough all are named together."""
    bans = dict([ban("no-slow", scope="{provisioning: slow}"), ban("fine-quick", versions="==9.*", scope="{provisioning: quick}")])
    assert unlocked(small_copy, bans, state())[2:] == ["pools old, new with provisioning quick"]
    one = state()
    one["pools"][1]["provisioning"] = "quick"
    assert unlocked(small_copy, bans, one)[2:] == ["pool old with provisioning quick"]


def test_a_second_conflict_keeps_the_way_shut(small_copy: Path) -> None:
    """Two bans that each forbid the goal: lifting one opens nothing and is not listed; leaving out their party is."""
    bans = dict([ban("no-slow", scope="{provisioning: slow}"), ban("never")])
    assert unlocked(small_copy, bans, state()) == ["operator removed from the cluster"]


def test_provider_and_feature(small_copy: Path) -> None:
    """A ban at one provider, or with one feature."""
    assert "provider lake instead of pond" in unlocked(small_copy, dict([ban("no-pond", scope="{provider: pond}")]), state())
    assert "feature Quack off" in unlocked(small_copy, dict([ban("no-quack", scope="{feature: Quack=true}")]), state())


def test_nodes_that_may_stay_behind(small_copy: Path) -> None:
    """A runtime that no kubelet of the target goes with: the control plane still gets there if nodes need not."""
    bans = dict(
        [ban("no-3", target="runtime", object_versions=">=3", versions=">=10"), ban("no-new-kubelet", target="kubelet", object_versions=">=1.4", versions="")]
    )
    lines = unlocked(small_copy, bans, state(components={"operator": "10.0.0"}))
    assert "nodes may end on any version that is still supported (--nodes-at supported)" in lines


@pytest.mark.parametrize("seed", range(8))
def test_random_bans(small_copy: Path, seed: int) -> None:
    """Every line holds when it is made, and every claim of the set that is enough by itself is listed."""
    draw = random.Random(seed)
    scopes = ["{}", "{provisioning: slow}", "{os: duck-1}", "{os: duck-2}", "{provider: pond}", "{feature: Quack=true}", "{provisioning: quick}"]
    bans = dict(
        ban(
            f"ban-{number}",
            versions=draw.choice(["", "", ">=11", "==12.*"]),
            object_versions=draw.choice(["==1.2.*", "==1.3.*", "==1.4.*"]),
            scope=draw.choice(scopes),
        )
        for number in range(draw.randint(1, 3))
    )
    bans |= dict([ban("always", versions="==10.*", object_versions="==1.3.*", scope=draw.choice(scopes)), ban("also", scope=draw.choice(scopes))])
    found = plan(load(small_copy, bans), ClusterState.from_value(state()), "1.4")
    if found.conflict is None:
        return
    lines = unlocked(small_copy, bans, state())
    for name in found.conflict.claims:
        opens = plan(load(small_copy, bans, without=name), ClusterState.from_value(state()), "1.4").status != "impossible"
        assert opens == any(f"({name})" in line for line in lines)


def test_nodes_with_cgroup_v1(real: Matrix) -> None:
    """From 1.35 the kubelet does not start on cgroup v1: what helps is to move that pool to v2, and no pool that is there already is named."""
    pool = "nodes: 2, kubelet: 1.34.5, os: ubuntu-22.04, gpu: {per_node: 0}"
    given = f"kubernetes: 1.34.5\npools: [{{name: old, cgroup: v1, {pool}}}, {{name: new, cgroup: v2, {pool}}}]"
    found = plan(real, ClusterState.parse(given), "1.35")
    assert found.conflict is not None
    assert found.conflict.claims == ("kubelet-1.35-needs-cgroup-v2",)
    lines = [text.partition(" (verified")[0] for text in found.conflict.unlock]
    assert "pool old with cgroup v2" in lines
    assert not any("new with" in line for line in lines)
    moved = plan(real, ClusterState.parse(given.replace("v1", "v2")), "1.35")
    assert any(text.startswith(f"pool old with cgroup v2 (verified: then {moved.status} in {moved.cost.steps} step") for text in found.conflict.unlock)
