"""The graph of who constrains whom."""

from __future__ import annotations

import networkx

from compat import Matrix
from compat.graph import constraint_graph, groups


def test_who_limits_whom(small: Matrix) -> None:
    """An edge goes from the component that a claim limits to the one it speaks of, and carries the claims."""
    graph = constraint_graph(small)
    assert graph.has_edge("operator", "kubernetes")
    assert not graph.has_edge("kubernetes", "operator")
    assert graph.edges["kubelet", "kubernetes"]["claims"] == ["skew"]
    assert graph.edges["kubelet", "kubernetes"]["kinds"] == {"require": 1}
    assert graph.edges["operator", "driver"]["relies"]
    assert "bundle" in graph.edges["operator", "toolkit"]["kinds"]


def test_no_edge_without_a_claim_that_stands(small: Matrix) -> None:
    """Every edge carries claims about just these two, all of which stand on the day."""
    graph = constraint_graph(small)
    assert graph.number_of_edges() > 0
    for one, other, data in graph.edges(data=True):
        for identity in data["claims"]:
            (claim,) = small.store.claims("id = ?", (identity,))
            assert (claim.subject, claim.object) == (one, other)
            assert claim.stands_on(small.as_of)


def test_groups_meet_only_at_the_hub(small: Matrix) -> None:
    """Without the control plane queue and operator have nothing to do with each other; operator and driver have."""
    graph = constraint_graph(small)
    found = groups(graph, "kubernetes")
    assert {"operator", "driver", "toolkit"} <= next(group for group in found if "operator" in group)
    assert not any({"operator", "queue"} <= group for group in found)
    assert set().union(*found) | {"kubernetes"} == set(graph)
    assert networkx.is_weakly_connected(graph.subgraph({"operator", "queue", "kubernetes"}))
