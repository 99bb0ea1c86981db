"""Versions as the field prints them.

`parse` accepts anything that a cluster, a chart, a registry or a person shows for a version and keeps the text. Only the upstream
version is compared; what a vendor, a distribution or a registry adds (``-eks-113cf36``, ``+rke2r1``, ``-ubi9``, ``-grid``) is kept
as `Version.suffix`. A text that cannot be read is an `InvalidVersionError`, never a guess.

The order of releases of a product is its lineage, not number order: the NVIDIA DRA driver went from 25.12.0 to 0.4.0. A `Lineage`
maps the leading number of a release to a PEP 440 epoch (data: ``versions.epochs`` of a subject), so that packaging sorts it rightly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, total_ordering
from types import MappingProxyType

from packaging.version import Version as PackagingVersion

from compat.errors import InvalidVersionError

__all__ = ["PLAIN", "Lineage", "Version", "parse"]

_MAX_LENGTH = 512
_MAX_DIGITS = 18

_PLACEHOLDER = re.compile(r"^(?:v?\d+(?:\.\d+)*-devel|latest|main(?:-latest)?|master|devel|dev|edge|nightly|stable|head)$", re.I)
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.I)
_DIGEST = re.compile(r"@[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-f]{8,}$", re.I)
_IMAGE = re.compile(r"^[A-Za-z0-9._:/-]+$")
_STAMPED = re.compile(r"^v?\d{8}-(?=v?\d)")
_NAMED = re.compile(r"^(?!v\d)(?:[a-z][a-z0-9_]*[-_])+(?=v?\d)", re.I)
_CORE = re.compile(r"^v?(?P<release>\d+(?:\.\d+)*)", re.I)
_PRE = re.compile(r"^[-._~]?(?P<label>alpha|beta|preview|pre|rc|ec|fc|dev|a|b|c)[-._]?(?P<number>\d*)(?=$|[-+._~])", re.I)
_DESCRIBED = re.compile(r"^(?:-devel)?-(?P<commits>\d{1,9})-g[0-9a-f]{7,40}(?=$|[-+._~])", re.I)
_SUFFIX = re.compile(r"^[-+_~][0-9A-Za-z][0-9A-Za-z.+_~-]*$")
_PRE_LABELS = {
    "alpha": "a", "a": "a", "ec": "a",  # OpenShift engineering candidates come before everything else
    "beta": "b", "b": "b", "fc": "b",
    "rc": "rc", "c": "rc", "pre": "rc", "preview": "rc",
    "dev": ".dev",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lineage:
    """How a product's numbers follow each other."""

    product: str = ""
    """Component id, for messages."""
    epochs: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    """Leading release number -> PEP 440 epoch; numbers not named have epoch 0."""
    pattern: str = ""
    """Regular expression that a plausible upstream release matches, e.g. to refuse Kubernetes ``1.31.1400``."""

    def __hash__(self) -> int:
        return hash((self.product, tuple(sorted(self.epochs.items())), self.pattern))

    def epoch(self, major: int) -> int:
        """Return the epoch of releases that start with *major*."""
        return self.epochs.get(major, 0)


PLAIN = Lineage()
"""Number order, no restriction."""


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A version of one product, ordered by the product's lineage."""

    text: str
    """What was given, kept as it was."""
    key: PackagingVersion
    """What is compared: the upstream version, with the lineage's epoch."""
    release: str
    """Upstream version as the project writes it, without a leading ``v`` and without suffix: ``570.172.08``."""
    parts: int
    """How many numbers were given; ``1.33`` has two and can stand for a whole minor line."""
    suffix: str = ""
    """What a vendor or packager added, without its separator: ``eks-113cf36``, ``ubi9``, ``grid``."""
    spot: tuple[object, int | None] | None = field(default=None, init=False, repr=False)
    """Where the version was last found in an index of releases; ranges look it up thousands of times."""

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self.key < other.key if isinstance(other, Version) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def line(self) -> tuple[int, int]:
        """The first two numbers, e.g. ``(1, 33)``: a Kubernetes minor."""
        return self.key.major, self.key.minor

    @property
    def is_prerelease(self) -> bool:
        """Whether upstream calls it a pre-release (a vendor's build suffix never makes it one)."""
        return self.key.is_prerelease


def _strip_envelope(text: str) -> str:
    """Remove what surrounds a version: scheme, registry and image name, digest, chart name, date stamp."""
    body = _SCHEME.sub("", text)
    without_digest = _DIGEST.sub("", body)
    if _IMAGE.match(without_digest) and ("/" in without_digest or without_digest != body):
        name, _, tag = without_digest.rpartition("/")[2].partition(":")
        if not tag:
            raise InvalidVersionError(text, f"the image {name!r} is given by digest or without a tag; give the version of the release")
        body = tag
    if body.endswith(".run"):
        body = body[: -len(".run")]
    if _PLACEHOLDER.match(body) or _PLACEHOLDER.match(_NAMED.sub("", body)):
        raise InvalidVersionError(text, "it is a placeholder, not a release; give the number of the release")
    return _STAMPED.sub("", _NAMED.sub("", _STAMPED.sub("", body)))


@lru_cache(maxsize=16384)
def parse(text: str, lineage: Lineage = PLAIN) -> Version:
    """Read *text* as a version of the product that *lineage* describes.

    Raises:
        InvalidVersionError: if no version can be read from it.
    """
    given = text.strip()
    if not given:
        raise InvalidVersionError(text, "it is empty")
    if len(given) > _MAX_LENGTH or not given.isprintable() or not given.isascii():
        raise InvalidVersionError(text, "expected printable ASCII of a sensible length, such as 1.33 or v1.33.5-eks-113cf36")
    body = _strip_envelope(given)
    core = _CORE.match(body)
    if core is None:
        raise InvalidVersionError(text, "expected a number such as 1.33, v26.7.0 or 580.126.20-ubuntu24.04")
    release = core["release"]
    numbers = release.split(".")
    if any(len(number) > _MAX_DIGITS for number in numbers) or len(numbers) > 8:
        raise InvalidVersionError(text, "a number in it is absurdly long")
    rest = body[core.end() :]
    described = _DESCRIBED.match(rest)
    pre = described or _PRE.match(rest)
    canonical = ""
    if described is not None:  # what `git describe` says of a build some commits after a release: later than it, and no release
        canonical = f".post{described['commits']}.dev0"
        rest = rest[described.end() :]
    elif pre is not None:
        canonical = _PRE_LABELS[pre["label"].lower()] + (pre["number"] or "0")
        if len(pre["number"]) > _MAX_DIGITS:
            raise InvalidVersionError(text, "a number in it is absurdly long")
        rest = rest[pre.end() :]
    if rest and not _SUFFIX.match(rest):
        raise InvalidVersionError(text, f"do not know what to make of {rest[:40]!r} after {core.group()}")
    if lineage.pattern and not re.fullmatch(lineage.pattern, release):
        raise InvalidVersionError(text, f"{release} is not the form of a {lineage.product} release")
    key = PackagingVersion(f"{lineage.epoch(int(numbers[0]))}!{release}{canonical}")
    shown = release + (pre.group() if pre is not None else "")
    return Version(text=given, key=key, release=shown, parts=len(numbers), suffix=rest[1:])
