"""The knowledge base as read from YAML: every file checked, tables expanded, all faults reported at once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from compat.claims import Claim, Release, Source, Subject
from compat.documents import Document, read_file
from compat.errors import CompatError, Fault, InputError, KnowledgeError, nearest, printable
from compat.faults import model_faults
from compat.ranges import parse_range
from compat.schema import ClaimFields, SourceEntry, SubjectFile, VersionRules, Vocabulary
from compat.versions import PLAIN, Lineage, parse

__all__ = ["MAX_BYTES", "Knowledge", "data_files", "load_knowledge"]

MAX_BYTES = 8 * 1024 * 1024
"""Largest file of the knowledge base that is read."""
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

    def lineage(self, name: str) -> Lineage:
        """Lineage of a subject, or plain number order for a name that is none."""
        subject = self.subjects.get(name)
        return subject.lineage if subject else PLAIN


def data_files(folder: Path) -> list[Path]:
    """Return the knowledge files of *folder*, in name order."""
    return sorted(path for path in folder.glob("*.yaml") if path.is_file())


class _Reader:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self.knowledge = Knowledge(vocabulary)
        self.faults: list[Fault] = []
        self.files: list[tuple[Document, SubjectFile]] = []
        self.names: set[str] = set()

    def fault(self, document: Document, path: Sequence[str | int], what: str) -> None:
        self.faults.append(Fault(document.where(path), what))

    # -- subjects and releases

    def add_subjects(self, document: Document, file: SubjectFile) -> None:
        entries: Iterable[tuple[Any, tuple[str | int, ...]]] = [(file, ())] + [(entry, ("also", index)) for index, entry in enumerate(file.also)]
        for entry, path in entries:
            if entry.subject in self.knowledge.subjects:
                self.fault(document, (*path, "subject"), f"the subject {entry.subject!r} exists already; keep one file for it")
                continue
            self.knowledge.subjects[entry.subject] = Subject(
                id=entry.subject,
                title=entry.title,
                as_of=file.as_of,
                aliases=tuple(entry.aliases),
                lineage=self.lineage(document, (*path, "versions"), entry.subject, entry.versions),
                releases_of=entry.releases_of or "",
                component=entry.component.model_dump(exclude_defaults=True),
            )
            for name in (entry.subject, *entry.aliases):
                if name in self.names:
                    self.fault(document, path, f"the name {name!r} stands for two subjects")
                self.names.add(name)
        self.files.append((document, file))

    def lineage(self, document: Document, path: Sequence[str | int], product: str, rules: VersionRules) -> Lineage:
        try:
            re.compile(rules.pattern)
            return Lineage(product, {int(number): epoch for number, epoch in rules.epochs.items()}, rules.pattern)
        except (ValueError, re.error) as error:
            self.fault(document, path, f"versions: {error}")
            return Lineage(product)

    def add_releases(self, document: Document, file: SubjectFile) -> None:
        seen: set[tuple[str, str]] = set()
        for index, entry in enumerate(file.releases):
            path = ("releases", index)
            subject = entry.subject or file.subject
            if subject not in self.knowledge.subjects:
                self.fault(document, path, f"a release of the unknown subject {subject!r}")
                continue
            lineage = self.knowledge.lineage(subject)
            try:
                version = parse(entry.version, lineage)
            except InputError as error:
                self.fault(document, path, str(error))
                continue
            if (subject, entry.version) in seen:
                self.fault(document, path, f"the release {subject} {entry.version} is listed twice")
            seen.add((subject, entry.version))
            known = entry.released or entry.planned or file.as_of
            self.knowledge.releases.append(Release(subject, version, entry.released, known, entry.channel))

    # -- claims

    def add_claims(self, document: Document, file: SubjectFile) -> None:
        for index, entry in enumerate(file.claims):
            self.add_claim(document, file, ("claims", index), entry.id, {}, entry)
        for number, table in enumerate(file.tables):
            defaults = _given(table)
            for index, row in enumerate(table.rows):
                path = ("tables", number, "rows", index)
                if row.cells is None:
                    self.add_claim(document, file, path, row.id or _row_id(table.id, defaults, row, None), defaults, row)
                    continue
                for name, versions in row.cells.items():
                    cell = row.model_copy(update={"object": name, "object_versions": versions, "cells": None})
                    prefix = f"{row.id}-{name}" if row.id else _row_id(table.id, defaults, row, name)
                    self.add_claim(document, file, (*path, "cells", name), prefix, defaults, cell)

    def add_claim(
        self, document: Document, file: SubjectFile, path: tuple[str | int, ...], identity: str, defaults: Mapping[str, Any], entry: ClaimFields
    ) -> None:
        fields = {**defaults, **_given(entry)}
        if "scope" in defaults and entry.scope:
            fields["scope"] = {**defaults["scope"], **entry.scope}
        if identity in self.knowledge.places:
            self.fault(document, path, f"the claim id {identity!r} is taken by {self.knowledge.places[identity]}; ids are unique")
            return
        self.knowledge.places[identity] = document.where(path)
        before = len(self.faults)
        claim = self.build(document, file, path, identity, fields)
        if claim is not None and len(self.faults) == before:
            self.knowledge.claims.append(claim)

    def build(self, document: Document, file: SubjectFile, path: tuple[str | int, ...], identity: str, fields: dict[str, Any]) -> Claim | None:
        def fault(what: str, *key: str | int) -> None:
            self.fault(document, (*path, *key), f"{identity}: {what}")

        kind = fields.get("kind")
        summary = fields.get("summary")
        if not kind or not summary:
            fault(f"{'kind' if not kind else 'summary'} is missing")
            return None
        subject = self.name(fields.get("subject") or file.subject, fault, "subject")
        target = self.name(fields["object"], fault, "object") if fields.get("object") else ""
        source = self.source(file, fields, fault)
        grade = fields.get("grade") or ("inferred" if fields.get("confidence") == "low" else "declared")
        if grade == "tested" and not source.link:
            fault("a claim graded tested needs a source that a reader can open", "source")
        known_from, known_until = self.dates(file, fields, fault)
        newest = max(subject.as_of for subject in self.knowledge.subjects.values())
        if known_from > newest:
            fault(f"said {known_from}, after {newest}, the newest as_of of all files; raise as_of to the date of the newest source", "said")
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
            closed=_closed(kind, grade, fields),
            known_from=known_from,
            known_until=known_until,
            source=source,
            summary=_fill(summary, fields, subject, target, scope),
            detail={key: _plain(value) for key, value in fields.items() if key not in _COMMON},
            subject_lineage=lineages[0],
            object_lineage=lineages[1],
        )

    def name(self, name: str, fault: Any, key: str) -> str:
        for subject in self.knowledge.subjects.values():
            if name == subject.id or name in subject.aliases:
                return subject.id
        if key == "object" and name in self.knowledge.vocabulary.objects:
            return name
        known = [*self.names, *self.knowledge.vocabulary.objects] if key == "object" else [*self.names]
        fault(f"{key} {printable(name)!r} is neither a subject nor in {_VOCABULARY}{nearest(name, known)}", key)
        return name

    def source(self, file: SubjectFile, fields: Mapping[str, Any], fault: Any) -> Source:
        given = fields.get("source")
        if isinstance(given, str):
            if given not in file.sources:
                fault(f"source {given!r} is not under sources{nearest(given, list(file.sources))}", "source")
                return Source()
            given = file.sources[given]
        if not isinstance(given, SourceEntry):
            fault("source is missing; say where the statement can be read", "source")
            return Source()
        values = given.model_dump()
        if fields.get("ref"):
            values["ref"] = fields["ref"]
        if not any(values.values()):
            fault("source is empty; say where the statement can be read", "source")
        return Source(**values)

    def dates(self, file: SubjectFile, fields: Mapping[str, Any], fault: Any) -> tuple[date, date | None]:
        said, after, before = fields.get("said"), fields.get("said_after"), fields.get("said_before")
        if after and before and after > before:
            fault(f"said_after {after} comes later than said_before {before}", "said_after")
        known_from = said or before or max(file.as_of, after or file.as_of)
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

    def check_components(self, document: Document, file: SubjectFile) -> None:
        """Names, scopes and patterns in what planner and matrix need to know about a subject."""
        entries: list[tuple[Any, tuple[str | int, ...]]] = [(file, ()), *((entry, ("also", index)) for index, entry in enumerate(file.also))]
        for entry, path in entries:
            component = entry.component
            where: tuple[str | int, ...] = (*path, "component")

            def fault(what: str, *key: str | int, where: tuple[str | int, ...] = where) -> None:
                self.fault(document, (*where, *key), what)

            if entry.releases_of:
                self.name(entry.releases_of, lambda what, *_, path=path: self.fault(document, (*path, "releases_of"), what), "releases_of")
            for name, reliance in component.relies_on.items():
                self.name(name, fault, "relies_on")
                self.scope(reliance.scope, fault)
            if component.assume_with:
                self.name(component.assume_with, fault, "assume_with")
            for scope in (component.present_in, *(procedure.scope for procedure in component.procedures), *(item.scope for item in component.text_scope)):
                self.scope(scope, fault)
            for procedure in component.procedures:
                for key, text in (("versions", procedure.versions), ("to_versions", procedure.to_versions)):
                    try:
                        parse_range(text, self.knowledge.lineage(entry.subject))
                    except CompatError as error:
                        fault(f"procedures: {key}: {error}", "procedures")
            if component.scope_word and component.scope_word not in self.knowledge.vocabulary.scope:
                fault(f"unknown scope word {component.scope_word!r}", "scope_word")
            for item in component.text_scope:
                try:
                    re.compile(item.pattern)
                except re.error as error:
                    fault(f"text_scope: {printable(item.pattern)!r} is no regular expression: {error}", "text_scope")

    def check_references(self) -> None:
        for claim in self.knowledge.claims:
            for key in ("contradicted_by", "corroborated_by", "superseded_by"):
                for other in claim.detail.get(key) or ():
                    if _REFERENCE.match(other) and "-" in other and other not in self.knowledge.places:
                        self.faults.append(Fault(self.knowledge.places[claim.id], f"{claim.id}: {key} names the claim {other!r}, which does not exist"))


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


def _closed(kind: str, grade: str, fields: Mapping[str, Any]) -> bool:
    """A vendor's support table is a closed list unless the entry says otherwise; a list of what CI runs is not."""
    if "closed" in fields:
        return bool(fields["closed"])
    return kind == "support" and grade == "tested" and fields.get("basis") != "ci"


def _fill(template: str, fields: Mapping[str, Any], subject: str, target: str, scope: Mapping[str, tuple[str, ...]]) -> str:
    words = "; ".join(f"{word} {', '.join(values)}" for word, values in scope.items())
    values = {
        "subject": subject,
        "object": target,
        "versions": fields.get("versions") or "every version",
        "object_versions": fields.get("object_versions") or "any version",
        "scope": words or "everywhere",
    }
    for key, value in values.items():
        template = template.replace("{" + key + "}", value)
    return template


def _slug(text: str) -> str:
    return re.sub(r"-+", "-", re.sub(r"[^a-z0-9.]+", "-", text.lower())).strip("-.")


def _row_id(table: str, defaults: Mapping[str, Any], row: Any, cell: str | None) -> str:
    """Make the id of a row that gives none: readable, and stable as long as the row's meaning is."""
    fields = {**defaults, **_given(row)}
    scope = row.scope or {}
    where = "-".join(_slug(value if isinstance(value, str) else "-".join(value)) for _, value in sorted(scope.items()))
    if len(where) > 32:
        where = hashlib.sha256(where.encode()).hexdigest()[:8]
    target = cell or (row.object or "")
    objects = _slug(row.object_versions or "")
    if len(objects) > 40:
        objects = hashlib.sha256(objects.encode()).hexdigest()[:8]
    parts = [table, _slug(fields.get("versions") or ""), target, objects, where, str(fields.get("said") or "")]
    return "-".join(part for part in parts if part)


def load_knowledge(folder: Path) -> Knowledge:
    """Read every subject of *folder*.

    Raises:
        KnowledgeError: with every fault of every file, each with file and line.
    """
    vocabulary_file = read_file(folder / _VOCABULARY, MAX_BYTES, f"{folder.name}/{_VOCABULARY}")
    try:
        vocabulary = Vocabulary.model_validate(vocabulary_file.value)
    except ValidationError as error:
        raise KnowledgeError(model_faults(vocabulary_file, error, Vocabulary)) from error
    reader = _Reader(vocabulary)
    for path in data_files(folder):
        if path.name == _VOCABULARY:
            continue
        try:
            document = read_file(path, MAX_BYTES, f"{folder.name}/{path.name}")
            reader.add_subjects(document, SubjectFile.model_validate(document.value))
        except ValidationError as error:
            reader.faults.extend(model_faults(document, error, SubjectFile))
        except InputError as error:
            reader.faults.extend(getattr(error, "faults", ()))
    for document, file in reader.files:
        reader.add_releases(document, file)
    for document, file in reader.files:
        reader.add_claims(document, file)
        reader.check_components(document, file)
    reader.check_references()
    if reader.faults:
        raise KnowledgeError(reader.faults)
    return reader.knowledge
