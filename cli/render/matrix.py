"""A table of verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tabulate import tabulate

from compat import Verdict, Version
from compat.store import Snapshot

__all__ = ["render"]

_MARKS = {"tested": "tested", "declared": "declared", "unknown": "?", "broken": "BROKEN"}


def render(
    names: tuple[str, str], axes: tuple[Sequence[Version], Sequence[Version]], table: Sequence[Sequence[Verdict]], snapshot: Snapshot, *, as_json: bool
) -> str:
    """Return verdicts by row and column; a star marks those with conditions."""
    if as_json:
        cells = [
            {
                names[0]: row.release,
                names[1]: column.release,
                "verdict": verdict.grade,
                "conditions": list(verdict.conditions),
                "claims": [claim.id for claim in verdict.claims],
            }
            for row, verdicts in zip(axes[0], table, strict=True)
            for column, verdict in zip(axes[1], verdicts, strict=True)
        ]
        document = {
            "rows": names[0],
            "columns": names[1],
            "cells": cells,
            "knowledge": {"version": snapshot.version, "as_of": snapshot.as_of.isoformat(), "schema": snapshot.schema, "digest": snapshot.digest},
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    rows = [
        [row.release, *(_MARKS[verdict.grade] + ("*" if verdict.conditions else "") for verdict in verdicts)]
        for row, verdicts in zip(axes[0], table, strict=True)
    ]
    headers = [f"{names[0]} \\ {names[1]}", *(column.release for column in axes[1])]
    legend = "* under conditions, see `compat why`;  ? unknown: nothing vouches for it, so it is not compatible"
    return tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True) + f"\n\n{legend}\nKnowledge {snapshot.version}, as of {snapshot.as_of}.\n"
