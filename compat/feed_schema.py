"""The written form of `feeds:` in a subject file: which public feed serves which subject, and how it is read.

One model per kind of feed, told apart by ``kind``. docs/updating.md explains them to people; `compat.feeds` reads the feeds.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

__all__ = [
    "BundleKey",
    "ChartValuesFeed",
    "CiVersionsFeed",
    "EndOfLifeFeed",
    "FeatureGatesFeed",
    "Feed",
    "FeedEntry",
    "GithubReleasesFeed",
    "HelmIndexFeed",
    "ReleaseScheduleFeed",
    "TagFeed",
]


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from error
    return text


def _inside(text: str) -> str:
    if {".", ".."} & set(text.split("/")):
        raise ValueError("expected a path inside the repository")
    return text


def _names(group: str) -> AfterValidator:
    def check(text: str) -> str:
        if group not in re.compile(_expression(text)).groupindex:
            raise ValueError(f"expected a group (?P<{group}>...)")
        return text

    return AfterValidator(check)


Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._+-]*$", max_length=160)]
Repo = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$", max_length=160)]
Ref = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/+-]*$", max_length=160)]
FilePath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$", max_length=300), AfterValidator(_inside)]
Tag = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._/+-]*\{version\}[A-Za-z0-9._/+-]*$", max_length=160)]
Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$", max_length=200)]
Day = Literal["supported_until", "maintenance_until", "extended_until", "available_from", "standard_until"]
VersionPattern = Annotated[str, _names("version")]
_VERSION = r"v?(?P<version>\d+\.\d+(?:\.\d+)*(?:-?(?:alpha|beta|rc)[.-]?\d+)?)"


class Feed(BaseModel):
    """What all feeds have."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: Name | None = None
    """Default: subject and kind, joined by a dash; a second feed of a kind needs one of its own."""
    subject: Name | None = None
    """Whom it serves, if not the subject of the file."""

    def names(self) -> list[str]:
        """Subjects that it speaks of."""
        return [self.subject] if self.subject else []


class ChannelRule(BaseModel):
    """The channel of releases whose title matches."""

    model_config = ConfigDict(extra="forbid", strict=True)

    pattern: Annotated[str, AfterValidator(_expression)]
    channel: Name


class GithubReleasesFeed(Feed):
    """The newest releases of a GitHub repository."""

    kind: Literal["github-releases"]
    repo: Repo
    tag: VersionPattern = _VERSION
    """Regular expression that a tag matches as a whole; its group ``version`` is the version. Other tags are passed over."""
    channel: Name = "stable"
    """Channel of releases that are no pre-releases; a pre-release is ``rc``, ``alpha`` or ``beta`` as its number says."""


class HelmIndexFeed(Feed):
    """One chart in the index of a Helm repository."""

    kind: Literal["helm-index"]
    url: Annotated[str, StringConstraints(pattern=r"^https://[^\s]+$", max_length=300)]
    chart: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+$", max_length=160)]
    version_from: Literal["version", "appVersion"] = "appVersion"
    """Which of the two is the subject's version."""
    channel: Name = "stable"
    requires: Name | None = None
    """Component whose floor is the chart's ``kubeVersion``."""

    def names(self) -> list[str]:
        return [*super().names(), *([self.requires] if self.requires else [])]


class TagFeed(Feed):
    """A file of a repository at the tags of the subject's newest releases."""

    repo: Repo
    paths: list[FilePath] = Field(min_length=1, max_length=8)
    """The file; of several the first that is there."""
    tag: Tag = "v{version}"
    newest: int = Field(default=4, ge=1, le=20)
    """How many releases are looked at, from the newest stable one down; those that are known in full are passed over."""


class BundleKey(BaseModel):
    """Where the version of a bundled component stands."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: Key
    optional: bool = False
    """Shipped, but not deployed unless asked for."""
    role: Literal["default", "recommended", "listed"] = "default"
    scope: dict[str, str | list[str]] = Field(default_factory=dict)


class ChartValuesFeed(TagFeed):
    """A chart's ``values.yaml`` or ``Chart.yaml`` at a tag."""

    kind: Literal["chart-values"]
    bundles: dict[Name, Key | BundleKey] = Field(default_factory=dict)
    """Component -> dotted key of its version; a list is entered by the ``name`` of its entries."""
    requires: dict[Name, Key] = Field(default_factory=dict)
    """Component -> dotted key of a Helm constraint on its version."""

    def names(self) -> list[str]:
        return [*super().names(), *self.bundles, *self.requires]


class CiVersionsFeed(TagFeed):
    """The versions that a project's own CI tests at a tag."""

    kind: Literal["ci-versions"]
    object: Name
    pattern: Annotated[str, _names("versions")]
    """Regular expression, searched line by line; its group ``versions`` holds versions between blanks or commas."""
    what: Annotated[str, StringConstraints(min_length=3, max_length=120)]
    """What the list is, for the summary: ``the end-to-end matrix (E2E_K8S_VERSIONS)``."""

    def names(self) -> list[str]:
        return [*super().names(), self.object]


class EndOfLifeFeed(Feed):
    """One product of endoflife.date, API v1."""

    kind: Literal["endoflife"]
    product: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.+-]+$", max_length=100)]
    line: Annotated[str, _names("line")] = r"(?P<line>\d+(?:\.\d+)*)"
    """Regular expression that the name of a cycle matches as a whole; its group ``line`` is the line. Other cycles are passed over."""
    claim: Literal["lifecycle", "offer"] = "lifecycle"
    object: Name | None = None
    """For offers: what is offered."""
    days: dict[Day, Literal["releaseDate", "eoasFrom", "eolFrom", "eoesFrom"]]
    """Day of the claim -> key of the cycle."""
    latest: bool = False
    """Whether the newest version of a cycle is a release of the subject."""
    channels: list[ChannelRule] = Field(default_factory=list)
    """Searched in the cycle's label; the first that matches gives the channel of its releases. An LTS cycle without one is ``lts``."""
    branch_type: bool = False
    """Whether that channel is also the branch type of the line."""

    def names(self) -> list[str]:
        return [*super().names(), *([self.object] if self.object else [])]

    @model_validator(mode="after")
    def _offers_something(self) -> Self:
        if (self.claim == "offer") != (self.object is not None):
            raise ValueError("an offer needs `object`, and nothing else has one")
        return self


class ReleaseScheduleFeed(Feed):
    """Kubernetes' schedule of patch releases."""

    kind: Literal["release-schedule"]
    repo: Repo
    ref: Ref = "main"
    path: FilePath


class FeatureGatesFeed(Feed):
    """Front matter of the pages of Kubernetes' feature gates."""

    kind: Literal["feature-gates"]
    repo: Repo
    ref: Ref = "main"
    path: FilePath
    """Folder of the pages, one per gate."""
    gates: Annotated[str, AfterValidator(_expression)]
    """Regular expression, searched in the names of gates: those that are read."""
    topic: Name | None = None


FeedEntry = Annotated[
    GithubReleasesFeed | HelmIndexFeed | ChartValuesFeed | CiVersionsFeed | EndOfLifeFeed | ReleaseScheduleFeed | FeatureGatesFeed,
    Field(discriminator="kind"),
]
