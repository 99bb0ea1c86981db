"""What an update keeps, adds and replaces, and that the file is whole whatever happens."""

from __future__ import annotations

import errno
import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from compat import Matrix, locking
from compat.errors import DocumentError, KnowledgeError, StoreError
from compat.feed_schema import Feed
from compat.feeds.catalogue import CataloguedFeed, catalogue
from compat.feeds.fetch import Fetcher
from compat.feeds.interface import Facts, FeedError, Task
from compat.feeds.known import Known
from compat.feeds.updating import Update, read_feeds, write_update
from compat.feeds.written import read_overlay_file
from compat.knowledge import load_knowledge
from compat.layers import read_overlay
from compat.schema import ReleaseEntry, SourceEntry
from tests.conftest import DAY, SMALL

NEXT = date(2026, 2, 1)


def claim(kind: str, identity: str, **fields: Any) -> dict[str, Any]:
    return {"id": identity, "kind": kind, "grade": "declared", "summary": f"Says {identity}.", **fields}


LIFE = claim("lifecycle", "540", versions="==540.*", supported_until=date(2027, 1, 5))
BUNDLE = claim("bundle", "toolkit-13.0.0", versions="==13.0.0", object="toolkit", object_versions="1.4.0", said=date(2026, 1, 15), ref="v13.0.0")


class Said:
    """A feed that says what a test has it say; a FeedError is raised."""

    def __init__(self, identity: str, subject: str, answer: Facts | FeedError) -> None:
        self.answer = answer
        self.feed = CataloguedFeed(identity, subject, Feed(), self._read)

    def _read(self, _: Task, fetcher: Fetcher, __: Known) -> Facts:
        fetcher.pages += 1
        if isinstance(self.answer, FeedError):
            raise self.answer
        return self.answer


def says(*releases: tuple[str, str], claims: tuple[dict[str, Any], ...] = (), **more: Any) -> Facts:
    source = SourceEntry(url="https://feeds.example.com")
    return Facts(source, [ReleaseEntry(version=text, released=date.fromisoformat(day)) for text, day in releases], list(claims), **more)


def run(matrix: Matrix, target: Path, *said: Said, today: date = DAY, only: tuple[Said, ...] | None = None, data: Path = SMALL) -> Update:
    known = Known(matrix)
    feeds = [item.feed for item in said]
    outcomes = read_feeds([item.feed for item in only] if only is not None else feeds, Fetcher(), known, today, lambda _: None)

    def check(path: Path) -> None:
        load_knowledge(data, [read_overlay(path)])

    return write_update(outcomes, feeds, known, today, target, check)


def content(target: Path) -> dict[str, Any]:
    value = yaml.safe_load(target.read_text())
    assert isinstance(value, dict)
    return value


def failing() -> FeedError:
    return FeedError("https://feeds.example.com", "JSON", "HTML")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "updates" / "update.yaml"


def test_only_news_is_written(small: Matrix, target: Path) -> None:
    """Not what the knowledge base lists, and not what is older than all that it lists."""
    facts = says(("12.1.0", "2026-01-15"), ("12.0.0", "2025-11-01"), ("9.0.0", "2025-01-01"))
    update = run(small, target, Said("operator-feed", "operator", facts))
    assert content(target)["releases"] == [{"subject": "operator", "version": "12.1.0", "released": date(2026, 1, 15)}]
    assert update.outcomes[0].new_releases == ["12.1.0"]


KNOWN_CLAIMS = [
    ("driver", claim("lifecycle", "390", versions="==390.*", supported_until=date(2022, 12, 31))),
    ("driver", claim("lifecycle", "530", versions="==530.*", supported_until=date(2030, 1, 1))),
    ("operator", claim("require", "kubernetes-12.0.0", versions="==12.0.0", object="kubernetes", object_versions=">=1.0", basis="install-check")),
    ("operator", claim("bundle", "toolkit-11.0.0", versions="==11.0.0", object="toolkit", object_versions="1.1.0")),
    ("queue", claim("support", "kubernetes-0.2.1", versions="==0.2.1", object="kubernetes", object_versions=">=1.3,<1.5", basis="ci")),
]
NEW_CLAIMS = [
    ("driver", claim("lifecycle", "530", versions="==530.*", supported_until=date(2031, 1, 1))),
    ("driver", LIFE),
    ("operator", claim("require", "kubernetes-12.0.0", versions="==12.0.0", object="kubernetes", object_versions=">=1.2", basis="install-check")),
    ("operator", claim("bundle", "toolkit-11.0.0", versions="==11.0.0", object="toolkit", object_versions="1.3.0")),
    ("operator", BUNDLE),
    ("queue", claim("support", "kubernetes-0.2.1", versions="==0.2.1", object="kubernetes", object_versions=">=1.3,<1.6", basis="ci")),
    ("kubernetes", claim("feature", "duckponds", versions=">=1.4", gate="DuckPonds", stages=[{"stage": "alpha", "from": "1.4"}])),
]


@pytest.mark.parametrize(("subject", "given"), KNOWN_CLAIMS, ids=lambda value: value["id"] if isinstance(value, dict) else value)
def test_a_claim_of_the_same_meaning_is_no_news(small: Matrix, target: Path, subject: str, given: dict[str, Any]) -> None:
    """However it is written: a range with the same releases, a line that holds the version."""
    run(small, target, Said("a-feed", subject, says(claims=(given,))))
    assert content(target)["claims"] == []


@pytest.mark.parametrize(("subject", "given"), NEW_CLAIMS, ids=lambda value: value["id"] if isinstance(value, dict) else value)
def test_a_claim_of_another_meaning_is_news(small: Matrix, target: Path, subject: str, given: dict[str, Any]) -> None:
    """Written with a stable id, its feed as source, and the day of reading where the source gives none."""
    run(small, target, Said("a-feed", subject, says(claims=(given,))))
    (found,) = content(target)["claims"]
    assert (found["id"], found["subject"], found["source"]) == (f"update-a-feed-{given['id']}", subject, "a-feed")
    assert found["said"] == given.get("said", DAY)


def test_a_collector_overrules_nobody(small: Matrix, target: Path) -> None:
    """endoflife.date fills gaps; where the knowledge base has a line's end, what it says does not count."""
    other_end = claim("lifecycle", "530", versions="==530.*", supported_until=date(2031, 1, 1))
    run(small, target, Said("a-feed", "driver", says(claims=(other_end, LIFE), secondary=True)))
    assert [item["id"] for item in content(target)["claims"]] == ["update-a-feed-540"]


def test_a_collector_adds_offers_after_those_that_are_known(small_copy: Path, target: Path) -> None:
    """A provider's new minor is news; what is known stays as it is, and lines before the oldest offer were left out on purpose."""
    offer = "- {id: pond-1.3, kind: offer, object: kubernetes, object_versions: ==1.3.*, standard_until: 2027-01-01, said: 2026-01-01, source: page, summary: Ponds offer 1.3.}"
    (small_copy / "pond.yaml").write_text(
        "subject: pond\ntitle: Pond\nas_of: 2026-01-31\ncomponent: {role: provider}\n"
        f"sources: {{page: {{url: 'https://example.com/pond'}}}}\nclaims:\n{offer}\n"
    )
    said = [claim("offer", line, object="kubernetes", object_versions=f"=={line}.*", standard_until=date(2027, 6, 1)) for line in ("1.2", "1.3", "1.4")]
    matrix = Matrix.load(as_of=DAY, data=small_copy, configured_overlays=False)
    run(matrix, target, Said("a-feed", "pond", says(claims=tuple(said), secondary=True)), data=small_copy)
    assert [item["id"] for item in content(target)["claims"]] == ["update-a-feed-1.4"]


def test_the_matrix_reads_what_was_written(small: Matrix, target: Path) -> None:
    """A new release is listed, and nothing vouches for it."""
    run(small, target, Said("operator-feed", "operator", says(("13.0.0", "2026-01-15"), claims=(BUNDLE,))))
    matrix = Matrix.load(as_of=DAY, data=SMALL, overlays=[target], configured_overlays=False)
    assert matrix.releases("operator")[0].text == "13.0.0"
    assert matrix.verdict(("operator", "13.0.0"), ("kubernetes", "1.4.0")).grade == "unknown"
    (found,) = list(matrix.store.claims("id = 'update-operator-feed-toolkit-13.0.0'"))
    assert found.layer == "update"


def test_an_announced_release_comes_out(small_copy: Path, target: Path) -> None:
    """The knowledge base knows it as announced; the update says that it is there, and so do all commands."""
    file = small_copy / "operator.yaml"
    file.write_text(file.read_text().replace("releases:\n", "releases:\n- {version: 12.1.0, channel: announced}\n"))
    matrix = Matrix.load(as_of=DAY, data=small_copy, configured_overlays=False)
    assert "12.1.0" not in [item.text for item in matrix.releases("operator", stable_only=True)]
    run(matrix, target, Said("operator-feed", "operator", says(("12.1.0", "2026-01-15"))))
    after = Matrix.load(as_of=DAY, data=small_copy, overlays=[target], configured_overlays=False)
    assert [item.text for item in after.releases("operator", stable_only=True)].count("12.1.0") == 1


def test_a_failed_feed_keeps_what_it_said(small: Matrix, target: Path) -> None:
    """With its day; the others go on."""
    one, two = Said("one", "operator", says(("12.1.0", "2026-01-15"), claims=(BUNDLE,))), Said("two", "driver", says(claims=(LIFE,)))
    run(small, target, one, two)
    one.answer = failing()
    update = run(small, target, one, two, today=NEXT)
    value = content(target)
    assert [item["version"] for item in value["releases"]] == ["12.1.0"]
    assert {item["id"]: item["read"] for item in value["feeds"]} == {"one": DAY, "two": NEXT}
    assert (update.failed[0].feed.id, update.failed[0].held) == ("one", DAY)


def test_feeds_that_were_not_asked_keep_what_they_said(small: Matrix, target: Path) -> None:
    """`kb update operator` does not forget the driver."""
    one, two = Said("one", "operator", says(("12.1.0", "2026-01-15"))), Said("two", "driver", says(claims=(LIFE,)))
    run(small, target, one, two)
    run(small, target, one, two, today=NEXT, only=(one,))
    assert {item["id"]: item["read"] for item in content(target)["feeds"]} == {"one": NEXT, "two": DAY}
    assert len(content(target)["claims"]) == 1


def test_a_feed_that_is_gone_takes_its_facts_along(small: Matrix, target: Path) -> None:
    """Which feeds there are is data: what nobody can refresh any more is not kept for ever."""
    one, two = Said("one", "operator", says(("12.1.0", "2026-01-15"))), Said("two", "driver", says(claims=(LIFE,)))
    run(small, target, one, two)
    run(small, target, two)
    assert content(target)["releases"] == []


def test_a_second_reading_says_the_same(small: Matrix, target: Path) -> None:
    """Facts keep the day on which they were first read, and nothing counts as new."""
    feed = Said("a-feed", "driver", says(("540.1.1", "2026-01-15"), claims=(LIFE,)))
    run(small, target, feed)
    before = content(target)
    update = run(small, target, feed, today=NEXT)
    after = content(target)
    assert (after["claims"], after["releases"]) == (before["claims"], before["releases"])
    assert (update.outcomes[0].new_releases, update.outcomes[0].new_claims) == ([], [])


def test_a_statement_that_changes_ends_the_earlier_one(small: Matrix, target: Path) -> None:
    """What was known on a day can still be asked; the id stands for what is said now."""
    feed = Said("a-feed", "driver", says(claims=(LIFE,)))
    run(small, target, feed)
    feed.answer = says(claims=({**LIFE, "supported_until": date(2027, 6, 5)},))
    for _ in range(2):
        run(small, target, feed, today=NEXT)
    found = {item["id"]: (item["supported_until"], item["said"], item.get("until")) for item in content(target)["claims"]}
    assert found == {
        "update-a-feed-540": (date(2027, 6, 5), NEXT, None),
        "update-a-feed-540-until-2026-02-01": (date(2027, 1, 5), DAY, NEXT),
    }


def test_feeds_of_tags_add_up(small: Matrix, target: Path) -> None:
    """They read the newest tags only; what older tags said stays, since tags do not change."""
    feed = Said("a-feed", "operator", says(claims=(BUNDLE,), partial=True))
    run(small, target, feed)
    feed.answer = says(claims=({**BUNDLE, "id": "toolkit-14.0.0", "versions": "==14.0.0"},), partial=True)
    run(small, target, feed, today=NEXT)
    assert [item["versions"] for item in content(target)["claims"]] == ["==14.0.0", "==13.0.0"]


def test_what_the_knowledge_base_learns_leaves_the_update(small: Matrix, small_copy: Path, target: Path) -> None:
    """A new version of the program brings the release and the claim: the update does not say them again."""
    feed = Said("a-feed", "driver", says(("540.1.1", "2026-01-15"), claims=(LIFE,)))
    run(small, target, feed)
    file = small_copy / "driver.yaml"
    body = file.read_text().replace("releases:\n", "releases:\n- {version: 540.1.1, released: 2026-01-15}\n").replace("claims:\n", (
        "claims:\n- {id: life-540, kind: lifecycle, versions: '==540.*', supported_until: 2027-01-05, said: 2026-01-05,"
        " source: {url: 'https://example.com'}, summary: 540.}\n"
    ))  # fmt: skip
    file.write_text(body)
    feed.answer = failing()
    other = Said("other", "queue", says())
    run(Matrix.load(as_of=DAY, data=small_copy, configured_overlays=False), target, feed, other)
    assert (content(target)["releases"], content(target)["claims"]) == ([], [])


def test_claims_that_cannot_be_read_fail_their_feed_only(small: Matrix, target: Path) -> None:
    """A range that is none: that feed changes nothing and says so, the others are written."""
    bad = Said("bad", "operator", says(claims=({**BUNDLE, "object_versions": "soon"},)))
    update = run(small, target, bad, Said("good", "driver", says(claims=(LIFE,))))
    assert "soon" in update.failed[0].error
    assert [item["id"] for item in content(target)["claims"]] == ["update-good-540"]


def test_a_file_with_faults_never_takes_the_place(small: Matrix, target: Path) -> None:
    """The reader of all commands has the last word."""
    run(small, target, Said("good", "driver", says(claims=(LIFE,))))
    before = target.read_bytes()
    with pytest.raises(KnowledgeError, match="cake-shop"):
        run(small, target, Said("bad", "operator", says(claims=({**BUNDLE, "object": "cake-shop"},))))
    assert target.read_bytes() == before
    assert [path.name for path in target.parent.iterdir() if path.suffix == ".tmp"] == []


@pytest.mark.parametrize("place", ["fsync", "replace", "write"])
def test_a_full_disk_leaves_the_old_file(small: Matrix, target: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """At every moment of writing; the message says that nothing changed and what to do."""
    feed = Said("a-feed", "driver", says(claims=(LIFE,)))
    run(small, target, feed)
    before = target.read_bytes()
    feed.answer = says(("540.1.1", "2026-01-15"))

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if place == "fsync":
        monkeypatch.setattr("os.fsync", full)
    elif place == "replace":
        monkeypatch.setattr(Path, "replace", full)
    else:
        monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(StoreError, match=r"No space left on device; what was there is unchanged.*COMPAT_UPDATE_DIR"):
        run(small, target, feed)
    monkeypatch.undo()
    assert target.read_bytes() == before
    assert [path.name for path in target.parent.iterdir() if path.suffix == ".tmp"] == []


def test_a_lock_that_is_held_is_told(small: Matrix, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An update does not wait for ever for another one."""
    from filelock import FileLock

    monkeypatch.setattr(locking, "_WAIT", 0.1)
    target.parent.mkdir(parents=True)
    with FileLock(target.parent / f".{target.name}.lock"), pytest.raises(StoreError, match="another run"):
        run(small, target, Said("a-feed", "driver", says(claims=(LIFE,))))


@pytest.mark.parametrize("text", ["overlay: update\n", "[]\n", "a: [\n", "overlay: update\nreleases: []\nclaims: []\nfeeds: [{id: x}]\n", "\x00"])
def test_a_file_of_another_hand_is_not_overwritten(small: Matrix, target: Path, text: str) -> None:
    """A name that is taken by something else is told, with what to do."""
    target.parent.mkdir(parents=True)
    target.write_text(text)
    with pytest.raises(DocumentError):
        run(small, target, Said("a-feed", "driver", says(claims=(LIFE,))))
    assert target.read_text() == text


def test_what_is_written_is_read_back(small: Matrix, target: Path) -> None:
    """Section by section, days and all."""
    update = run(small, target, Said("one", "operator", says(("12.1.0", "2026-01-15"), claims=(BUNDLE,))), Said("two", "driver", says(claims=(LIFE,))))
    assert read_overlay_file(target) == update.overlay


def test_the_feeds_of_the_built_in_knowledge() -> None:
    """Every feed has a reader, and those that need to know the tags come last."""
    feeds = catalogue(Path(__file__).parents[3] / "data")
    kinds = [feed.entry.model_dump()["kind"] for feed in feeds]
    assert set(kinds) == {"github-releases", "helm-index", "release-schedule", "endoflife", "chart-values", "ci-versions", "feature-gates"}
    assert not {"chart-values", "ci-versions"} & set(kinds[: kinds.index("chart-values")])


@pytest.mark.parametrize(
    ("feed", "told"),
    [
        ("{kind: github-releases, repo: no-slash}", "repo"),
        ("{kind: github-releases, repo: a/b, tag: '('}", "regular expression"),
        ("{kind: github-releases, repo: a/b, tag: 'v.*'}", "P<version>"),
        ("{kind: gopher, repo: a/b}", "kind"),
        ("{kind: helm-index, url: 'http://example.com', chart: x}", "url"),
        ("{kind: ci-versions, repo: a/b, paths: [../x], object: kubernetes, pattern: '(?P<versions>.)', what: a list}", "paths"),
        ("{kind: ci-versions, repo: a/b, paths: [x], object: nobody, pattern: '(?P<versions>.)', what: a list}", "'nobody' is no subject"),
        ("{kind: endoflife, product: x, claim: offer, days: {standard_until: eolFrom}}", "an offer needs"),
        ("{kind: github-releases, repo: a/b}\n- {kind: github-releases, repo: a/c}", "already"),
    ],
)
def test_faults_of_feeds_are_found_by_kb_check(small_copy: Path, feed: str, told: str) -> None:
    """With file and line, before anybody runs an update."""
    file = small_copy / "queue.yaml"
    file.write_text(file.read_text() + f"feeds:\n- {feed}\n")
    with pytest.raises(KnowledgeError) as raised:
        load_knowledge(small_copy)
    assert any("queue.yaml:" in fault.where and told in str(fault) for fault in raised.value.faults), raised.value.faults
