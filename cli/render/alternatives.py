"""What a plan could be traded for."""

from __future__ import annotations

import json

from cli.options import Format
from cli.render import plan_markdown
from cli.render.common import count_words, headline, verdict_line
from cli.render.flat import fill, table
from planner.alternatives import Alternative, Alternatives

__all__ = ["render"]

_HEADERS = ["id", "unknown pairs", "GPU drains", "other drains", "steps", "nodes end", "status", "options that give it"]


def render(found: Alternatives, output: Format) -> str:
    """Return the plans that no other beats; as Markdown, a section of the recommended plan."""
    if output is Format.json:
        return json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"
    return plan_markdown.render(found.recommended, _section(found)) if output is Format.markdown else _text(found)


def _text(found: Alternatives) -> str:
    plan = found.recommended
    blocks = [f"{headline(plan)}  (knowledge {plan.knowledge.version}, as of {plan.knowledge.as_of})"]
    if not found.alternatives:
        return "\n\n".join([*blocks, "No way leads there, so there is nothing to choose from.", verdict_line(plan)]) + "\n"
    first, *others = found.alternatives
    blocks.append(table([_row(one) for one in found.alternatives], headers=_HEADERS))
    if others:
        lines = [f"Against {first.id}, the plan that these options give:", *(_wrap(f"{one.id}: {one.trades}") for one in others)]
        blocks.append("\n".join(lines))
    blocks.append(_wrap(_promise(found), ""))
    blocks.append(verdict_line(plan))
    return "\n\n".join(blocks) + "\n"


def _row(one: Alternative) -> list[str]:
    cost = one.cost
    ends = "at the target" if one.nodes == "target" else "where supported"
    counts = [str(count) for count in (cost.unknown_pairs, cost.gpu_nodes_drained, cost.other_nodes_drained, cost.steps)]
    return [one.id, *counts, ends, one.plan.status, one.flags or f"--choose {one.id}"]


def _promise(found: Alternatives) -> str:
    beaten = "" if found.alternatives[0].on_front else f" {found.alternatives[0].id} is beaten in these counts and is there for its versions."
    if found.complete:
        return f"These are all: {count_words(len(found.alternatives), 'plan')}, and no other plan is as good in every column and better in one.{beaten}"
    return (
        "There may be more: the cluster is too large to go through all. No other plan is as good in every column and better in one, and whichever order "
        f"the columns are given, for each rule of where nodes end the plan that comes first in it is here, unless one that ends at the target beats it.{beaten}"
    )


def _section(found: Alternatives) -> list[str]:
    if not found.alternatives:
        return []
    escape = plan_markdown.escape
    lines = ["## Alternatives", "", f"| {' | '.join(_HEADERS)} |", f"|{'---|' * len(_HEADERS)}"]
    for one in found.alternatives:
        *cells, option = _row(one)
        lines.append(f"| {' | '.join(map(escape, cells))} | `{option}` |")
    lines += ["", *(f"- {one.id}: {escape(one.trades)}" for one in found.alternatives[1:])]
    return [*lines, "", escape(_promise(found)), ""]


def _wrap(line: str, indent: str = "  ") -> str:
    return fill(line, 120, indent, indent + ("  " if indent else ""))
