"""The canonical form of the knowledge: ``compat.knowledge/v1``, one JSON document, same content, same bytes.

The digest that every answer and plan names is the SHA-256 of these bytes, so that ``sha256sum`` of an export shows it, and so that
knowledge read from YAML, from a JSON export and from a SQLite export has one digest. File names, line numbers, comments and the way a
table was written are no content. Overlays are none either: they are files of their own.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any

__all__ = ["SCHEMA", "canonical_bytes", "canonical_digest", "canonical_document"]

SCHEMA = "compat.knowledge/v1"

_SUBJECTS = "select id, title, as_of, aliases, versions, releases_of, component from subjects order by id"
_RELEASES = "select subject, text, released, known_from, channel from releases order by subject, position"
_CLAIMS = (
    "select id, kind, subject, versions, object, object_versions, scope, grade, severity, closed, known_from, known_until, source, link, summary,"
    " detail from claims order by position"
)


def canonical_document(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return the content of a compiled store or of a SQLite export as the values of the JSON form.

    Raises:
        sqlite3.Error: if tables or columns are missing.
        ValueError: if a column that should hold JSON does not.
    """
    subjects = [
        {
            "id": row[0], "title": row[1], "as_of": row[2], "aliases": json.loads(row[3]), "versions": json.loads(row[4]), "releases_of": row[5],
            "component": json.loads(row[6]),
        }
        for row in connection.execute(_SUBJECTS)
    ]  # fmt: skip
    newest = max((subject["as_of"] for subject in subjects), default="")
    return {
        "schema": SCHEMA,
        "version": newest.replace("-", "."),
        "as_of": newest,
        "subjects": subjects,
        "vocabulary": {
            "scope": {word: json.loads(body) for word, body in connection.execute("select word, body from scope_words order by word")},
            "products": [json.loads(body) for (body,) in connection.execute("select body from products order by position")],
            "objects": dict(connection.execute("select id, title from objects order by id")),
        },
        "releases": [
            {"subject": row[0], "version": row[1], "released": row[2], "known_from": row[3], "channel": row[4]} for row in connection.execute(_RELEASES)
        ],
        "claims": [
            {
                "id": row[0], "kind": row[1], "subject": row[2], "versions": row[3], "object": row[4], "object_versions": row[5],
                "scope": json.loads(row[6]), "grade": row[7], "severity": row[8], "closed": bool(row[9]), "said": row[10], "until": row[11],
                "source": json.loads(row[12]), "link": row[13], "summary": row[14], "detail": json.loads(row[15]),
            }
            for row in connection.execute(_CLAIMS)
        ],
    }  # fmt: skip


def canonical_bytes(document: Mapping[str, Any]) -> bytes:
    """Return the document as it is written: keys sorted, UTF-8, two blanks, one line end."""
    return (json.dumps(document, sort_keys=True, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def canonical_digest(document: Mapping[str, Any]) -> str:
    """Return ``sha256:...`` over the canonical bytes."""
    return f"sha256:{hashlib.sha256(canonical_bytes(document)).hexdigest()}"
