"""``compat kb update``: bring in what public feeds say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compat.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from compat.feeds.updating import Outcome, Update

__all__ = ["update"]

_ADVICE = (
    "compat: no feed could be read, and nothing was changed. Is there a way to the internet from here? Behind a proxy set HTTPS_PROXY; with a mirror"
    " use --feed-base; for a machine without a network copy update.yaml from another one's COMPAT_UPDATE_DIR into its own"
)


def update(
    subjects: Annotated[list[str] | None, typer.Argument(metavar="[SUBJECT]...", help="Components whose feeds are read.  [default: all]")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what is new and write nothing.")] = False,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=1, max=3600, help="Time for all feeds together.")] = 300,
    feed_base: Annotated[
        str,
        typer.Option("--feed-base", metavar="URL", help="Mirror of all feeds: https://HOST/PATH is read at URL/HOST/PATH.  [default: no mirror]"),
    ] = "",
    output_file: Annotated[
        Path | None,
        typer.Option("--output-file", metavar="FILE", help="Overlay to write.  [default: update.yaml in COMPAT_UPDATE_DIR]"),
    ] = None,
) -> None:
    """Read releases and machine-readable claims from public feeds, and write what is new as an overlay that every command then reads."""
    import os
    from datetime import date

    from cli.options import resolved, write_out
    from cli.render import update as renderer
    from compat import Matrix
    from compat.feeds.catalogue import catalogue, chosen
    from compat.feeds.fetch import Fetcher
    from compat.feeds.known import Known
    from compat.feeds.updating import read_feeds, write_update
    from compat.knowledge import load_knowledge
    from compat.layers import read_overlay
    from compat.places import cache_directory, data_directory, update_folder

    target = resolved(output_file or update_folder() / "update.yaml", "--output-file" if output_file else "COMPAT_UPDATE_DIR")
    if target.exists() and not target.is_file():
        raise InputError(f"expected the name of a file to write, found {printable(target, 200)}, which is something else")
    today = date.today()
    matrix = Matrix.load(as_of=today, configured_overlays=False)  # also where the file of an earlier update has faults: this one mends it
    feeds = catalogue(data_directory())
    names = [matrix.name(name) for name in subjects or ()]
    wanted = chosen(feeds, names)
    token = "" if feed_base else os.environ.get("GITHUB_TOKEN", "").strip()
    fetcher = Fetcher(cache_directory() / "feeds", base=feed_base, token=token, timeout=timeout)
    known = Known(matrix)
    with _progress(len(wanted)) as progress:
        outcomes = read_feeds(wanted, fetcher, known, today, progress)
    fetcher.forget_old()

    def check(path: Path) -> None:
        load_knowledge(data_directory(), [read_overlay(path)])

    done = write_update(outcomes, feeds, known, today, target, check, dry=dry_run)
    write_out(renderer.render(done, target, dry=dry_run), None)
    offline = done.fruitless and all(outcome.unreachable for outcome in done.failed)
    (_tell_offline if offline else _tell)(done)
    if done.fruitless:
        print(_ADVICE if offline else "compat: no feed could be read, and nothing was changed", file=sys.stderr)
        raise typer.Exit(40)


def _tell(done: Update) -> None:
    """Say on stderr what could not be read, and what was passed over."""
    for outcome in done.failed:
        kept = f"; what it said on {outcome.held} is kept" if outcome.held else ""
        print(f"compat: {outcome.feed.id} was not read{kept}: {printable(outcome.error, 500)}", file=sys.stderr)
    for outcome in done.outcomes:
        for note in (outcome.facts.notes if outcome.facts else ())[:5]:
            print(f"compat: {outcome.feed.id}: passed over: {printable(note, 300)}", file=sys.stderr)


def _tell_offline(done: Update) -> None:
    """Say on stderr why no server answered: one line for all feeds with the same reason, which without a network are all of them."""
    alike: dict[str, list[Outcome]] = {}
    for outcome in done.failed:
        alike.setdefault(outcome.reason, []).append(outcome)
    for reason, outcomes in alike.items():
        if len(outcomes) == 1:
            print(f"compat: {outcomes[0].feed.id} was not read: {printable(outcomes[0].error, 500)}", file=sys.stderr)
        else:
            names = ", ".join(outcome.feed.id for outcome in outcomes)
            where = printable(outcomes[0].error.removesuffix(f": {reason}"), 200)
            print(f"compat: {names} were not read: {printable(reason, 300)} ({where}, for one)", file=sys.stderr)


@contextmanager
def _progress(count: int) -> Iterator[Callable[[str], None]]:
    """Show a bar on a terminal; nothing elsewhere."""
    if not count or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    with typer.progressbar(range(count), label="Reading feeds", file=sys.stderr) as bar:
        done = -1

        def step(name: str) -> None:
            nonlocal done
            done += 1
            bar.label = f"Reading {name:44.44}"
            bar.update(min(done, 1))

        yield step
        bar.update(1)
