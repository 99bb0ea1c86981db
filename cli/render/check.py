"""The check of a state."""

from __future__ import annotations

import json
from typing import Any

from cli.render.flat import flat, table
from cli.render.why import claim_document, knowledge_document, knowledge_line
from compat.hops import Duty
from compat.store import Snapshot
from planner.checking import CheckResult

__all__ = ["render"]


def render(result: CheckResult, snapshot: Snapshot, *, as_json: bool) -> str:
    """Return every pair with its verdict, and the hops of the bumps."""
    if as_json:
        return json.dumps(_document(result, snapshot), indent=2, ensure_ascii=False) + "\n"
    judged = [(judgement.one, judgement.other, judgement.grade, _note(judgement)) for judgement in result.judgements]
    rows = list(dict.fromkeys(judged))  # the same pair in several pools once
    blocks = (
        [table(rows, ["part", "with", "verdict", "note"], maxcolwidths=[None, None, None, 80])]
        if rows
        else ["No pair of this state is one that a cluster relies on."]
    )
    for name, found in result.hops:
        lines = [("", f"{name}: {found.rule}" + (f" ({found.claims[0].summary})" if found.claims and found.rule != "allowed" else ""))]
        lines += [
            ("  ", f"first, {f'if {duty.condition}: ' if duty.condition else ''}{_duty(duty)}")
            for duty in found.duties
            if duty.claim.detail.get("rule") != "note"
        ]
        blocks.append("\n".join(f"{indent}{flat(line)}" for indent, line in lines))
    if result.findings:
        blocks.append("\n".join(flat(f"{finding.severity}: {finding.text}") for finding in result.findings))
    blocks.append(flat(f"Verdict: {result.grade}. {knowledge_line(snapshot)}"))
    return "\n\n".join(blocks) + "\n"


def _duty(duty: Duty) -> str:
    return duty.text if duty.text == duty.claim.summary else f"{duty.claim.summary.rstrip('.')}. {duty.text.rstrip('.')}. ({duty.claim.source.link})"


def _note(judgement: Any) -> str:
    verdict = judgement.verdict
    if verdict.grade == "unknown":
        return str(verdict.question)
    if verdict.conditions:
        return ("" if verdict.grade == "broken" else "if ") + " or if ".join(verdict.conditions)
    return str(verdict.claims[0].summary) if verdict.grade == "broken" else ""


def _document(result: CheckResult, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "verdict": result.grade,
        "pairs": [
            {
                "a": judgement.one,
                "b": judgement.other,
                "verdict": judgement.grade,
                "conditions": list(judgement.verdict.conditions),
                "question": judgement.verdict.question or None,
                "cautions": [
                    {"condition": caution.condition, "text": caution.claim.summary, "claim": caution.claim.id} for caution in judgement.verdict.cautions
                ],
                "claims": [claim_document(claim) for claim in judgement.verdict.claims],
            }
            for judgement in result.judgements
        ],
        "findings": [{"id": finding.id, "severity": finding.severity, "text": finding.text, "claims": list(finding.claims)} for finding in result.findings],
        "hops": [
            {
                "hop": name,
                "rule": found.rule,
                "claims": [claim_document(claim) for claim in found.claims],
                "duties": [duty.text for duty in found.duties],
                "actions": [{"text": _duty(duty), "condition": duty.condition, "claim": duty.claim.id} for duty in found.duties],
            }
            for name, found in result.hops
        ],
        "knowledge": knowledge_document(snapshot),
    }
