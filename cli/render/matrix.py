"""A table of verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from cli.render.flat import flat, table
from cli.render.why import knowledge_document, knowledge_line
from compat import Verdict, Version
from compat.store import Snapshot

__all__ = ["render"]

_MARKS = {"tested": "tested", "declared": "declared", "unknown": "?", "broken": "BROKEN"}


def render(
    names: tuple[str, str],
    axes: tuple[Sequence[Version], Sequence[Version]],
    verdicts: Sequence[Sequence[Verdict]],
    barred: Sequence[str],
    snapshot: Snapshot,
    *,
    as_json: bool,
) -> str:
    """Return verdicts by row and column; a star marks those with conditions, and *barred* are versions that no plan lands on."""
    if as_json:
        cells = [
            {
                names[0]: row.release,
                names[1]: column.release,
                "verdict": verdict.grade,
                "conditions": list(verdict.conditions),
                "claims": [claim.id for claim in verdict.claims],
            }
            for row, found in zip(axes[0], verdicts, strict=True)
            for column, verdict in zip(axes[1], found, strict=True)
        ]
        document = {
            "rows": names[0],
            "columns": names[1],
            "cells": cells,
            **({"barred": list(barred)} if barred else {}),
            "knowledge": knowledge_document(snapshot),
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    rows = [
        [row.release, *(_MARKS[verdict.grade] + ("*" if verdict.conditions else "") for verdict in found)] for row, found in zip(axes[0], verdicts, strict=True)
    ]
    headers = [f"{names[0]} \\ {names[1]}", *(column.release for column in axes[1])]
    legend = "* under conditions, see `compat why`;  ? unknown: nothing vouches for it, so it is not compatible"
    legend += "\n" + flat(f"No plan lands on these, whatever is beside them, see `compat why`: {', '.join(barred)}") if barred else ""
    return table(rows, headers) + f"\n\n{legend}\n{flat(knowledge_line(snapshot))}\n"
