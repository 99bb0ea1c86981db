"""What an update brought, one row for each subject."""

from __future__ import annotations

from pathlib import Path

from cli.render.flat import table
from compat.feeds.updating import Outcome, Update

__all__ = ["render"]

_SHOWN = 4


def render(update: Update, target: Path, *, dry: bool) -> str:
    """Return the table and one sentence about the file."""
    rows = []
    for subject in dict.fromkeys(outcome.feed.subject for outcome in update.outcomes):
        own = [outcome for outcome in update.outcomes if outcome.feed.subject == subject]
        read = sum(outcome.facts is not None for outcome in own)
        releases = list(dict.fromkeys(version for outcome in own for version in outcome.new_releases))
        rows.append([subject, f"{read} of {len(own)}", _some(releases), sum(len(outcome.new_claims) for outcome in own) or "-", _kept(own)])
    shown = table(rows, ["subject", "feeds read", "new releases", "new claims", "kept"])
    sections = update.overlay.sections.values()
    total = f"{len(update.overlay.written()['releases'])} releases and {sum(len(section.claims) for section in sections)} claims"
    if dry:
        return f"{shown}\n\nNothing is written; {target} would hold {total}.\n"
    if update.written is None:
        return f"{shown}\n\nNothing is written.\n"
    return f"{shown}\n\n{target} holds {total} that the built-in knowledge does not have.\n"


def _some(versions: list[str]) -> str:
    if not versions:
        return "-"
    more = f" and {len(versions) - _SHOWN} more" if len(versions) > _SHOWN else ""
    return ", ".join(versions[:_SHOWN]) + more


def _kept(own: list[Outcome]) -> str:
    """Oldest reading that still counts where a feed failed."""
    days = [outcome.held for outcome in own if outcome.facts is None and outcome.held]
    return f"as read on {min(days)}" if days else "-"
