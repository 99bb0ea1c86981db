"""The explanation of a pair."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cli.render.flat import fill, flat
from compat import Claim, Verdict
from compat.claims import BUILT_IN
from compat.landing import Landing
from compat.retired import retired_note
from compat.store import Snapshot
from compat.verdicts import Caution, Part

__all__ = ["Notes", "claim_document", "knowledge_document", "knowledge_line", "render"]


@dataclass(frozen=True)
class Notes:
    """What a reader must see beside the verdict of the pair."""

    landings: tuple[Landing, ...] = ()
    """What speaks against the versions by themselves."""
    retired: tuple[Claim, ...] = ()
    """Claims about the pair that somebody took out of use."""

    @property
    def barred(self) -> list[Claim]:
        """Claims by which no plan lands on one of the versions."""
        return [claim for found in self.landings for claim in found.claims]


def render(parts: tuple[Part, Part], verdict: Verdict, snapshot: Snapshot, notes: Notes, *, as_json: bool) -> str:
    """Return the verdict of a pair with everything that led to it."""
    return json.dumps(document(parts, verdict, snapshot, notes), indent=2, ensure_ascii=False) + "\n" if as_json else text(parts, verdict, snapshot, notes)


def document(parts: tuple[Part, Part], verdict: Verdict, snapshot: Snapshot, notes: Notes) -> dict[str, Any]:
    """The written form: verdict, conditions, claims, question, and what else a reader must see."""
    return {
        "pair": [{"component": name, "version": version.release if version else None, "given": version.text if version else None} for name, version in parts],
        "verdict": verdict.grade,
        "conditions": list(verdict.conditions),
        "claims": [claim_document(claim) for claim in verdict.claims],
        "inferred": [claim_document(claim) for claim in verdict.inferred],
        "contradicted_by": [claim_document(claim) for claim in verdict.contradicted],
        "cautions": [{"condition": caution.condition, "claim": claim_document(caution.claim)} for caution in _cautions(verdict, notes)],
        "barred_by": [claim_document(claim) for claim in notes.barred],
        "retired": [claim_document(claim) for claim in notes.retired],
        "question": verdict.question or None,
        "knowledge": knowledge_document(snapshot),
    }


def knowledge_document(snapshot: Snapshot) -> dict[str, Any]:
    """Which knowledge an answer rests on; with layers only if there are any."""
    layers = [{"id": layer.id, "title": layer.title, "as_of": layer.as_of.isoformat(), "digest": layer.digest} for layer in snapshot.layers]
    found = {"version": snapshot.version, "as_of": snapshot.as_of.isoformat(), "schema": snapshot.schema, "digest": snapshot.digest}
    return {**found, "layers": layers} if layers else found


def knowledge_line(snapshot: Snapshot) -> str:
    """The same in a sentence."""
    layers = f", with {', '.join(layer.id for layer in snapshot.layers)}" if snapshot.layers else ""
    return f"Knowledge {snapshot.version}, as of {snapshot.as_of}{layers}."


def _cautions(verdict: Verdict, notes: Notes) -> list[Caution]:
    return [*verdict.cautions, *(caution for found in notes.landings for caution in found.cautions)]


def claim_document(claim: Claim) -> dict[str, Any]:
    """A claim with everything that is known of it."""
    source = {key: value for key in ("repo", "ref", "path", "url", "locator") if (value := getattr(claim.source, key))}
    detail = dict(claim.detail)
    retired = detail.pop("retired", None)
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
        "layer": claim.layer,
        "source": {**source, "link": claim.source.link},
        **({"detail": detail} if detail else {}),
        **({"retired": {key: retired[key] for key in ("by", "said", "reason")}} if retired else {}),
    }


def text(parts: tuple[Part, Part], verdict: Verdict, snapshot: Snapshot, notes: Notes) -> str:
    """The same for the terminal."""
    names = " with ".join(f"{name} {_shown(version)}" if version else name for name, version in parts)
    lines = [flat(f"{names}: {verdict.grade}" + ("; no plan lands on it, see below" if notes.barred else ""))]
    if verdict.conditions:
        joined = "; ".join(verdict.conditions) if verdict.grade == "broken" else "; or ".join(f"if {condition}" for condition in verdict.conditions)
        lines.append(_wrap(joined, "  "))
    if verdict.question:
        lines.append(_wrap(verdict.question, "  "))
    title = {"broken": "Because", "unknown": "Looked at, without an answer"}.get(verdict.grade, "Because")
    lines += _claims("No plan lands on it, because", notes.barred)
    lines += _claims(title, verdict.claims)
    lines += _claims("Ours, which vouches for nothing", verdict.inferred)
    lines += _claims("Standing statements that say otherwise", verdict.contradicted)
    lines += _claims("Retired, so that it does not count", notes.retired)
    if cautions := _cautions(verdict, notes):
        lines += ["", "To bear in mind:"]
        for caution in cautions:
            lines.append(_wrap(f"- {caution} ({caution.claim.source.link or caution.claim.source})", "  "))
    lines += ["", flat(knowledge_line(snapshot))]
    return "\n".join(lines) + "\n"


def _claims(title: str, claims: Iterable[Claim]) -> list[str]:
    lines = []
    for claim in claims:
        until = f", until {claim.known_until}" if claim.known_until else ""
        lines += [
            _wrap(f"- {claim.summary}", "  "),
            *(
                f"      {flat(line)}"
                for line in (
                    f"{claim.grade}, said {claim.known_from}{until}, {claim.id}" + ("" if claim.layer == BUILT_IN else f" of {claim.layer}"),
                    retired_note(claim),
                    claim.source.link or claim.source,
                )
                if line
            ),
        ]
    return ["", f"{title}:", *lines] if lines else []


def _shown(version: Any) -> str:
    return version.release if version.text.lstrip("v") == version.release else f"{version.text} ({version.release})"


def _wrap(line: str, indent: str) -> str:
    return fill(line, 118, indent, indent + "  ")
