"""``compat plan``."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cli.fleet_files import is_fleet
from cli.options import AsOf, Format, OutputFile, Overlays, keep_apart, load_matrix, pairs, write_out
from compat.errors import InputError, printable

__all__ = ["plan"]


class Assume(StrEnum):
    """What to fill in."""

    era = "era"
    newest = "newest"
    none = "none"


class NodesAt(StrEnum):
    """Where nodes may end."""

    target = "target"
    supported = "supported"


class Prefer(StrEnum):
    """What matters first."""

    drains = "fewest-drains"
    steps = "fewest-steps"
    newest = "newest"


def plan(
    to: Annotated[str, typer.Option("--to", metavar="VERSION", help="Kubernetes version to reach, such as 1.37.")],
    start: Annotated[
        str | None, typer.Option("--from", metavar="VERSION", help="Kubernetes version now; the rest is assumed, see --assume and --with.")
    ] = None,
    state: Annotated[
        list[Path] | None,
        typer.Option("--state", metavar="FILE", help="Cluster state (compat.cluster/v1), instead of --from. Repeatable; a folder or a quoted pattern, too."),
    ] = None,
    with_: Annotated[
        list[str] | None, typer.Option("--with", metavar="COMPONENT=VERSION", help="Your own version of a part, or COMPONENT=absent. Repeatable.")
    ] = None,
    provider: Annotated[
        str | None, typer.Option("--provider", metavar="NAME", help="Who runs the cluster: kubeadm, eks, aks, gke, openshift, rke2, ...")
    ] = None,
    as_of: AsOf = None,
    overlay: Overlays = None,
    assume: Annotated[
        Assume | None,
        typer.Option("--assume", help="With --from, fill in the stack that was usual at that version's time, today's newest, or nothing.  [default: era]"),
    ] = None,
    nodes_at: Annotated[
        NodesAt, typer.Option("--nodes-at", help="Whether nodes must end on the target, or on any version still supported within the skew.")
    ] = NodesAt.target,
    prefer: Annotated[Prefer, typer.Option("--prefer", help="What to save first.")] = Prefer.drains,
    allocation: Annotated[
        list[str] | None,
        typer.Option("--allocation", metavar="POOL=MODE", help="Let a pool end on another way of allocating its GPUs: h100=dra. Repeatable."),
    ] = None,
    accept: Annotated[list[str] | None, typer.Option("--accept", metavar="ID", help="Accept the risk of an unknown pair by its id. Repeatable.")] = None,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="STEP", help="Explain one step: what forces it, what it waits for, what it enables, why it lands where it does."),
    ] = None,
    alternatives: Annotated[
        bool, typer.Option("--alternatives", help="Show every plan that no other one beats in unknown pairs, drains, steps and where nodes end.")
    ] = False,
    choose: Annotated[str | None, typer.Option("--choose", metavar="ID", help="Print this plan of --alternatives, such as a3.")] = None,
    output: Annotated[Format, typer.Option("-o", "--output", help="Format of the plan.")] = Format.table,
    output_file: OutputFile = None,
    output_dir: Annotated[Path | None, typer.Option("--output-dir", metavar="DIR", help="With --state, also write one plan file per cluster to DIR.")] = None,
    export_problem: Annotated[
        Path | None,
        typer.Option("--export-problem", metavar="FILE", help="Write the compiled problem as JSON, to check the optimum with a solver of your own."),
    ] = None,
) -> None:
    """Plan an ordered, safe upgrade path.

    Each step leaves the cluster in a state that nothing in the matrix forbids, with the fewest GPU nodes drained. Exit code: 0 if every
    pair relied on is tested or declared, 10 if only accepted risks are left, 20 if there is no way, 30 if the plan holds at unknown facts.
    For many clusters: the worst of 1 (internal error), 2 (a file cannot be planned), 20, 30, 10 and 0.
    """
    from planner.assume import assumed_state, with_components
    from planner.planning import compile_for
    from planner.planning import plan as make_plan
    from planner.state import ClusterState

    if (start is None) == (not state):
        raise InputError("give either --from VERSION or --state FILE" + ("" if start is None else ", not both"))
    if state and assume is not None:
        raise InputError("--assume fills in what --from leaves open; with --state nothing is assumed, what is not in the file stays unknown")
    if output_dir is not None and not state:
        raise InputError("--output-dir is for clusters given with --state; write one plan with --output-file")
    keep_apart({"--output-file": output_file, "--export-problem": export_problem}, {"--state": state or (), "--overlay": overlay or ()})
    load = partial(load_matrix, as_of, overlay)
    given = pairs(with_ or (), "--with")
    wanted = pairs(allocation or (), "--allocation")
    if state and (output_dir is not None or is_fleet(state)):
        from cli.fleet_command import run
        from cli.fleet_run import Request

        if export_problem is not None:
            raise InputError("--export-problem is for one cluster; give one state file")
        if alternatives or choose is not None or explain is not None:
            raise InputError("--alternatives, --choose and --explain are for one cluster; give one state file")
        request = Request(load, to, nodes_at.value, prefer.value, tuple(accept or ()), given, wanted, provider)
        sys.exit(run(request, state, output, output_file, output_dir))  # in full, unlike other commands: there were other processes
    matrix = load()
    if provider is not None:
        matrix.words.check("provider", provider)
    if start is not None:
        cluster = assumed_state(matrix, start, given, mode=(assume or Assume.era).value, provider=provider)
    else:
        cluster = with_components(matrix, ClusterState.load(state[0] if state else Path()), given)
        if provider is not None:
            cluster = replace(cluster, provider=provider)
    if export_problem is not None and str(export_problem) == "-" and output_file is None:
        raise InputError("--export-problem -: standard output is for the plan; give a file, or --output-file for the plan")
    if export_problem is not None:
        import json

        from planner.export import problem_document

        compiled = compile_for(matrix, cluster, to, nodes=nodes_at.value, prefer=prefer.value, allocation=wanted)
        write_out(json.dumps(problem_document(compiled.whole), indent=1) + "\n", export_problem, "--export-problem")
    question = {"nodes": nodes_at.value, "prefer": prefer.value, "accept": accept or (), "allocation": wanted}
    if alternatives or choose is not None or explain is not None:
        from cli.plan_views import view

        found, text = view(matrix, cluster, to, question, output, explain=explain, alternatives=alternatives, choose=choose)
    else:
        found = make_plan(matrix, cluster, to, **question)  # type: ignore[arg-type]  # the options above
        text = render(found, output)
    asked = {pair.id for pair in found.open_pairs}
    for name in accept or ():
        if name not in asked:
            typer.echo(f"compat: --accept {printable(name)}: this plan holds at no such pair; it changes nothing", err=True)
    if unused := [entry.id for entry in matrix.acceptances if entry.counts_on(matrix.as_of) and entry.id not in asked]:
        shown = ", ".join(unused[:3]) + (f" and {len(unused) - 3} more" if len(unused) > 3 else "")
        typer.echo(f"compat: the overlays accept what this plan does not hold at, which changes nothing: {printable(shown, 300)}", err=True)
    write_out(text, output_file)
    raise typer.Exit(found.exit_code)


def render(found: object, output: Format) -> str:
    """Render a plan in one of the formats."""
    from importlib import import_module

    module = import_module({"table": "cli.render.plan_text", "json": "cli.render.plan_json", "markdown": "cli.render.plan_markdown"}[output.value])
    return str(module.render(found))
