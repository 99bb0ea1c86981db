"""How far the knowledge reaches."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import groupby
from typing import Any

from cli.render.flat import fill, flat, table
from compat.coverage import Cell, Coverage, Unknown
from compat.scope import Scope
from compat.store import Snapshot

__all__ = ["render"]

_TITLES = {
    "blocks": "No release at all is known; a plan holds here:",
    "no-bridge": "No single release is known for both minors; a plan holds between them:",
    "newest": "The newest release is not known at the target; a plan takes an older one:",
    "between": "Among components, the newest releases are not known together:",
}


def render(found: Coverage, scope: Scope, snapshot: Snapshot, *, as_json: bool) -> str:
    """Return the table and the unknowns."""
    if as_json:
        return json.dumps(_document(found, scope, snapshot), indent=2, ensure_ascii=False) + "\n"
    headers = [f"component \\ {found.control}", *(minor.release for minor in found.minors)]
    rows = [[name, *(_cell(cell) for cell in cells)] for name, cells in found.rows.items()]
    lines = [table(rows, headers), ""]
    lines += ["Best verdict of any stable release, and the newest release that has it.", "* under conditions, see `compat why`;  ? unknown", ""]
    if not found.unknowns:
        lines += ["Unknown to a plan: nothing.", ""]
    for importance, unknowns in groupby(found.unknowns, key=lambda unknown: unknown.importance):
        lines.append(_TITLES[importance])
        alike: dict[tuple[str, str, str], list[Unknown]] = {}
        for unknown in unknowns:
            alike.setdefault((unknown.component, unknown.release, unknown.other), []).append(unknown)
        for first, *rest in alike.values():
            more = f"; nor {', '.join(unknown.other_release for unknown in rest)}" if rest else ""
            lines.append(_wrap(f"- {first.text}{more}", "  "))
            lines.append(_wrap(f"ask: {first.question or 'no place is known where it would be published'}", "    "))
        lines.append("")
    where = f", {'; '.join(f'{word} {chr(44).join(values)}' for word, values in scope.items())}" if scope else ""
    return "\n".join([*lines, flat(f"Knowledge {snapshot.version}, as of {snapshot.as_of}{where}.")]) + "\n"


def _cell(cell: Cell) -> str:
    grade = {"unknown": "?", "broken": "BROKEN"}.get(cell.best.grade, cell.best.grade) + ("*" if cell.best.conditions and cell.best.is_safe else "")
    return f"{grade} {cell.release.text}" if cell.release and cell.best.is_safe else grade


def _wrap(line: str, indent: str) -> str:
    return fill(line, 100, indent, indent + "  ")


def _document(found: Coverage, scope: Scope, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "control_plane": found.control,
        "versions": [minor.release for minor in found.minors],
        "scope": {word: list(values) for word, values in scope.items()},
        "cells": [
            {
                "component": name,
                found.control: cell.version.release,
                "verdict": cell.best.grade,
                "release": cell.release.text if cell.release and cell.best.is_safe else None,
                "conditions": list(cell.best.conditions),
                "claims": [claim.id for claim in cell.best.claims],
                "releases": dict(cell.counts),
            }
            for name, cells in found.rows.items()
            for cell in cells
        ],
        "unknowns": [asdict(unknown) for unknown in found.unknowns],
        "knowledge": {"version": snapshot.version, "as_of": snapshot.as_of.isoformat(), "schema": snapshot.schema, "digest": snapshot.digest},
    }
