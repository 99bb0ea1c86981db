"""What two states of the knowledge differ in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from cli.render.flat import fill, flat, table
from cli.render.why import claim_document
from compat import Matrix
from compat.claims import Claim, Release
from compat.diff import ClaimChange, Difference, VerdictChange
from compat.verdicts import Part, Verdict

__all__ = ["render"]

_SIGNS = {"new": "+", "ended": "-", "changed": "~"}


def render(before: Matrix, after: Matrix, found: Difference, *, as_json: bool) -> str:
    """Return releases, claims by subject, and verdicts that changed."""
    if as_json:
        return json.dumps(_document(before, after, found), indent=2, ensure_ascii=False) + "\n"
    lines = [f"From knowledge {_side(before)} to {_side(after)}", ""]
    lines += [*_releases("Releases that came", found.came), *_releases("Releases that went", found.went)]
    counts = Counter(change.what for change in found.claims)
    lines += [f"Claims: {counts['new']} new (+), {counts['ended']} ended (-), {counts['changed']} changed (~)", ""]
    for subject, changes in groupby(found.claims, key=lambda change: change.claim.subject):
        lines.append(f"{subject}:")
        for change in changes:
            lines += _claim(change)
        lines.append("")
    if not found.verdicts:
        lines += ["What it means: no verdict changed of a pair that a plan relies on.", ""]
        return "\n".join(lines[:-1]) + "\n"
    rows = _merged(found.verdicts)
    shown = table(rows, ["pair", "with", "where", "before", "after"], maxcolwidths=[26, 34, 30, 10, 10])
    lines += ["What it means: verdicts that changed, for one version of each release line", "", shown, ""]
    lines.append("* not released on the first day.  Where: empty if the question leaves it open.")
    return "\n".join(lines) + "\n"


def _side(matrix: Matrix) -> str:
    return f"{matrix.snapshot.version} as of {matrix.as_of}"


def _releases(title: str, releases: Sequence[Release]) -> list[str]:
    if not releases:
        return []
    lines = [f"{title}:"]
    for subject, found in groupby(releases, key=lambda release: release.subject):
        texts = [f"{release.text}{f' ({release.released})' if release.released else ''}" for release in found]
        lines.append(fill(f"{subject}: {', '.join(texts)}", 118, "  ", "    "))
    return [*lines, ""]


def _claim(change: ClaimChange) -> list[str]:
    claim = change.claim
    tail = change.reason or f"{', '.join(change.fields)}"
    lines = [
        f"  {_SIGNS[change.what]} {flat(f'{claim.id} ({claim.grade}, {tail})')}",
        fill(claim.summary, 118, "      ", "      "),
    ]
    if change.before is not None and change.after is not None:
        for field in change.fields:
            if field != "known_from":
                lines.append(f"      {flat(f'{field}: {_shown(change.before, field)} -> {_shown(change.after, field)}')}")
    if claim.source.link:
        lines.append(f"      {flat(claim.source.link)}")
    return lines


def _shown(claim: Claim, field: str) -> str:
    value = claim_document(claim)["source"] if field == "source" else getattr(claim, field)
    return json.dumps(value, ensure_ascii=False, default=str)


def _merged(changes: Sequence[VerdictChange]) -> list[list[str]]:
    """One row for all versions of the second component, and all places, that changed alike."""
    places: dict[tuple[str, str, str, str, str, bool], list[str]] = {}
    for change in changes:
        key = (_part(change, change.one), change.other[0], _part(change, change.other), _grade(change.before), _grade(change.after), bool(change.scope))
        places.setdefault(key, []).extend(f"{word} {value}" for word, values in change.scope.items() for value in values)
    rows: dict[tuple[str, str, str, str, str], list[str]] = {}
    for (one, name, other, before, after, _), where in places.items():
        rows.setdefault((one, name, _places(where), before, after), []).append(other.removeprefix(f"{name} "))
    return [[one, f"{name} {', '.join(others)}", where, before, after] for (one, name, where, before, after), others in rows.items()]


def _places(texts: Sequence[str]) -> str:
    words: dict[str, list[str]] = {}
    for text in texts:
        word, _, value = text.partition(" ")
        words.setdefault(word, []).append(value)
    return "; ".join(f"{word} {', '.join(values)}" for word, values in words.items())


def _part(change: VerdictChange, part: Part) -> str:
    name = f"{part[0]} {part[1].release}" if part[1] is not None else part[0]
    return f"{name}*" if name in change.not_out else name


def _grade(verdict: Verdict | None) -> str:
    return verdict.grade if verdict else "not known"


def _document(before: Matrix, after: Matrix, found: Difference) -> dict[str, Any]:
    return {
        "before": _snapshot(before),
        "after": _snapshot(after),
        "releases": {"came": [_release(item) for item in found.came], "went": [_release(item) for item in found.went]},
        "claims": [
            {
                "change": change.what,
                "id": change.claim.id,
                "subject": change.claim.subject,
                "reason": change.reason or None,
                "fields": list(change.fields),
                "before": claim_document(change.before) if change.before else None,
                "after": claim_document(change.after) if change.after else None,
            }
            for change in found.claims
        ],
        "verdicts": [
            {
                "pair": [{"component": name, "version": version.release if version else None} for name, version in (change.one, change.other)],
                "scope": {word: list(values) for word, values in change.scope.items()},
                "before": _verdict(change.before),
                "after": _verdict(change.after),
                "not_out_before": list(change.not_out),
            }
            for change in found.verdicts
        ],
    }


def _verdict(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {"verdict": verdict.grade, "conditions": list(verdict.conditions), "claims": [claim.id for claim in verdict.claims]}


def _release(release: Release) -> dict[str, Any]:
    released = release.released.isoformat() if release.released else None
    return {"component": release.subject, "version": release.text, "released": released, "channel": release.channel}


def _snapshot(matrix: Matrix) -> dict[str, Any]:
    snapshot = matrix.snapshot
    return {"version": snapshot.version, "as_of": snapshot.as_of.isoformat(), "schema": snapshot.schema, "digest": snapshot.digest}
