"""Every claim that is shipped can be traced, dated, placed and reached."""

from __future__ import annotations

import re
from datetime import date
from urllib.parse import urlsplit

from compat import Claim, Matrix
from tests.compat.test_lint import JUSTIFIED

FIRST_COMMIT = date(2014, 6, 6)
"""Of Kubernetes: nothing that is said here can be older."""


def claims(matrix: Matrix) -> list[Claim]:
    found = list(matrix.store.claims())
    assert len(found) > 2000
    return found


def test_each_has_a_resolvable_source(real: Matrix) -> None:
    """A repository with a path, or an address: well-formed, absolute, over https, without blanks."""
    for claim in claims(real):
        source = claim.source
        if not source.link:
            assert claim.grade == "inferred" or claim.id in JUSTIFIED, claim.id
            assert str(source), claim.id
            continue
        parts = urlsplit(source.link)
        assert parts.scheme == "https", claim.id
        assert "." in parts.netloc, claim.id
        assert not re.search(r"\s", source.link), claim.id
        if source.repo:
            assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+", source.repo), claim.id


def test_each_has_sane_dates(real: Matrix) -> None:
    """Said between the first commit of Kubernetes and the newest source read; replaced after it was said."""
    newest = date.fromisoformat(real.store.meta["as_of"])
    for claim in claims(real):
        assert FIRST_COMMIT <= claim.known_from <= newest, claim.id
        assert claim.known_until is None or claim.known_from < claim.known_until <= newest, claim.id


def test_each_scope_is_of_known_words(real: Matrix) -> None:
    """As a question could give them."""
    for claim in claims(real):
        for word, values in claim.scope.items():
            assert values, claim.id
            for value in values:
                assert real.words.check(word, value) == (word, value), claim.id


def test_none_is_unreachable(real: Matrix) -> None:
    """Subject and object exist: as components that can be asked for, or as named objects for readers."""
    objects = real.store.objects()
    for claim in claims(real):
        assert claim.subject in real.subjects, claim.id
        assert not claim.object or claim.object in real.subjects or claim.object in objects, claim.id
        assert real.name(claim.subject) == claim.subject


def test_each_pair_that_is_asked_for_is_found_again(real: Matrix) -> None:
    """A claim about two components that stands is among those that a verdict of the two weighs."""
    asked: dict[tuple[str, str], set[str]] = {}
    for claim in claims(real):
        if claim.kind in ("support", "require", "conflict", "bundle", "offer") and claim.object in real.subjects and claim.stands_on(real.as_of):
            pair = (claim.subject, claim.object)
            if pair not in asked:
                asked[pair] = {found.id for found in real.between(*pair)}
            assert claim.id in asked[pair]
