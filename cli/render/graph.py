"""The constraint graph, as a table or as JSON that ``networkx.node_link_graph`` reads."""

from __future__ import annotations

import json

import networkx

from cli.render.flat import flat, table
from compat import Matrix
from compat.graph import constraint_graph, groups

__all__ = ["render"]


def render(matrix: Matrix, *, as_json: bool) -> str:
    """Return one row per edge, and the groups that meet only through a control plane."""
    graph = constraint_graph(matrix)
    if as_json:
        return json.dumps(networkx.node_link_data(graph, edges="edges"), indent=2, ensure_ascii=False) + "\n"
    rows = [
        [one, other, len(data["claims"]), ", ".join(f"{count} {kind}" for kind, count in data["kinds"].items()), "yes" if data["relies"] else ""]
        for one, other, data in graph.edges(data=True)
    ]
    lines = [table(rows, ["component", "limited by", "claims", "kinds", "must be vouched for"])]
    for hub in sorted(name for name, data in graph.nodes(data=True) if data["role"] == "control-plane"):
        lines += ["", f"Apart from what they share with {hub}, these hang together:"]
        lines += [f"  {flat(', '.join(sorted(group)))}" for group in groups(graph, hub)]
    return "\n".join(lines) + "\n"
