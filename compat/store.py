"""The compiled store: all knowledge in one SQLite file.

The file is named after the digest of the YAML it was compiled from, so that it is current or not there; it is written aside and then
moved into place, so that a run killed at any point leaves the old file or the new one. It lives in the user's cache directory
(``COMPAT_CACHE_DIR`` overrides it) and can be opened with any SQLite tool, Datasette included; docs/data-format.md has the schema.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version as PackagingVersion

from compat.claims import Claim, Release, Subject
from compat.compiler import fill, layout
from compat.errors import InputError
from compat.places import (
    SCHEMA_VERSION,
    cache_directory,
    combined_digest,
    content_digest,
    data_directory,
    forget_old,
    forget_scratch,
    forget_stores,
    store_directories,
)
from compat.versions import PLAIN, Lineage, Version

if TYPE_CHECKING:
    from compat.knowledge import Knowledge
    from compat.layers import Acceptance, Layer, OverlayText

__all__ = [
    "SCHEMA_VERSION",
    "KnowledgeSource",
    "Snapshot",
    "Store",
    "cache_directory",
    "compile_in_memory",
    "content_digest",
    "data_directory",
    "forget_stores",
    "open_source",
    "open_store",
]


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
    """Over the canonical content (`compat.canonical`), layers included."""
    layers: tuple[Layer, ...] = ()
    """Overlays on top of the built-in knowledge, in their order."""


@dataclass(frozen=True, slots=True)
class KnowledgeSource:
    """What a store is compiled from: a folder of knowledge files, or a snapshot."""

    digest: str
    """Over its bytes."""
    load: Callable[[Sequence[OverlayText]], Knowledge]
    """Reads it, and overlays on top of it."""


_SECONDS = 30.0
"""How long a statement of a user may take."""
_ROWS = 100_000
"""Most rows of its result."""
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

    def layers(self) -> tuple[Layer, ...]:
        """Overlays that were compiled into the store, in their order."""
        if self.meta["layers"] == "[]":
            return ()
        from compat.layers import Layer

        return tuple(Layer(row["id"], row["title"], date.fromisoformat(row["as_of"]), row["digest"]) for row in json.loads(self.meta["layers"]))

    def acceptances(self) -> list[Acceptance]:
        """Risks that overlays accept, expired ones included."""
        from compat.layers import Acceptance

        rows = self._connection.execute("select id, owner, expires, reason, layer from accepted order by position")
        return [Acceptance(row[0], row[1], date.fromisoformat(row[2]), row[3], row[4]) for row in rows]

    def pair_claims(self, one: str, other: str) -> list[Claim]:
        """Claims about pairs of versions of two components, either way round."""
        kinds = "kind in ('support', 'require', 'conflict', 'bundle', 'offer')"
        return list(self.claims(f"{kinds} and ((subject = ? and object = ?) or (subject = ? and object = ?))", (one, other, other, one)))

    def add_standing(self, day: date) -> None:
        """Give the statements of `query` a view ``standing``: the claims that stand on *day*."""
        until = f"(known_until is null or known_until > '{day.isoformat()}')"
        self._connection.execute(f"create temp view standing as select * from main.claims where known_from <= '{day.isoformat()}' and {until}")  # noqa: S608  # a date

    def query(self, sql: str, parameters: Iterable[Any] = (), *, seconds: float = _SECONDS) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Run one read-only SQL statement for at most *seconds*; return column names and rows.

        Raises:
            sqlite3.Error: if the statement is no good.
            InputError: if it takes longer, or gives more than 100,000 rows.
        """
        ends = time.monotonic() + seconds
        self._connection.set_authorizer(_only_reading)
        self._connection.set_progress_handler(lambda: time.monotonic() > ends, 10_000)
        try:
            cursor = self._connection.execute(sql, tuple(parameters))
            self._connection.set_authorizer(None)
            rows = cursor.fetchmany(_ROWS + 1)
        except sqlite3.OperationalError as error:
            if str(error) != "interrupted":
                raise
            raise InputError(f"the query took longer than {seconds:g} seconds; ask for less, or give it more time") from error
        finally:
            self._connection.set_authorizer(None)
            self._connection.set_progress_handler(None, 0)
        if len(rows) > _ROWS:
            raise InputError(f"the query gives more than {_ROWS:,} rows; ask for less, such as with LIMIT")
        return [column[0] for column in cursor.description or ()], rows

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


def open_store(folder: Path | None = None, overlays: Sequence[OverlayText] = ()) -> Store:
    """Open the store of *folder* (default: the snapshot that ``COMPAT_SNAPSHOT`` names, else the built-in knowledge) with *overlays*.

    It is compiled if it is not there or not whole.

    Raises:
        KnowledgeError: if the YAML has faults.
        StoreError: if there is no knowledge.
    """
    if folder is None and ("COMPAT_SNAPSHOT" in os.environ or "COMPAT_SNAPSHOT_KEY" in os.environ):
        from compat.snapshots import configured_snapshot

        return open_source(configured_snapshot(), overlays)
    place = folder or data_directory()

    def load(overlays: Sequence[OverlayText]) -> Knowledge:
        from compat.knowledge import load_knowledge

        return load_knowledge(place, overlays)

    return open_source(KnowledgeSource(content_digest(place), load), overlays)


def open_source(source: KnowledgeSource, overlays: Sequence[OverlayText] = ()) -> Store:
    """Open the store of a source with *overlays*, compiling it if it is not there or not whole.

    Raises:
        KnowledgeError: if the source or an overlay has faults.
    """
    digest = combined_digest(source.digest, overlays)
    name = f"kb-{digest.removeprefix('sha256:')[:20]}-{layout()}.sqlite"
    for directory in store_directories():
        target = directory / name
        store = _open(target, digest)
        if store is not None:
            forget_scratch(directory)
            return store
    for directory in store_directories():
        try:
            directory.mkdir(parents=True, exist_ok=True)
            _compile(source, overlays, digest, directory / name)
        except (OSError, sqlite3.OperationalError):
            continue
        store = _open(directory / name, digest)
        if store is not None:
            forget_old(directory, name)
            forget_scratch(directory)
            return store
    return compile_in_memory(source, overlays)


def compile_in_memory(source: KnowledgeSource, overlays: Sequence[OverlayText] = ()) -> Store:
    """Compile a source without leaving a file."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)  # read only by then, and perhaps closed where the garbage is collected
    _fill(connection, source, overlays, combined_digest(source.digest, overlays))
    return Store(connection)


def _open(path: Path, digest: str) -> Store | None:
    """Open a store, or return None if it is not there, not whole, not ours or of another schema."""
    try:
        if hasattr(os, "getuid") and path.stat().st_uid not in (os.getuid(), 0):
            return None
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    except (OSError, sqlite3.Error):
        return None
    try:
        store = Store(connection)
        if store.meta.get("source") == digest and store.meta.get("layout") == layout() and store.meta.get("complete") == "yes":
            return store
    except sqlite3.Error:
        pass
    connection.close()
    return None


def _compile(source: KnowledgeSource, overlays: Sequence[OverlayText], digest: str, target: Path) -> None:
    handle, name = tempfile.mkstemp(prefix=".kb-", suffix=".tmp", dir=target.parent)
    os.close(handle)
    scratch = Path(name)
    try:
        connection = sqlite3.connect(scratch)
        try:
            _fill(connection, source, overlays, digest)
        finally:
            connection.close()
        with scratch.open("rb+") as stream:
            os.fsync(stream.fileno())
        Path(scratch).replace(target)
    finally:
        scratch.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, source: KnowledgeSource, overlays: Sequence[OverlayText], digest: str) -> None:
    content = combined_digest(open_source(source).meta["digest"], overlays) if overlays else None
    fill(connection, source.load(overlays), digest, content)
