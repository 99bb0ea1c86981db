"""A plan as Markdown that stands alone in a change ticket."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cli.render.common import Sources, acceptance_words, back, change_words, drain_words, end_words, headline, main_claims, verdict_line
from cli.render.flat import flat
from planner.plan import Action, PairEntry, Plan, Step

__all__ = ["escape", "render"]

_ADDRESS = re.compile(r"(?:\b[A-Za-z][A-Za-z0-9+.-]*://|\bwww\.)[^\s`<>|\\\"]*[^\s`<>|\\\".,;:!?()\[\]{}'*_~]")
"""An address without the punctuation that ends a sentence, and without what would end code, a link or a table cell."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<#|~!]|^[>+-])")


def escape(text: str, *, links: bool = False) -> str:
    """Make free text harmless in Markdown: no markup, no HTML, no mentions, no table cells.

    An address stays whole, so that it can be copied: as code, which leads nowhere, and with *links*, for texts of the knowledge base, as a link
    that shows where it leads.
    """
    found = []
    place = 0
    line = flat(text)
    for match in _ADDRESS.finditer(line):
        found += [_plain(line[place : match.start()]), f"<{match[0]}>" if links and match[0].startswith(("https://", "http://")) else f"`{match[0]}`"]
        place = match.end()
    return "".join([*found, _plain(line[place:])])


def _plain(text: str) -> str:
    # A backslash does not stop a mention or a bare link, since they are found after unescaping; an invisible space does.
    return re.sub(r"(?<!\w)@(?=\w)", "@\u200b", _SPECIAL.sub(r"\\\1", text)).replace("://", ":\u200b//").replace("www.", "www\u200b.")


def render(plan: Plan, more: Iterable[str] = ()) -> str:
    """Return the plan as a Markdown document, with *more* lines before its sources."""
    sources = Sources(plan)
    lines = [f"# Upgrade plan: {escape(headline(plan))}", "", f"**{escape(verdict_line(plan))}**", ""]
    lines += _summary(plan)
    lines += _overview(plan)
    lines += _holds(plan)
    lines += _conflict(plan, sources)
    for step in plan.steps:
        lines += _step(plan, step, sources)
    lines += _findings(plan, sources)
    lines += more
    lines += ["## Sources", ""]
    lines += [f"{number}. {_address(place)}" for number, place in sources.listed()] or ["None cited."]
    lines += [
        "",
        "---",
        "",
        f"Knowledge {plan.knowledge.version}, as of {plan.knowledge.as_of}, schema {plan.knowledge.schema}, `{plan.knowledge.digest}`.  ",
        *(f"With {escape(layer.title)} (`{layer.id}`, {layer.as_of}, `{layer.digest}`).  " for layer in plan.knowledge.layers),
        f"Plan `{plan.to_dict()['digest']}`.",
        "",
    ]
    return "\n".join(lines)


def _summary(plan: Plan) -> list[str]:
    cost = plan.cost
    rows = [
        *([("Cluster", plan.start["name"])] if plan.start.get("name") else []),
        ("Steps", str(cost.steps)),
        ("GPU node drains", str(cost.gpu_nodes_drained)),
        ("Other node drains", str(cost.other_nodes_drained)),
        ("Pairs relied on that nothing vouches for", str(cost.unknown_pairs)),
        ("Proven optimal", "yes" if plan.optimal else "no"),
        ("At the end", end_words(plan)),
    ]
    lines = ["## Summary", "", "| | |", "|---|---|", *(f"| {name} | {escape(value)} |" for name, value in rows), ""]
    if plan.conditions:
        lines += ["The plan rests on one of these, which nobody has said yet:", "", *(f"- {escape(text)}" for text in plan.conditions), ""]
    return lines


def _overview(plan: Plan) -> list[str]:
    if not plan.steps:
        return []
    lines = ["## Steps", "", "| Step | What | From | To | Moves along | Drains | Way back | Grade |", "|---|---|---|---|---|---|---|---|"]
    for step in plan.steps:
        if step.kind == "hold":
            rule = "risk accepted" if all(pair.accepted for pair in step.pairs) else "answer the questions first"
            lines.append(f"| {step.id} | **Hold** | | | {rule} | | | unknown |")
            continue
        what = f"{step.component} of pool {step.pool}" if step.pool else step.component
        if step.kind == "prepare":
            lines.append(f"| {step.id} | {escape(what)} | {escape(step.from_)} | | finish or undo what is under way | | - | {step.grade} |")
            continue
        cells = [step.id, what, step.from_, step.to, change_words(step), drain_words(step), back(step), step.grade]
        lines.append("| " + " | ".join(escape(cell) for cell in cells) + " |")
    return [*lines, ""]


def _holds(plan: Plan) -> list[str]:
    lines: list[str] = []
    for hold in plan.holds:
        lines += [f"## Hold before {hold.before}", "", *_questions(hold.pairs), ""]
    if plan.lasting:
        lines += ["## Left as it is", "", "Nothing vouches for these pairs now, and the plan does not change them.", "", *_questions(plan.lasting), ""]
    return lines


def _questions(pairs: Iterable[PairEntry]) -> Iterable[str]:
    for pair in pairs:
        by = escape(acceptance_words(pair)[len("accepted") :])
        accepted = f" **Accepted** {by.rstrip('.')}." if by else " **Accepted.**" if pair.accepted else f" Accept the risk with `--accept {pair.id}`."
        yield f"- {escape(pair.a)} with {escape(pair.b)}: {escape(pair.question, links=True)}{accepted}"


def _conflict(plan: Plan, sources: Sources) -> list[str]:
    if plan.conflict is None:
        return []
    lines = ["## Why it is impossible", "", escape(plan.conflict.text), ""]
    lines += [f"- {escape(plan.claims[claim].summary)} {_marks(sources, [claim])}" for claim in plan.conflict.claims]
    lines += [
        "",
        "What would open the way:",
        "",
        *(f"- {escape(text)}" for text in plan.conflict.unlock),
        "",
        "The steps below lead to the farthest state that can be reached.",
        "",
    ]
    return lines


def _step(plan: Plan, step: Step, sources: Sources) -> list[str]:
    if step.kind == "hold":
        rule = (
            "The risk of every pair above is accepted."
            if all(pair.accepted for pair in step.pairs)
            else "Do not go on before every question above is answered."
        )
        return [f"## {step.id}: hold", "", rule, ""]
    where = f" of pool {step.pool}" if step.pool else ""
    title = (
        f"first finish or undo what is under way: {step.component}{where}" if step.kind == "prepare" else f"{step.component}{where} {step.from_} -> {step.to}"
    )
    lines = [f"## {step.id}: {escape(title)}", ""]
    if len(step.changes) > 1:
        lines += [f"Moves along: {escape(change_words(step))}.", ""]
    if step.drains.gpu_nodes or step.drains.other_nodes:
        lines += [f"Drains {drain_words(step)} node(s).", ""]
    lines += [
        "**Why now**",
        "",
        *(f"- {escape(reason.text)}{_relation(reason.relation, reason.step)} {_marks(sources, reason.claims)}".rstrip() for reason in step.why),
        "",
    ]
    before = [action for action in step.requires if action.when == "before"]
    for title, wanted in (
        ("Before", [action for action in before if not action.condition]),
        ("Before, if it applies", [action for action in before if action.condition]),
        *_doing(step),
        ("Verify", list(step.verify)),
    ):
        if wanted:
            lines += [f"**{title}**", "", *_actions(wanted, sources), ""]
    lines += ["**Rollback**", "", escape(step.rollback or "No procedure is known.") if step.reversible else f"Point of no return. {escape(step.rollback)}", ""]
    lines += ["**Rests on**", ""]
    rests = [f"- {escape(pair.a)} with {escape(pair.b)}: {pair.verdict} {_marks(sources, pair.claims)}".rstrip() for pair in step.pairs]
    rests += [f"- {escape(text)}" for text in step.conditions]
    lines += dict.fromkeys(rests)  # the same pair in several pools once
    rest = [claim for claim in main_claims(step) if not any(claim in pair.claims for pair in step.pairs)]
    if rest:
        lines.append(f"- further: {'; '.join(f'{escape(plan.claims[claim].summary)} {_marks(sources, [claim])}' for claim in rest)}")
    return [*lines, ""]


def _doing(step: Step) -> Iterable[tuple[str, list[Action]]]:
    """What is done, in one list; in three where people empty the nodes one after the other."""
    doing = [action for action in step.requires if action.when == "during"]
    if not any(action.phase in ("drain", "return") for action in doing):
        return [("Do", doing)]
    node = f"Then on each node of pool {step.pool}, one after the other" if step.pool else "Then on each node, one after the other"
    return [
        ("Do once, before the first node", [action for action in doing if action.phase == "before"]),
        (escape(node), [action for action in doing if action.phase in ("drain", "change", "check", "return")]),
        ("Do once, after the last node", [action for action in doing if action.phase == "after"]),
    ]


def _relation(relation: str, step: str | None) -> str:
    return {"enables": f" (needed for {step})", "after": f" (hence after {step})"}.get(relation, "")


def _actions(actions: Iterable[Action], sources: Sources) -> Iterable[str]:
    for action in actions:
        condition = f"If {escape(action.condition)}: " if action.condition else ""
        yield f"- [ ] {condition}{escape(action.text)} {_marks(sources, action.claims)}".rstrip()
        if action.command:
            fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", action.command)), 0)
            yield from ("", f"  {fence}sh", *(f"  {line}" for line in _code(action.command)), f"  {fence}", "")


def _code(command: str) -> Iterable[str]:
    """Lines of a command without control characters; a tab is kept, since shells know it."""
    return ("".join(letter if letter.isprintable() or letter == "\t" else "\N{REPLACEMENT CHARACTER}" for letter in line) for line in command.splitlines())


def _findings(plan: Plan, sources: Sources) -> list[str]:
    lines = []
    for title, gaps in (("Findings", False), ("Assumed and not considered", True)):
        found = [finding for finding in plan.findings if (finding.id in ("assumed", "not-considered")) is gaps]
        if found:
            lines += [f"## {title}", "", *(f"- {finding.severity}: {escape(finding.text)} {_marks(sources, finding.claims)}".rstrip() for finding in found), ""]
    return lines


def _marks(sources: Sources, claims: Iterable[str]) -> str:
    numbers = sources.of(claims)
    return f"\\[{', '.join(map(str, numbers))}\\]" if numbers else ""


def _address(place: str) -> str:
    return f"<{place}>" if place.startswith(("https://", "http://")) and not set(place) & set(" <>") else escape(place)
