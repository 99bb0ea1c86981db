"""Exports and snapshots: one content, one digest, and nothing gets in that a knowledge file could not say."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from compat import InputError, Matrix
from compat.errors import DocumentError
from compat.exports import export
from compat.snapshot_reader import knowledge_schema
from compat.snapshots import open_snapshot
from compat.store import open_store
from tests.conftest import DAY, SMALL


@pytest.fixture
def snapshot(small: Matrix, tmp_path: Path) -> Path:
    """The small knowledge base as a JSON export."""
    path = tmp_path / "kb.json"
    path.write_bytes(export(small.store, "json"))
    return path


def mended(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


def faults(path: Path) -> str:
    with pytest.raises(DocumentError) as caught:
        open_snapshot(path)
    return "\n".join(str(fault) for fault in caught.value.faults)


@pytest.mark.parametrize("form", ["json", "sqlite"])
def test_a_snapshot_is_the_knowledge_that_was_exported(small: Matrix, tmp_path: Path, form: str) -> None:
    """Same digest, same export, same answers, whichever of the two it is read from."""
    path = tmp_path / "kb"
    path.write_bytes(export(small.store, form))
    read = Matrix.load(as_of=DAY, snapshot=path)
    assert read.snapshot == small.snapshot
    assert all(export(read.store, each) == export(small.store, each) for each in ("json", "sqlite", "csv"))
    assert [claim.id for claim in read.store.claims()] == [claim.id for claim in small.store.claims()]
    for one in small.releases("operator"):
        for other in small.releases("kubernetes"):
            pair = (("operator", one.version), ("kubernetes", other.version))
            assert read.verdict(*pair).grade == small.verdict(*pair).grade
            assert read.verdict(*pair).question == small.verdict(*pair).question


@pytest.mark.parametrize("form", ["json", "sqlite"])
def test_the_shipped_knowledge_survives_the_round_trip(real: Matrix, tmp_path: Path, form: str) -> None:
    """Every claim of the built-in knowledge, byte for byte."""
    path = tmp_path / "kb"
    path.write_bytes(export(real.store, form))
    read = open_snapshot(path)
    assert read.meta["digest"] == real.snapshot.digest
    assert export(read, "json") == export(real.store, "json")


def test_the_digest_is_the_checksum_of_the_json_export(small: Matrix) -> None:
    """A reader can check it with sha256sum alone."""
    assert small.snapshot.digest == f"sha256:{hashlib.sha256(export(small.store, 'json')).hexdigest()}"


def test_the_digest_is_of_what_is_said_and_not_of_how(small_copy: Path) -> None:
    """A comment changes nothing; a word of a claim does."""
    before = open_store(small_copy).meta["digest"]
    queue = small_copy / "queue.yaml"
    queue.write_text(f"# a comment\n{queue.read_text()}")
    assert open_store(small_copy).meta["digest"] == before
    queue.write_text(queue.read_text().replace("25.1 does not start", "25.1 does not run"))
    assert open_store(small_copy).meta["digest"] != before


def test_formatting_a_json_snapshot_keeps_its_digest(small: Matrix, snapshot: Path) -> None:
    """What jq does to a file is no change of content."""
    assert open_snapshot(mended(snapshot, lambda _: None)).meta["digest"] == small.snapshot.digest


def test_a_changed_snapshot_has_another_digest(small: Matrix, tmp_path: Path) -> None:
    """A row that was edited with SQL does not go by the name of what was exported."""
    path = tmp_path / "kb.db"
    path.write_bytes(export(small.store, "sqlite"))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("update claims set object_versions = '>=1.0' where id = 'queue-ci-25'")
    connection.close()
    read = open_snapshot(path)
    assert read.meta["digest"] != small.snapshot.digest
    assert Matrix(read, DAY).verdict(("queue", "25.2.0"), ("kubernetes", "1.3")).grade == "tested"


def test_the_export_fits_its_schema(small: Matrix, real: Matrix) -> None:
    """What is written is what docs/schemas promises."""
    for matrix in (small, real):
        jsonschema.validate(json.loads(export(matrix.store, "json")), knowledge_schema())


def test_the_schema_in_the_docs_is_that_of_the_code(golden: Callable[[str, str], None]) -> None:
    """docs/schemas/compat.knowledge.v1.json does not drift."""
    golden("../../docs/schemas/compat.knowledge.v1.json", json.dumps(knowledge_schema(), indent=2, sort_keys=True) + "\n")


def test_the_csv_export_has_every_row(small: Matrix) -> None:
    """One file per table, with the counts of the store and times that say nothing."""
    with zipfile.ZipFile(io.BytesIO(export(small.store, "csv"))) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        for table in ("claims", "releases", "subjects"):
            rows = list(csv.DictReader(io.StringIO(archive.read(f"{table}.csv").decode(), newline="")))
            assert len(rows) == small.store.connection.execute(f"select count(*) from {table}").fetchone()[0]  # noqa: S608  # names of ours
        ids = {row["id"]: row for row in csv.DictReader(io.StringIO(archive.read("claims.csv").decode(), newline=""))}
    assert ids["queue-broken"]["summary"] == "25.1 does not start on 1.3."


def test_the_sqlite_export_answers_plain_sql(small: Matrix, tmp_path: Path) -> None:
    """Any SQLite tool can ask it; the view standing is that of its own day."""
    path = tmp_path / "kb.db"
    path.write_bytes(export(small.store, "sqlite"))
    connection = sqlite3.connect(path)
    assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
    assert connection.execute("pragma foreign_key_check").fetchall() == []
    lists = "from {} where subject = 'operator' and versions = '12' and kind = 'support' and object = 'kubernetes'"
    assert connection.execute(f"select object_versions {lists.format('claims')} order by known_from").fetchall() == [("1.3 - 1.3",), ("1.3 - 1.4",)]
    assert connection.execute(f"select object_versions {lists.format('standing')}").fetchall() == [("1.3 - 1.4",)]
    connection.close()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda document: document.update(schema="compat.knowledge/v2"), "expected schema compat.knowledge/v1, found 'compat.knowledge/v2'"),
        (lambda document: document.pop("claims"), "claims: this key is missing"),
        (lambda document: document.update(clams=[]), "unknown key 'clams'; did you mean claims?"),
        (lambda document: document["claims"][0].update(kind="rumour"), "claims.0.kind"),
        (lambda document: document["claims"][0].update(subject="nobody"), "subject 'nobody' is neither a subject"),
        (lambda document: document["claims"][0].update(scope={"oss": ["x"]}), "unknown scope word 'oss'"),
        (lambda document: document["claims"][0].update(versions="=>1"), "cannot read '=>1' as a version range"),
        (lambda document: document["claims"][0].update(source={}), "source is empty"),
        (lambda document: document["claims"][0].update(said="2030-01-01", until=None), "said 2030-01-01, after 2026-01-31"),
        (lambda document: document["claims"][0].update(until="2000-01-01"), "the dates are in disorder"),
        (lambda document: document["claims"][0].update(detail={"rool": "forbidden"}), "rool"),
        (lambda document: document["claims"][0].update(detail={"grade": "tested"}), "detail has the key 'grade'"),
        (lambda document: document["claims"].append(document["claims"][0]), "is taken by"),
        (lambda document: document["releases"].append(document["releases"][-1]), "is listed twice"),
        (lambda document: document["releases"][0].update(known_from="2020-01-01"), "is not the day of the release"),
        (lambda document: document["releases"][0].update(subject="nobody"), "unknown subject 'nobody'"),
        (lambda document: document["claims"][0].update(summary="\x1b]0;owned\x07"), "a text has a control character in it"),
        (lambda document: document["claims"][0].update(summary="\ud800"), "kb.json"),
        (lambda document: document.update(subjects=[]), "the snapshot has no subjects"),
    ],
)  # fmt: skip
def test_what_a_knowledge_file_may_not_say_a_snapshot_may_not(snapshot: Path, change: Callable[[dict[str, Any]], object], says: str) -> None:
    """Each mistake gets a clear fault that names the file, and nothing is used."""
    found = faults(mended(snapshot, change))
    assert says in found
    assert "kb.json" in found


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01", b"[]", b"{}", b"null", b"[" * 100_000, b'{"schema": NaN}', b'{"a": 1, "a": 2}', b"\xff\xfe", b"9" * 10_000, b'{"schema": "compat.knowledge/v1", "x": ' + b"[" * 3000 + b"]" * 3000 + b"}", b"SQLite format 3\x00", b"SQLite format 3\x00" + b"\xff" * 5000],
)  # fmt: skip
def test_what_is_no_snapshot_is_refused(tmp_path: Path, content: bytes) -> None:
    """Garbage, nests and half files: a clear error."""
    path = tmp_path / "kb"
    path.write_bytes(content)
    assert str(path) in faults(path)


def test_a_cut_file_is_refused(small: Matrix, tmp_path: Path) -> None:
    """At whatever place a copy broke off."""
    for form in ("json", "sqlite"):
        content = export(small.store, form)
        for share in (0.01, 0.3, 0.9):
            path = tmp_path / form
            path.write_bytes(content[: int(len(content) * share)])
            assert str(path) in faults(path)


def test_a_view_is_no_table(small: Matrix, tmp_path: Path) -> None:
    """A file that would compute its rows, perhaps for ever, is not run."""
    path = tmp_path / "kb.db"
    path.write_bytes(export(small.store, "sqlite"))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("drop view standing")
        connection.execute("alter table claims rename to old")
        connection.execute("create view claims as with recursive t(n) as (select 1 union all select n + 1 from t) select n from t")
    connection.close()
    assert "no table claims" in faults(path)


def test_a_snapshot_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Never the built-in knowledge in its place."""
    with pytest.raises(InputError, match="cannot read the snapshot"):
        open_snapshot(tmp_path / "none.json")


def test_a_folder_and_a_snapshot_exclude_each_other(snapshot: Path) -> None:
    """What is asked must be clear."""
    with pytest.raises(InputError, match="not both"):
        Matrix.load(data=SMALL, snapshot=snapshot)
    with pytest.raises(InputError, match="without a snapshot"):
        Matrix.load(data=SMALL, snapshot_key=snapshot)


def test_the_environment_names_the_snapshot(small: Matrix, snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """COMPAT_SNAPSHOT replaces the built-in knowledge; an empty one, or a key alone, is refused rather than ignored."""
    monkeypatch.setenv("COMPAT_SNAPSHOT", str(snapshot))
    assert Matrix.load(as_of=DAY).snapshot == small.snapshot
    monkeypatch.setenv("COMPAT_SNAPSHOT", "")
    with pytest.raises(InputError, match="names no file"):
        Matrix.load()
    monkeypatch.delenv("COMPAT_SNAPSHOT")
    monkeypatch.setenv("COMPAT_SNAPSHOT_KEY", "key.pem")
    with pytest.raises(InputError, match="names no file"):
        Matrix.load()
    monkeypatch.setenv("COMPAT_SNAPSHOT", str(snapshot))
    monkeypatch.setenv("COMPAT_SNAPSHOT_KEY", "")
    with pytest.raises(InputError, match="COMPAT_SNAPSHOT_KEY is empty"):
        Matrix.load()


def test_overlays_go_on_top_of_a_snapshot(snapshot: Path, tmp_path: Path) -> None:
    """As they do of the files it was made of, with the same digest; an export itself holds none."""
    overlay = tmp_path / "ours.yaml"
    overlay.write_text(
        "overlay: ours\ntitle: Ours\nas_of: 2026-01-31\nbans: [{component: queue, versions: ==25.1.*, reason: it hangs, owner: jane@example.com}]\n"
    )
    here = Matrix.load(as_of=DAY, data=SMALL, overlays=[overlay], configured_overlays=False)
    there = Matrix.load(as_of=DAY, snapshot=snapshot, overlays=[overlay], configured_overlays=False)
    assert there.snapshot == here.snapshot
    assert there.snapshot.digest != Matrix.load(as_of=DAY, data=SMALL, configured_overlays=False).snapshot.digest
    assert [claim.id for claim in there.store.claims("layer = 'ours'")] == ["ours-ban-queue-25.1"]
    with pytest.raises(InputError, match="an export holds no overlays"):
        export(here.store, "json")
