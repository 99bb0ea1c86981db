"""Looking into the knowledge base."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from cli.render.common import count_words
from cli.render.flat import fill, flat, table
from cli.render.why import claim_document
from compat import Matrix
from compat.claims import GRADES
from compat.errors import UnknownComponentError, nearest

__all__ = ["render_list", "render_rows", "render_show"]


def render_list(matrix: Matrix, *, as_json: bool) -> str:
    """Return one row per subject."""
    rows: list[dict[str, Any]] = []
    for subject in matrix.subjects.values():
        claims = [claim for claim in matrix.store.claims("subject = ?", (subject.id,)) if claim.stands_on(matrix.as_of)]
        releases = matrix.releases(subject.id) if not subject.releases_of else []
        grades = Counter(claim.grade for claim in claims)
        said = sorted(claim.known_from for claim in claims)
        rows.append(
            {
                "subject": subject.id,
                "title": subject.title,
                "role": subject.role,
                "releases": len(releases),
                "newest_release": (matrix.releases(subject.id, stable_only=True) or releases)[0].text if releases else None,
                "claims": len(claims),
                **{grade: grades[grade] for grade in reversed(GRADES)},
                "oldest_statement": said[0].isoformat() if said else None,
                "newest_statement": said[-1].isoformat() if said else None,
            }
        )
    if as_json:
        return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    columns = {
        "subject": "subject", "releases": "releases", "claims": "claims", "tested": "tested", "declared": "decl.",
        "inferred": "inf.", "oldest_statement": "said from", "newest_statement": "to",
    }  # fmt: skip
    shown = [[row[key] for key in columns] for row in rows if row["claims"] or row["releases"]]
    sums = [sum(row[key] for row in rows) if isinstance(rows[0][key], int) else "" for key in columns]
    dates = [choose(found) for key, choose in (("oldest_statement", min), ("newest_statement", max)) if (found := [row[key] for row in rows if row[key]])]
    body = [list(columns.values()), *shown, ["all", *sums[1:-2], *dates]]
    rule = ["-" * max(len(str(row[place] or "")) for row in body if place < len(row)) for place in range(len(columns))]
    body.insert(1, rule)
    aligned = ("left", "right", *("right",) * (len(GRADES) + 1), "left", "left")
    listed = table(body, tablefmt="plain", colalign=aligned)  # its headers would be two columns wider than they are
    rest = [row["subject"] for row in rows if not row["claims"] and not row["releases"]]
    lines = [
        listed,
        "",
        f"{sum(row['claims'] for row in rows)} claims stand on {matrix.as_of} (decl.: declared, inf.: inferred); releases that were out.",
        f"Knowledge {matrix.snapshot.version}, {matrix.snapshot.digest}.",
    ]
    if rest:
        lines.append(fill(f"Without releases and claims of their own: {', '.join(rest)}.", 98))
    return "\n".join(lines) + "\n"


def render_show(matrix: Matrix, name: str, kind: str | None, *, every: bool, as_json: bool) -> str:
    """Return a subject with its releases and claims, or a claim."""
    single = list(matrix.store.claims("id = ?", (name,)))
    if single:
        document = claim_document(single[0])
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n" if as_json else _claim_text(document)
    try:
        identity = matrix.name(name)
    except UnknownComponentError as error:
        ids = [row[0] for row in matrix.store.query("select id from claims")[1]]
        if nearest(name, ids):
            raise UnknownComponentError(name, [*matrix.subjects, *ids]) from error
        raise
    subject = matrix.subjects[identity]
    found = matrix.store.claims("subject = ? or object = ?", (identity, identity))
    claims = [claim for claim in found if (every or claim.stands_on(matrix.as_of)) and kind in (None, claim.kind)]
    releases = matrix.releases(identity)
    if as_json:
        document = {
            "subject": subject.id,
            "title": subject.title,
            "aliases": list(subject.aliases),
            "role": subject.role,
            "as_of": subject.as_of.isoformat(),
            "releases": [
                {"version": release.text, "released": release.released.isoformat() if release.released else None, "channel": release.channel}
                for release in releases
            ],
            "claims": [claim_document(claim) for claim in claims],
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    lines = [flat(f"{subject.title} ({subject.id}), newest source read {subject.as_of}"), ""]
    newest = ", ".join(f"{release.text}{f' ({release.released})' if release.released else ''}" for release in releases[:12])
    lines.append(flat(f"Releases: {newest}" + (f" and {len(releases) - 12} older" if len(releases) > 12 else "")))
    rows = [
        [
            claim.kind,
            f"{claim.subject} {claim.versions}".strip(),
            f"{claim.object} {claim.object_versions}".strip(),
            claim.grade,
            claim.known_from.isoformat(),
            claim.id,
            claim.summary,
        ]
        for claim in claims
    ]
    listed = table(rows, ["kind", "subject", "object", "grade", "said", "id", "summary"], maxcolwidths=[None, 24, 28, None, None, 34, 60])
    return "\n".join([*lines, "", listed, "", f"{count_words(len(claims), 'claim')}."]) + "\n"


def _claim_text(document: dict[str, Any]) -> str:
    rows = [
        [key, json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value]
        for key, value in document.items()
        if value not in (None, "", {}, [])
    ]
    return table(rows, tablefmt="plain", maxcolwidths=[None, 100]) + "\n"


def render_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, as_json: bool) -> str:
    """Return the rows of a query."""
    shown = [[_plain(value) for value in row] for row in rows]
    if as_json:
        return json.dumps([dict(zip(columns, row, strict=True)) for row in shown], indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return table(shown, columns, maxcolwidths=60) + f"\n\n{count_words(len(rows), 'row')}\n"


def _plain(value: Any) -> Any:
    """A value of SQLite as JSON can hold it: a blob as SQL writes it, an infinite number as a word."""
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
