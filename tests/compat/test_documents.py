"""Files that people or strangers wrote: what is refused, and where it says so."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from compat.documents import read_document, read_file
from compat.errors import DocumentError


def test_values_and_lines() -> None:
    """Numbers with a point stay text, dates are dates, and every value knows its line."""
    document = read_document("a: 1.30\nb:\n- 25.10\n- 2026-01-31\n- 3\nc: {d: true, e: null}\n", "x.yaml")
    assert document.value == {"a": "1.30", "b": ["25.10", date(2026, 1, 31), 3], "c": {"d": True, "e": None}}
    assert document.where(("b", 1)) == "x.yaml:4"
    assert document.where(("c", "nowhere")) == "x.yaml:6"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\na: 2\n", "x.yaml:2: duplicate key 'a'"),
        ("a: &x [1]\nb: *x\n", "x.yaml:1: anchors and aliases are not supported"),
        ("a: !!python/object:os.system x\n", "x.yaml:1: the tag"),
        ("a: [1\n", "not valid YAML"),
        ("", "the file is empty"),
        ("a: 1\n---\nb: 2\n", "holds 2 YAML documents"),
        ("? [1]\n: 2\n", "a key must be a plain word"),
        ("[" * 100_000, "x.yaml"),
        ("{a: " * 200 + "1" + "}" * 200, "x.yaml"),
        ("\t- a", "not valid YAML"),
    ],
)
def test_refuses(text: str, says: str) -> None:
    """One clear fault with file and line, whatever is wrong."""
    with pytest.raises(DocumentError) as caught:
        read_document(text, "x.yaml")
    assert says in str(caught.value)


def test_a_yaml_bomb_costs_nothing() -> None:
    """Nested aliases are refused before anything is expanded."""
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    with pytest.raises(DocumentError, match="anchors and aliases"):
        read_document(bomb, "bomb.yaml")


def test_every_fault_is_reported() -> None:
    """A file with several faults is not a game of one at a time."""
    with pytest.raises(DocumentError) as caught:
        read_document("a: 1\na: 2\nb: {c: 1, c: 2}\n", "x.yaml")
    assert len(caught.value.faults) == 2


def test_files(tmp_path: Path) -> None:
    """Too large, not there, not text: each says which."""
    large = tmp_path / "large.yaml"
    large.write_text("a: " + "x" * 2000)
    with pytest.raises(DocumentError, match="larger than 1,000 bytes"):
        read_file(large, 1000)
    with pytest.raises(DocumentError, match="No such file"):
        read_file(tmp_path / "none.yaml", 1000)
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"a: \xff\xfe")
    with pytest.raises(DocumentError, match="not UTF-8"):
        read_file(binary, 1000)
    with pytest.raises(DocumentError, match="directory"):
        read_file(tmp_path, 1000)
