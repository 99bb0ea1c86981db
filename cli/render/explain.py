"""One step of a plan in full."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cli.options import Format
from cli.render.common import change_words, drain_words
from cli.render.flat import fill
from cli.render.plan_markdown import escape
from planner.explain import Explanation, Landing, Relation
from planner.plan import Action, PairEntry

__all__ = ["render"]

_BACKSLASH = "\\"


@dataclass(frozen=True)
class _Line:
    text: str
    claims: Sequence[str] = ()
    below: Sequence[_Line] = ()
    command: str | None = None


def render(found: Explanation, output: Format) -> str:
    """Return the explanation of a step."""
    if output is Format.json:
        return json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"
    return _markdown(found) if output is Format.markdown else _text(found)


class _Numbers:
    """Numbers the claims in the order in which they are first cited."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def __call__(self, claims: Iterable[str], bracket: str = "") -> str:
        """Their numbers in brackets, neighbours as ranges."""
        runs: list[list[int]] = []
        for number in sorted({self.known.setdefault(claim, len(self.known) + 1) for claim in claims}):
            if runs and number == runs[-1][-1] + 1:
                runs[-1].append(number)
            else:
                runs.append([number])
        shown = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
        return f" {bracket}[{shown}{bracket}]" if shown else ""


def _blocks(found: Explanation) -> Iterable[tuple[str, list[_Line]]]:
    step = found.step
    yield "What forces it", [_Line(reason.text + (f" ({reason.relation} {reason.step})" if reason.step else ""), reason.claims) for reason in found.forced_by]
    if step.kind != "hold":
        yield "What must come before it", [_relation(item) for item in found.after] or [_Line("nothing in this plan")]
        yield "What it enables", [_relation(item) for item in found.enables] or [_Line("no later step waits for it")]
        yield "Why it lands there", [_landing(item) for item in found.landings] or [_Line("there is no other release that it could land on")]
    yield "Pairs that it touches", [_pair(pair) for pair in dict.fromkeys(step.pairs)]
    yield "To bear in mind", [_Line(note.text, note.claims) for note in found.cautions]
    yield "Before it", [_action(action) for action in step.requires if action.when == "before"]
    yield "To do", [_action(action) for action in step.requires if action.when == "during"]
    yield "To verify", [_action(action) for action in step.verify]
    if step.kind != "hold":
        yield "Way back", [_Line(step.rollback or ("no procedure is known" if step.reversible else "none"))]


def _relation(item: Relation) -> _Line:
    below = [_Line(f"else {pair.a} with {pair.b} would be {pair.verdict}", pair.claims) for pair in item.pairs]
    return _Line(f"{item.step}, {item.label}" + (f": {item.text}" if item.text else ""), item.claims, below)


def _landing(item: Landing) -> _Line:
    first, last = item.versions[-1], item.versions[0]
    span = first if len(item.versions) == 1 else f"{first} to {last} ({len(item.versions)} releases)"
    return _Line(f"{item.component} {span}, {item.relation}: {item.text}", item.claims)


def _pair(pair: PairEntry) -> _Line:
    accept = f" [{'accepted' if pair.accepted else f'accept with --accept {pair.id}'}]" if pair.id else ""
    return _Line(f"{pair.a} with {pair.b}: {pair.verdict}", pair.claims, [_Line(pair.question + accept)] if pair.question else [])


def _action(action: Action) -> _Line:
    return _Line((f"if {action.condition}: " if action.condition else "") + action.text, action.claims, command=action.command)


def _title(found: Explanation) -> str:
    step = found.step
    if step.kind == "hold":
        return f"{step.id}: hold before {step.component} {step.from_} -> {step.to}"
    where = f" of pool {step.pool}" if step.pool else ""
    return f"{step.id}: {step.component}{where} {step.from_} -> {step.to}"


def _facts(found: Explanation) -> str:
    step = found.step
    facts = [f"grade {step.grade}"]
    facts += [f"moves along: {change_words(step)}"] if len(step.changes) > 1 else []
    facts += [f"drains {drain_words(step)}"] if drain_words(step) != "-" else []
    return "; ".join(facts)


def _text(found: Explanation) -> str:
    numbers = _Numbers()
    knowledge = found.knowledge
    parts = [_wrap(f"{_title(found)}  (knowledge {knowledge.version}, as of {knowledge.as_of})", ""), _wrap(_facts(found), "")]
    for title, items in _blocks(found):
        lines = []
        for item in items:
            lines.append(_wrap(f"{item.text}{numbers(item.claims)}", "  "))
            lines += [_wrap(f"{line.text}{numbers(line.claims)}", "    ") for line in item.below]
            lines += [f"    {line}" for line in (item.command or "").splitlines()]  # as it is to be typed
        if lines:
            parts.append("\n".join([f"{title}:", *lines]))
    claims = [
        _wrap(f"[{number}] {found.claims[claim].summary}", "  ") + f"\n      {found.claims[claim].grade}, {claim}\n      {_place(found, claim)}"
        for claim, number in numbers.known.items()
    ]
    return "\n\n".join([*parts, *(["\n".join(["Claims:", *claims])] if claims else [])]) + "\n"


def _markdown(found: Explanation) -> str:
    numbers = _Numbers()
    lines = [f"# {escape(_title(found))}", "", escape(_facts(found)), ""]
    for title, items in _blocks(found):
        if items:
            lines += [f"## {title}", ""]
            for item in items:
                lines.append(f"- {escape(item.text)}{numbers(item.claims, _BACKSLASH)}")
                lines += [f"  - {escape(line.text)}{numbers(line.claims, _BACKSLASH)}" for line in item.below]
                if item.command:
                    lines += ["", "  ```sh", *(f"  {line}" for line in item.command.splitlines()), "  ```", ""]
            lines.append("")
    lines += ["## Claims", ""]
    for claim, number in numbers.known.items():
        place = _place(found, claim)
        address = f"<{place}>" if place.startswith(("https://", "http://")) and not set(place) & set(" <>") else escape(place)
        lines.append(f"{number}. {escape(found.claims[claim].summary)} ({found.claims[claim].grade}, `{claim}`, {address})")
    knowledge = found.knowledge
    lines += ["", "---", "", f"Knowledge {knowledge.version}, as of {knowledge.as_of}, `{knowledge.digest}`; plan `{found.plan}`.", ""]
    return "\n".join(lines)


def _place(found: Explanation, claim: str) -> str:
    source = found.claims[claim].source
    return source.get("link") or " ".join(source.values())


def _wrap(line: str, indent: str) -> str:
    return fill(line, 120, indent, indent + "  ")
