"""Plans of many clusters: one section per group of identical plans, then a summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib import import_module

from cli.render.common import count_words
from cli.render.flat import flat, table
from cli.render.plan_markdown import escape
from planner.fleet import Fleet, Group, Outcome, same_for_all
from planner.plan import Plan

__all__ = ["render", "render_plan"]

_MODULES = {"table": "cli.render.plan_text", "json": "cli.render.plan_json", "markdown": "cli.render.plan_markdown"}
_FENCE = re.compile(r"^\s*```")


def render(fleet: Fleet, form: str) -> str:
    """Return the fleet as ``table`` (text), ``json`` or ``markdown``."""
    if form == "json":
        return fleet.to_json()
    return _markdown(fleet) if form == "markdown" else _text(fleet)


def render_plan(plan: Plan, form: str) -> str:
    """Return one plan in the same form."""
    return str(import_module(_MODULES[form]).render(plan))


def _text(fleet: Fleet) -> str:
    blocks = []
    for group in fleet.groups:
        title = flat(f"=== {_title(group)}")
        blocks.append(f"{title}\n\n{render_plan(same_for_all(group), 'table')}")
    headers = ["status", "clusters", "GPU node drains", "names"]
    summary = table(_rows(fleet), headers, maxcolwidths=[None, None, None, 80], colalign=("left", "right", "right", "left"))
    blocks.append(f"=== Summary\n\n{summary}\n")
    return "\n".join([*blocks, _verdict(fleet), ""])


def _markdown(fleet: Fleet) -> str:
    lines = ["# Upgrade plans of a fleet", "", f"**{escape(_verdict(fleet))}**", ""]
    lines += ["| Status | Clusters | GPU node drains | Names |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(escape(str(cell)) for cell in row)} |" for row in _rows(fleet)]
    lines.append("")
    for group in fleet.groups:
        lines += [f"## {escape(_title(group))}", "", "| Cluster | File | GPU node drains | Other node drains | Plan |", "|---|---|---|---|---|"]
        lines += [
            f"| {escape(outcome.name)} | {escape(outcome.file)} | {plan.cost.gpu_nodes_drained} | {plan.cost.other_nodes_drained} | `{plan.digest}` |"
            for outcome in group.clusters
            if (plan := outcome.plan)
        ]
        lines += ["", *_demoted(render_plan(same_for_all(group), "markdown"))]
    if fleet.failed:
        lines += ["## Not planned", "", *(f"- {escape(line)}" for outcome in fleet.failed for line in outcome.errors), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _title(group: Group) -> str:
    count = len(group.clusters)
    if count == 1:
        return f"Group {group.id}: {group.clusters[0].name}"
    first = f" (numbers of nodes are those of {group.clusters[0].name})" if _differ(group) else ""
    return f"Group {group.id}, {count_words(count, 'cluster')}: {', '.join(_named(group.clusters))}{first}"


def _differ(group: Group) -> bool:
    return len({(outcome.plan.cost.gpu_nodes_drained, outcome.plan.cost.other_nodes_drained) for outcome in group.clusters if outcome.plan}) > 1


def _named(outcomes: Sequence[Outcome]) -> list[str]:
    """Names of clusters; the file, too, where a name is not unique."""
    names = [outcome.name for outcome in outcomes]
    return [f"{name} ({outcome.file})" if names.count(name) > 1 else name for name, outcome in zip(names, outcomes, strict=True)]


def _rows(fleet: Fleet) -> list[list[str | int]]:
    rows: list[list[str | int]] = []
    for status, outcomes in fleet.by_status().items():
        if outcomes:
            drains = sum(outcome.plan.cost.gpu_nodes_drained for outcome in outcomes if outcome.plan)
            rows.append([status, len(outcomes), drains, ", ".join(_named(outcomes))])
    return rows


def _verdict(fleet: Fleet) -> str:
    planned = len(fleet.outcomes) - len(fleet.failed)
    failed = f", {len(fleet.failed)} could not be planned" if fleet.failed else ""
    return f"{count_words(planned, 'cluster')} planned in {count_words(len(fleet.groups), 'group')}{failed}; exit code {fleet.exit_code}."


def _demoted(text: str) -> Iterable[str]:
    """A document as a section: headings two levels down, outside of code."""
    code = False
    for line in text.splitlines():
        code = code != bool(_FENCE.match(line))
        yield f"##{line}" if line.startswith("#") and not code else line
