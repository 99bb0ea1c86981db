"""Overlays: what users add counts, shows its source and can be told from the rest; every fault has file and line."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import jsonschema
import pytest

from compat import Matrix
from compat.documents import read_document
from compat.errors import DocumentError, InputError
from compat.landing import resolve_landing
from compat.overlay_schema import overlay_schema
from compat.retired import retired_claims, retired_note, retired_of_pair
from compat.store import Snapshot
from tests.conftest import DAY, SMALL
from tests.overlays import TESTED, with_overlay, write

EARLY = date(2026, 1, 24)
PAIR = (("operator", "12.0.0"), ("kubernetes", "1.4"))
PLACE = {"os": ("duck-2",), "provider": ("pond",)}
EVERYTHING = """
schema: compat.overlay/v1
subjects: [{subject: pond-agent, title: Our agent, component: {role: addon, relies_on: {kubernetes: {question: ask us}}}}]
releases: [{subject: operator, version: 12.0.1, released: 2026-01-20}, {subject: pond-agent, version: 1.0.0, released: 2026-01-01}]
tables:
- id: agent-table
  kind: support
  subject: pond-agent
  object: kubernetes
  source: lab
  summary: 'Agent {versions} runs on {object_versions}.'
  rows: [{versions: '1', object_versions: 1.2 - 1.4}]
retired: [{id: queue-broken, reason: we patched it, said: 2026-01-10}]
accepted: [{id: 'unknown:queue@0.1.0:kubernetes@1.4.0', owner: jane@example.com, expires: 2026-12-31, reason: a test cluster}]
bans: [{component: driver, versions: '==520.*', reason: it hangs, owner: jane@example.com, scope: {provider: pond}, until: 2027-01-01}]
"""


def faults(folder: Path, *bodies: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        with_overlay(folder, *bodies)
    return [str(fault) for fault in caught.value.faults]


# -- own results


def test_an_own_test_counts_although_a_closed_list_leaves_the_pair_out(tmp_path: Path) -> None:
    """The vendor's table says nothing of 1.4 on that day; whoever tested it may rely on it, and sees the vendor's list beside it."""
    assert Matrix.load(as_of=EARLY, data=SMALL).verdict(*PAIR, PLACE).grade == "unknown"
    verdict = with_overlay(tmp_path, TESTED, day=EARLY).verdict(*PAIR, PLACE)
    assert (verdict.grade, [claim.id for claim in verdict.claims], verdict.conditions) == ("tested", ["our-operator-12"], ())
    assert verdict.claims[0].layer == "ours"
    assert [claim.layer for claim in verdict.contradicted] == ["built-in"]


def test_an_own_result_does_not_make_other_pairs_unknown(tmp_path: Path) -> None:
    """It is no closed list: what the vendor lists for the same release stays as it was."""
    matrix = with_overlay(tmp_path, TESTED, day=EARLY)
    assert matrix.verdict(("operator", "12.0.0"), ("kubernetes", "1.3"), PLACE).grade == "tested"


def test_an_own_closed_list_is_a_list_like_a_vendors(tmp_path: Path) -> None:
    """`closed: true` is what one asks for: outside it a pair is unknown, and the vendor's sharper list wins over it."""
    matrix = with_overlay(tmp_path, TESTED.replace("grade: tested", "grade: tested\n  closed: true"), day=EARLY)
    assert matrix.verdict(*PAIR, PLACE).grade == "unknown"


def test_a_conflict_still_wins(tmp_path: Path) -> None:
    """The worst standing statement decides, whoever makes it; a vendor's too, unless it is retired."""
    own = TESTED.replace("operator", "queue").replace("'12'", "25.1.0")
    pair = (("queue", "25.1.0"), ("kubernetes", "1.4"))
    assert with_overlay(tmp_path, own).verdict(*pair).grade == "broken"
    assert with_overlay(tmp_path, own + "retired: [{id: queue-broken, reason: patched}]\n").verdict(*pair).grade == "tested"


def test_an_own_declared_statement_counts_too(tmp_path: Path) -> None:
    """A vendor's answer by mail is about the pair, not a minimum that a list overrules."""
    assert with_overlay(tmp_path, TESTED.replace("tested", "declared"), day=EARLY).verdict(*PAIR, PLACE).grade == "declared"


def test_an_own_minimum_is_still_only_a_minimum(tmp_path: Path) -> None:
    """`require` in an overlay is no way round the vendor's list."""
    body = TESTED.replace("kind: support", "kind: require").replace("'1.4'", "'>=1.1'").replace("tested", "declared")
    assert with_overlay(tmp_path, body, day=EARLY).verdict(*PAIR, PLACE).grade == "unknown"


def test_what_was_said_later_does_not_count(tmp_path: Path) -> None:
    """Own statements have their day like all others."""
    assert with_overlay(tmp_path, TESTED, day=date(2026, 1, 23)).verdict(*PAIR, PLACE).grade == "unknown"


def test_a_report_without_an_address_is_source_enough(tmp_path: Path) -> None:
    """A tested claim needs a place where the result is; a path will do for one's own, nothing will not."""
    with_overlay(tmp_path, TESTED.replace("source: lab", "source: {path: reports/12.md}"))
    (fault,) = faults(tmp_path, TESTED.replace("source: lab", "source: {locator: in my head}"))
    assert "graded tested needs a source" in fault


def test_private_components_and_releases(tmp_path: Path) -> None:
    """A component of one's own is asked for like any other; a release that is listed already is no fault and no double."""
    matrix = with_overlay(tmp_path, EVERYTHING, "releases: [{subject: operator, version: v12.0.0, released: 2020-01-01}]\n")
    assert matrix.verdict(("pond-agent", "1.0.0"), ("kubernetes", "1.3")).grade == "declared"
    assert matrix.verdict(("pond-agent", "1.0.0"), ("kubernetes", "1.1")).grade == "unknown"
    assert [release.text for release in matrix.releases("operator")][:2] == ["12.0.1", "12.0.0"]


def test_layers_may_speak_of_each_other(tmp_path: Path) -> None:
    """One overlay brings a component, another one bans a version of it and retires a claim about it."""
    later = "bans: [{component: pond-agent, versions: '1', reason: old, owner: jo}]\nretired: [{id: our-operator-12, reason: wrong, said: 2026-01-25}]\n"
    matrix = with_overlay(tmp_path, EVERYTHING + TESTED, later)
    assert [claim.layer for claim in resolve_landing(matrix, ("pond-agent", "1.0.0")).claims] == ["ours1"]
    assert [layer.id for layer in matrix.snapshot.layers] == ["ours", "ours1"]
    assert [claim.id for claim in retired_claims(matrix)] == ["queue-broken", "our-operator-12"]


# -- retiring


def test_a_retired_claim_ends_on_a_day_and_says_why(tmp_path: Path) -> None:
    """From `said` on it does not count; questions as of an earlier day still see it, and who asks is told of it."""
    matrix = with_overlay(tmp_path, "retired: [{id: queue-broken, reason: we patched it, said: 2026-01-10}]\n")
    pair = (("queue", "25.1.0"), ("kubernetes", "1.3"))
    assert matrix.on(date(2026, 1, 9)).verdict(*pair).grade == "broken"
    assert matrix.on(date(2026, 1, 10)).verdict(*pair).grade != "broken"
    (claim,) = retired_of_pair(matrix, matrix.part(pair[0]), matrix.part(pair[1]))
    assert retired_note(claim) == "retired by ours since 2026-01-10: we patched it"
    assert retired_claims(matrix.on(date(2026, 1, 9))) == []
    assert retired_of_pair(matrix, matrix.part(("queue", "0.2.0")), matrix.part(pair[1])) == []


def test_retiring_what_was_over_before_revives_nothing(tmp_path: Path) -> None:
    """A claim that its source took back on 2026-01-25 does not stand longer because somebody retires it later."""
    (old,) = Matrix.load(as_of=DAY, data=SMALL).store.claims("known_until = '2026-01-25'")
    matrix = with_overlay(tmp_path, f"retired: [{{id: {old.id}, reason: why not, said: 2026-01-28}}]\n")
    (claim,) = matrix.store.claims("id = ?", (old.id,))
    assert claim.known_until == date(2026, 1, 25)
    assert retired_claims(matrix) == []


# -- bans


def test_a_ban_is_a_claim_without_an_object(tmp_path: Path) -> None:
    """It forbids landing where its scope holds, is a caution where that is open, and says nothing elsewhere or after its end."""
    matrix = with_overlay(tmp_path, EVERYTHING)
    assert [claim.summary for claim in resolve_landing(matrix, ("driver", "520.1.1"), {"provider": ("pond",)}).claims] == [
        "driver 520.x is banned by jane@example.com: it hangs"
    ]
    (caution,) = resolve_landing(matrix, ("driver", "520.1.1")).cautions
    assert caution.condition == "provider is pond"
    for version, scope, day in (("520.1.1", "lake", DAY), ("530.1.1", "pond", DAY), ("520.1.1", "pond", date(2027, 1, 1))):
        found = resolve_landing(matrix.on(day), ("driver", version), {"provider": (scope,)})
        assert (found.claims, found.cautions) == ((), ())


def test_nothing_banned_is_recommended(tmp_path: Path) -> None:
    """`supported` leaves banned releases out."""
    matrix = with_overlay(tmp_path, "bans: [{component: operator, versions: '11.1', reason: r, owner: o}]\n")
    assert [release.text for release in matrix.supported("operator", kubernetes="1.2")] == ["11.0.0", "10.0.0"]


# -- store and snapshot


def test_the_digest_covers_the_layers(tmp_path: Path) -> None:
    """Another byte, another order or no overlay: another digest; the same files elsewhere: the same."""
    one, two = write(tmp_path, TESTED, "a"), write(tmp_path, EVERYTHING, "b")

    def load(*paths: Path) -> Snapshot:
        return Matrix.load(as_of=DAY, data=SMALL, overlays=paths).snapshot

    found = {load().digest, load(one).digest, load(two).digest, load(one, two).digest, load(two, one).digest}
    assert len(found) == 5
    assert load().layers == ()
    (tmp_path / "x").mkdir()
    assert load(write(tmp_path / "x", TESTED, "a")) == load(one)
    assert load(one, one) == load(one)
    before = load(one).digest
    one.write_text(one.read_text() + "# more\n")
    assert load(one).digest != before
    assert load(one).version == load().version


def test_without_overlays_the_yaml_is_not_read_for_them(tmp_path: Path) -> None:
    """The stores with and without are two files, and both stay current."""
    path = write(tmp_path, TESTED)
    for _ in range(2):
        assert Matrix.load(as_of=DAY, data=SMALL, overlays=[path]).store.meta["layers"] != "[]"
        assert Matrix.load(as_of=DAY, data=SMALL).store.meta["layers"] == "[]"


def test_configured_folders_are_read_unless_one_says_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given files, then the user's folder, then that of updates; a folder that is named and missing is an error, since bans would be lost."""
    for number, name in enumerate(("COMPAT_OVERLAY_DIR", "COMPAT_UPDATE_DIR")):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(folder, "", f"layer-{number}")
        monkeypatch.setenv(name, str(folder))
    given = write(tmp_path, TESTED)
    assert [layer.id for layer in Matrix.load(data=SMALL, overlays=[given]).snapshot.layers] == ["ours", "layer-0", "layer-1"]
    assert [layer.id for layer in Matrix.load(data=SMALL, overlays=[tmp_path / "1" / "layer-1.yaml"]).snapshot.layers] == ["layer-1", "layer-0"]
    assert Matrix.load(data=SMALL, configured_overlays=False).snapshot.layers == ()
    monkeypatch.setenv("COMPAT_UPDATE_DIR", str(tmp_path / "not-yet"))
    assert len(Matrix.load(data=SMALL).snapshot.layers) == 1
    monkeypatch.setenv("COMPAT_OVERLAY_DIR", str(tmp_path / "missing"))
    with pytest.raises(InputError, match="COMPAT_OVERLAY_DIR: there is no folder"):
        Matrix.load(data=SMALL)


# -- faults


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("clams: []\n", "ours.yaml:5: unknown key 'clams'; did you mean claims?"),
        ("schema: compat.overlay/v2\n", "ours.yaml:5: schema: expected 'compat.overlay/v1'"),
        ("claims: [{id: a, kind: support}]\n", "ours.yaml:5: claims.0.subject: this key is missing"),
        (TESTED.replace("operator", "operater"), "subject 'operater' is neither a subject nor in vocabulary.yaml; did you mean operator?"),
        (TESTED.replace("id: our-operator-12", "id: queue-broken"), "ours.yaml:7: the claim id 'queue-broken' is taken by small/queue.yaml:"),
        (TESTED.replace("'12'", "'=>12'"), "our-operator-12: cannot read '=>12' as a version range"),
        (TESTED.replace("  versions: '12'\n", ""), "our-operator-12: versions is missing; say which versions of operator it is about"),
        (TESTED.replace("  object_versions: '1.4'\n", ""), "our-operator-12: object_versions is missing; say which versions of kubernetes it is about"),
        (TESTED.replace("source: lab", "source: lob"), "source 'lob' is not under sources; did you mean lab?"),
        ("subjects: [{subject: queue, title: Ours}]\n", "ours.yaml:5: the subject 'queue' exists already"),
        ("releases: [{subject: quue, version: 1.0.0}]\n", "a release of the unknown subject 'quue'; did you mean queue?"),
        ("retired: [{id: queue-brokn, reason: r}]\n", "ours.yaml:5: there is no claim 'queue-brokn' to retire; did you mean queue-broken?"),
        (TESTED + "retired: [{id: our-operator-12, reason: r}]\n", "is of this overlay itself"),
        ("retired: [{id: skew, reason: r}, {id: skew, reason: s}]\n", "the claim 'skew' is retired twice"),
        ("retired: [{id: skew}]\n", "retired.0.reason: this key is missing"),
        ("accepted: [{id: 'unknown:a:b', expires: 2026-01-01, reason: r}]\n", "accepted.0.owner: this key is missing"),
        ("accepted: [{id: 'unknown:a:b', owner: o, reason: r}]\n", "accepted.0.expires: this key is missing"),
        ("accepted: [{id: 'unknown:a:b', owner: o, expires: soon, reason: r}]\n", "accepted.0.expires: expected a date such as 2026-09-30, found 'soon'"),
        ("accepted: [{id: 'u:a', owner: o, expires: 2026-01-01, reason: r}, {id: 'u:a', owner: p, expires: 2026-01-01, reason: r}]\n", "is accepted twice"),
        ("bans: [{component: driver, versions: '520', reason: r}]\n", "bans.0.owner: this key is missing"),
        ("bans: [{component: drivr, versions: '520', reason: r, owner: o}]\n", "subject 'drivr' is neither a subject"),
        ("bans: [{component: driver, versions: '<1,>2', reason: r, owner: o}]\n", "no version lies in the range '<1,>2'"),
        (
            "bans: [{component: driver, versions: '520', reason: r, owner: o, scope: {provider: pnd}}]\n",
            "unknown value 'pnd' of scope word provider; did you mean pond?",
        ),
        (
            "bans: [{component: driver, versions: '520', reason: r, owner: o}, {component: driver, versions: '520', reason: s, owner: o}]\n",
            "the claim id 'ours-ban-driver-520' is taken by",
        ),
        ('bans: [{component: driver, versions: "520", reason: "\\e[31m", owner: o}]\n', "ours.yaml:5: '�[31m' has control characters"),
        ("claims: &a []\ntables: *a\n", "anchors and aliases are not supported"),
    ],
)
def test_faults_of_overlays(tmp_path: Path, body: str, says: str) -> None:
    """Every fault names file and line, and the nearest known name."""
    found = faults(tmp_path, body)
    assert any(says in fault for fault in found), found


def test_ids_of_overlays_are_unique(tmp_path: Path) -> None:
    """Two files of the same id, or one that calls itself built-in."""
    paths = [write(tmp_path, "", "a"), tmp_path / "b.yaml"]
    for name, says in (("a", "b.yaml:1: the overlay id 'a' is taken by"), ("built-in", "the overlay id 'built-in' is taken by the built-in knowledge")):
        paths[1].write_text(f"overlay: {name}\ntitle: B\nas_of: 2026-01-01\n")
        with pytest.raises(DocumentError, match=says):
            Matrix.load(data=SMALL, overlays=paths)


def test_what_is_no_overlay(tmp_path: Path) -> None:
    """A missing file, a subject file, bytes: clear errors."""
    with pytest.raises(DocumentError, match=r"nowhere\.yaml: cannot read the overlay"):
        Matrix.load(data=SMALL, overlays=[tmp_path / "nowhere.yaml"])
    with pytest.raises(DocumentError, match="this is a subject file, no overlay"):
        Matrix.load(data=SMALL, overlays=[SMALL / "queue.yaml"])
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(DocumentError, match="not UTF-8"):
        Matrix.load(data=SMALL, overlays=[tmp_path / "bytes.yaml"])


def test_the_schema_of_overlays_is_that_of_the_code(golden: Callable[[str, str], None]) -> None:
    """docs/schemas has it, and it takes what the loader takes."""
    golden(str(Path("..", "..", "docs", "schemas", "compat.overlay.v1.json")), json.dumps(overlay_schema(), indent=2, sort_keys=True) + "\n")
    document = read_document("overlay: a\ntitle: A\nas_of: 2026-01-01\nsources: {lab: {path: x}}\n" + TESTED + EVERYTHING, "all").value
    jsonschema.validate(json.loads(json.dumps(document, default=str)), overlay_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"overlay": "a", "title": "A", "as_of": "2026-01-01", "ban": []}, overlay_schema())
