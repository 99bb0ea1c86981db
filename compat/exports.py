"""Exports of the whole knowledge: canonical JSON, a clean SQLite file, and CSV files in a zip archive.

All three hold every claim and every release, whatever the day, and are made from the canonical document, so that the same knowledge
gives the same bytes. JSON and SQLite can be read back (`compat.snapshots`); CSV is for other tools.
"""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

from compat.canonical import canonical_bytes, canonical_digest, canonical_document
from compat.errors import InputError
from compat.store import SCHEMA_VERSION, Store

__all__ = ["FORMATS", "export"]

_Row = dict[str, str | int | None]


def export(store: Store, form: str) -> bytes:
    """Return the content of *store* in one of `FORMATS`.

    Raises:
        InputError: if there are overlays in it, which are files of their own.
        KeyError: for another format.
    """
    if store.layers():
        raise InputError("an export holds no overlays; load the knowledge without them (configured_overlays=False) and hand them on as files")
    return FORMATS[form](canonical_document(store.connection))


def _sqlite(document: Mapping[str, Any]) -> bytes:
    from sqlite_utils import Database

    connection = sqlite3.connect(":memory:")
    database = Database(connection)
    with connection:
        for name, (key, columns) in _TABLES.items():
            foreign = [("subject", "subjects", "id")] if name in ("claims", "releases") else ()
            table = database.create_table(name, columns, pk=key, foreign_keys=foreign)
            table.insert_all(_rows(name, document))
        for columns_of_index in (["subject", "object"], ["object", "subject"], ["known_from", "known_until"]):
            database.table("claims").create_index(columns_of_index)
        database.table("releases").create_index(["subject"])
        database.create_view("standing", _STANDING)
    connection.execute("vacuum")
    content = bytes(connection.serialize())
    connection.close()
    return content


def _csv(document: Mapping[str, Any]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for name, (_, columns) in _TABLES.items():
            text = io.StringIO()
            writer = csv.DictWriter(text, list(columns), lineterminator="\r\n")
            writer.writeheader()
            writer.writerows(_rows(name, document))
            entry = zipfile.ZipInfo(f"{name}.csv")  # dated 1980-01-01, so that the same knowledge gives the same bytes
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            target.writestr(entry, text.getvalue().encode())
    return archive.getvalue()


_STANDING = """select claims.* from claims, meta where meta.key = 'as_of' and known_from <= meta.value
  and (known_until is null or known_until > meta.value) order by position"""
"""Claims that stand on the day of the newest source."""

FORMATS = {"json": canonical_bytes, "sqlite": _sqlite, "csv": _csv}
"""Format -> how a canonical document is written in it."""

_TABLES: dict[str, tuple[str, dict[str, type]]] = {
    "meta": ("key", {"key": str, "value": str}),
    "subjects": ("id", {"id": str, "title": str, "role": str, "as_of": str, "aliases": str, "versions": str, "releases_of": str, "component": str}),
    "scope_words": ("word", {"word": str, "body": str}),
    "products": ("position", {"position": int, "body": str}),
    "objects": ("id", {"id": str, "title": str}),
    "releases": ("position", {"position": int, "subject": str, "text": str, "released": str, "known_from": str, "channel": str}),
    "claims": (
        "position",
        {
            "position": int, "id": str, "kind": str, "subject": str, "versions": str, "object": str, "object_versions": str, "scope": str,
            "grade": str, "severity": str, "closed": int, "known_from": str, "known_until": str, "source": str, "link": str, "summary": str,
            "detail": str,
        },
    ),
}  # fmt: skip
"""Table -> its key and columns. They are those of the compiled store, without what only the program needs."""


def _rows(table: str, document: Mapping[str, Any]) -> Iterable[_Row]:
    vocabulary = document["vocabulary"]
    if table == "meta":
        meta = {
            "schema": document["schema"], "version": document["version"], "as_of": document["as_of"], "format": str(SCHEMA_VERSION),
            "digest": canonical_digest(document),
        }  # fmt: skip
        return [{"key": key, "value": value} for key, value in meta.items()]
    if table == "subjects":
        return [_flat({**subject, "role": subject["component"].get("role", "")}) for subject in document["subjects"]]
    if table == "scope_words":
        return [_flat({"word": word, "body": body}) for word, body in vocabulary["scope"].items()]
    if table == "products":
        return [_flat({"position": number, "body": body}) for number, body in enumerate(vocabulary["products"])]
    if table == "objects":
        return [{"id": name, "title": title} for name, title in vocabulary["objects"].items()]
    if table == "releases":
        return [
            _flat({"position": number, "text": release["version"], **{key: value for key, value in release.items() if key != "version"}})
            for number, release in enumerate(document["releases"])
        ]
    return [
        _flat(
            {
                "position": number, "known_from": claim["said"], "known_until": claim["until"],
                **{key: value for key, value in claim.items() if key not in ("said", "until")},
            }
        )
        for number, claim in enumerate(document["claims"])
    ]  # fmt: skip


def _flat(entry: Mapping[str, Any]) -> _Row:
    return {key: json.dumps(value, sort_keys=True, ensure_ascii=False) if isinstance(value, (dict, list)) else value for key, value in entry.items()}
