"""What a provider has on offer, what moves with the control plane, and what counts as worse than now. All plans pass the validator."""

from __future__ import annotations

from pathlib import Path

from compat import Matrix
from planner import Plan
from tests.conftest import DAY
from tests.planner.test_planning import make, path

PROVIDER = """
subject: lake
title: A provider
as_of: 2026-01-31
component: {role: provider, relies_on: {kubernetes: {question: the release calendar of the lake}}}
sources: {calendar: {url: 'https://example.com/calendar'}}
tables:
- id: lake-offers
  kind: offer
  object: kubernetes
  source: calendar
  said: 2025-01-01
  summary: 'The lake offers {object_versions}.'
  rows:
"""
STATE = "kubernetes: 1.1.0\nprovider: lake\npools: [{name: cpu, nodes: 2, kubelet: 1.1.0, gpu: {per_node: 0}}]\n"


def lake(folder: Path, *rows: str) -> Matrix:
    """The small knowledge base with what the lake offers."""
    (folder / "lake.yaml").write_text(PROVIDER + "".join(f"  - {{{row}}}\n" for row in rows))
    return Matrix.load(as_of=DAY, data=folder)


def held(found: Plan) -> list[str]:
    return [pair.id for hold in found.holds for pair in hold.pairs]


OFFERED = "object_versions: ==1.{minor}.*, available_from: 2025-02-01, standard_until: 2026-12-31"


def test_what_is_on_offer_is_declared(small_copy: Path) -> None:
    """A path through versions that the provider offers needs no hold."""
    matrix = lake(small_copy, *(OFFERED.format(minor=minor) for minor in (1, 2, 3)))
    found = make(matrix, STATE, "1.3")
    assert (found.status, held(found)) == ("declared", [])
    assert matrix.verdict(("lake", None), ("kubernetes", "1.3")).grade == "declared"


def test_what_no_offer_names_is_unknown(small_copy: Path) -> None:
    """A version that the provider has not named is held, with the place where it would be."""
    found = make(lake(small_copy, *(OFFERED.format(minor=minor) for minor in (1, 2, 3))), STATE, "1.4")
    assert found.exit_code == 30
    assert held(found) == ["unknown:lake:kubernetes@1.4.0"]
    assert "release calendar of the lake" in found.holds[0].pairs[0].question


def test_what_is_offered_later_or_no_more_is_out_of_reach(small_copy: Path) -> None:
    """Before its first and after its last day a version cannot be had."""
    later = lake(small_copy, *(OFFERED.format(minor=minor) for minor in (1, 2)), "object_versions: ==1.3.*, available_from: 2026-03-01")
    found = make(later, STATE, "1.3")
    assert found.conflict is not None
    assert found.end["kubernetes"] == "1.2.0"
    over = lake(small_copy, *(OFFERED.format(minor=minor) for minor in (1, 3)), "object_versions: ==1.2.*, standard_until: 2025-12-31")
    assert make(over, STATE, "1.3").status == "impossible"


def test_a_provider_that_says_no(small_copy: Path) -> None:
    """An explicit 'not offered' forbids."""
    matrix = lake(small_copy, *(OFFERED.format(minor=minor) for minor in (1, 2)), "object_versions: ==1.3.*, status: not-offered")
    assert matrix.verdict(("lake", None), ("kubernetes", "1.3")).grade == "broken"


def test_leaving_a_version_that_is_offered_no_more(small_copy: Path) -> None:
    """The window of 1.1 and of 1.2 is over: going through 1.2 is no worse than now, but it is asked for."""
    matrix = lake(
        small_copy, *(f"object_versions: ==1.{minor}.*, standard_until: 2025-0{minor}-28" for minor in (1, 2)), *(OFFERED.format(minor=m) for m in (3, 4))
    )
    found = make(matrix, STATE, "1.4")
    assert [finding.id for finding in found.findings if finding.severity == "error"] == ["broken-now"]
    assert held(found) == ["broken:lake:kubernetes@1.2.0"]
    assert found.end["kubernetes"] == "1.4.0"


def test_a_distribution_moves_with_its_control_plane(small_copy: Path) -> None:
    """A distribution and the control plane in it move in one step, pair by pair."""
    (small_copy / "distribution.yaml").write_text(
        PROVIDER.replace("subject: lake", "subject: distribution")
        .replace("relies_on", "moves_with: kubernetes, relies_on")
        .replace("kind: offer", "kind: require")
        + "".join(f"  - {{versions: ==4.{minor}.*, object_versions: ==1.{minor}.*}}\n" for minor in (1, 2, 3))
        + "releases:\n"
        + "".join(f"- {{version: 4.{minor}.1, released: 2025-0{minor}-20}}\n" for minor in (3, 2, 1))
    )
    matrix = Matrix.load(as_of=DAY, data=small_copy)
    state = STATE.replace("provider: lake", "components: {distribution: 4.1.1}")
    found = make(matrix, state, "1.3")
    control = [step for step in found.steps if step.component == "kubernetes"]
    assert [[(change.component, change.to) for change in step.changes] for step in control] == [
        [("kubernetes", "1.2.0"), ("distribution", "4.2.1")],
        [("kubernetes", "1.3.1"), ("distribution", "4.3.1")],
    ]
    assert "distribution 4.3.1" not in path(found)
    assert found.cost.steps == len(path(found))


FLOOR = """- id: floor-{major}
  kind: require
  versions: '=={major}.*'
  object: kubernetes
  object_versions: '>={floor}'
  said: 2025-03-01
  source: table
  summary: Operator {major} wants {floor}.
"""


def with_floors(folder: Path, **floors: str) -> Matrix:
    file = folder / "operator.yaml"
    text = "".join(FLOOR.format(major=name.removeprefix("v"), floor=floor) for name, floor in floors.items())
    file.write_text(file.read_text().replace("also:\n", text + "also:\n"))
    return Matrix.load(as_of=DAY, data=folder)


BROKEN = "kubernetes: 1.1.0\nprovider: pond\ncomponents: {operator: 10.0.0}\npools: [{name: gpu, kubelet: 1.1.0, os: duck-2, runtime: runtime 2.0.0}]\n"


def test_the_same_floor_restated_is_no_new_violation(small_copy: Path) -> None:
    """The cluster is below a floor that the next release states again: going there breaks nothing new."""
    found = make(with_floors(small_copy, v10="1.2", v11="1.2"), BROKEN, "1.2")
    assert found.status != "impossible"


def test_a_higher_floor_is_a_new_violation(small_copy: Path) -> None:
    """A release that wants more than the one that runs is not entered below its floor."""
    found = make(with_floors(small_copy, v10="1.2", v11="1.3", v12="1.3"), BROKEN, "1.2")
    assert not any(step.component == "operator" for step in found.steps)


def test_a_skew_that_is_broken_does_not_widen(small_copy: Path) -> None:
    """Kubelets three behind where two are allowed: they come up first, the control plane does not run further ahead."""
    state = "kubernetes: 1.3.1\nprovider: pond\npools: [{name: gpu, kubelet: 1.0.0, os: duck-2, runtime: runtime 2.0.0}]\n"
    text = (small_copy / "kubernetes.yaml").read_text()
    (small_copy / "kubernetes.yaml").write_text(text.replace("releases:\n", "releases:\n- {version: 1.0.0, released: 2024-12-01}\n"))
    found = make(Matrix.load(as_of=DAY, data=small_copy), state, "1.4")
    assert found.steps[0].component == "kubelet" or found.steps[0].kind == "hold"
    control = next(n for n, step in enumerate(found.steps) if step.component == "kubernetes" and step.kind != "hold")
    assert any(step.component == "kubelet" for step in found.steps[:control])


BACK = """- id: back-to-{minor}
  kind: upgrade
  versions: '==1.{later}.*'
  to_versions: '==1.{minor}.*'
  rule: allowed
  scope: {{provider: pond}}
  said: 2025-03-01
  source: skew
  summary: The pond goes back from 1.{later} to 1.{minor}.
"""


def test_what_closes_the_way_back_is_said(small_copy: Path) -> None:
    """Where the provider can go back, each step of the control plane names the step that ends that; elsewhere nothing is said."""
    file = small_copy / "kubernetes.yaml"
    text = file.read_text().replace("component: {role: control-plane}", "component: {role: control-plane, procedures: [{rollback: 'Go back to {from}.'}]}")
    file.write_text(text + "".join(BACK.format(minor=minor, later=minor + 1) for minor in (1, 2)))
    matrix = Matrix.load(as_of=DAY, data=small_copy)
    state = "kubernetes: 1.1.0\nprovider: pond\npools: [{name: a, nodes: 2, kubelet: 1.1.0, gpu: {per_node: 0}}]\n"
    found = make(matrix, state, "1.3")
    assert path(found) == ["kubernetes 1.2.0", "kubernetes 1.3.1", "kubelet@a 1.3.1"]
    assert found.steps[0].rollback == "Go back to 1.1.0. As far as this plan goes it stays open until s2, the next step of the control plane."
    assert found.steps[1].rollback == "Go back to 1.2.0. s3 closes it: after that kubelet 1.3.1 with kubernetes 1.2.0 would be broken."
    elsewhere = make(matrix, state.replace("pond", "lake"), "1.3")
    assert elsewhere.steps[1].rollback == "Go back to 1.2.0."


def test_add_ons_of_other_providers_are_not_asked_for(small_copy: Path) -> None:
    """What can be in this cluster and is not named is listed; what runs at another provider only is not."""
    (small_copy / "scalers.yaml").write_text(
        "subject: lake-scaler\ntitle: A scaler\nas_of: 2026-01-31\ncomponent: {role: addon, present_in: {provider: lake}}\n"
        "also:\n- {subject: pond-scaler, title: Another, component: {role: addon, present_in: {provider: [pond]}}}\n"
    )
    matrix = Matrix.load(as_of=DAY, data=small_copy)

    def listed(provider: str) -> list[bool]:
        found = make(matrix, STATE.replace("provider: lake\n", provider), "1.2").findings
        text = next(item.text for item in found if "nothing is known about them" in item.text)
        return ["lake-scaler" in text, "pond-scaler" in text]

    assert listed("provider: lake\n") == [True, False]
    assert listed("provider: pond\n") == [False, True]
    assert listed("") == [True, True]
