"""A plan for the terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable

from cli.render.common import Sources, acceptance_words, back, change_words, count_words, drain_words, headline, knowledge_words, main_claims, verdict_line
from cli.render.flat import Flat, fill, flat, table
from planner.plan import Finding, Plan, Step

__all__ = ["render"]

_COLOURS = {"tested": "32", "declared": "36", "unknown": "33", "broken": "31", "error": "31", "warning": "33"}


def render(plan: Plan) -> str:
    """Return the plan as text: steps, holds, what it rests on, findings, sources, and the verdict as the last line."""
    sources = Sources(plan)
    width = max(80, min(shutil.get_terminal_size((120, 24)).columns, 160))
    blocks = [flat(headline(plan)) + f"  ({flat(knowledge_words(plan))})"]
    if plan.steps:
        blocks.append(_table(plan, sources))
        blocks.append(
            _block(
                "Why in this order",
                [
                    f"{step.id}: {reason.text}" + (f" ({reason.relation} {reason.step})" if reason.step else "")
                    for step in plan.steps
                    if step.kind != "hold"
                    for reason in step.why
                ],
                width,
            )
        )
    elif plan.status != "impossible":
        blocks.append("Nothing to do: the cluster is there already.")
    for hold in plan.holds:
        lines = [f"{pair.a} with {pair.b}: {pair.question} [{acceptance_words(pair) or 'accept with --accept ' + pair.id}]" for pair in hold.pairs]
        blocks.append(_block(f"Hold before {hold.before}", lines, width))
    if plan.lasting:
        lines = [f"{pair.a} with {pair.b}: {pair.question} [{acceptance_words(pair) or 'accept with --accept ' + pair.id}]" for pair in plan.lasting]
        blocks.append(_block("Nothing vouches for these now, and the plan leaves them as they are", lines, width))
    if plan.conflict:
        lines = [f"{claim}: {plan.claims[claim].summary} [{', '.join(map(str, sources.of([claim])))}]" for claim in plan.conflict.claims]
        lines += [f"would open the way: {text}" for text in plan.conflict.unlock]
        blocks.append(_block("Why it is impossible", lines, width))
    duties = [line for step in plan.steps for line in _duties(step)]
    blocks.append(_block("Before a step (in full, with sources and commands: -o markdown)", duties, width))
    blocks.append(_block("The plan rests on", [f"{'or ' if number else ''}{text}" for number, text in enumerate(plan.conditions)], width))
    for title, wanted in (("Findings", _findings), ("Assumed", _assumed), ("Not considered", _gaps)):
        blocks.append(_block(title, list(wanted(plan, sources)), width))
    blocks.append(_block("Sources", [f"[{number}] {place}" for number, place in sources.listed()], 10_000))
    blocks.append(flat(verdict_line(plan)))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _table(plan: Plan, sources: Sources) -> str:
    rows = []
    for step in plan.steps:
        if step.kind == "hold":
            rule = "risk accepted" if all(pair.accepted for pair in step.pairs) else "answer the questions below first"
            rows.append([step.id, "HOLD", "", "", rule, "", "", _colour("unknown"), ""])
            continue
        what = f"{step.component} ({step.pool})" if step.pool else step.component
        if step.kind == "prepare":
            rows.append([step.id, what, step.from_, "", "FIRST: finish or undo what is under way", "", "-", _colour(step.grade), ""])
            continue
        cited = sources.of(main_claims(step))
        shown = ",".join(map(str, cited[:5])) + (",…" if len(cited) > 5 else "")
        rows.append([step.id, what, step.from_, step.to, change_words(step, 2), drain_words(step), back(step), _colour(step.grade), shown])
    headers = ["step", "what", "from", "to", "moves along", "drains", "back", "grade", "sources"]
    return table(rows, headers, maxcolwidths=[None, 22, None, None, 38, None, None, None, None])


def _duties(step: Step) -> Iterable[str]:
    if step.kind == "prepare":
        yield f"{step.id}: {step.requires[0].text}"
        return
    before = [action for action in step.requires if action.when == "before"]
    if not before:
        return
    pins = [action.text for action in before if action.text.startswith("Pin ")]
    always = sum(1 for action in before if not action.condition)
    parts = [f"{count_words(always, 'thing')} to do or check first"] if always else []
    parts += [f"{len(before) - always} {'more ' if always else ''}only if the cluster uses what they are about"] if always < len(before) else []
    yield f"{step.id}: {', '.join(parts)}." + "".join(f" {text}" for text in pins)


def _findings(plan: Plan, sources: Sources) -> Iterable[str]:
    for finding in plan.findings:
        if finding.id not in ("assumed", "not-considered"):
            cited = sources.of(finding.claims)
            marks = f" [{','.join(map(str, cited[:3]))}]" if cited else ""
            yield Flat(f"{_severity(finding)}{flat(finding.text)}{marks}")


def _assumed(plan: Plan, _: Sources) -> Iterable[str]:
    return (finding.text.removeprefix("Assumed: ") for finding in plan.findings if finding.id == "assumed")


def _gaps(plan: Plan, _: Sources) -> Iterable[str]:
    return (finding.text.removeprefix("Not considered, ") for finding in plan.findings if finding.id == "not-considered")


def _severity(finding: Finding) -> str:
    return f"{_colour(finding.severity)}: " if finding.severity != "info" else ""


def _colour(word: str) -> str:
    if sys.stdout is None or not sys.stdout.isatty() or "NO_COLOR" in os.environ or word not in _COLOURS:
        return flat(word)
    return Flat(f"\x1b[{_COLOURS[word]}m{word}\x1b[0m")


def _block(title: str, lines: list[str], width: int) -> str:
    if not lines:
        return ""
    return "\n".join([flat(f"{title}:"), *(fill(line, width, "  ", "    ") for line in lines)])
