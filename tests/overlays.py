"""Overlays for tests: written to a folder and loaded on top of the small knowledge base."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from compat import Matrix
from tests.conftest import DAY, SMALL

HEAD = "overlay: {name}\ntitle: Ours\nas_of: 2026-01-01\nsources: {{lab: {{url: 'https://wiki.example.com/lab'}}}}\n"
TESTED = """
claims:
- id: our-operator-12
  kind: support
  subject: operator
  versions: '12'
  object: kubernetes
  object_versions: '1.4'
  grade: tested
  said: 2026-01-24
  source: lab
  summary: We ran operator 12 on 1.4.
"""


def write(folder: Path, body: str, name: str = "ours") -> Path:
    """Write an overlay with that id and body."""
    path = folder / f"{name}.yaml"
    path.write_text(HEAD.format(name=name) + body)
    return path


def with_overlay(folder: Path, *bodies: str, day: date = DAY) -> Matrix:
    """The small knowledge base with one overlay for each body."""
    paths = [write(folder, body, f"ours{number or ''}") for number, body in enumerate(bodies)]
    return Matrix.load(as_of=day, data=SMALL, overlays=paths)
