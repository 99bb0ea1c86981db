"""What an update brought, one row for each subject."""

from __future__ import annotations

from pathlib import Path

from cli.render.common import count_words
from cli.render.flat import table
from compat.feeds.updating import Outcome, Update

__all__ = ["render"]

_SHOWN = 4


def render(update: Update, target: Path, *, dry: bool) -> str:
    """Return the table and one sentence about the file."""
    rows = []
    for subject in dict.fromkeys(outcome.feed.subject for outcome in update.outcomes):
        own = [outcome for outcome in update.outcomes if outcome.feed.subject == subject]
        asked = [outcome for outcome in own if outcome.facts is None or outcome.read]
        known = f", {len(own) - len(asked)} had nothing to ask" if len(asked) < len(own) else ""
        read = f"{sum(outcome.read for outcome in asked)} of {len(asked)}{known}"
        fresh = list(dict.fromkeys(version for outcome in own for version in outcome.new_releases))
        rows.append([subject, read, _some(fresh), sum(len(outcome.new_claims) for outcome in own) or "-", _kept(own)])
    shown = table(rows, ["subject", "feeds read", "new releases", "new claims", "kept"])
    sections = update.overlay.sections.values()
    releases, claims = len(update.overlay.written()["releases"]), sum(len(section.claims) for section in sections)
    total = f"{count_words(releases, 'release')} and {count_words(claims, 'claim')}"
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
