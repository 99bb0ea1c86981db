"""Checks that all readers make of what strangers' servers say."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from compat.documents import read_document
from compat.errors import DocumentError, printable
from compat.feeds.fetch import Page
from compat.feeds.interface import FeedError, Task
from compat.feeds.known import Known
from compat.schema import ReleaseEntry
from compat.versions import Version

__all__ = ["MOST_NEW", "Payload", "bounded", "day_of", "plausible", "read_json", "read_yaml", "release", "validated"]

MOST_NEW = 200
"""More new releases than that in one feed are not believed."""
_FIRST_DAY = date(2010, 1, 1)
T = TypeVar("T")


class Payload(BaseModel):
    """Base of the parts of payloads that are used; what else is there is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


def read_json(page: Page, form: type[T] | Any) -> Any:
    """Read the page as JSON of a form.

    Raises:
        FeedError: if it is no JSON or of another form.
    """
    try:
        value = json.loads(page.text)
    except (ValueError, RecursionError) as error:
        raise FeedError(page.address, "JSON", f"{printable(page.text[:60])!r} ({printable(error, 80)})") from error
    return validated(page, form, value)


def read_yaml(page: Page, form: type[T] | Any, text: str | None = None) -> Any:
    """Read the page, or *text* from it, as plain YAML of a form.

    Raises:
        FeedError: if it is no YAML or of another form.
    """
    try:
        value = read_document(page.text if text is None else text, "feed").value
    except DocumentError as error:
        raise FeedError(page.address, "plain YAML", error.faults[0]) from error
    return validated(page, form, value)


def validated(page: Page, form: Any, value: Any) -> Any:
    """Check *value* against a pydantic form.

    Raises:
        FeedError: naming the first place that differs.
    """
    try:
        return TypeAdapter(form).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        raise FeedError(page.address, f"the form that compat knows at {printable(place, 80)} ({first['msg']})", repr(first["input"])) from error
    except RecursionError as error:
        raise FeedError(page.address, "the form that compat knows", "values nested too deeply") from error


def day_of(page: Page, text: str | date | None, today: date, what: str, *, future: bool = False) -> date | None:
    """Read a day, from a date or the beginning of a timestamp.

    Raises:
        FeedError: if it is none, or lies before 2010, or in the future where that makes no sense, or absurdly far there.
    """
    if text is None or text == "":
        return None
    try:
        day = text if isinstance(text, date) else date.fromisoformat(text[:10])
    except ValueError as error:
        raise FeedError(page.address, f"a day such as 2026-09-30 as {what}", repr(text)) from error
    latest = today + (timedelta(days=365 * 15) if future else timedelta(days=1))
    if not _FIRST_DAY <= day <= latest:
        raise FeedError(page.address, f"a day between {_FIRST_DAY} and {latest} as {what}", day)
    return day


def plausible(page: Page, version: Version, task: Task, known: Known) -> Version:
    """Return *version*, if it can follow the versions that are known.

    Raises:
        FeedError: if its leading number is absurd.
    """
    most = known.leading(task.subject)
    if most and version.key.major > 2 * most + 10:
        raise FeedError(page.address, f"a version of {task.subject} that can follow {most}.x", version.text)
    return version


def release(version: Version, day: date | None, channel: str) -> ReleaseEntry:
    """The written form of a release; a pre-release is ``rc``, ``alpha`` or ``beta`` by its number, whatever else was said."""
    if version.key.pre is not None:
        channel = {"a": "alpha", "b": "beta"}.get(version.key.pre[0], "rc")
    return ReleaseEntry(version=version.release, released=day, channel=channel)


def bounded(page: Page, known: Known, subject: str, found: Iterable[ReleaseEntry]) -> list[ReleaseEntry]:
    """Return *found* without repetitions, newest first.

    Raises:
        FeedError: if there are absurdly many new ones.
    """
    unique: dict[Version, ReleaseEntry] = {}
    for entry in found:
        version = known.version(subject, entry.version)
        if version is not None:
            unique.setdefault(version, entry)
    new = [version for version in unique if not known.has_release(subject, version)]
    if len(new) > MOST_NEW:
        raise FeedError(page.address, f"at most {MOST_NEW} releases that are not known", len(new))
    return [unique[version] for version in sorted(unique, reverse=True)]
