"""Plans with overlays: own results open the way, bans close it, accepted risks are recorded. All plans pass the validator."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.render import plan_markdown, plan_text
from compat import Matrix
from planner import ClusterState, Plan, plan
from planner.assume import assumed_state
from planner.checking import check_state
from planner.schemas import plan_schema
from planner.validate import validate
from tests.conftest import DAY, SMALL, state_of
from tests.overlays import TESTED, with_overlay
from tests.planner.test_planning import STATE

EARLY = date(2026, 1, 24)
RISK = "unknown:operator@11.1.0:kubernetes@1.4.0"
ACCEPTED = "accepted: [{{id: '{0}', owner: jane@example.com, expires: {1}, reason: a test cluster}}]\n"


def make(matrix: Matrix, text: str = STATE, to: str = "1.4", **options: object) -> Plan:
    found = plan(matrix, state_of(text), to, **options)  # type: ignore[arg-type]
    document = json.loads(found.to_json())
    assert validate(matrix, document) == []
    jsonschema.validate(document, plan_schema())
    return found


def landings(found: Plan) -> set[str]:
    return {f"{change.component} {change.to}" for step in found.steps if step.kind != "hold" for change in step.changes}


def ban(component: str, versions: str, more: str = "") -> str:
    return f"bans: [{{component: {component}, versions: '{versions}', reason: it hangs, owner: jane@example.com{more}}}]\n"


def texts(found: Plan, name: str) -> list[str]:
    return [finding.text for finding in found.findings if finding.id == name]


# -- own results


def test_an_own_test_turns_a_hold_into_a_pass(tmp_path: Path) -> None:
    """The hold of that day is gone, the step cites the own source, and the plan names the layer."""
    found = make(with_overlay(tmp_path, TESTED, day=EARLY))
    assert (found.holds, found.exit_code) == ((), 0)
    (step,) = [step for step in found.steps if step.component == "kubernetes" and step.to == "1.4.0"]
    assert "our-operator-12" in step.claims
    assert found.claims["our-operator-12"].source == {"url": "https://wiki.example.com/lab", "link": "https://wiki.example.com/lab", "layer": "ours"}
    (layer,) = found.to_dict()["knowledge"]["layers"]
    assert (layer["id"], layer["title"], layer["as_of"], sorted(layer)) == ("ours", "Ours", "2026-01-01", ["as_of", "digest", "id", "title"])


def test_a_plan_without_layers_does_not_speak_of_any(small: Matrix) -> None:
    """The contract is only added to."""
    assert "layers" not in make(small).to_dict()["knowledge"]


def test_a_statement_that_is_too_new_is_said_not_to_count(tmp_path: Path) -> None:
    """Nobody wonders why his own test has no effect."""
    found = make(with_overlay(tmp_path, TESTED, day=date(2026, 1, 23)))
    assert found.exit_code == 30
    assert "Not considered, 1 statement of the layer ours that was said after 2026-01-23, the day this is asked for." in texts(found, "not-considered")


def test_a_retired_claim_is_named(tmp_path: Path) -> None:
    """The plan says what it does not count, who said so and why."""
    found = make(with_overlay(tmp_path, "retired: [{id: queue-broken, reason: we patched it, said: 2026-01-10}]\n"))
    assert texts(found, "retired-claim") == ["Does not count: 25.1 does not start on 1.3 (queue-broken); retired by ours since 2026-01-10: we patched it."]


# -- bans


def test_no_plan_lands_on_or_passes_through_what_is_banned(tmp_path: Path) -> None:
    """Operator 11.1.0 is the only bridge from 1.2 to 1.3; without it the plan holds at an unknown pair rather than to use it."""
    free, found = make(with_overlay(tmp_path, "")), make(with_overlay(tmp_path, ban("operator", "==11.1.*")))
    assert "operator 11.1.0" in landings(free)
    assert "operator 11.1.0" not in landings(found)
    assert (free.cost.unknown_pairs, found.cost.unknown_pairs) == (0, 1)


def test_a_banned_release_of_the_control_plane_is_overtaken_by_its_neighbour(tmp_path: Path) -> None:
    """Of a minor the newest release counts that is not banned, the target's too unless that very release is the goal."""
    matrix = with_overlay(tmp_path, ban("kubernetes", "==1.3.1") + "releases: [{subject: kubernetes, version: 1.4.1, released: 2026-01-21}]\n")
    assert "kubernetes 1.3.0" in landings(make(matrix))
    matrix = with_overlay(tmp_path, ban("kubernetes", "==1.4.1") + "releases: [{subject: kubernetes, version: 1.4.1, released: 2026-01-21}]\n")
    assert "kubernetes 1.4.0" in landings(make(matrix))
    assert make(matrix, to="1.4.1").status == "impossible"


def test_a_ban_that_closes_the_way_is_the_conflict(tmp_path: Path) -> None:
    """It is shown with reason and owner, and lifting it is what would open the way."""
    found = make(with_overlay(tmp_path, ban("kubernetes", "==1.3.*")))
    assert (found.status, found.exit_code) == ("impossible", 20)
    assert found.conflict is not None
    assert "ours-ban-kubernetes-1.3" in found.conflict.claims
    assert "kubernetes 1.3.x is banned by jane@example.com: it hangs" in found.conflict.text
    assert any(text.startswith("kubernetes: jane@example.com lifts the ban") for text in found.conflict.unlock)


def test_what_runs_now_may_stay(tmp_path: Path) -> None:
    """A ban is never held against the state: a finding with reason and owner, and the plan is as good as before."""
    matrix = with_overlay(tmp_path, ban("driver", "==510.*"))
    found = make(matrix, to="1.2")
    assert found.exit_code == 0
    (text,) = texts(found, "banned-version")
    assert text == "driver of pool gpu runs 510.1.1, to which no plan goes: driver 510.x is banned by jane@example.com: it hangs. The plan leaves it there."
    result = check_state(matrix, ClusterState.parse(STATE), {})
    assert [finding.severity for finding in result.findings if finding.id == "banned-version"] == ["warning"]
    assert result.grade == check_state(with_overlay(tmp_path, ""), ClusterState.parse(STATE), {}).grade


def test_a_bump_to_what_is_banned_is_broken(tmp_path: Path) -> None:
    """`compat check --set` is asked about going there."""
    result = check_state(with_overlay(tmp_path, ban("operator", "==11.0.*")), ClusterState.parse(STATE), {"operator": "11.0.0"})
    assert result.grade == "broken"
    assert [(judgement.one, judgement.other) for judgement in result.judgements if judgement.grade == "broken"] == [("operator 11.0.0", "this cluster")]


def test_a_scoped_ban_holds_in_its_scope(tmp_path: Path) -> None:
    """At another provider it says nothing; where the provider is not known it is a caution, not a wall."""
    matrix = with_overlay(tmp_path, ban("kubernetes", "==1.3.*", ", scope: {provider: pond}"))
    assert make(matrix).status == "impossible"
    assert make(matrix, STATE.replace("provider: pond", "provider: lake")).status != "impossible"
    unsaid = make(matrix, STATE.replace("provider: pond\n", ""), to="1.3")
    assert unsaid.status != "impossible"
    assert any("if provider is pond: kubernetes 1.3.x is banned" in text for text in texts(unsaid, "caution"))


def test_an_operand_that_is_banned_bars_the_release_that_ships_it(tmp_path: Path) -> None:
    """Operator 11 ships toolkit 1.1.0: landing on the one is landing on the other."""
    found = make(with_overlay(tmp_path, ban("toolkit", "==1.1.*")), to="1.2")
    assert not {item for item in landings(found) if item.startswith("operator 11")}
    far = make(with_overlay(tmp_path, ban("toolkit", "==1.1.*")), to="1.3")
    assert far.conflict is not None or not {item for item in landings(far) if item.startswith("operator 11")}


def test_advice_without_an_object_bars_nothing(tmp_path: Path) -> None:
    """`severity: should` is advice; a conflict without an object that is a must bars, whoever says it."""
    body = "claims: [{id: old, kind: conflict, subject: kubernetes, versions: '==1.3.*', severity: SEVERITY, source: lab, summary: Withdrawn.}]\n"
    assert make(with_overlay(tmp_path, body.replace("SEVERITY", "should"))).status != "impossible"
    assert make(with_overlay(tmp_path, body.replace("SEVERITY", "must"))).status == "impossible"


def test_the_validator_sees_a_landing_on_what_is_banned(tmp_path: Path, small: Matrix) -> None:
    """It finds on its own that a plan made without the ban breaks it."""
    document = json.loads(make(small).to_json())
    wrong = validate(with_overlay(tmp_path, ban("operator", "==12.*")), document)
    assert any("operator 12.0.0" in text and "is broken after the step" in text for text in wrong)


def test_no_ban_is_assumed_into_a_cluster(tmp_path: Path) -> None:
    """What is filled in is what one would install, and nobody would install that."""
    matrix = with_overlay(tmp_path, ban("operator", "==11.1.*"))
    assert assumed_state(matrix, "1.2", {}, mode="newest").components["operator"].version == "11.0.0"


@given(
    st.lists(
        st.sampled_from(["driver 520", "driver 530", "operator 11.1", "operator 12", "queue 0.2", "kubernetes 1.3.1", "runtime 3", "toolkit 1.2"]),
        unique=True,
        max_size=3,
    )
)
def test_whatever_is_banned(tmp_path_factory: pytest.TempPathFactory, banned: list[str]) -> None:
    """Any set of bans: no step lands on one, the validator agrees, and fewer bans never cost more."""
    folder = tmp_path_factory.mktemp("bans")
    entries = ", ".join(f"{{component: {name.split()[0]}, versions: '{name.split()[1]}', reason: r, owner: o}}" for name in banned)
    found = make(with_overlay(folder, f"bans: [{entries}]\n"))
    for name in banned:
        component, version = name.split()
        assert not [item for item in landings(found) if re.match(rf"{component} {re.escape(version)}(\.|$)", item)]
    free = make(Matrix.load(as_of=DAY, data=SMALL))
    if found.status != "impossible":
        price = [(item.cost.unknown_pairs, item.cost.gpu_nodes_drained, item.cost.other_nodes_drained, item.cost.steps) for item in (free, found)]
        assert price[0] <= price[1]


# -- accepted risks


def test_an_accepted_risk_counts_until_it_expires(tmp_path: Path) -> None:
    """Exit code 10 on its last day, 30 and a finding on the next; the hold names owner, day and reason."""
    matrix = with_overlay(tmp_path, ACCEPTED.format(RISK, EARLY), day=EARLY)
    found = make(matrix)
    assert found.exit_code == 10
    (pair,) = found.to_dict()["holds"][0]["pairs"]
    assert pair["accepted"] is True
    assert pair["accepted_by"] == {"owner": "jane@example.com", "expires": "2026-01-24", "reason": "a test cluster", "layer": "ours"}
    for shown in (plan_text.render(found), plan_markdown.render(found)):
        assert re.search(r"jane@\W?example.com until 2026-01-24: a test cluster", shown.replace("\\", "").replace("**", "").replace("\n    ", " "))
    assert " **Accepted** by jane@" in plan_markdown.render(found)
    over = make(with_overlay(tmp_path, ACCEPTED.format(RISK, "2026-01-23"), day=EARLY))
    assert over.exit_code == 30
    (text,) = texts(over, "expired-acceptance")
    assert text.startswith(f"jane@example.com accepted the risk {RISK} until 2026-01-23 (a test cluster); that is over on 2026-01-24")
    assert make(with_overlay(tmp_path, ACCEPTED.format(RISK, "2026-01-23"), day=EARLY), accept=[RISK]).exit_code == 10


def test_what_is_accepted_and_not_asked_for_changes_nothing(tmp_path: Path, small: Matrix) -> None:
    """Neither the exit code nor the findings, expired or not."""
    for day in ("2020-01-01", "2030-01-01"):
        found = make(with_overlay(tmp_path, ACCEPTED.format("unknown:x@1:y@2", day)))
        assert (found.exit_code, found.findings) == (0, make(small).findings)
