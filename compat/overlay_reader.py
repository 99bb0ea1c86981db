"""Reading overlays: their claims go the way of all others; bans become claims, retirements and acceptances are looked up and kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from compat.claim_reader import ClaimReader, Knowledge, Origin, slug
from compat.claims import BUILT_IN, Claim
from compat.documents import Document, decode, read_document
from compat.errors import Fault, InputError, nearest, printable
from compat.faults import model_faults
from compat.layers import Acceptance, Layer, OverlayText, Retirement
from compat.overlay_schema import BanEntry, OverlayFile
from compat.schema import SourceEntry

if TYPE_CHECKING:
    from compat.knowledge import Reader

__all__ = ["OverlayReader"]


class OverlayReader:
    """Reads overlays on top of a knowledge base that is being read."""

    def __init__(self, reader: Reader, overlays: Sequence[OverlayText]) -> None:
        self.reader = reader
        self.knowledge: Knowledge = reader.knowledge
        self.claims: ClaimReader = reader.claims
        self.overlays = overlays
        self.files: list[tuple[Document, OverlayFile]] = []

    def read_form(self) -> None:
        """Read every file and note its subjects, so that all layers may speak of them."""
        places: dict[str, str] = {BUILT_IN: "the built-in knowledge"}
        for overlay in self.overlays:
            try:
                document = read_document(decode(overlay.content, overlay.path), overlay.path)
                if faults := list(_unprintable(document, document.value, ())):
                    self.reader.faults += faults
                    continue
                file = OverlayFile.model_validate(document.value)
            except ValidationError as error:
                self.reader.faults += [_hinted(document, fault) for fault in model_faults(document, error, OverlayFile)]
                continue
            except InputError as error:
                self.reader.faults.extend(getattr(error, "faults", ()))
                continue
            if file.overlay in places:
                what = f"the overlay id {file.overlay!r} is taken by {places[file.overlay]}; every overlay has one of its own"
                self.reader.fault(document, ("overlay",), what)
                continue
            places[file.overlay] = document.where(("overlay",))
            self.knowledge.layers.append(Layer(file.overlay, file.title, file.as_of, overlay.digest))
            self.reader.add_subjects(document, [(entry, ("subjects", index)) for index, entry in enumerate(file.subjects)], file.as_of)
            self.files.append((document, file))

    def read_releases(self) -> None:
        """Read releases; one that an earlier layer lists already is left out, so that an update of the program breaks nobody's file."""
        for document, file in self.files:
            listed = {(release.subject, release.version.key) for release in self.knowledge.releases}
            before = len(self.knowledge.releases)
            self.reader.add_releases(document, file.releases, file.as_of)
            fresh = [release for release in self.knowledge.releases[before:] if (release.subject, release.version.key) not in listed]
            self.knowledge.releases[before:] = fresh

    def read_claims(self) -> None:
        """Read claims, bans, retirements and acceptances of all files."""
        for document, file in self.files:
            origin = Origin(document, file.as_of, file.sources, layer=file.overlay)
            self.claims.add_claims(origin, file.claims, file.tables)
            self.reader.check_components(document, [(entry, ("subjects", index)) for index, entry in enumerate(file.subjects)])
            for index, ban in enumerate(file.bans):
                self._ban(origin, index, ban)
            self._accepted(document, file)
        by_id = {claim.id: claim for claim in self.knowledge.claims}
        for document, file in self.files:
            self._retired(document, file, by_id)
        self._retire()

    def _ban(self, origin: Origin, index: int, ban: BanEntry) -> None:
        path = ("bans", index)
        words = [slug(value if isinstance(value, str) else "-".join(value)) for _, value in sorted(ban.scope.items())]
        identity = ban.id or "-".join(part for part in (origin.layer, "ban", ban.component, slug(ban.versions), *words) if part)
        fields: dict[str, Any] = {
            "kind": "conflict",
            "subject": ban.component,
            "versions": ban.versions,
            "scope": ban.scope,
            "said": ban.said or origin.as_of,
            "until": ban.until,
            "source": ban.source or SourceEntry(path=origin.document.name.replace("\\", "/").rpartition("/")[2], locator="bans"),
            "summary": f"{{subject}} {{versions}} is banned by {ban.owner}: {ban.reason}",
            "owner": ban.owner,
            "reason": ban.reason,
        }
        self.claims.add(origin, path, identity, fields)

    def _accepted(self, document: Document, file: OverlayFile) -> None:
        known = {(entry.layer, entry.id) for entry in self.knowledge.accepted}
        for index, entry in enumerate(file.accepted):
            if (file.overlay, entry.id) in known:
                self.reader.fault(document, ("accepted", index, "id"), f"the risk {printable(entry.id)} is accepted twice; keep one of the entries")
            known.add((file.overlay, entry.id))
            self.knowledge.accepted.append(Acceptance(entry.id, entry.owner, entry.expires, entry.reason, file.overlay))

    def _retired(self, document: Document, file: OverlayFile, by_id: Mapping[str, Claim]) -> None:
        seen: set[str] = set()
        for index, entry in enumerate(file.retired):
            path = ("retired", index, "id")
            if entry.id not in by_id:
                if entry.id not in self.knowledge.places:  # else it is a claim with faults of its own
                    hint = nearest(entry.id, list(by_id))
                    self.reader.fault(document, path, f"there is no claim {entry.id!r} to retire{hint or '; `compat kb show COMPONENT` lists the ids'}")
            elif by_id[entry.id].layer == file.overlay:
                self.reader.fault(document, path, f"the claim {entry.id!r} is of this overlay itself; take it out, or give it `until`")
            elif entry.id in seen:
                self.reader.fault(document, path, f"the claim {entry.id!r} is retired twice; keep one of the entries")
            else:
                self.knowledge.retired.append(Retirement(entry.id, file.overlay, entry.reason, entry.said or file.as_of))
            seen.add(entry.id)

    def _retire(self) -> None:
        """End the retired claims: of several retirements the first counts."""
        first: dict[str, Retirement] = {}
        for entry in sorted(self.knowledge.retired, key=lambda item: item.said):
            first.setdefault(entry.claim, entry)
        for place, claim in enumerate(self.knowledge.claims if first else ()):
            if (found := first.get(claim.id)) is not None:
                note = {"by": found.layer, "reason": found.reason, "said": found.said.isoformat(), "until": _iso(claim.known_until)}
                ends = min(found.said, claim.known_until or date.max)
                self.knowledge.claims[place] = replace(claim, known_until=ends, detail={**claim.detail, "retired": note})


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _unprintable(document: Document, value: Any, path: tuple[str | int, ...]) -> Iterator[Fault]:
    """Texts that would drive a terminal or hide in a ticket: overlays are passed around."""
    if isinstance(value, str) and not all(letter.isprintable() or letter in "\n\t" for letter in value):
        yield Fault(document.where(path), f"{printable(value)!r} has control characters; write printable text")
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _unprintable(document, inner, (*path, key))


def _hinted(document: Document, fault: Fault) -> Fault:
    """Say what a file is that has the form of another one."""
    if isinstance(document.value, dict) and "subject" in document.value and "overlay" not in document.value and "overlay: this key is missing" in fault.what:
        return Fault(fault.where, "this is a subject file, no overlay; an overlay starts with `overlay: ID`. Check the folder of a subject file as a whole")
    return fault
