"""The re-check of a stored plan: text, Markdown or JSON. Texts of the plan may come from anybody; they are made harmless here."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass

from cli.render.common import count_words
from cli.render.flat import fill, flat
from cli.render.plan_markdown import escape
from compat.errors import printable
from planner.rechecked import Difference, Ended, Recheck

__all__ = ["render"]

_TITLES = (("breaks", "Does not hold any more"), ("warning", "To look at before you go on"), ("info", "Has changed, and nothing follows from it"))


def render(result: Recheck, form: str) -> str:
    """Return the result as ``table`` (text), ``json`` or ``markdown``."""
    if form == "json":
        return result.to_json()
    return _markdown(result) if form == "markdown" else _text(result)


@dataclass(frozen=True)
class _Line:
    text: str
    below: tuple[tuple[str, str], ...]
    """What is said of each claim, and where it can be read."""


def _text(result: Recheck) -> str:
    width = max(80, min(shutil.get_terminal_size((120, 24)).columns, 160))
    blocks = [f"{printable(_headline(result), 300)}\n{printable(_position(result), 600)}"]
    for effect, title in _TITLES:
        lines: list[str] = []
        for line in _lines(result, effect):
            lines.append(_wrap(line.text, width, "  "))
            for text, link in line.below:
                lines.append(_wrap(f"- {text}", width, "      "))
                lines += [f"        {printable(link, 300)}"] if link else []
        if lines:
            blocks.append("\n".join([f"{title}:", *lines]))
    return "\n\n".join([*blocks, flat(_verdict(result))]) + "\n"


def _markdown(result: Recheck) -> str:
    lines = [f"# Re-check of an upgrade plan: {_safe(_headline(result))}", "", f"**{_safe(_verdict(result))}**", "", _safe(_position(result)), ""]
    for effect, title in _TITLES:
        found = _lines(result, effect)
        if found:
            lines += [f"## {title}", ""]
            for line in found:
                lines.append(f"- {_safe(line.text)}")
                lines += [f"    - {_safe(text)}{_address(link)}" for text, link in line.below]
            lines.append("")
    now, made = result.knowledge, result.made
    lines += ["---", "", f"Knowledge {_safe(now.version)}, as of {_safe(now.as_of)}, `{now.digest}`.  "]
    lines += [f"The plan was made with {_safe(made.version)}, as of {_safe(made.as_of)}, {_safe(made.digest)}.  "]
    lines += [f"Plan {_safe(result.plan) or 'without a digest'}.", ""]
    return "\n".join(lines)


def _headline(result: Recheck) -> str:
    name = f"{result.name}: " if result.name else ""
    made, now = result.made, result.knowledge
    return f"{name}plan of {made.as_of} (knowledge {made.version}), re-checked as of {now.as_of} (knowledge {now.version})"


def _position(result: Recheck) -> str:
    progress = result.progress
    if progress.drift:
        return "The cluster is in no state of the plan."
    if not progress.next:
        return "Every step is done." if progress.done else "The plan has no steps."
    done = f"Done: {', '.join(progress.done)}. " if progress.done else "No step is done. "
    begun = f"Begun: {', '.join(progress.begun)}. " if progress.begun else ""
    return f"{done}{begun}Next: {progress.next}."


def _verdict(result: Recheck) -> str:
    if result.outcome == "outdated":
        return "Verdict: not judged; the plan was made with newer knowledge than this. Update the knowledge and check again."
    broken = len(result.breaking())
    if broken:
        return f"Verdict: the plan no longer holds ({count_words(broken, 'reason')}). Plan anew from where the cluster is, with compat plan."
    ahead = "what is ahead of it " if result.progress.done and result.progress.next else ""
    if result.exit_code == 20:
        return "Verdict: the plan still says what is so: there is no way to the goal."
    if result.open:
        pairs = f"{count_words(len(result.open), 'pair')} that nothing vouches for: {', '.join(result.open)}"
        return f"Verdict: the plan holds as it did; {ahead or 'it '}still rests on {pairs}."
    if result.accepted:
        return f"Verdict: the plan still holds but for accepted risks ({count_words(len(result.accepted), 'unknown pair')} accepted)."
    return "Verdict: the plan still holds."


def _lines(result: Recheck, effect: str) -> list[_Line]:
    return [_Line(_sentence(one), tuple(_below(result, one))) for one in result.differences if one.effect == effect]


def _sentence(difference: Difference) -> str:
    return f"{difference.step}: {difference.text}" if difference.step else difference.text


def _below(result: Recheck, difference: Difference) -> Iterable[tuple[str, str]]:
    for ended in difference.ended:
        yield _fate(ended), _link(result, ended.id)
    for claim in difference.claims:
        cited = result.claims[claim]
        yield f"{claim} ({cited.grade}, said {cited.said}): {cited.summary}", _link(result, claim)


def _fate(ended: Ended) -> str:
    heirs = f"; instead {', '.join(ended.replaced_by)}" if ended.replaced_by else ""
    return f"{ended.id} {ended.fate}{heirs}"


def _link(result: Recheck, claim: str) -> str:
    return result.claims[claim].source.get("link", "")


def _address(link: str) -> str:
    if not link:
        return ""
    safe = link.startswith(("https://", "http://")) and link.isprintable() and not set(link) & set(" <>")
    return f" <{link}>" if safe else f" {_safe(link)}"


def _safe(text: str) -> str:
    return escape(printable(text, 2_000))


def _wrap(text: str, width: int, indent: str) -> str:
    return fill(printable(text, 2_000), width, indent, indent + "  ")
