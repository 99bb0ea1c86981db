"""Fetching pages of public feeds: conditional, bounded in size and time, with retries that back off.

HTTPS only, except on this machine and where the caller names a mirror himself. A token is sent to GitHub's API and nowhere else. A
redirect is followed to HTTPS or within the mirror only. Pages are kept in the cache directory, so that an unchanged one costs a 304.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from compat.errors import InputError, printable
from compat.feeds.interface import FeedError, UnreachableError

__all__ = ["MOST_BYTES", "AbsentError", "Fetcher", "Page"]

MOST_BYTES = 16 * 1024 * 1024
"""Largest page that is read."""
_TOKEN_HOST = "api.github.com"  # noqa: S105  # a host, no token
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_LONGEST_WAIT = 20
"""Seconds that a server may ask to be waited for; a longer wait ends the reading of the feed."""
_KEEP_SECONDS = 90 * 24 * 3600


class AbsentError(FeedError):
    """The server says that there is no such page."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is now."""

    address: str
    """Where it is published, whatever mirror it came from."""
    text: str
    unchanged: bool = False
    """Whether the server said that it is the one of last time."""


class _Patience(Retry):
    """Retries that never wait longer than `_LONGEST_WAIT`, whatever the server asks for."""

    def get_retry_after(self, response: Any) -> float | None:
        wait = super().get_retry_after(response)
        if wait is not None and wait > _LONGEST_WAIT:
            raise urllib3.exceptions.ResponseError(f"the server asks to wait {int(wait)} seconds; try again later")
        return wait


class _Token(requests.auth.AuthBase):
    """Sends the token to GitHub's API only; as it is set, requests looks for no other credentials either."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        parts = urlsplit(request.url or "")
        if self._token and parts.scheme == "https" and parts.hostname == _TOKEN_HOST and parts.port in (None, 443):
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class Fetcher:
    """A session of requests with the manners above."""

    def __init__(self, cache: Path | None = None, *, base: str = "", token: str = "", timeout: float = 120.0, page_timeout: float = 30.0) -> None:
        """Make a fetcher.

        Args:
            cache: folder for pages; None: nothing is kept.
            base: a mirror: ``https://host/path`` is read at ``BASE/host/path``.
            token: GitHub token.
            timeout: seconds for all pages together.
            page_timeout: seconds for one page, retries included.

        Raises:
            InputError: if *base* is no address.
        """
        if base and (urlsplit(base).scheme not in ("http", "https") or not urlsplit(base).hostname):
            raise InputError(f"expected the address of a mirror such as https://mirror.example.com/feeds, found {printable(base)!r}")
        self._cache = cache
        self._base = base.rstrip("/")
        self._page_timeout = page_timeout
        self._ends = time.monotonic() + timeout
        self._timeout = timeout
        self._dead: dict[str, str] = {}
        """Hosts that did not answer in this run, and how: they are asked once."""
        self.pages = 0
        """Pages read so far, unchanged ones included."""
        self._session = requests.Session()
        self._session.auth = _Token(token)
        self._session.headers.update({"User-Agent": "compat-gpu (kb update)", "Accept": "application/json, application/yaml, text/plain, */*;q=0.1"})
        adapter = HTTPAdapter(
            max_retries=_Patience(
                total=3, connect=2, read=2, backoff_factor=0.5, status_forcelist=(429, 500, 502, 503, 504), allowed_methods=("GET",), raise_on_status=False
            )
        )
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, adapter)

    def get(self, address: str, *, json_only: bool = False) -> Page:
        """Read the page at *address*.

        Raises:
            AbsentError: if there is none.
            FeedError: if it cannot be read within the bounds, or is not of a kind that feeds are made of.
        """
        actual = self._actual(address)
        host = urlsplit(actual).netloc
        if host in self._dead:
            raise UnreachableError(address, "an answer", self._dead[host])
        seconds = min(self._page_timeout, self._ends - time.monotonic())
        if seconds <= 0:
            raise FeedError(address, f"all feeds to be read within {self._timeout:g} seconds", "the time is over; give more with --timeout")
        outcome: list[Page | BaseException] = []
        # a thread, because neither name resolution nor a server that drips bytes is bounded by the timeouts of sockets
        worker = threading.Thread(target=self._work, args=(address, actual, outcome, time.monotonic() + seconds), daemon=True)
        worker.start()
        worker.join(seconds)
        if not outcome:
            raise FeedError(address, f"the whole page within {seconds:.0f} seconds", "no end of it")
        if isinstance(outcome[0], Page):
            self.pages += 1
            if json_only and outcome[0].text.lstrip()[:1] not in ("{", "["):
                raise FeedError(address, "JSON", repr(outcome[0].text[:60]))
            return outcome[0]
        raise outcome[0]

    def _actual(self, address: str) -> str:
        parts = urlsplit(address)
        if self._base:
            return f"{self._base}/{address.partition('://')[2]}"
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise FeedError(address, "an https address", parts.scheme)
        return address

    def _work(self, address: str, actual: str, outcome: list[Page | BaseException], ends: float) -> None:
        try:
            outcome.append(self._read(address, actual, ends))
        except FeedError as error:
            outcome.append(error)
        except requests.ConnectionError as error:
            reason = self._dead[urlsplit(actual).netloc] = _reason(error)
            outcome.append(UnreachableError(address, "an answer", reason))
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            outcome.append(UnreachableError(address, "an answer", _reason(error)))
        except BaseException as error:
            outcome.append(error)

    def _read(self, address: str, actual: str, ends: float) -> Page:
        kept = self._kept(actual)
        conditions = {name: kept[key] for name, key in (("If-None-Match", "etag"), ("If-Modified-Since", "modified")) if kept.get(key)}
        where = actual
        for _ in range(6):
            response = self._session.get(where, headers=conditions, timeout=(10, 15), stream=True, allow_redirects=False)
            with response:
                if response.status_code in _REDIRECTS and response.headers.get("Location"):
                    where = self._next(address, where, response.headers["Location"])
                    continue
                if response.status_code == 304 and kept:
                    return Page(address, kept["text"], unchanged=True)
                _check(address, response)
                body = _body(address, response, ends)
                text = _text(address, body)
                self._keep(actual, text, response.headers)
                return Page(address, text)
        raise FeedError(address, "at most 5 redirects", "more")

    def _next(self, address: str, where: str, location: str) -> str:
        target = urljoin(where, location)
        parts, base = urlsplit(target), urlsplit(self._base)
        if parts.scheme == "https" or (self._base and (parts.scheme, parts.netloc) == (base.scheme, base.netloc)):
            return target
        raise FeedError(address, "redirects to https only", f"one to {printable(target, 120)}")

    # -- pages of earlier runs

    def _file(self, actual: str) -> Path | None:
        return self._cache / f"{hashlib.sha256(actual.encode()).hexdigest()[:32]}.json" if self._cache else None

    def _kept(self, actual: str) -> dict[str, str]:
        path = self._file(actual)
        if path is None:
            return {}
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            whole = kept["address"] == actual and kept["digest"] == hashlib.sha256(kept["text"].encode()).hexdigest()
            return {str(key): str(value) for key, value in kept.items()} if whole else {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}

    def _keep(self, actual: str, text: str, headers: Mapping[str, str]) -> None:
        path = self._file(actual)
        etag, modified = headers.get("ETag", ""), headers.get("Last-Modified", "")
        if path is None or not (etag or modified):
            return
        kept = {"address": actual, "etag": etag, "modified": modified, "digest": hashlib.sha256(text.encode()).hexdigest(), "text": text}
        with contextlib.suppress(OSError):  # a cache that cannot be written makes the next run slower, no more
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".page-", dir=path.parent)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    json.dump(kept, stream)
                Path(name).replace(path)
            finally:
                Path(name).unlink(missing_ok=True)

    def forget_old(self) -> None:
        """Remove pages that no run has brought anew for 90 days, and what killed runs left."""
        if self._cache is None:
            return
        with contextlib.suppress(OSError):
            for path in [*self._cache.glob("*.json"), *self._cache.glob(".page-*")]:
                age = time.time() - path.stat().st_mtime
                if age > (_KEEP_SECONDS if path.suffix == ".json" else 3600):
                    path.unlink(missing_ok=True)


def _check(address: str, response: requests.Response) -> None:
    status = response.status_code
    if status in (404, 410):
        raise AbsentError(address, "a page", f"HTTP {status}: there is none")
    if status in (403, 429) and urlsplit(response.url).hostname == _TOKEN_HOST and response.headers.get("X-RateLimit-Remaining") == "0":
        reset = response.headers.get("X-RateLimit-Reset", "")
        when = f" until {datetime.fromtimestamp(int(reset), UTC):%H:%M} UTC" if re.fullmatch(r"\d{9,11}", reset) else ""
        raise FeedError(address, "an answer", f"HTTP {status}: GitHub answers no more questions{when}; set GITHUB_TOKEN to be allowed more")
    if status != 200:
        wait = f"; the server asks to wait {printable(response.headers['Retry-After'], 30)} s" if "Retry-After" in response.headers else ""
        raise FeedError(address, "HTTP 200", f"HTTP {status}{wait}")
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind == "text/html" or kind.startswith(("image/", "audio/", "video/")):
        raise FeedError(address, "JSON, YAML or plain text", f"a page of type {kind}; is something between you and the feed?")


def _body(address: str, response: requests.Response, ends: float) -> bytes:
    length = response.headers.get("Content-Length", "")
    if length.isdecimal() and len(length) < 18 and int(length) > MOST_BYTES:
        raise FeedError(address, f"at most {MOST_BYTES:,} bytes", f"{int(length):,}")
    parts: list[bytes] = []
    size = 0
    for part in response.iter_content(64 * 1024):
        size += len(part)
        if size > MOST_BYTES:
            raise FeedError(address, f"at most {MOST_BYTES:,} bytes", "more")
        if time.monotonic() > ends:
            raise FeedError(address, "the whole page in time", f"{size:,} bytes when the time was over")
        parts.append(part)
    return b"".join(parts)


def _text(address: str, body: bytes) -> str:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FeedError(address, "UTF-8 text", f"other bytes at {error.start}") from error
    if not text.strip():
        raise FeedError(address, "a page", "an empty one")
    if re.match(r"\s*<(!doctype|html)", text, re.IGNORECASE):
        raise FeedError(address, "JSON, YAML or plain text", "HTML; is something between you and the feed?")
    return text


def _reason(error: BaseException) -> str:
    """What went wrong, in the words of a person, from the innermost of nested errors."""
    if isinstance(error, requests.exceptions.ConnectTimeout | requests.exceptions.ReadTimeout):
        return "no answer in time"
    if isinstance(error, requests.exceptions.SSLError):
        return f"a certificate that is not trusted ({printable(_innermost(error), 120)}); set REQUESTS_CA_BUNDLE if you have one of your own"
    if isinstance(error, requests.exceptions.ProxyError):
        return f"a proxy that does not let the request through ({printable(_innermost(error), 120)}); check HTTPS_PROXY"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "a page that breaks off"
    return printable(_innermost(error), 160)


def _innermost(error: BaseException) -> str:
    inner: BaseException = error
    for _ in range(10):
        reason = getattr(inner, "reason", None)
        nested = reason if isinstance(reason, BaseException) else next((item for item in inner.args if isinstance(item, BaseException)), None)
        if nested is None:
            break
        inner = nested
    return re.sub(r"^<.*?>: |^\w+\(.*?\): ", "", str(inner)) or type(inner).__name__
