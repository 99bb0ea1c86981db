"""Why a goal cannot be reached: the set of claims is smallest, against brute force and against the problem as it was compiled."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path

import pytest

from compat import Claim, Matrix
from planner import ClusterState, compile_for, plan
from planner.compiling import Compiled
from planner.relaxing import Relaxation, smallest
from planner.solver import Table, Transition, solve
from tests.conftest import DAY

IMPOSSIBLE = """
kubernetes: 1.33.5
provider: kubeadm
components: {gpu-operator: 25.3.2, dra-driver: 25.3.2}
pools:
- {name: old, nodes: 4, kubelet: 1.33.5, os: ubuntu-22.04, cgroup: v1, runtime: containerd 1.7.27, driver: 570.172.08, allocation: device-plugin}
- {name: new, nodes: 4, kubelet: 1.33.5, os: ubuntu-22.04, cgroup: v2, runtime: containerd 1.7.27, driver: 570.172.08, allocation: device-plugin}
"""


def claims_of(matrix: Matrix, count: int) -> list[Claim]:
    return list(islice(matrix.store.claims("kind = 'require'"), count))


@pytest.mark.parametrize("seed", range(40))
def test_smallest_set_against_brute_force(real: Matrix, seed: int) -> None:
    """For random families of sets that forbid a goal the set found is one of the minimal ones."""
    draw = random.Random(seed)
    claims = claims_of(real, 9)
    family = [frozenset(draw.sample(claims, draw.randint(1, 4))) for _ in range(draw.randint(1, 4))]

    def is_reachable(enforced: object) -> bool:
        return not any(forbidding <= set(enforced) for forbidding in family)  # type: ignore[call-overload]

    found = frozenset(smallest(claims, is_reachable))
    minimal = [one for one in family if not any(other < one for other in family)]
    assert found in minimal


def straight(compiled: Compiled, enforced: frozenset[Claim]) -> bool:
    """Whether the goal can be reached under some claims, by the compiled problem with all its values."""
    whole = compiled.whole
    tables = tuple(
        Table(table.variables, frozenset(c for c in table.forbidden if set(compiled.table_reasons[table.variables, c]) & enforced)) for table in whole.tables
    )
    barred = {hop for hop, claims in compiled.hop_reasons.items() if set(claims) & enforced}
    sizes = [len(variable.values) for variable in whole.variables]
    moves = [Transition(v, i, j) for v, size in enumerate(sizes) for i in range(size) for j in range(i + 1, size) if (v, i, j) not in barred]
    return solve(replace(whole, tables=tables, transitions=tuple(moves), landing=tuple((0,) * size for size in sizes))) is not None


BAN = """- id: ban-{number}
  kind: conflict
  versions: '{versions}'
  object: {object}
  object_versions: '{object_versions}'
  said: 2026-01-01
  source: {{repo: example/operator}}
  summary: Ban {number}.
"""


@pytest.mark.parametrize("seed", range(6))
def test_lifting_claims_says_the_same_as_the_whole_problem(small_copy: Path, seed: int) -> None:
    """Leaving out versions before claims are lifted changes no answer, whichever claims are enforced."""
    draw = random.Random(seed)
    objects = [("kubernetes", ["==1.2.*", "==1.3.*", ">=1.3", "==1.4.*"]), ("runtime", ["==2.*", ">=3", ""])]
    bans = ""
    for number in range(8):
        target, versions = draw.choice(objects)
        bans += BAN.format(number=number, versions=draw.choice(["==10.*", "==11.*", "==12.*", ""]), object=target, object_versions=draw.choice(versions))
    file = small_copy / "operator.yaml"
    file.write_text(file.read_text().replace("also:\n", bans + "also:\n"))
    matrix = Matrix.load(as_of=DAY, data=small_copy)
    state = "kubernetes: 1.1.0\ncomponents: {operator: 10.0.0, queue: 25.2.0}\npools: [{name: gpu, kubelet: 1.1.0, os: duck-2, runtime: runtime 2.0.0}]"
    compiled = compile_for(matrix, ClusterState.parse(state), "1.4")
    relaxation = Relaxation(compiled)
    answers = set()
    for _ in range(40):
        enforced = frozenset(draw.sample(relaxation.claims, draw.randint(0, len(relaxation.claims))))
        answer = relaxation.is_reachable(enforced)
        assert answer == straight(compiled, enforced)
        answers.add(answer)
    assert True in answers


@pytest.mark.parametrize("seed", range(10))
def test_the_farthest_state_is_the_highest_minor_that_can_be_reached(small_copy: Path, seed: int) -> None:
    """By the compiled problem: no way leads the control plane to a higher minor, wherever all else ends."""
    draw = random.Random(seed)
    choices = [("kubernetes", ["==1.2.*", "==1.3.*", "==1.4.*", ">=1.4"]), ("runtime", ["==2.*", ">=3"]), ("kubelet", [">=1.3", "==1.2.*"])]
    bans = ""
    for number in range(4):
        target, versions = draw.choice(choices)
        bans += BAN.format(number=number, versions=draw.choice(["==10.*", ">=11", "==12.*", ""]), object=target, object_versions=draw.choice(versions))
    file = small_copy / "operator.yaml"
    file.write_text(file.read_text().replace("also:\n", bans + BAN.format(number=9, versions="", object="kubernetes", object_versions=">=1.4") + "also:\n"))
    matrix = Matrix.load(as_of=DAY, data=small_copy)
    text = "kubernetes: 1.1.0\ncomponents: {operator: 10.0.0, queue: 25.2.0}\npools: [{name: gpu, kubelet: 1.1.0, os: duck-2, runtime: runtime 2.0.0}]"
    state = ClusterState.parse(text)
    found = plan(matrix, state, "1.4")
    assert found.conflict is not None
    whole = compile_for(matrix, state, "1.4").whole
    minors = [value for value in range(len(whole.variables[0].values)) if solve(replace(whole, goal=(frozenset((value,)), *((None,) * (len(whole.goal) - 1)))))]
    assert found.end["kubernetes"] == whole.variables[0].values[max(minors)]
    assert found.conflict.farthest["versions"] == found.end


def test_each_claim_of_a_real_conflict_is_needed(real: Matrix) -> None:
    """Nodes on cgroup v1 cannot take a kubelet of 1.35: together the claims forbid it, and without any one of them they do not."""
    compiled = compile_for(real, ClusterState.parse(IMPOSSIBLE), "1.37")
    relaxation = Relaxation(compiled)
    found = smallest(relaxation.claims, relaxation.is_reachable)
    assert "kubelet-1.35-needs-cgroup-v2" in [claim.id for claim in found]
    assert not relaxation.is_reachable(found)
    assert all(relaxation.is_reachable(rest) for rest in combinations(found, len(found) - 1))
