"""Reading claims: an entry or a table row becomes a `Claim`, or faults with file and line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pydantic import BaseModel

from compat.claims import BUILT_IN, Claim, Release, Source, Subject
from compat.documents import Document
from compat.errors import Fault, InputError, nearest, printable
from compat.layers import Acceptance, Layer, Retirement
from compat.ranges import for_people, parse_range
from compat.schema import ClaimEntry, ClaimFields, SourceEntry, TableEntry, Vocabulary
from compat.versions import PLAIN, Lineage, parse

__all__ = ["ClaimReader", "Knowledge", "Origin", "slug"]

_VOCABULARY = "vocabulary.yaml"
_COMMON = frozenset(
    ("id", "kind", "subject", "versions", "object", "object_versions", "scope", "grade", "severity", "closed", "said", "said_after",
     "said_before", "until", "until_after", "until_before", "source", "ref", "summary", "rows", "cells")
)  # fmt: skip
_REFERENCE = re.compile(r"^[a-z0-9][a-z0-9._+-]*$")


@dataclass
class Knowledge:
    """All that one set of files says."""

    vocabulary: Vocabulary
    subjects: dict[str, Subject] = field(default_factory=dict)
    releases: list[Release] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    """Claim id -> ``file:line``."""
    layers: list[Layer] = field(default_factory=list)
    """Overlays, in the order in which they were read."""
    retired: list[Retirement] = field(default_factory=list)
    accepted: list[Acceptance] = field(default_factory=list)
    built_in: date = date.min
    """Newest ``as_of`` of the built-in files."""

    def lineage(self, name: str) -> Lineage:
        """Lineage of a subject, or plain number order for a name that is none."""
        subject = self.subjects.get(name)
        return subject.lineage if subject else PLAIN


@dataclass(frozen=True)
class Origin:
    """The file that claims come from."""

    document: Document
    as_of: date
    sources: Mapping[str, SourceEntry]
    subject: str = ""
    """What its claims are about if they do not say; empty: they do."""
    layer: str = BUILT_IN


class ClaimReader:
    """Reads the claims of all files, one after the other, into `Knowledge`."""

    def __init__(self, knowledge: Knowledge, names: set[str], faults: list[Fault]) -> None:
        self.knowledge = knowledge
        self.names = names
        self.faults = faults

    def fault(self, document: Document, path: Sequence[str | int], what: str) -> None:
        self.faults.append(Fault(document.where(path), what))

    def add_claims(self, origin: Origin, claims: Sequence[ClaimEntry], tables: Sequence[TableEntry]) -> None:
        """Read the claims of one file."""
        for index, entry in enumerate(claims):
            self.add_claim(origin, ("claims", index), entry.id, {}, entry)
        for number, table in enumerate(tables):
            defaults = _given(table)
            for index, row in enumerate(table.rows):
                path = ("tables", number, "rows", index)
                if row.cells is None:
                    self.add_claim(origin, path, row.id or _row_id(table.id, defaults, row, None), defaults, row)
                    continue
                for name, versions in row.cells.items():
                    cell = row.model_copy(update={"object": name, "object_versions": versions, "cells": None})
                    prefix = f"{row.id}-{name}" if row.id else _row_id(table.id, defaults, row, name)
                    self.add_claim(origin, (*path, "cells", name), prefix, defaults, cell)

    def add_claim(self, origin: Origin, path: tuple[str | int, ...], identity: str, defaults: Mapping[str, Any], entry: ClaimFields) -> None:
        """Read one claim, with the defaults of its table."""
        fields = {**defaults, **_given(entry)}
        if "scope" in defaults and entry.scope:
            fields["scope"] = {**defaults["scope"], **entry.scope}
        self.add(origin, path, identity, fields)

    def add(self, origin: Origin, path: tuple[str | int, ...], identity: str, fields: dict[str, Any]) -> None:
        """Read one claim from its fields."""
        if identity in self.knowledge.places:
            self.fault(origin.document, path, f"the claim id {identity!r} is taken by {self.knowledge.places[identity]}; ids are unique")
            return
        self.knowledge.places[identity] = origin.document.where(path)
        before = len(self.faults)
        claim = self.build(origin, path, identity, fields)
        if claim is not None and len(self.faults) == before:
            self.knowledge.claims.append(claim)

    def build(self, origin: Origin, path: tuple[str | int, ...], identity: str, fields: dict[str, Any]) -> Claim | None:
        def fault(what: str, *key: str | int) -> None:
            self.fault(origin.document, (*path, *key), f"{identity}: {what}")

        kind = fields.get("kind")
        summary = fields.get("summary")
        if not kind or not summary:
            fault(f"{'kind' if not kind else 'summary'} is missing")
            return None
        subject = self.name(fields.get("subject") or origin.subject, fault, "subject")
        target = self.name(fields["object"], fault, "object") if fields.get("object") else ""
        source = self.source(origin, fields, fault)
        grade = fields.get("grade") or ("inferred" if fields.get("confidence") == "low" else "declared")
        if grade == "tested" and not (source.link or (origin.layer != BUILT_IN and source.path)):
            fault("a claim graded tested needs a source that a reader can open", "source")
        known_from, known_until = self.dates(origin, fields, fault)
        newest = self.knowledge.built_in
        if origin.layer == BUILT_IN and known_from > newest:
            fault(f"said {known_from}, after {newest}, the newest as_of of all files; raise as_of to the date of the newest source", "said")
        if kind == "support" and origin.layer != BUILT_IN:
            self.check_extent(subject, target, fields, fault)
        scope = self.scope(fields.get("scope") or {}, fault)
        lineages = (self.knowledge.lineage(subject), self.knowledge.lineage(target))
        for key, lineage in (("versions", lineages[0]), ("object_versions", lineages[1]), ("to_versions", lineages[0]), ("stop", lineages[0])):
            try:
                if parse_range(fields.get(key) or "", lineage).is_empty:
                    fault(f"no version lies in the range {fields[key]!r}; are its ends the wrong way round?", key)
            except InputError as error:
                fault(str(error), key)
        for key in ("introduced", "deprecated", "removed") if kind == "api" else ():
            try:
                parse(fields.get(key) or "0.0", lineages[0])
            except InputError as error:
                fault(str(error), key)
        when = fields.get("when")
        for name, text in when.items() if isinstance(when, Mapping) else ():
            try:
                parse_range(text, self.knowledge.lineage(self.name(name, fault, "when")))
            except InputError as error:
                fault(str(error), "when")
        return Claim(
            id=identity,
            kind=kind,
            subject=subject,
            versions=fields.get("versions") or "",
            object=target,
            object_versions=fields.get("object_versions") or "",
            scope=scope,
            grade=grade,
            severity=fields.get("severity") or "must",
            closed=_closed(kind, grade, fields, origin.layer),
            known_from=known_from,
            known_until=known_until,
            source=source,
            summary=_fill(summary, fields, subject, target, scope),
            detail={key: _plain(value) for key, value in fields.items() if key not in _COMMON},
            layer=origin.layer,
            subject_lineage=lineages[0],
            object_lineage=lineages[1],
        )

    def check_extent(self, subject: str, target: str, fields: Mapping[str, Any], fault: Any) -> None:
        """An own result is about the versions that were tried: one that forgets to say which would vouch for all of them."""
        released = {release.subject for release in self.knowledge.releases}
        for key, name in (("versions", subject), ("object_versions", target)):
            owner = self.knowledge.subjects[name].releases_of or name if name in self.knowledge.subjects else ""
            if owner in released and not (fields.get(key) or fields.get("skew") or (key == "object_versions" and fields.get("object_where"))):
                fault(f"{key} is missing; say which versions of {name} it is about, such as '>=0' for all of them", key)

    def name(self, name: str, fault: Any, key: str) -> str:
        for subject in self.knowledge.subjects.values():
            if name == subject.id or name in subject.aliases:
                return subject.id
        if key == "object" and name in self.knowledge.vocabulary.objects:
            return name
        known = [*self.names, *self.knowledge.vocabulary.objects] if key == "object" else [*self.names]
        fault(f"{key} {printable(name)!r} is neither a subject nor in {_VOCABULARY}{nearest(name, known)}", key)
        return name

    def source(self, origin: Origin, fields: Mapping[str, Any], fault: Any) -> Source:
        given = fields.get("source")
        if isinstance(given, str):
            if given not in origin.sources:
                fault(f"source {given!r} is not under sources{nearest(given, list(origin.sources))}", "source")
                return Source()
            given = origin.sources[given]
        if not isinstance(given, SourceEntry):
            fault("source is missing; say where the statement can be read", "source")
            return Source()
        values = given.model_dump()
        if fields.get("ref"):
            values["ref"] = fields["ref"]
        if not any(values.values()):
            fault("source is empty; say where the statement can be read", "source")
        return Source(**values)

    def dates(self, origin: Origin, fields: Mapping[str, Any], fault: Any) -> tuple[date, date | None]:
        said, after, before = fields.get("said"), fields.get("said_after"), fields.get("said_before")
        if after and before and after > before:
            fault(f"said_after {after} comes later than said_before {before}", "said_after")
        known_from = said or before or max(origin.as_of, after or origin.as_of)
        until = fields.get("until") or fields.get("until_before") or fields.get("until_after")
        if until and until < known_from:
            fault(f"the dates are in disorder: said {known_from}, until {until}", "until")
        ends = [fields.get(key) for key in ("supported_until", "maintenance_until", "extended_until")]
        given = [end for end in ends if end]
        if given != sorted(given):
            fault("the dates are in disorder: expected supported_until <= maintenance_until <= extended_until", "supported_until")
        return known_from, until

    def scope(self, given: Mapping[str, str | list[str]], fault: Any) -> dict[str, tuple[str, ...]]:
        words = self.knowledge.vocabulary.scope
        result: dict[str, tuple[str, ...]] = {}
        for word, value in given.items():
            values = (value,) if isinstance(value, str) else tuple(value)
            if word not in words:
                fault(f"unknown scope word {word!r}{nearest(word, list(words))}", "scope", word)
                continue
            known = words[word].values
            for item in values:
                if known and item not in known and item not in words[word].wider:
                    fault(f"unknown value {item!r} of scope word {word}{nearest(item, known)}", "scope", word)
            result[word] = values
        return dict(sorted(result.items()))

    def check_references(self) -> None:
        for claim in self.knowledge.claims:
            for key in ("contradicted_by", "corroborated_by", "superseded_by"):
                for other in claim.detail.get(key) or ():
                    if _REFERENCE.match(other) and "-" in other and other not in self.knowledge.places:
                        self.faults.append(Fault(self.knowledge.places[claim.id], f"{claim.id}: {key} names the claim {other!r}, which does not exist"))
        for subject in self.knowledge.subjects.values():
            for procedure in subject.component.get("procedures", ()):
                for action in (*procedure.get("do", ()), *procedure.get("verify", ())):
                    for other in action.get("claims", ()):
                        if other not in self.knowledge.places:
                            self.faults.append(Fault(subject.id, f"procedures: an action cites the claim {other!r}, which does not exist"))


def _given(entry: ClaimFields) -> dict[str, Any]:
    return {key: getattr(entry, key) for key in entry.model_fields_set if getattr(entry, key) is not None and key not in ("rows", "id")}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    return value


def _closed(kind: str, grade: str, fields: Mapping[str, Any], layer: str) -> bool:
    """A vendor's support table is a closed list unless the entry says otherwise; a list of what CI runs is not, nor what users tested."""
    if "closed" in fields:
        return bool(fields["closed"])
    return layer == BUILT_IN and kind == "support" and grade == "tested" and fields.get("basis") != "ci"


def _fill(template: str, fields: Mapping[str, Any], subject: str, target: str, scope: Mapping[str, tuple[str, ...]]) -> str:
    words = "; ".join(f"{word} {', '.join(values)}" for word, values in scope.items())
    values = {
        "subject": subject,
        "object": target,
        "versions": for_people(fields.get("versions") or "every version"),
        "object_versions": for_people(fields.get("object_versions") or "any version"),
        "scope": words or "everywhere",
    }
    for key, value in values.items():
        template = template.replace("{" + key + "}", value)
    return template


def slug(text: str) -> str:
    """Text in the form of an id."""
    return re.sub(r"-+", "-", re.sub(r"[^a-z0-9.]+", "-", text.lower())).strip("-.")


def _row_id(table: str, defaults: Mapping[str, Any], row: Any, cell: str | None) -> str:
    """Make the id of a row that gives none: readable, and stable as long as the row's meaning is."""
    fields = {**defaults, **_given(row)}
    scope = row.scope or {}
    where = "-".join(slug(value if isinstance(value, str) else "-".join(value)) for _, value in sorted(scope.items()))
    if len(where) > 32:
        where = hashlib.sha256(where.encode()).hexdigest()[:8]
    target = cell or (row.object or "")
    objects = slug(row.object_versions or "")
    if len(objects) > 40:
        objects = hashlib.sha256(objects.encode()).hexdigest()[:8]
    parts = [table, slug(fields.get("versions") or ""), target, objects, where, str(fields.get("said") or "")]
    return "-".join(part for part in parts if part)
