"""Questions about hardware: does this release drive that GPU?

Hardware has no versions. Claims name it through scope words (``gpu``, ``gpu_arch``...), and the vocabulary knows which words the name
that a node reports settles.
"""

from __future__ import annotations

from collections.abc import Mapping

from compat.errors import InputError, printable
from compat.matrix import Given, Matrix
from compat.scope import Scope
from compat.verdicts import ORDER, Verdict

__all__ = ["hardware_scope", "is_hardware", "verdict_on_hardware"]


def is_hardware(matrix: Matrix, name: str) -> bool:
    """Whether *name* is a subject that stands for hardware."""
    return bool(matrix.subjects[matrix.name(name)].component.get("scope_word"))


def hardware_scope(matrix: Matrix, name: str, value: str) -> dict[str, tuple[str, ...]]:
    """Scope words that a piece of hardware settles: those of a known product, else the word of the subject itself.

    Raises:
        InputError: if nothing is known under that name.
    """
    word = str(matrix.subjects[matrix.name(name)].component["scope_word"])
    found = matrix.product_scope(value)
    if found is not None and word in found:
        return found
    known = sorted({item for claim in matrix.store.claims("1") for item in claim.scope.get(word, ())})
    if value.lower() not in known:
        raise InputError(f"nothing is known of {matrix.name(name)} {printable(value)!r}; known: {', '.join(known)}")
    return {word: (value.lower(),)}


def verdict_on_hardware(matrix: Matrix, one: Given, name: str, value: str, scope: Scope) -> Verdict:
    """What is known of a release on a piece of hardware: a conflict under any of its names counts, else the best statement.

    Raises:
        InputError: if component, version or hardware is not known.
    """
    place: Mapping[str, tuple[str, ...]] = {**scope, **hardware_scope(matrix, name, value)}
    verdicts = [matrix.verdict(one, (other, None), place) for other in matrix.subjects if is_hardware(matrix, other)]
    broken = [verdict for verdict in verdicts if verdict.grade == "broken"]
    return broken[0] if broken else max(verdicts, key=lambda verdict: ORDER.index(verdict.grade))
