"""The constraint graph: who limits whose versions, as a networkx graph.

Nodes are subjects with a role; an edge goes from the component whose versions a claim limits to the one it speaks of. Components that
meet only through a hub, as add-ons do through the control plane, can be planned apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import networkx

from compat.matrix import Matrix

__all__ = ["CONSTRAINING", "constraint_graph", "groups"]

CONSTRAINING = ("support", "require", "conflict", "bundle", "offer")
"""Kinds of claims that speak of pairs of versions of two components."""


def constraint_graph(matrix: Matrix) -> networkx.DiGraph[str]:
    """Return the graph of the components, as of the matrix's day.

    Nodes have ``title`` and ``role``. Edges have ``claims`` (ids, sorted), ``kinds`` (kind -> number of claims) and ``relies``
    (whether a plan must be able to vouch for the pair).
    """
    found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for claim in matrix.store.claims(f"kind in ({', '.join('?' * len(CONSTRAINING))})", CONSTRAINING):
        if claim.stands_on(matrix.as_of) and claim.object in matrix.subjects and claim.subject != claim.object:
            found[claim.subject, claim.object].append((claim.id, claim.kind))
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for identity, subject in sorted(matrix.subjects.items()):
        if subject.role:
            graph.add_node(identity, title=subject.title, role=subject.role)
    for (one, other), claims in sorted(found.items()):
        if one in graph and other in graph:
            kinds = dict(sorted(Counter(kind for _, kind in claims).items()))
            graph.add_edge(one, other, claims=sorted(identity for identity, _ in claims), kinds=kinds, relies=other in matrix.reliances(one))
    return graph


def groups(graph: networkx.DiGraph[str], hub: str) -> list[set[str]]:
    """Components that hang together without *hub*, the largest group first.

    Raises:
        networkx.NetworkXError: if *hub* is not in the graph.
    """
    rest = graph.copy()
    rest.remove_node(hub)
    return sorted((set(group) for group in networkx.weakly_connected_components(rest)), key=lambda group: (-len(group), min(group)))
