"""The compiled store: all knowledge in one SQLite file.

The file is named after the digest of the YAML it was compiled from, so that it is current or not there; it is written aside and then
moved into place, so that a run killed at any point leaves the old file or the new one. It lives in the user's cache directory
(``COMPAT_CACHE_DIR`` overrides it) and can be opened with any SQLite tool, Datasette included; docs/data-format.md has the schema.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version as PackagingVersion

from compat.claims import Claim, Release, Subject
from compat.errors import StoreError
from compat.ranges import parse_range
from compat.versions import PLAIN, Lineage, Version

if TYPE_CHECKING:
    from compat.knowledge import Knowledge

__all__ = [
    "SCHEMA_VERSION",
    "Snapshot",
    "Store",
    "cache_directory",
    "compile_in_memory",
    "content_digest",
    "data_directory",
    "forget_stores",
    "open_compiled",
    "open_store",
]

SCHEMA_VERSION = 1
"""Version of the written form and its tables."""
_KEEP = 3


def data_directory() -> Path:
    """Folder of the built-in knowledge: beside the package, or the checkout's ``data/`` in an editable install."""
    if override := os.environ.get("COMPAT_DATA_DIR"):
        return Path(override)
    installed = Path(__file__).resolve().parent / "_data"
    return installed if installed.is_dir() else Path(__file__).resolve().parent.parent / "data"


def cache_directory() -> Path:
    """Folder of compiled stores."""
    if override := os.environ.get("COMPAT_CACHE_DIR"):
        return Path(override)
    from platformdirs import user_cache_path

    return user_cache_path("compat-gpu")


def content_digest(folder: Path) -> str:
    """Digest over names and bytes of the knowledge files of *folder*, as ``sha256:...``.

    Raises:
        StoreError: if the folder holds no knowledge.
    """
    digest = hashlib.sha256(f"compat knowledge {SCHEMA_VERSION}\n".encode())
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise StoreError(f"no knowledge in {folder}: expected *.yaml files; reinstall compat or unset COMPAT_DATA_DIR")
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode())
        digest.update(content)
    return f"sha256:{digest.hexdigest()}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Which knowledge an answer rests on."""

    version: str
    """Calendar version: the date of the newest source read, ``2026.11.30``."""
    as_of: date
    """Day that questions are answered for."""
    schema: int
    """Version of the written form."""
    digest: str
    """Over the canonical content, see `compat.canonical`."""


_READING = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE))


def _only_reading(action: int, *_: object) -> int:
    """Authorizer for statements of users: nothing is attached, written or set."""
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


class Store:
    """Read access to a compiled store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        weakref.finalize(self, connection.close)
        self.meta: dict[str, str] = dict(connection.execute("select key, value from meta"))
        self._lineages: dict[str, Lineage] = {}
        self._owners: dict[str, str] = {}
        self._order: dict[str, dict[PackagingVersion, int]] = {}
        self._claims: dict[str, Claim] = {}
        """Every claim that was read, so that one claim is one object however it is found."""

    @property
    def connection(self) -> sqlite3.Connection:
        """The open file, for readers of whole tables."""
        return self._connection

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def subjects(self) -> dict[str, Subject]:
        """All subjects by id."""
        found = {}
        for row in self._connection.execute("select id, title, as_of, aliases, versions, releases_of, component from subjects order by id"):
            rules = json.loads(row[4])
            lineage = Lineage(row[0], {int(number): epoch for number, epoch in rules["epochs"].items()}, rules["pattern"])
            self._lineages[row[0]] = lineage
            self._owners[row[0]] = row[5] or row[0]
            found[row[0]] = Subject(row[0], row[1], date.fromisoformat(row[2]), tuple(json.loads(row[3])), lineage, row[5], json.loads(row[6]))
        return found

    def vocabulary(self) -> dict[str, dict[str, Any]]:
        """Scope words: meaning, values, default and wider values."""
        return {word: json.loads(body) for word, body in self._connection.execute("select word, body from scope_words order by word")}

    def products(self) -> list[dict[str, Any]]:
        """Hardware products in the order in which their patterns are tried."""
        return [json.loads(body) for (body,) in self._connection.execute("select body from products order by position")]

    def objects(self) -> dict[str, str]:
        """Objects of claims that are no subjects, with their meaning."""
        return dict(self._connection.execute("select id, title from objects order by id"))

    def releases(self, subject: str) -> list[Release]:
        """Releases of one subject, newest first by its lineage."""
        query = "select text, key, upstream, parts, suffix, released, known_from, channel from releases where subject = ? order by position"
        return [
            Release(subject, Version(row[0], PackagingVersion(row[1]), row[2], row[3], row[4]), _day(row[5]), date.fromisoformat(row[6]), row[7])
            for row in self._connection.execute(query, (subject,))
        ]

    def claims(self, where: str = "", parameters: Iterable[Any] = ()) -> Iterator[Claim]:
        """Claims that meet an SQL condition, in the order of the files."""
        condition = f" where {where}" if where else ""
        query = (
            "select id, kind, subject, versions, object, object_versions, scope, grade, severity, closed, known_from, known_until,"  # noqa: S608  # the condition is ours
            f" source, summary, detail, layer, subject_members, object_members, to_members from claims{condition} order by position"
        )
        for row in self._connection.execute(query, tuple(parameters)):
            claim = self._claims.get(row[0])
            yield claim if claim is not None else self._claim(row)

    def pair_claims(self, one: str, other: str) -> list[Claim]:
        """Claims about pairs of versions of two components, either way round."""
        kinds = "kind in ('support', 'require', 'conflict', 'bundle', 'offer')"
        return list(self.claims(f"{kinds} and ((subject = ? and object = ?) or (subject = ? and object = ?))", (one, other, other, one)))

    def add_standing(self, day: date) -> None:
        """Give the statements of `query` a view ``standing``: the claims that stand on *day*."""
        until = f"(known_until is null or known_until > '{day.isoformat()}')"
        self._connection.execute(f"create temp view standing as select * from main.claims where known_from <= '{day.isoformat()}' and {until}")  # noqa: S608  # a date

    def query(self, sql: str, parameters: Iterable[Any] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Run one read-only SQL statement; return column names and rows.

        Raises:
            sqlite3.Error: if the statement is no good.
        """
        self._connection.set_authorizer(_only_reading)
        try:
            cursor = self._connection.execute(sql, tuple(parameters))
        finally:
            self._connection.set_authorizer(None)
        return [column[0] for column in cursor.description or ()], cursor.fetchall()

    def _positions(self, subject: str) -> dict[PackagingVersion, int]:
        """Position of each release of a subject, oldest first, as the bits of a claim's members count them."""
        if subject not in self._order:
            owner = self._owners.get(subject, subject)
            rows = self._connection.execute("select key from releases where subject = ? order by position desc", (owner,)).fetchall()
            self._order[subject] = {PackagingVersion(key): place for place, (key,) in enumerate(rows)}
        return self._order[subject]

    def _claim(self, row: tuple[Any, ...]) -> Claim:
        scope = {} if row[6] == "{}" else {word: tuple(values) for word, values in json.loads(row[6]).items()}
        claim = self._claims[row[0]] = Claim.undecoded(
            id=row[0], kind=row[1], subject=row[2], versions=row[3], object=row[4], object_versions=row[5], scope=scope, grade=row[7],
            severity=row[8], closed=bool(row[9]), known_from=date.fromisoformat(row[10]), known_until=_day(row[11]), source=row[12],
            summary=row[13], detail=row[14], layer=row[15], members={"subject": row[16], "object": row[17], "to": row[18]}, positions=self._positions,
            subject_lineage=self._lineages.get(row[2], PLAIN), object_lineage=self._lineages.get(row[4], PLAIN),
        )  # fmt: skip
        return claim


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def open_store(folder: Path | None = None) -> Store:
    """Open the store of *folder* (default: the snapshot that ``COMPAT_SNAPSHOT`` names, else the built-in knowledge).

    It is compiled if it is not there or not whole.

    Raises:
        KnowledgeError: if the YAML has faults.
        StoreError: if there is no knowledge.
    """
    if folder is None and ("COMPAT_SNAPSHOT" in os.environ or "COMPAT_SNAPSHOT_KEY" in os.environ):
        from compat.snapshots import configured_snapshot

        return configured_snapshot()
    source = folder or data_directory()

    def load() -> Knowledge:
        from compat.knowledge import load_knowledge

        return load_knowledge(source)

    return open_compiled(content_digest(source), load)


def open_compiled(digest: str, load: Callable[[], Knowledge]) -> Store:
    """Open the store of a source with that digest over its bytes; *load* reads the source if it has to be compiled."""
    name = f"kb-{digest.removeprefix('sha256:')[:20]}-{_layout()}.sqlite"
    for directory in _places():
        target = directory / name
        store = _open(target, digest)
        if store is not None:
            return store
    for directory in _places():
        try:
            directory.mkdir(parents=True, exist_ok=True)
            _compile(load, digest, directory / name)
        except (OSError, sqlite3.OperationalError):
            continue
        store = _open(directory / name, digest)
        if store is not None:
            _forget_old(directory, name)
            return store
    return compile_in_memory(load, digest)


def compile_in_memory(load: Callable[[], Knowledge], digest: str = "") -> Store:
    """Compile what *load* reads without leaving a file."""
    connection = sqlite3.connect(":memory:")
    _fill(connection, load, digest)
    return Store(connection)


def forget_stores() -> None:
    """Remove every compiled store from the cache; the next run compiles anew."""
    for directory in _places():
        for path in directory.glob("kb-*.sqlite"):
            path.unlink(missing_ok=True)


def _places() -> list[Path]:
    places = [cache_directory()]
    if "COMPAT_CACHE_DIR" not in os.environ:
        places.append(Path(tempfile.gettempdir()) / f"compat-gpu-{os.getuid() if hasattr(os, 'getuid') else 'user'}")
    return places


def _open(path: Path, digest: str) -> Store | None:
    """Open a store, or return None if it is not there, not whole, not ours or of another schema."""
    try:
        if hasattr(os, "getuid") and path.stat().st_uid not in (os.getuid(), 0):
            return None
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except (OSError, sqlite3.Error):
        return None
    try:
        store = Store(connection)
        if store.meta.get("source") == digest and store.meta.get("layout") == _layout() and store.meta.get("complete") == "yes":
            return store
    except sqlite3.Error:
        pass
    connection.close()
    return None


def _compile(load: Callable[[], Knowledge], digest: str, target: Path) -> None:
    handle, name = tempfile.mkstemp(prefix=".kb-", suffix=".tmp", dir=target.parent)
    os.close(handle)
    scratch = Path(name)
    try:
        connection = sqlite3.connect(scratch)
        try:
            _fill(connection, load, digest)
        finally:
            connection.close()
        with scratch.open("rb+") as stream:
            os.fsync(stream.fileno())
        Path(scratch).replace(target)
    finally:
        scratch.unlink(missing_ok=True)


def _forget_old(directory: Path, keep: str) -> None:
    """Remove stores of earlier knowledge and scratch files that killed runs left behind."""
    with contextlib.suppress(OSError):
        stores = sorted(directory.glob("kb-*.sqlite"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in [path for path in stores if path.name != keep][_KEEP - 1 :]:
            path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        import time

        for path in directory.glob(".kb-*.tmp"):
            if time.time() - path.stat().st_mtime > 3600:
                path.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, load: Callable[[], Knowledge], digest: str) -> None:
    from sqlite_utils import Database

    from compat.canonical import canonical_digest, canonical_document

    knowledge = load()
    database = Database(connection)
    with connection:
        for name, rows, key in _tables(knowledge, digest):
            table = database.create_table(name, _COLUMNS[name], pk=key)
            table.insert_all(rows)
        database.table("meta").insert({"key": "digest", "value": canonical_digest(canonical_document(connection))})
        for columns in (["subject", "object"], ["object", "subject"]):
            database.table("claims").create_index(columns)
        database.table("releases").create_index(["subject"])


_COLUMNS: dict[str, dict[str, type]] = {
    "meta": {"key": str, "value": str},
    "subjects": {"id": str, "title": str, "as_of": str, "aliases": str, "versions": str, "releases_of": str, "component": str},
    "scope_words": {"word": str, "body": str},
    "products": {"position": int, "body": str},
    "objects": {"id": str, "title": str},
    "releases": {
        "position": int, "subject": str, "text": str, "key": str, "upstream": str, "parts": int, "suffix": str, "released": str, "known_from": str,
        "channel": str,
    },
    "claims": {
        "position": int, "id": str, "kind": str, "subject": str, "versions": str, "object": str, "object_versions": str, "scope": str,
        "grade": str, "severity": str, "closed": int, "known_from": str, "known_until": str, "source": str, "link": str, "summary": str,
        "detail": str, "layer": str, "place": str, "subject_members": str, "object_members": str, "to_members": str,
    },
}  # fmt: skip


@cache
@cache
def _layout() -> str:
    """What tells stores of one program from those of another: the modules that read, expand and compile knowledge."""
    here = Path(__file__).parent
    found = hashlib.sha256(repr((SCHEMA_VERSION, _COLUMNS)).encode())
    for name in ("canonical", "claims", "documents", "knowledge", "ranges", "schema", "snapshot_reader", "store", "versions"):
        with contextlib.suppress(OSError):
            found.update((here / f"{name}.py").read_bytes())
    return found.hexdigest()[:8]


def _tables(knowledge: Knowledge, digest: str) -> Iterator[tuple[str, list[dict[str, Any]], str]]:
    newest = max(subject.as_of for subject in knowledge.subjects.values())
    meta = {
        "source": digest,
        "schema": str(SCHEMA_VERSION),
        "version": newest.strftime("%Y.%m.%d"),
        "as_of": newest.isoformat(),
        "layout": _layout(),
        "complete": "yes",
    }
    yield "meta", [{"key": key, "value": value} for key, value in meta.items()], "key"
    yield "subjects", [
        {
            "id": subject.id, "title": subject.title, "as_of": subject.as_of.isoformat(), "aliases": _json(subject.aliases),
            "versions": _json({"epochs": {str(k): v for k, v in subject.lineage.epochs.items()}, "pattern": subject.lineage.pattern}),
            "releases_of": subject.releases_of, "component": _json(subject.component),
        }
        for subject in knowledge.subjects.values()
    ], "id"  # fmt: skip
    yield "scope_words", [{"word": word, "body": _json(body.model_dump(exclude_defaults=True))} for word, body in knowledge.vocabulary.scope.items()], "word"
    yield "products", [{"position": n, "body": _json(product.model_dump())} for n, product in enumerate(knowledge.vocabulary.products)], "position"
    yield "objects", [{"id": name, "title": title} for name, title in knowledge.vocabulary.objects.items()], "id"
    yield "releases", [
        {
            "position": position, "subject": release.subject, "text": release.version.text, "key": str(release.version.key),
            "upstream": release.version.release, "parts": release.version.parts, "suffix": release.version.suffix,
            "released": _iso(release.released), "known_from": release.known_from.isoformat(),
            "channel": release.channel,
        }
        for position, release in enumerate(sorted(knowledge.releases, key=lambda item: (item.version, item.version.parts), reverse=True))
    ], "position"  # fmt: skip
    members = _Members(knowledge)
    yield "claims", [
        {
            **members.of(claim), "position": position, "id": claim.id, "kind": claim.kind, "subject": claim.subject, "versions": claim.versions,
            "object": claim.object, "object_versions": claim.object_versions, "scope": _json(claim.scope), "grade": claim.grade,
            "severity": claim.severity,
            "closed": int(claim.closed), "known_from": claim.known_from.isoformat(), "known_until": _iso(claim.known_until),
            "source": _json({key: value for key in ("repo", "ref", "path", "url", "locator") if (value := getattr(claim.source, key))}),
            "link": claim.source.link, "summary": claim.summary, "detail": _json(claim.detail), "layer": claim.layer, "place": knowledge.places[claim.id],
        }
        for position, claim in enumerate(knowledge.claims)
    ], "position"  # fmt: skip


class _Members:
    """Which releases lie in the ranges of claims."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._subjects = knowledge.subjects
        self._releases: dict[str, list[Version]] = {}
        for release in sorted(knowledge.releases, key=lambda item: (item.version, item.version.parts)):
            self._releases.setdefault(release.subject, []).append(release.version)
        self._known: dict[tuple[str, str], str | None] = {}

    def of(self, claim: Claim) -> dict[str, str | None]:
        """Columns of a claim's row."""
        to = str(claim.detail.get("to_versions") or "")
        return {
            "subject_members": self._bits(claim.subject, claim.versions),
            "object_members": self._bits(claim.object, claim.object_versions),
            "to_members": self._bits(claim.subject, to),
        }

    def _bits(self, name: str, text: str) -> str | None:
        subject = self._subjects.get(name)
        releases = self._releases.get(subject.releases_of or name) if subject else None
        if not subject or not releases:
            return None
        if (name, text) not in self._known:
            found = parse_range(text, subject.lineage)
            self._known[name, text] = f"{sum(1 << place for place, version in enumerate(releases) if version in found):x}"
        return self._known[name, text]


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_default)


def _default(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"cannot store {type(value).__name__}")
