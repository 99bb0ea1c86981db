"""Types of the fields of a written cluster state, as pydantic checks them. `planner.state` loads this when it reads one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

__all__ = ["Count", "FeatureName", "Name", "SchemaName", "Text", "Texts", "Versions"]

SchemaName = Literal["compat.cluster/v1"]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=128)]
"""What becomes part of a command or a key."""
FeatureName = Annotated[str, StringConstraints(pattern=r"^([a-z0-9][a-z0-9._+-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=256)]
"""A gate, or ``component/gate`` where several components have one of that name."""
Text = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[ -~]+$")]
Texts = Annotated[tuple[Text, ...], Field(max_length=10_000)]
Versions = Annotated[tuple[Text, ...], Field(min_length=1, max_length=64)]
Count = Annotated[int, Field(ge=0, le=1_000_000, strict=True)]
