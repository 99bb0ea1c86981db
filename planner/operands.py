"""Operands: what a release of an operator brings along by default."""

from __future__ import annotations

from collections.abc import Callable

from compat import Claim, Version
from compat.errors import InputError
from planner.situation import Situation

__all__ = ["Operands"]


class Operands:
    """The operands of a situation's parts that are no parts of their own."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.matrix = situation.matrix
        self._bundles: dict[str, dict[str, list[Claim]]] = {}
        self._shipped: dict[tuple[str, object, str], Version | None] = {}

    def names(self, related: Callable[[str, str], bool]) -> dict[str, list[str]]:
        """Carrier -> operands that come with it and that are *related* to other parts."""
        own = {part.component for part in self.situation.parts}
        partners = own | {self.situation.control.component}
        found: dict[str, list[str]] = {}
        for part in self.situation.parts:
            if part.pool:
                continue
            carried = [claim.object for claim in self.matrix.about(part.component, "bundle") if _is_default(claim)]
            names = [
                name
                for name in dict.fromkeys(carried)
                if name not in own | self.situation.absent
                and self.situation.role(name) in ("addon", "operand")
                and any(related(name, other) for other in partners - {part.component})
            ]
            if names:
                found[part.component] = names
        return found

    def version(self, carrier: str, version: Version, operand: str) -> Version | None:
        """Version of an operand that a release of its carrier ships by default."""
        key = (carrier, version.key, operand)
        if key not in self._shipped:
            self._shipped[key] = self._find_shipped(carrier, version, operand)
        return self._shipped[key]

    def _find_shipped(self, carrier: str, version: Version, operand: str) -> Version | None:
        if carrier not in self._bundles:
            for claim in self.matrix.about(carrier, "bundle"):
                if _is_default(claim):
                    self._bundles.setdefault(carrier, {}).setdefault(claim.object, []).append(claim)
        for claim in self._bundles.get(carrier, {}).get(operand, ()):
            if version in claim.subject_range:
                try:
                    return self.matrix.version(operand, claim.object_versions.removeprefix("=="))
                except InputError:
                    return None
        return None


def _is_default(claim: Claim) -> bool:
    return claim.detail.get("role") == "default" and not claim.detail.get("optional") and not claim.scope
