"""Reading snapshots: every entry of an export goes through the checks of `compat.knowledge`.

So a snapshot can say nothing that a knowledge file could not, and what it says is the same as in the file it was made of.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from compat.canonical import SCHEMA, canonical_document
from compat.claim_reader import Origin
from compat.documents import Document
from compat.errors import DocumentError, Fault, KnowledgeError, printable
from compat.faults import model_faults
from compat.knowledge import Knowledge, Reader, layer_reader
from compat.schema import ClaimEntry, Component, Entry, Id, ReleaseEntry, SourceEntry, SubSubject, Text, VersionRules, Vocabulary, Word

if TYPE_CHECKING:
    from compat.layers import OverlayText

__all__ = ["KnowledgeDocument", "knowledge_schema", "read_snapshot"]

_MAX_TEXT = 64 * 1024 * 1024
_SQLITE = b"SQLite format 3\x00"
_TABLES = ("claims", "meta", "objects", "products", "releases", "scope_words", "subjects")


class SubjectRecord(Entry):
    """A component, product, provider or set of rules."""

    id: Id
    title: Text
    as_of: date
    """Date of the newest source read."""
    aliases: list[Id]
    versions: VersionRules
    """How its numbers are read."""
    releases_of: str
    """Another subject whose releases are also this one's; or empty."""
    component: Component
    """What matrix and planner need to know about it."""


class ReleaseRecord(Entry):
    """One release."""

    subject: Id
    version: Word
    """As the project writes it."""
    released: date | None
    known_from: date
    """First day on which it counts as available."""
    channel: Word


class ClaimRecord(Entry):
    """One fact from one source. The keys are those of docs/data-format.md; tables are expanded and defaults filled in."""

    id: Id
    kind: Literal["support", "require", "conflict", "upgrade", "bundle", "lifecycle", "feature", "api", "offer", "order"]
    subject: Id
    versions: str
    object: str
    object_versions: str
    scope: dict[str, list[str]]
    grade: Literal["tested", "declared", "inferred"]
    severity: Literal["must", "should"]
    closed: bool
    said: date
    """First day on which the statement could be read."""
    until: date | None
    """Day on which it was replaced or taken back; null while it stands."""
    source: SourceEntry
    link: str
    """An address that a reader can open, or empty. Follows from `source`."""
    summary: Text
    detail: dict[str, Any]
    """The keys of some kinds, such as rule, to_versions, skew, supported_until."""


class KnowledgeDocument(Entry):
    """All knowledge: every release and every claim, whatever the day."""

    schema_: Literal["compat.knowledge/v1"] = Field(alias="schema")
    version: Word
    """Calendar version: the date of the newest source read."""
    as_of: date
    """The same as a date."""
    subjects: list[SubjectRecord]
    vocabulary: Vocabulary
    releases: list[ReleaseRecord]
    """By subject, newest first."""
    claims: list[ClaimRecord]
    """In the order in which answers list them."""


def knowledge_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``compat.knowledge/v1``."""
    return KnowledgeDocument.model_json_schema(by_alias=True)


def read_snapshot(content: bytes, name: str, overlays: Sequence[OverlayText] = ()) -> Knowledge:
    """Read the bytes of a snapshot, and *overlays* on top of it; *name* is used in messages.

    Raises:
        DocumentError: if they are no snapshot, or have faults.
    """
    value = _from_sqlite(content, name) if content.startswith(_SQLITE) else _from_json(content, name)
    document = Document(name, value)
    found = value.get("schema") if isinstance(value, dict) else None
    if found != SCHEMA:
        raise DocumentError([Fault(name, f"not a snapshot that this version reads: expected schema {SCHEMA}, found {printable(found)!r}")])
    try:
        if (hidden := _hidden(value)) is not None:
            raise DocumentError([Fault(name, f"a text has a control character in it: {printable(hidden, 60)!r}")])
        records = KnowledgeDocument.model_validate_json(json.dumps(value))
    except RecursionError as error:
        raise DocumentError([Fault(name, "the snapshot is nested too deeply")]) from error
    except ValidationError as error:
        document.lines = dict.fromkeys(_paths(value), 0)
        raise KnowledgeError(model_faults(document, error, KnowledgeDocument)) from error
    if not records.subjects:
        raise KnowledgeError([Fault(name, "the snapshot has no subjects")])
    return _knowledge(records, document, overlays)


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where values stand, for messages."""
    yield path
    for key, part in enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ():
        yield from _paths(part, (*path, key))


def _pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON value")


def _hidden(value: Any) -> str | None:
    """The first text with a control character in it, which could hide or forge what a terminal shows."""
    if isinstance(value, str):
        return value if any(ord(c) < 32 or 127 <= ord(c) < 160 for c in value if c != "\n") else None
    parts = value if isinstance(value, list) else [*value, *value.values()] if isinstance(value, dict) else ()
    return next((found for part in parts if (found := _hidden(part)) is not None), None)


def _from_json(content: bytes, name: str) -> Any:
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=_pairs, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        what = f"neither a JSON nor a SQLite export of `compat kb export`: {printable(error, 120)}"
        raise DocumentError([Fault(name, what)]) from error


def _from_sqlite(content: bytes, name: str) -> dict[str, Any]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(content)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_TEXT)
        connection.execute("pragma trusted_schema = off")
        plain = {table for (table,) in connection.execute("select name from sqlite_master where type = 'table' and rootpage > 0")}
        if missing := [table for table in _TABLES if table not in plain]:
            raise DocumentError([Fault(name, f"not a SQLite export of `compat kb export`: no table {', '.join(missing)}")])
        (schema,) = connection.execute("select value from meta where key = 'schema'").fetchone() or ("",)
        document = canonical_document(connection)
        return {**document, "schema": schema}
    except (sqlite3.Error, ValueError, TypeError, RecursionError, AttributeError) as error:
        raise DocumentError([Fault(name, f"the SQLite export cannot be read: {printable(error, 120)}; export it anew")]) from error
    finally:
        connection.close()


def _knowledge(records: KnowledgeDocument, document: Document, overlays: Sequence[OverlayText]) -> Knowledge:
    """Pass every record through the checks of knowledge files, and overlays on top."""
    reader = Reader(records.vocabulary)
    subjects: dict[str, SubSubject] = {}
    for subject in records.subjects:
        body = {key: value for key, value in subject if key not in ("id", "releases_of", "as_of")}
        subjects[subject.id] = SubSubject(subject=subject.id, releases_of=subject.releases_of or None, **body)
        reader.add_subjects(document, [(subjects[subject.id], ())], subject.as_of)
    days = {subject.id: subject.as_of for subject in records.subjects}
    reader.knowledge.built_in = max(days.values())
    layers = layer_reader(reader, overlays)
    releases: dict[str, list[ReleaseEntry]] = {}
    for release in records.releases:
        if release.released is not None and release.released != release.known_from:
            reader.fault(document, (), f"{release.subject} {release.version}: known_from {release.known_from} is not the day of the release")
        entry = ReleaseEntry(version=release.version, released=release.released, planned=release.known_from, channel=release.channel, subject=release.subject)
        releases.setdefault(release.subject, []).append(entry)
    for name, entries in releases.items():
        reader.add_releases(document, entries, days.get(name, reader.knowledge.built_in))
    for record in records.claims:
        claim = _entry(record, document.name)
        if isinstance(claim, Fault):
            reader.faults.append(claim)
            continue
        origin = Origin(document, days.get(record.subject, reader.knowledge.built_in), {}, record.subject)
        reader.claims.add_claim(origin, ("claims", record.id), record.id, {}, claim)
    reader.check_components(document, [(subject, ()) for subject in subjects.values()])
    if layers is not None:
        layers.read_releases()
        layers.read_claims()
    reader.claims.check_references()
    if reader.faults:
        raise KnowledgeError(list(dict.fromkeys(reader.faults)))
    return reader.knowledge


def _entry(record: ClaimRecord, name: str) -> ClaimEntry | Fault:
    body = record.model_dump(mode="json", exclude={"link", "detail"})
    twice = [key for key in record.detail if key in ClaimRecord.model_fields]
    if twice:
        return Fault(name, f"{record.id}: detail has the key {printable(twice[0])!r}, which belongs beside it")
    empty = [key for key in ("object", "until") if not body[key]]
    try:
        return ClaimEntry.model_validate_json(json.dumps({**{key: value for key, value in body.items() if key not in empty}, **record.detail}))
    except ValidationError as error:
        found = error.errors()[0]
        return Fault(name, f"{record.id}: {printable('.'.join(str(part) for part in found['loc']), 60)}: {found['msg']}")
