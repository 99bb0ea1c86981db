"""What `compat kb check` says of knowledge without faults."""

from __future__ import annotations

from compat.knowledge import Knowledge
from compat.lint import lint, only_for_readers

__all__ = ["render"]


def render(knowledge: Knowledge) -> str:
    """Return one line per warning, what no verdict can use, and the counts."""
    warnings = lint(knowledge)
    lines = [str(warning) for warning in warnings]
    readers = only_for_readers(knowledge)
    if readers:
        lines.append(f"{sum(readers.values())} claims about pairs speak of {len(readers)} objects without a subject: `kb show` and SQL find them, no verdict")
    counts = f"{len(knowledge.claims)} claims and {len(knowledge.releases)} releases of {len(knowledge.subjects)} subjects"
    found = f", {len(warnings)} warning{'s' if len(warnings) != 1 else ''}" if warnings else ""
    lines.append(f"{counts}: no faults{found}")
    return "\n".join(lines) + "\n"
