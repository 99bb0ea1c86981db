"""Helm's version constraints (``kubeVersion``) as ranges of the knowledge base."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from compat.errors import InputError
from compat.ranges import parse_range
from compat.versions import Lineage

__all__ = ["install_floor", "range_of"]

_CLAUSE = re.compile(r"(?P<op>>=|=>|<=|=<|!=|>|<|=|~|\^)?\s*v?(?P<number>\d+(?:\.\d+){0,2})(?P<wild>(?:\.[xX*]){0,2})(?:-[0-9A-Za-z.-]+)?(?=$|[\s,])\s*,?\s*")
_SPAN = re.compile(r"v?(\d+(?:\.\d+){0,2})(?:-[0-9A-Za-z.]+)?\s+-\s+v?(\d+(?:\.\d+){0,2})(?:-[0-9A-Za-z.]+)?")


def range_of(constraint: str, lineage: Lineage) -> str:
    """Translate a constraint such as ``>= 1.16.0-0`` or ``^1.24 || ~2.1``; pre-release tails such as ``-0`` only let vendors' builds in.

    Raises:
        InputError: if it is none.
    """
    if len(constraint) > 200:
        raise InputError("the constraint is too long")
    found = " | ".join(_alternative(part.strip()) for part in constraint.split("||"))
    if parse_range(found, lineage).is_empty:
        raise InputError(f"no version meets {constraint!r}")
    return found


def _alternative(text: str) -> str:
    if span := _SPAN.fullmatch(text):
        return f"{span[1]} - {span[2]}"
    clauses, place = [], 0
    while place < len(text):
        match = _CLAUSE.match(text, place)
        if match is None:
            raise InputError(f"cannot read {text!r} as a version constraint")
        clauses.append(_clause(match["op"] or "=", match["number"], bool(match["wild"])))
        place = match.end()
    if not clauses:
        raise InputError("the constraint is empty")
    return ",".join(clauses)


def _clause(operator: str, number: str, wild: bool) -> str:
    numbers = [int(part) for part in number.split(".")]
    shown = _shown(number)
    if operator in ("~", "^"):
        place = _fixed(numbers) if operator == "^" else min(1, len(numbers) - 1)
        above = ".".join(str(part) for part in [*numbers[:place], numbers[place] + 1])
        return f">={shown},<{above}"
    if operator in ("=", "!="):
        sign = "==" if operator == "=" else "!="
        return f"{sign}{number}.*" if wild or len(numbers) < 3 else f"{sign}{number}"
    return {"=>": ">=", "=<": "<="}.get(operator, operator) + shown


def _fixed(numbers: list[int]) -> int:
    """Place of the number that a caret lets grow no further: the first that is not zero."""
    return next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)


def _shown(number: str) -> str:
    """``1.16.0`` and ``1.16`` are the same end of a range; the knowledge base writes the shorter."""
    parts = number.split(".")
    return ".".join(parts[:2]) if len(parts) == 3 and parts[2] == "0" else number


def install_floor(subject: str, version: str, target: str, floor: str, day: date | None) -> dict[str, Any]:
    """The written form of what a chart asks for: it can break an installation, and never vouches for a pair."""
    claim = {
        "id": f"{target}-{version}", "kind": "require", "versions": f"=={version}", "object": target, "object_versions": floor,
        "scope": {"install": "helm"}, "basis": "install-check", "grade": "declared", "said": day,
        "summary": f"The chart of {subject} {version} carries the constraint {floor} on {target}; Helm checks no more than that.",
    }  # fmt: skip
    return {key: value for key, value in claim.items() if value is not None}
