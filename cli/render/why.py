"""The explanation of a pair."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from typing import Any

from compat import Claim, Verdict
from compat.store import Snapshot
from compat.verdicts import Part

__all__ = ["claim_document", "render"]


def render(parts: tuple[Part, Part], verdict: Verdict, snapshot: Snapshot, *, as_json: bool) -> str:
    """Return the verdict of a pair with everything that led to it."""
    return json.dumps(document(parts, verdict, snapshot), indent=2, ensure_ascii=False) + "\n" if as_json else text(parts, verdict, snapshot)


def document(parts: tuple[Part, Part], verdict: Verdict, snapshot: Snapshot) -> dict[str, Any]:
    """The written form: verdict, conditions, claims, question, and what else a reader must see."""
    return {
        "pair": [{"component": name, "version": version.release if version else None, "given": version.text if version else None} for name, version in parts],
        "verdict": verdict.grade,
        "conditions": list(verdict.conditions),
        "claims": [claim_document(claim) for claim in verdict.claims],
        "inferred": [claim_document(claim) for claim in verdict.inferred],
        "contradicted_by": [claim_document(claim) for claim in verdict.contradicted],
        "cautions": [{"condition": caution.condition, "claim": claim_document(caution.claim)} for caution in verdict.cautions],
        "question": verdict.question or None,
        "knowledge": {"version": snapshot.version, "as_of": snapshot.as_of.isoformat(), "schema": snapshot.schema, "digest": snapshot.digest},
    }


def claim_document(claim: Claim) -> dict[str, Any]:
    """A claim with everything that is known of it."""
    source = {key: value for key in ("repo", "ref", "path", "url", "locator") if (value := getattr(claim.source, key))}
    return {
        "id": claim.id,
        "kind": claim.kind,
        "subject": claim.subject,
        "versions": claim.versions,
        "object": claim.object,
        "object_versions": claim.object_versions,
        "scope": {word: list(values) for word, values in claim.scope.items()},
        "grade": claim.grade,
        "severity": claim.severity,
        "said": claim.known_from.isoformat(),
        "until": claim.known_until.isoformat() if claim.known_until else None,
        "summary": claim.summary,
        "source": {**source, "link": claim.source.link},
        **({"detail": dict(claim.detail)} if claim.detail else {}),
    }


def text(parts: tuple[Part, Part], verdict: Verdict, snapshot: Snapshot) -> str:
    """The same for the terminal."""
    names = " with ".join(f"{name} {_shown(version)}" if version else name for name, version in parts)
    lines = [f"{names}: {verdict.grade}"]
    if verdict.conditions:
        joined = "; ".join(verdict.conditions) if verdict.grade == "broken" else "; or ".join(f"if {condition}" for condition in verdict.conditions)
        lines.append(_wrap(joined, "  "))
    if verdict.question:
        lines.append(_wrap(verdict.question, "  "))
    title = {"broken": "Because", "unknown": "Looked at, without an answer"}.get(verdict.grade, "Because")
    lines += _claims(title, verdict.claims)
    lines += _claims("Ours, which vouches for nothing", verdict.inferred)
    lines += _claims("Standing statements that say otherwise", verdict.contradicted)
    if verdict.cautions:
        lines += ["", "To bear in mind:"]
        for caution in verdict.cautions:
            lines.append(_wrap(f"- {caution} ({caution.claim.source.link or caution.claim.source})", "  "))
    lines += ["", f"Knowledge {snapshot.version}, as of {snapshot.as_of}."]
    return "\n".join(lines) + "\n"


def _claims(title: str, claims: Iterable[Claim]) -> list[str]:
    lines = []
    for claim in claims:
        until = f", until {claim.known_until}" if claim.known_until else ""
        lines += [
            _wrap(f"- {claim.summary}", "  "),
            f"      {claim.grade}, said {claim.known_from}{until}, {claim.id}",
            f"      {claim.source.link or claim.source}",
        ]
    return ["", f"{title}:", *lines] if lines else []


def _shown(version: Any) -> str:
    return version.release if version.text.lstrip("v") == version.release else f"{version.text} ({version.release})"


def _wrap(line: str, indent: str) -> str:
    return textwrap.fill(line, 118, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False, break_on_hyphens=False)
