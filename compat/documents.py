"""Reading YAML and JSON that people or strangers wrote.

`read_document` turns a text into plain Python values and remembers the line of each. It refuses what a configuration file has no
use for: anchors and aliases (the YAML bomb), tags, duplicate keys, several documents, absurd size or depth. Numbers with a point
stay text, because ``1.30`` is a version, not 1.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compat.errors import DocumentError, Fault, printable

if TYPE_CHECKING:
    import yaml

__all__ = ["Document", "decode", "read_document", "read_file", "read_whole"]

_MAX_DEPTH = 40
_MAX_NODES = 1_000_000
_PREFIX = "tag:yaml.org,2002:"

Path_ = tuple[str | int, ...]


@dataclass(slots=True)
class Document:
    """Values of one file and where they stand."""

    name: str
    """How messages call the file."""
    value: Any
    """Plain dicts, lists, str, int, bool, date and None."""
    lines: dict[Path_, int] = field(default_factory=dict)
    """Path of keys and indexes -> line, from 1."""

    def where(self, path: Sequence[str | int] = ()) -> str:
        """Return ``file:line`` of the value at *path*, or of its nearest known parent."""
        parts = tuple(path)
        while parts and parts not in self.lines:
            parts = parts[:-1]
        line = self.lines.get(parts)
        return f"{self.name}:{line}" if line else self.name


class _Builder:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.faults: list[Fault] = []
        self.nodes = 0
        self.seen: set[int] = set()
        self.makers: dict[str, Callable[[str], Any]] = {
            "null": lambda _: None,
            "bool": lambda text: text.lower() in ("true", "yes", "on"),
            "int": _integer,
            "timestamp": _day,
        }

    def fault(self, node: yaml.Node, what: str) -> None:
        self.faults.append(Fault(f"{self.document.name}:{node.start_mark.line + 1}", what))

    def build(self, node: yaml.Node, path: Path_) -> Any:
        import yaml

        self.nodes += 1
        self.document.lines[path] = node.start_mark.line + 1
        if self.nodes > _MAX_NODES or len(path) > _MAX_DEPTH:
            raise DocumentError([Fault(self.document.name, "the file is nested too deeply or has too many values")])
        if id(node) in self.seen:
            self.fault(node, "anchors and aliases are not supported; write the value out")
            return None
        self.seen.add(id(node))
        kind = node.tag.removeprefix(_PREFIX)
        if kind not in ("map", "seq", "str", "float", *self.makers):
            self.fault(node, f"the tag {printable(node.tag, 40)} is not supported; write a plain value")
            return None
        if isinstance(node, yaml.ScalarNode):
            maker = self.makers.get(kind)
            return maker(node.value) if maker else node.value
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _mapping(self, node: yaml.Node, path: Path_) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.id != "scalar":
                self.fault(key_node, "a key must be a plain word")
                continue
            key = key_node.value
            if key in result:
                self.fault(key_node, f"duplicate key {printable(key, 40)!r}; keep one of them")
                continue
            result[key] = self.build(value_node, (*path, key))
            self.document.lines[(*path, key)] = key_node.start_mark.line + 1
        return result


def _integer(text: str) -> int | str:
    return int(text) if (text.lstrip("+-").isdecimal() and len(text) < 16 and not text.startswith("0")) or text == "0" else text


def _day(text: str) -> date | str:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return text


def _problem(text: object) -> str:
    """What the parser says, without the words of the file: it may be a secret one, given by mistake."""
    return printable(re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: found[0] if len(found[0]) == 3 else "…", str(text)))


def read_document(text: str, name: str) -> Document:
    """Read one YAML or JSON document from *text*; *name* is used in messages.

    Raises:
        DocumentError: with every fault of the text and its line.
    """
    import yaml  # takes longer to import than most commands take to run

    try:
        documents = list(yaml.compose_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}" if mark else name
        raise DocumentError([Fault(where, f"not valid YAML: {_problem(error.problem or error.context)}")]) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise DocumentError([Fault(name, f"not valid YAML: {_problem(str(error).splitlines()[0] if str(error) else 'nested too deeply')}")]) from error
    if len(documents) != 1 or documents[0] is None:
        found = "is empty" if not documents or documents[0] is None else f"holds {len(documents)} YAML documents"
        raise DocumentError([Fault(name, f"the file {found}; expected one document")])
    document = Document(name=name, value=None)
    builder = _Builder(document)
    try:
        document.value = builder.build(documents[0], ())
    except RecursionError as error:
        raise DocumentError([Fault(name, "the file is nested too deeply")]) from error
    if builder.faults:
        raise DocumentError(builder.faults)
    return document


def read_file(path: Path, max_bytes: int, name: str | None = None) -> Document:
    """Read the file at *path*, which may have at most *max_bytes* bytes.

    Raises:
        DocumentError: if it cannot be read, is too large, or has faults.
    """
    shown = name or printable(path, 200)
    return read_document(decode(read_whole(path, max_bytes, shown), shown), shown)


def read_whole(path: Path, max_bytes: int, shown: str) -> bytes:
    """Read all bytes of a file; *shown* is its name in messages.

    Raises:
        DocumentError: if it cannot be read or has more than *max_bytes* bytes.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(max_bytes + 1)
    except OSError as error:
        raise DocumentError([Fault(shown, f"cannot read the file: {error.strerror or error}")]) from error
    if len(raw) > max_bytes:
        raise DocumentError([Fault(shown, f"the file is larger than {max_bytes:,} bytes, the most that is read")])
    return raw


def decode(raw: bytes, name: str) -> str:
    """Read bytes as UTF-8.

    Raises:
        DocumentError: if they are something else.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError([Fault(name, f"the file is not UTF-8 text (byte {error.start})")]) from error
