"""Release lines: what a table shows one version of."""

from __future__ import annotations

from collections.abc import Iterable

from compat.versions import Version

__all__ = ["line_of", "newest_of_lines"]


def line_of(version: Version) -> tuple[int, ...]:
    """Key of a version's line: its first two numbers, or the first alone where that counts branches (580.x)."""
    return (version.key.epoch, version.key.major) if version.key.major >= 100 else (version.key.epoch, *version.line)


def newest_of_lines(versions: Iterable[Version]) -> list[Version]:
    """The newest release of each line, newest first."""
    found = {line_of(version): version for version in sorted(versions, key=lambda item: (item, item.parts))}  # 1.37.0 before the line 1.37
    return sorted(found.values(), reverse=True)
