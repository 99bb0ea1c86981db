"""Compiling: what was read becomes the tables of the store, with the releases that lie in every range worked out beforehand."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compat.canonical import canonical_digest, canonical_document
from compat.claims import BUILT_IN, Claim
from compat.places import SCHEMA_VERSION
from compat.ranges import parse_range
from compat.versions import Version

if TYPE_CHECKING:
    from compat.knowledge import Knowledge

__all__ = ["COLUMNS", "fill", "layout"]

_MODULES = (
    "canonical", "claim_reader", "claims", "compiler", "documents", "knowledge", "overlay_reader", "overlay_schema", "ranges", "schema",
    "snapshot_reader", "store", "versions",
)  # fmt: skip
"""The modules that read, expand and compile knowledge."""

COLUMNS: dict[str, dict[str, type]] = {
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
    "retired": {"position": int, "claim": str, "layer": str, "reason": str, "said": str},
    "accepted": {"position": int, "id": str, "owner": str, "expires": str, "reason": str, "layer": str},
}  # fmt: skip


@cache
def layout() -> str:
    """What tells stores of one program from those of another: the modules that read, expand and compile knowledge."""
    here = Path(__file__).parent
    found = hashlib.sha256(repr((SCHEMA_VERSION, COLUMNS)).encode())
    for name in _MODULES:
        with contextlib.suppress(OSError):
            found.update((here / f"{name}.py").read_bytes())
    return found.hexdigest()[:8]


def fill(connection: sqlite3.Connection, knowledge: Knowledge, source: str, content: str | None) -> None:
    """Write all tables.

    Args:
        connection: an empty database.
        knowledge: what was read, overlays included.
        source: digest of the bytes that it was read from.
        content: digest of the content, if it is not that of the canonical form.
    """
    from sqlite_utils import Database

    database = Database(connection)
    with connection:
        for name, rows, key in _tables(knowledge, source):
            table = database.create_table(name, COLUMNS[name], pk=key)
            table.insert_all(rows)
        database.table("meta").insert({"key": "digest", "value": content or canonical_digest(canonical_document(connection))})
        for columns in (["subject", "object"], ["object", "subject"]):
            database.table("claims").create_index(columns)
        database.table("releases").create_index(["subject"])


def _tables(knowledge: Knowledge, digest: str) -> Iterator[tuple[str, list[dict[str, Any]], str]]:
    newest = knowledge.built_in
    meta = {
        "source": digest,
        "schema": str(SCHEMA_VERSION),
        "version": newest.strftime("%Y.%m.%d"),
        "as_of": newest.isoformat(),
        "layout": layout(),
        "layers": _json([{"id": layer.id, "title": layer.title, "as_of": layer.as_of, "digest": layer.digest} for layer in knowledge.layers]),
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
            "link": claim.source.link, "summary": claim.summary, "detail": _json(claim.detail), "layer": claim.layer,
            "place": knowledge.places[claim.id] if claim.layer == BUILT_IN else Path(knowledge.places[claim.id]).name,
        }
        for position, claim in enumerate(knowledge.claims)
    ], "position"  # fmt: skip
    yield (
        "retired",
        [
            {"position": n, "claim": entry.claim, "layer": entry.layer, "reason": entry.reason, "said": entry.said.isoformat()}
            for n, entry in enumerate(knowledge.retired)
        ],
        "position",
    )
    yield (
        "accepted",
        [
            {"position": n, "id": entry.id, "owner": entry.owner, "expires": entry.expires.isoformat(), "reason": entry.reason, "layer": entry.layer}
            for n, entry in enumerate(knowledge.accepted)
        ],
        "position",
    )


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
