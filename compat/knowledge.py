"""The knowledge base as read from YAML: every file checked, tables expanded, all faults reported at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from compat.claim_reader import ClaimReader, Knowledge, Origin
from compat.claims import Release, Subject
from compat.documents import Document, read_file
from compat.errors import CompatError, Fault, InputError, KnowledgeError, nearest, printable
from compat.faults import model_faults
from compat.layers import MAX_BYTES, OverlayText
from compat.ranges import parse_range
from compat.schema import ReleaseEntry, SubjectFile, VersionRules, Vocabulary
from compat.versions import Lineage, parse

if TYPE_CHECKING:
    from compat.overlay_reader import OverlayReader

__all__ = ["Knowledge", "Reader", "data_files", "layer_reader", "load_knowledge"]

_VOCABULARY = "vocabulary.yaml"

Entries = Sequence[tuple[Any, tuple[str | int, ...]]]
"""Subjects as they are written, each with its place in the file."""


def data_files(folder: Path) -> list[Path]:
    """Return the knowledge files of *folder*, in name order."""
    return sorted(path for path in folder.glob("*.yaml") if path.is_file())


class Reader:
    """Reads subjects and releases; claims it hands on."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.knowledge = Knowledge(vocabulary)
        self.faults: list[Fault] = []
        self.names: set[str] = set()
        self.feeds: set[str] = set()
        self.claims = ClaimReader(self.knowledge, self.names, self.faults)

    def fault(self, document: Document, path: Sequence[str | int], what: str) -> None:
        """Note a fault at a place of a file."""
        self.faults.append(Fault(document.where(path), what))

    # -- subjects and releases

    def add_subjects(self, document: Document, entries: Entries, as_of: date) -> None:
        """Note the subjects of a file, so that claims of all files may speak of them."""
        for entry, path in entries:
            if entry.subject in self.knowledge.subjects:
                self.fault(document, (*path, "subject"), f"the subject {entry.subject!r} exists already; keep one file for it")
                continue
            self.knowledge.subjects[entry.subject] = Subject(
                id=entry.subject,
                title=entry.title,
                as_of=as_of,
                aliases=tuple(entry.aliases),
                lineage=self.lineage(document, (*path, "versions"), entry.subject, entry.versions),
                releases_of=entry.releases_of or "",
                component=entry.component.model_dump(exclude_defaults=True),
            )
            for name in (entry.subject, *entry.aliases):
                if name in self.names:
                    self.fault(document, path, f"the name {name!r} stands for two subjects")
                self.names.add(name)

    def lineage(self, document: Document, path: Sequence[str | int], product: str, rules: VersionRules) -> Lineage:
        try:
            re.compile(rules.pattern)
            return Lineage(product, {int(number): epoch for number, epoch in rules.epochs.items()}, rules.pattern)
        except (ValueError, re.error) as error:
            self.fault(document, path, f"versions: {error}")
            return Lineage(product)

    def add_releases(self, document: Document, entries: Iterable[ReleaseEntry], as_of: date, default: str = "") -> None:
        """Read the releases of a file; *default* is the subject of those that name none."""
        seen: set[tuple[str, str]] = set()
        for index, entry in enumerate(entries):
            path = ("releases", index)
            subject = entry.subject or default
            if subject not in self.knowledge.subjects:
                self.fault(document, path, f"a release of the unknown subject {subject!r}{nearest(subject, list(self.knowledge.subjects))}")
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
            known = entry.released or entry.planned or as_of
            self.knowledge.releases.append(Release(subject, version, entry.released, known, entry.channel))

    def check_feeds(self, document: Document, file: SubjectFile) -> None:
        """Ids of feeds, over all files, and the names that feeds speak of."""
        for index, feed in enumerate(file.feeds):
            identity = feed.id or f"{feed.subject or file.subject}-{feed.kind}"
            if identity in self.feeds:
                self.fault(document, ("feeds", index), f"there is a feed {identity!r} already; give this one an `id` of its own")
            self.feeds.add(identity)
            for name in feed.names():
                if name not in self.knowledge.subjects:
                    self.fault(document, ("feeds", index), f"{identity}: {name!r} is no subject{nearest(name, list(self.knowledge.subjects))}")

    def check_components(self, document: Document, entries: Entries) -> None:
        """Names, scopes and patterns in what planner and matrix need to know about a subject."""
        for entry, path in entries:
            component = entry.component
            where: tuple[str | int, ...] = (*path, "component")

            def fault(what: str, *key: str | int, where: tuple[str | int, ...] = where) -> None:
                self.fault(document, (*where, *key), what)

            if entry.releases_of:
                self.claims.name(entry.releases_of, lambda what, *_, path=path: self.fault(document, (*path, "releases_of"), what), "releases_of")
            for name, reliance in component.relies_on.items():
                self.claims.name(name, fault, "relies_on")
                self.claims.scope(reliance.scope, fault)
            if component.assume_with:
                self.claims.name(component.assume_with, fault, "assume_with")
            for scope in (component.present_in, *(procedure.scope for procedure in component.procedures), *(item.scope for item in component.text_scope)):
                self.claims.scope(scope, fault)
            for procedure in component.procedures:
                self.claims.scope(procedure.means, fault)
                for action in (*procedure.do, *procedure.verify):
                    self.claims.scope(action.scope, fault)
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


def _subjects_of(file: SubjectFile) -> Entries:
    return [(file, ()), *((entry, ("also", index)) for index, entry in enumerate(file.also))]


def load_knowledge(folder: Path, overlays: Sequence[OverlayText] = ()) -> Knowledge:
    """Read every subject of *folder*, and *overlays* on top of it.

    Raises:
        KnowledgeError: with every fault of every file, each with file and line.
    """
    vocabulary_file = read_file(folder / _VOCABULARY, MAX_BYTES, f"{folder.name}/{_VOCABULARY}")
    try:
        vocabulary = Vocabulary.model_validate(vocabulary_file.value)
    except ValidationError as error:
        raise KnowledgeError(model_faults(vocabulary_file, error, Vocabulary)) from error
    reader = Reader(vocabulary)
    files: list[tuple[Document, SubjectFile]] = []
    for path in data_files(folder):
        if path.name == _VOCABULARY:
            continue
        try:
            document = read_file(path, MAX_BYTES, f"{folder.name}/{path.name}")
            file = SubjectFile.model_validate(document.value)
            reader.add_subjects(document, _subjects_of(file), file.as_of)
            files.append((document, file))
        except ValidationError as error:
            reader.faults.extend(model_faults(document, error, SubjectFile))
        except InputError as error:
            reader.faults.extend(getattr(error, "faults", ()))
    reader.knowledge.built_in = max((file.as_of for _, file in files), default=date.min)
    layers = layer_reader(reader, overlays)
    for document, file in files:
        reader.add_releases(document, file.releases, file.as_of, file.subject)
    for document, file in files:
        reader.claims.add_claims(Origin(document, file.as_of, file.sources, file.subject), file.claims, file.tables)
        reader.check_components(document, _subjects_of(file))
        reader.check_feeds(document, file)
    if layers is not None:
        layers.read_releases()
        layers.read_claims()
    reader.claims.check_references()
    if reader.faults:
        raise KnowledgeError(reader.faults)
    return reader.knowledge


def layer_reader(reader: Reader, overlays: Sequence[OverlayText]) -> OverlayReader | None:
    """Begin to read overlays: their subjects have to be known before any claim is read."""
    if not overlays:
        return None
    from compat.overlay_reader import OverlayReader

    found = OverlayReader(reader, overlays)
    found.read_form()
    return found
