"""Hops: rules of going from one version to another, and what is due on the way."""

from __future__ import annotations

import pytest

from compat import Matrix
from compat.errors import InputError
from compat.hops import resolve_hop


def duties(matrix: Matrix, start: str, end: str, **scope: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(duty.text, duty.condition) for duty in resolve_hop(matrix, ("kubernetes", start), ("kubernetes", end), scope).duties]


def test_rules(small: Matrix) -> None:
    """A stop is needed, a minor may not be skipped, silence allows."""
    assert resolve_hop(small, ("operator", "10.0.0"), ("operator", "12.0.0")).rule == "needs-stop"
    assert resolve_hop(small, ("operator", "10.0.0"), ("operator", "12.0.0")).stop == "==11.*"
    assert resolve_hop(small, ("operator", "10.0.0"), ("operator", "11.1.0")).rule == "allowed"
    assert resolve_hop(small, ("kubernetes", "1.1.0"), ("kubernetes", "1.3.0")).rule == "forbidden"
    assert resolve_hop(small, ("kubernetes", "1.1.0"), ("kubernetes", "1.2.0")).rule == "allowed"


def test_a_duty_of_a_border_is_due_on_every_hop_that_crosses_it(small: Matrix) -> None:
    """However large the jump."""
    assert ("Remove the gate Quack.", "") in duties(small, "1.2.0", "1.3.1")
    assert ("Remove the gate Quack.", "") in duties(small, "1.1.0", "1.4.0")
    assert duties(small, "1.3.0", "1.4.0") == []


def test_a_duty_with_an_open_scope_is_conditional(small: Matrix) -> None:
    """Nobody is told to remove a gate that is known to be off."""
    assert ("Remove the gate Honk.", "feature is Honk=true") in duties(small, "1.2.0", "1.3.0")
    assert ("Remove the gate Honk.", "") in duties(small, "1.2.0", "1.3.0", feature=("Honk=true",))
    assert all("Honk" not in text for text, _ in duties(small, "1.2.0", "1.3.0", feature=("Honk=false",)))


def test_two_components_are_no_hop(small: Matrix) -> None:
    """An upgrade is of one component."""
    with pytest.raises(InputError, match="not from operator to queue"):
        resolve_hop(small, ("operator", "10.0.0"), ("queue", "25.1.0"))
