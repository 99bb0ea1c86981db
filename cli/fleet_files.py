"""Which files a fleet is read from, and which it is written to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from glob import glob
from pathlib import Path

from compat.errors import InputError, printable

__all__ = ["is_fleet", "state_files", "target_files"]

_SUFFIXES = (".yaml", ".yml", ".json")
_PATTERN = frozenset("*?[")


def is_fleet(given: Sequence[Path]) -> bool:
    """Whether ``--state`` names more than one plain file: it is repeated, a folder or a pattern."""
    return len(given) > 1 or any(path.is_dir() or _is_pattern(path) for path in given)


def state_files(given: Sequence[Path]) -> list[Path]:
    """Return the state files that ``--state`` names, each once, those of a folder or pattern by name.

    Raises:
        InputError: if a folder or pattern has none.
    """
    found: dict[str, Path] = {}
    for path in given:
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.suffix.lower() in _SUFFIXES and not file.name.startswith(".") and file.is_file())
            if not files:
                raise InputError(f"--state {printable(path, 200)}: no {', '.join('*' + suffix for suffix in _SUFFIXES)} files in this folder")
        elif _is_pattern(path):
            names = glob(str(path), recursive=True)  # noqa: PTH207  # Path.glob takes no absolute patterns
            files = sorted(file for name in names if (file := Path(name)).is_file())
            if not files:
                raise InputError(f"--state {printable(path, 200)}: no file matches this pattern")
        else:
            files = [path]
        for file in files:
            found.setdefault(os.path.realpath(file), file)
    return list(found.values())


def target_files(folder: Path, files: Sequence[Path], suffix: str) -> list[Path]:
    """Return a file in *folder* for each state file: named after it, and after its folders where names are the same."""
    names = [file.stem for file in files]
    depth = 1
    while max(Counter(name.casefold() for name in names).values(), default=0) > 1 and depth < max(len(file.parts) for file in files):
        depth += 1
        twice = Counter(name.casefold() for name in names)
        names = [
            "-".join([*file.parts[-depth:-1], file.stem]).replace("/", "").replace("..", "_") if twice[name.casefold()] > 1 else name
            for name, file in zip(names, files, strict=True)
        ]
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name.casefold()] += 1
        number = seen[name.casefold()]
        found.append(folder / f"{name}{f'-{number}' if number > 1 else ''}{suffix}")
    return found


def _is_pattern(path: Path) -> bool:
    return bool(_PATTERN & set(str(path))) and not path.exists()
