"""What depends on settings, places and what was stored: gates, exceptions, floors, overrides, advisories, procedures of one hop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compat import Matrix
from compat.errors import KnowledgeError
from planner import ClusterState
from planner.checking import check_state
from planner.plan import Step
from tests.conftest import DAY
from tests.planner.test_planning import make

Known = Callable[..., Matrix]
PLAIN = "kubernetes: 1.2.0\ncomponents: {operator: 11.1.0}\n"
POOLS = """
- {name: a, nodes: 1, kubelet: 1.2.0, os: duck-2, driver: 510.1.1, driver_managed_by: host}
- {name: b, nodes: 1, kubelet: 1.2.0, os: duck-2, driver: 510.1.1, driver_managed_by: host}
"""


@pytest.fixture
def known(small_copy: Path) -> Known:
    """The small knowledge base with more claims of one subject, and text in its file replaced."""

    def build(file: str, claims: str = "", **replaced: str) -> Matrix:
        path = small_copy / f"{file}.yaml"
        text = path.read_text()
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new, 1)
        entries = "".join(
            f"- {claim.strip()}\n  said: 2025-10-01\n  source: {{url: 'https://example.com/more'}}\n" for claim in claims.split("\n- ") if claim.strip()
        )
        path.write_text(text.replace("\nclaims:\n", f"\nclaims:\n{entries}", 1))
        return Matrix.load(as_of=DAY, data=small_copy)

    return build


def control(steps: tuple[Step, ...], to: str) -> Step:
    return next(step for step in steps if step.component == "kubernetes" and step.to.startswith(to))


def actions(step: Step) -> dict[str, str]:
    return {action.text: action.condition for action in step.requires}


GATES = """id: gates-gone
  kind: upgrade
  versions: '>=1.2,<1.3'
  to_versions: '>=1.3,<1.4'
  rule: needs-action
  action: Remove them
  gates: [Waddle, Preen]
  summary: Waddle and Preen are gone in 1.3."""


@pytest.mark.parametrize(
    ("features", "text", "condition"),
    [
        ("{}", "Waddle and Preen are gone in 1.3. Remove them.", "one of these feature gates is set: Waddle, Preen"),
        ("{Other: true}", "Waddle and Preen are gone in 1.3. Remove them.", "one of these feature gates is set: Waddle, Preen"),
        ("{Preen: false}", "Waddle and Preen are gone in 1.3. Remove them. Set in this cluster: Preen=false.", ""),
    ],
)
def test_a_gate_that_is_gone(known: Known, features: str, text: str, condition: str) -> None:
    """Set, whatever to, it stops a component; that nobody named it does not say that it is not set."""
    found = make(known("kubernetes", GATES), f"{PLAIN}features: {features}\n", to="1.3")
    assert actions(control(found.steps, "1.3"))[text] == condition


FLOOR = """id: floor
  kind: upgrade
  versions: <1.3
  to_versions: '>=1.3'
  rule: note
  scope: {allocation: dra}
  rollback_floor: '1.2'
  summary: Ducks are stored anew from 1.3 on"""


@pytest.mark.parametrize(
    ("pools", "says", "lasts"),
    [
        ("[{name: a, kubelet: 1.2.0, os: duck-2, driver: 510.1.1, allocation: dra}]", "Never back below kubernetes 1.2: Ducks are stored anew", True),
        ("[{name: a, kubelet: 1.2.0, os: duck-2, driver: 510.1.1, allocation: device-plugin}]", "", True),
        ("[{name: a, kubelet: 1.2.0, os: duck-2, driver: 510.1.1}]", "Never back below kubernetes 1.2, if allocation is dra: Ducks", True),
    ],
)
def test_how_far_back(known: Known, pools: str, says: str, lasts: bool) -> None:
    """A floor holds for every step above the border, and only where it applies."""
    found = make(known("kubernetes", FLOOR), f"{PLAIN}pools: {pools}\n", to="1.4", nodes="supported")
    for line in ("1.3", "1.4"):
        assert says in control(found.steps, line).rollback
        assert bool(says) == ("Never back below" in control(found.steps, line).rollback)
        assert control(found.steps, line).reversible is lasts


def test_a_floor_above_the_start_is_a_point_of_no_return(known: Known) -> None:
    """Where not even the version before can read what is stored there is no way back."""
    found = make(known("kubernetes", FLOOR.replace("'1.2'", "'1.3'").replace("  scope: {allocation: dra}\n", "")), PLAIN, to="1.4")
    assert [control(found.steps, line).reversible for line in ("1.3", "1.4")] == [False, True]


def test_what_is_due_on_nodes_is_due_in_every_pool(known: Known) -> None:
    """A flag has to go from each pool's kubelets, not from those of the first pool."""
    flag = "id: flag\n  kind: upgrade\n  subject: kubelet\n  versions: <1.3\n  to_versions: '>=1.3'\n  rule: needs-action\n  due: after\n  summary: Look at the flag."
    found = make(known("kubernetes", flag), f"{PLAIN}pools: {POOLS}", to="1.3")
    kubelets = [step for step in found.steps if step.component == "kubelet"]
    assert [step.pool for step in kubelets] == ["a", "b"]
    assert all([action.when for action in step.requires if action.text == "Look at the flag."] == ["after"] for step in kubelets)


CONFLICT = """id: no-go
  kind: conflict
  subject: kubelet
  versions: '>=1.3'
  object: kubernetes
  object_versions: '>=1.3'
  unless: the nodes are tame
  unless_scope: {feature: Tame=true}
  action: Tame the nodes.
  summary: Wild nodes stop at 1.2."""


def test_an_exception_that_is_so(known: Known) -> None:
    """An exception frees only who says that it holds; else it is a way out of the conflict."""
    matrix = known("kubernetes", CONFLICT)
    stuck = make(matrix, f"{PLAIN}pools: {POOLS}", to="1.3")
    assert stuck.conflict is not None
    assert stuck.conflict.claims == ("no-go",)
    assert [text.partition(" (")[0] for text in stuck.conflict.unlock[:2]] == ["kubelet: Tame the nodes", "kubelet: it does not hold if the nodes are tame"]
    assert make(matrix, f"{PLAIN}features: {{Tame: false}}\npools: {POOLS}", to="1.3").conflict is not None
    assert make(matrix, f"{PLAIN}features: {{Tame: true}}\npools: {POOLS}", to="1.3").conflict is None


def test_an_operand_that_is_held_back(small: Matrix) -> None:
    """An operator ships toolkit 1.1.0; another one is an override."""
    for toolkit, expected in (("1.0.0", 1), ("1.1.0", 0)):
        result = check_state(small, ClusterState.parse(f"kubernetes: 1.2.0\ncomponents: {{operator: 11.1.0, toolkit: {toolkit}}}"), {})
        assert sum(finding.id == "overridden-operand" for finding in result.findings) == expected


def test_findings_of_a_check_are_about_the_bumped_state(small: Matrix) -> None:
    """kubernetes 1.1 is out of support; once it is bumped it is not there any more."""
    state = ClusterState.parse("kubernetes: 1.1.0")
    for bumps, expected in (({}, True), ({"kubernetes": "1.2.0"}, False)):
        found = [finding.text for finding in check_state(small, state, bumps).findings if finding.id == "end-of-support"]
        assert any("kubernetes 1.1.0" in text for text in found) is expected


def test_the_end_of_support_is_as_severe_in_a_plan_as_in_a_check(small: Matrix) -> None:
    """One fact, one severity; the plan says that it moves the version."""
    checked = check_state(small, ClusterState.parse("kubernetes: 1.1.0"), {})
    planned = make(small, "kubernetes: 1.1.0\n", to="1.3")
    found = [
        [(finding.severity, finding.text) for finding in findings if finding.id == "end-of-support" and "kubernetes 1.1.0" in finding.text]
        for findings in (checked.findings, planned.findings)
    ]
    assert [[severity for severity, _ in some] for some in found] == [["warning"], ["warning"]]
    assert [some[0][1].endswith("The plan moves it.") for some in found] == [False, True]


@pytest.mark.parametrize(("os", "expected"), [("duck-1", " at the end of the plan: Fixed in 520."), ("duck-2", ""), ("", ", if os is duck-1: Fixed")])
def test_an_advisory_of_one_place(known: Known, os: str, expected: str) -> None:
    """An advisory that holds on one system is shown there, not elsewhere, and as a condition where nobody said."""
    old = "- id: driver-cve\n  kind: upgrade\n"
    matrix = known("driver", "", **{old: f"{old}  scope: {{os: duck-1}}\n"})
    pool = f"{{name: a, kubelet: 1.2.0, driver: 510.1.1, driver_managed_by: host{f', os: {os}' if os else ''}}}"
    result = make(matrix, f"kubernetes: 1.2.0\npools: [{pool}]\n", to="1.2.0")
    found = [finding.text for finding in result.findings if finding.id == "security-advisory"]
    assert (expected in found[0]) if expected else not found


@pytest.mark.parametrize(("served", "expected"), [("false", True), ("true", False)])
def test_an_api_that_is_off_by_default(known: Known, served: str, expected: bool) -> None:
    """It is there and works as long as someone keeps the flag: no error, but said."""
    old = "  introduced: '1.1'\n"
    matrix = known("kubernetes", "", **{old: f"{old}  default_served: {served}\n"})
    result = check_state(matrix, ClusterState.parse("kubernetes: 1.2.0\napis: [pond.example/v1beta1/Duck]"), {})
    found = [finding for finding in result.findings if finding.id == "api-off-by-default"]
    assert bool(found) is expected
    assert all("--runtime-config=pond.example/v1beta1=true" in finding.text for finding in found)
    assert result.grade != "broken"


def test_support_of_our_own_is_shown_and_counts_for_nothing(known: Known) -> None:
    """What we infer is no vendor's word: the pair stays unknown, and the reader sees it."""
    ours = "id: ours\n  kind: support\n  object: kubernetes\n  object_versions: ==1.4.*\n  versions: ==25.2.0\n  grade: inferred\n  summary: It should work."
    verdict = known("queue", ours).verdict(("queue", "25.2.0"), ("driver", "510.1.1"))
    assert not verdict.inferred
    verdict = known("operator", ours.replace("25.2.0", "10.0.0").replace("id: ours", "id: ours-too")).verdict(("operator", "10.0.0"), ("kubernetes", "1.4.0"))
    assert verdict.grade == "unknown"
    assert [claim.id for claim in verdict.inferred] == ["ours-too"]
    assert "ours-too" not in {claim.id for claim in verdict.claims}


def test_a_procedure_of_one_hop(known: Known, small_copy: Path) -> None:
    """How a part is moved can differ where it was renamed on the way."""
    old = "  procedures:\n"
    new = f"{old}  - versions: ==11.*\n    to_versions: ==12.*\n    do: [{{text: 'Move house to {{to}}'}}]\n    rollback: None.\n    reversible: false\n"
    found = make(known("operator", "", **{old: new}))
    moves = {step.to: (actions(step), step.reversible) for step in found.steps if step.component == "operator"}
    assert "Move house to 12.0.0" in moves["12.0.0"][0]
    assert not moves["12.0.0"][1]
    assert "Move house to 11.1.0" not in moves["11.1.0"][0]
    assert moves["11.1.0"][1]
    path = small_copy / "operator.yaml"
    path.write_text(path.read_text().replace("to_versions: ==12.*", "to_versions: =>12"))
    with pytest.raises(KnowledgeError, match="procedures: to_versions"):
        Matrix.load(as_of=DAY, data=small_copy)


def test_a_gate_of_another_component_with_the_same_name(small: Matrix) -> None:
    """A name with a component before it is no gate of Kubernetes."""
    for features, expected in (("{Honk: true}", ""), ("{queue/Honk: true}", "feature is Honk=true")):
        found = make(small, f"{PLAIN}features: {features}\n", to="1.3")
        assert actions(control(found.steps, "1.3"))["Honk is gone in 1.3. Remove the gate Honk."] == expected
