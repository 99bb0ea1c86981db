"""What `compat kb check` says of knowledge without faults."""

from __future__ import annotations

from cli.render.common import count_words
from cli.render.flat import flat
from compat.claims import BUILT_IN
from compat.knowledge import Knowledge
from compat.lint import lint, only_for_readers

__all__ = ["render_counts", "render_warnings"]


def render_warnings(knowledge: Knowledge, *, of_overlays: bool) -> str:
    """Return one line per warning; with *of_overlays*, only about what overlays say."""
    own = {claim.id for claim in knowledge.claims if claim.layer != BUILT_IN} | {entry.id for entry in knowledge.accepted}
    return "".join(f"{flat(remark)}\n" for remark in lint(knowledge) if not of_overlays or remark.about in own)


def render_counts(knowledge: Knowledge) -> str:
    """Return what no verdict can use, and how much there is."""
    lines = []
    readers = only_for_readers(knowledge)
    if readers:
        lines.append(f"{sum(readers.values())} claims about pairs speak of {len(readers)} objects without a subject: `kb show` and SQL find them, no verdict")
    built_in = sum(1 for claim in knowledge.claims if claim.layer == BUILT_IN)
    counts = f"{count_words(built_in, 'claim')} and {count_words(len(knowledge.releases), 'release')} of {count_words(len(knowledge.subjects), 'subject')}"
    warnings = len(lint(knowledge))
    found = f", {count_words(warnings, 'warning')}" if warnings else ""
    lines.append(f"{counts}: no faults{found}")
    return "\n".join(lines) + "\n"
