"""``compat why`` and ``compat matrix``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cli.options import AsOf, OutputFile, Overlays, ScopeOption, TableFormat, load_matrix, pair, read_scope, tell_end, write_out
from compat.errors import InputError

__all__ = ["matrix", "why"]


class Relation(StrEnum):
    """What the two versions are to each other."""

    together = "together"
    upgrade = "upgrade"
    coexist = "coexist"


def why(
    one: Annotated[str, typer.Argument(metavar="COMPONENT=VERSION", help="Such as gpu-operator=25.3.2; 1.33 stands for the newest 1.33.")],
    other: Annotated[str, typer.Argument(metavar="COMPONENT=VERSION", help="Such as kubernetes=1.35.")],
    scope: ScopeOption = None,
    relation: Annotated[
        Relation, typer.Option("--relation", help="Two parts together, going from one version to the other, or both at once while rolling.")
    ] = Relation.together,
    as_of: AsOf = None,
    overlay: Overlays = None,
    output: Annotated[TableFormat, typer.Option("-o", "--output", help="Format.")] = TableFormat.table,
    output_file: OutputFile = None,
) -> None:
    """Explain a pair of versions: the verdict, every claim that led to it, and what would settle an unknown.

    Exit code: 0 if tested or declared, 20 if broken or if one of the versions is banned, 30 if unknown.
    """
    from cli.render import why as renderer
    from compat.hardware import is_hardware, verdict_on_hardware
    from compat.landing import resolve_landing
    from compat.retired import retired_of_pair

    knowledge = load_matrix(as_of, overlay, output_file)
    words = read_scope(knowledge, scope)
    first, second = pair(one), pair(other)
    if relation is Relation.together and knowledge.name(first[0]) == knowledge.name(second[0]):
        raise InputError(f"both are {knowledge.name(first[0])}: ask for going from one to the other with --relation upgrade, for both at once with coexist")
    if is_hardware(knowledge, first[0]):
        first, second = second, first
    if is_hardware(knowledge, second[0]) and second[1] is not None:
        verdict = verdict_on_hardware(knowledge, first, second[0], second[1], words)
        second = (second[0], None)
    elif relation is Relation.together:
        verdict = knowledge.verdict(first, second, words)
    else:
        from compat.hops import resolve_coexistence, resolve_hop, verdict_of_hop

        verdict = (
            verdict_of_hop(resolve_hop(knowledge, first, second, words))
            if relation is Relation.upgrade
            else resolve_coexistence(knowledge, first, second, words)
        )
    tell_end(knowledge)
    parts = (knowledge.part(first), knowledge.part(second))
    for name, version in parts:
        if version is not None and not knowledge.is_released(name, version):
            note = f"compat: {name} {version.release} is no release that is known; it is judged by the ranges that contain it"
            typer.echo(note, err=True)
    notes = renderer.Notes(
        landings=tuple(resolve_landing(knowledge, part, words) for part in dict.fromkeys(parts)), retired=tuple(retired_of_pair(knowledge, *parts))
    )
    write_out(renderer.render(parts, verdict, knowledge.snapshot, notes, as_json=output is TableFormat.json), output_file)
    raise typer.Exit(20 if notes.barred else {"broken": 20, "unknown": 30}.get(verdict.grade, 0))


def matrix(
    rows: Annotated[str, typer.Argument(metavar="COMPONENT", help="Component of the rows.")],
    columns: Annotated[str, typer.Argument(metavar="COMPONENT", help="Component of the columns.")],
    scope: ScopeOption = None,
    as_of: AsOf = None,
    overlay: Overlays = None,
    every: Annotated[bool, typer.Option("--all", help="All releases, not only the newest of each line.")] = False,
    output: Annotated[TableFormat, typer.Option("-o", "--output", help="Format.")] = TableFormat.table,
    output_file: OutputFile = None,
) -> None:
    """Show the verdicts of two components' releases as a table."""
    from cli.render import matrix as renderer
    from compat.landing import landing
    from compat.lines import newest_of_lines

    knowledge = load_matrix(as_of, overlay, output_file)
    words = read_scope(knowledge, scope)
    names = (knowledge.name(rows), knowledge.name(columns))
    if names[0] == names[1]:
        raise InputError("rows and columns must be two components")
    axes = []
    for name in names:
        releases = [release.version for release in knowledge.releases(name, stable_only=True) if release.version.parts > 1]
        if not releases:
            raise InputError(f"no releases of {name} are known as of {knowledge.as_of}, so there is no table; ask for a pair with `compat why`")
        axes.append(releases if every else newest_of_lines(releases))
    table = [[knowledge.verdict((names[0], row), (names[1], column), words) for column in axes[1]] for row in axes[0]]
    barred = [
        f"{name} {version.release}" for name, axis in zip(names, axes, strict=True) for version in axis if landing(knowledge, name, version, words).claims
    ]
    tell_end(knowledge)
    write_out(renderer.render(names, (axes[0], axes[1]), table, barred, knowledge.snapshot, as_json=output is TableFormat.json), output_file)
