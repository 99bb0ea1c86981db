"""``compat kb check`` and ``compat kb new-claim``: files of knowledge, the built-in ones and one's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.options import resolved, write_out
from compat.errors import InputError, nearest, printable

__all__ = ["check", "new_claim"]

_NEEDED = ("kind", "subject", "summary", "source_url")


def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE|FOLDER]...", help="Overlay files, or folders of them; a folder of knowledge files, or an export.  [default: what is used]"
        ),
    ] = None,
) -> None:
    """Validate knowledge files and overlays: every fault with file and line, exit code 2 if there is one.

    An overlay is checked on top of the built-in knowledge and of the overlays before it. What is probably a slip is a warning, which
    docs/data-format.md explains; it does not change the exit code.
    """
    from cli.render import kb_check as renderer
    from compat.knowledge import load_knowledge
    from compat.layers import read_overlay
    from compat.places import configured_overlays, data_directory, overlays_in

    exports = {path: content for path in paths or () if path.is_file() and (content := _export(path)) is not None}
    folders = [path for path in paths or () if path in exports or (path.is_dir() and (path / "vocabulary.yaml").is_file())]
    if len(folders) > 1:
        raise InputError("give one folder of knowledge files, or one export, at a time; more may be given of overlays")
    files = [] if paths else configured_overlays()
    for path in paths or ():
        found = overlays_in(path) if path.is_dir() else [path]
        if path.is_dir() and not found:
            raise InputError(f"{printable(path, 200)}: no *.yaml files in this folder")
        files += [] if path in folders else found
    base = folders[0] if folders else data_directory()
    overlays = [read_overlay(path) for path in files]
    if base in exports:
        from compat.snapshot_reader import read_snapshot

        knowledge = read_snapshot(exports[base], printable(base, 200), overlays)
    else:
        knowledge = load_knowledge(base, overlays)
    typer.echo(renderer.render_warnings(knowledge, of_overlays=bool(paths) and not folders), nl=False)
    today = date.today()
    for layer, overlay in zip(knowledge.layers, overlays, strict=True):
        claims = [claim for claim in knowledge.claims if claim.layer == layer.id]
        bans = sum(1 for claim in claims if not claim.object and claim.detail.get("owner"))
        retired = sum(1 for entry in knowledge.retired if entry.layer == layer.id)
        accepted = [entry for entry in knowledge.accepted if entry.layer == layer.id]
        numbers = ((len(claims) - bans, "claim"), (bans, "ban"), (retired, "retired claim"), (len(accepted), "accepted risk"))
        counts = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in numbers)
        typer.echo(f"{overlay.path}: overlay {layer.id}: {counts}: no faults")
        for entry in accepted:
            if not entry.counts_on(today):
                over = f"{entry.owner} accepted {printable(entry.id, 200)} until {entry.expires}, which is over; it does not count any more"
                typer.echo(f"compat: {overlay.path}: warning: {over}", err=True)
    if not paths or folders:
        typer.echo(renderer.render_counts(knowledge), nl=False)


def _export(path: Path) -> bytes | None:
    """The bytes of an export; None for another file."""
    from compat.signing import read_bytes
    from compat.snapshots import MAX_BYTES, is_snapshot

    content = read_bytes(path, MAX_BYTES, "file")
    return content if is_snapshot(content) else None


def new_claim(
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", help="support (works together), conflict, require, lifecycle, ...")] = None,
    subject: Annotated[str | None, typer.Option("--subject", metavar="COMPONENT", help="What it is about.")] = None,
    versions: Annotated[str | None, typer.Option("--versions", metavar="RANGE", help="Its versions, such as 26.7.0 or '>=25.3,<26'.")] = None,
    target: Annotated[str | None, typer.Option("--object", metavar="COMPONENT", help="The other component.")] = None,
    object_versions: Annotated[str | None, typer.Option("--object-versions", metavar="RANGE", help="Versions of the other component.")] = None,
    scope: Annotated[list[str] | None, typer.Option("--scope", metavar="WORD=VALUE", help="Where it holds. Repeatable.")] = None,
    grade: Annotated[str | None, typer.Option("--grade", metavar="GRADE", help="tested, declared or inferred.  [default: tested for support]")] = None,
    severity: Annotated[str | None, typer.Option("--severity", metavar="SEVERITY", help="must or should.  [default: must]")] = None,
    said: Annotated[str | None, typer.Option("--said", metavar="DATE", help="Day since when it can be read.  [default: today]")] = None,
    source_url: Annotated[str | None, typer.Option("--source-url", metavar="URL|PATH", help="Where the result can be read.")] = None,
    summary: Annotated[str | None, typer.Option("--summary", metavar="TEXT", help="One sentence in your own words.")] = None,
    identity: Annotated[str | None, typer.Option("--id", metavar="ID", help="Id of the claim.  [default: made of the other values]")] = None,
    overlay_id: Annotated[str, typer.Option("--overlay-id", metavar="ID", help="Id of the new overlay.")] = "our-tests",
    overlay_title: Annotated[str, typer.Option("--overlay-title", metavar="TEXT", help="Title of the new overlay.")] = "Our own results",
    into: Annotated[
        Path | None, typer.Option("--into", metavar="FILE", help="Add the claim to this overlay, or make it; comments stay. Default: print a new overlay.")
    ] = None,
) -> None:
    """Write a claim of your own: prints a complete overlay, or adds to one; on a terminal it asks for what is missing."""
    from compat import Matrix
    from compat.claim_reader import slug
    from compat.claim_writer import append_claim, new_overlay
    from compat.claims import KINDS
    from compat.knowledge import load_knowledge
    from compat.layers import OverlayText, read_overlay
    from compat.places import data_directory

    given = {"kind": kind, "subject": subject, "versions": versions, "object": target, "object_versions": object_versions}
    given |= {"source_url": source_url, "summary": summary}
    matrix = Matrix.load(configured_overlays=False)
    known = [*matrix.subjects, *(alias for item in matrix.subjects.values() for alias in item.aliases)]
    given = _asked(given)
    if given["kind"] not in KINDS:
        raise InputError(f"--kind: unknown kind {printable(given['kind'])!r}{nearest(str(given['kind']), KINDS)}; known: {', '.join(KINDS)}")
    day = _day(said)
    place = str(given["source_url"])
    claim: dict[str, Any] = {
        "id": identity or slug("-".join(str(given[key]) for key in ("subject", "versions", "kind", "object", "object_versions") if given[key])),
        **{key: given[key] for key in ("kind", "subject", "versions", "object", "object_versions") if given[key]},
        "scope": {word: list(values) if len(values) > 1 else values[0] for word, values in matrix.words.parse(scope or ()).items()},
        "grade": grade or ("tested" if given["kind"] == "support" else None),
        "severity": severity,
        "said": day,
        "source": {"url" if "://" in place else "path": place},
        "summary": given["summary"],
    }
    claim = {key: value for key, value in claim.items() if value}
    with _alone(into):
        existing = read_overlay(into) if into is not None and into.exists() else None
        if existing is None:
            for option, name in (("--subject", given["subject"]), ("--object", given["object"])):
                if name and name not in known and not (option == "--object" and name in matrix.store.objects()):
                    raise InputError(f"{option}: unknown component {printable(name)!r}{nearest(name, known) or '; see `compat kb list`'}")
        text = append_claim(existing, claim) if existing is not None else new_overlay(overlay_id, overlay_title, day, claim)
        load_knowledge(data_directory(), [OverlayText(printable(into, 200) if into else "the new overlay", text.encode())])
        write_out(text, into, "--into")
    if into is not None:
        typer.echo(f"compat: {printable(into, 200)}: added {claim['id']}; use it with --overlay {printable(into, 200)}", err=True)


@contextmanager
def _alone(target: Path | None) -> Iterator[None]:
    """Have nobody else write *target* between reading and replacing it, where it is a file in a folder that is there."""
    from compat.locking import locked, own_lock

    place = None if target is None or str(target) == "-" else resolved(target, "--into")
    if place is None or not place.parent.is_dir() or (place.exists() and not place.is_file()):
        yield
        return
    with locked(place, own_lock(place)):
        yield


def _asked(given: dict[str, str | None]) -> dict[str, str | None]:
    """Ask for what is missing on a terminal; elsewhere say which options have to be given."""
    missing = [name for name in _NEEDED if not given[name]]
    if not missing:
        return given
    if not sys.stdin.isatty():
        raise InputError(f"give {', '.join('--' + name.replace('_', '-') for name in missing)}; on a terminal they are asked for")
    words = {
        "kind": "Kind (support: works together; conflict: does not)",
        "subject": "Component",
        "versions": "Its versions",
        "object": "Other component (empty: none)",
        "object_versions": "Versions of the other component",
        "source_url": "Where the result can be read (address or path)",
        "summary": "In one sentence",
    }
    return {
        name: given[name] or typer.prompt(text, default=None if name in _NEEDED else "", show_default=False, err=True) or None for name, text in words.items()
    }


def _day(text: str | None) -> date:
    try:
        return date.fromisoformat(text) if text else date.today()
    except ValueError as error:
        raise InputError(f"--said: expected a date such as 2026-08-25, found {printable(text)!r}") from error
