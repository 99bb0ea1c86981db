"""Fetching: what can go wrong between here and a feed, and that it is bounded, told, and never sends a token astray."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
import responses

from compat.errors import InputError
from compat.feeds import fetch
from compat.feeds.fetch import AbsentError, Fetcher
from compat.feeds.interface import FeedError
from tests.compat.feeds.server import Mirror, mirror

PAGE = "https://feeds.example.com/releases.json"
API = "https://api.github.com/repos/example/operator/releases"


@pytest.fixture
def net() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


@pytest.fixture
def served() -> Iterator[Mirror]:
    with mirror() as state:
        yield state


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that retries would have waited."""
    waited: list[float] = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", waited.append)
    return waited


def test_an_unchanged_page_costs_a_304(net: responses.RequestsMock, tmp_path: Path) -> None:
    """The second question carries ETag and Last-Modified; the body comes from the cache."""
    net.get(PAGE, body="[1]", headers={"ETag": '"a"', "Last-Modified": "Fri, 30 Jan 2026 10:00:00 GMT"}, content_type="application/json")
    assert Fetcher(tmp_path).get(PAGE).text == "[1]"
    net.get(PAGE, status=304)
    page = Fetcher(tmp_path).get(PAGE)
    assert (page.text, page.unchanged) == ("[1]", True)
    asked = net.calls[1].request.headers
    assert (asked["If-None-Match"], asked["If-Modified-Since"]) == ('"a"', "Fri, 30 Jan 2026 10:00:00 GMT")


def test_a_damaged_cache_is_not_used(net: responses.RequestsMock, tmp_path: Path) -> None:
    """Whatever happened to the file, the question is asked without conditions and the page read anew."""
    net.get(PAGE, body="[1]", headers={"ETag": '"a"'}, content_type="application/json")
    Fetcher(tmp_path).get(PAGE)
    (kept,) = tmp_path.glob("*.json")
    for damage in (kept.read_text().replace("[1]", "[2]"), "{", "[]", "null"):
        kept.write_text(damage)
        assert Fetcher(tmp_path).get(PAGE).text == "[1]"
        assert "If-None-Match" not in net.calls[-1].request.headers


def test_a_cache_that_cannot_be_written_is_no_error(net: responses.RequestsMock, tmp_path: Path) -> None:
    """A file where the folder should be: the page is still read."""
    (tmp_path / "cache").write_text("in the way")
    net.get(PAGE, body="[1]", headers={"ETag": '"a"'}, content_type="application/json")
    assert Fetcher(tmp_path / "cache").get(PAGE).text == "[1]"


def test_what_is_not_there_is_told_apart(net: responses.RequestsMock) -> None:
    """Readers try other paths after a 404, and only then."""
    net.get(PAGE, status=404)
    with pytest.raises(AbsentError, match="HTTP 404"):
        Fetcher().get(PAGE)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
def test_passing_faults_are_retried(served: Mirror, waits: list[float], status: int) -> None:
    """A server that recovers costs a wait, not the feed."""
    served.put(PAGE, "[1]")
    served.first["feeds.example.com/releases.json"] = [(status, {}), (status, {})]
    assert Fetcher(base=served.base).get(PAGE).text == "[1]"
    assert [code for _, code, _ in served.asked] == [status, status, 200]
    assert len(waits) == 1  # the first retry comes at once


def test_lasting_faults_end(served: Mirror, waits: list[float]) -> None:
    """Four questions, waits that grow, then a message with the status."""
    served.first["feeds.example.com/releases.json"] = [(503, {})] * 9
    with pytest.raises(FeedError, match="HTTP 503"):
        Fetcher(base=served.base).get(PAGE)
    assert len(served.asked) == 4
    assert len(waits) == 2
    assert 0 < waits[0] < waits[1] < 10


def test_a_server_may_ask_for_a_short_wait_only(served: Mirror, waits: list[float]) -> None:
    """Retry-After is kept where it is short; a day is not waited for, and the message says so."""
    served.put(PAGE, "[1]")
    served.first["feeds.example.com/releases.json"] = [(429, {"Retry-After": "3"})]
    assert Fetcher(base=served.base).get(PAGE).text == "[1]"
    assert waits == [3]
    served.first["feeds.example.com/releases.json"] = [(429, {"Retry-After": "86400"})]
    with pytest.raises(FeedError, match=r"asks to wait \d{5} seconds"):
        Fetcher(base=served.base).get(PAGE)
    assert waits == [3]


def test_a_page_that_breaks_off_is_no_page(served: Mirror) -> None:
    """Half a body never passes for a whole one, and is not kept."""
    served.put(PAGE, "[1, 2, 3, 4, 5, 6, 7, 8]")
    served.cut.add("feeds.example.com/releases.json")
    with pytest.raises(FeedError, match="breaks off"):
        Fetcher(base=served.base).get(PAGE)


def test_github_says_when_its_limit_ends(net: responses.RequestsMock) -> None:
    """A used-up rate limit names the way out."""
    net.get(API, status=403, headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1769860800"})
    with pytest.raises(FeedError, match=r"until 12:00 UTC; set GITHUB_TOKEN"):
        Fetcher().get(API)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (requests.ConnectionError("Name or service not known"), "Name or service not known"),
        (requests.ConnectTimeout("x"), "no answer in time"),
        (requests.ReadTimeout("x"), "no answer in time"),
        (requests.exceptions.SSLError("certificate verify failed"), "REQUESTS_CA_BUNDLE"),
        (requests.exceptions.ProxyError("407"), "HTTPS_PROXY"),
        (requests.exceptions.ChunkedEncodingError("x"), "breaks off"),
        (requests.exceptions.ContentDecodingError("x"), "x"),
    ],
)
def test_network_faults_are_told_in_words(net: responses.RequestsMock, error: Exception, told: str) -> None:
    """Each names the page and what is wrong."""
    net.get(PAGE, body=error)
    with pytest.raises(FeedError, match=rf"feeds\.example\.com.*{told}"):
        Fetcher().get(PAGE)


def test_a_host_that_does_not_answer_is_asked_once(net: responses.RequestsMock) -> None:
    """Offline, fifty pages must not cost fifty time-outs."""
    net.get(PAGE, body=requests.ConnectionError("unreachable"))
    fetcher = Fetcher()
    for _ in range(3):
        with pytest.raises(FeedError, match="unreachable"):
            fetcher.get(PAGE)
    assert len(net.calls) == 1


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        ("<!DOCTYPE html><html>Sign in</html>", "text/html; charset=utf-8", "between you and the feed"),
        ("  <HTML><body>Sign in", "text/plain", "HTML"),
        ("<!doctype html>", "application/json", "HTML"),
        ("x", "image/png", "image/png"),
        ("", "application/json", "an empty one"),
        (b"\xff\xfe[", "application/json", "UTF-8"),
        ("hello", "application/json", "JSON"),
    ],
)
def test_other_things_than_feeds_are_refused(net: responses.RequestsMock, body: str | bytes, kind: str, told: str) -> None:
    """A captive portal, a picture or nothing is no feed."""
    net.get(PAGE, body=body, content_type=kind)
    with pytest.raises(FeedError, match=told):
        Fetcher().get(PAGE, json_only=True)


def test_size_is_bounded_while_reading(net: responses.RequestsMock, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the length that is announced, by what arrives, and after decompression."""
    monkeypatch.setattr(fetch, "MOST_BYTES", 1000)
    net.get(PAGE, body="[" + "1," * 1000 + "1]", content_type="application/json")
    with pytest.raises(FeedError, match="at most 1,000 bytes"):
        Fetcher().get(PAGE)
    bomb = gzip.compress(b"[" + b" " * 100_000 + b"]")
    assert len(bomb) < 1000
    net.get(f"{PAGE}?2", body=bomb, headers={"Content-Encoding": "gzip"}, content_type="application/json")
    with pytest.raises(FeedError, match="at most 1,000 bytes"):
        Fetcher().get(f"{PAGE}?2")


@pytest.mark.parametrize("target", ["http://feeds.example.com/x", "ftp://feeds.example.com/x", "file:///etc/passwd", "http://169.254.169.254/"])
def test_redirects_stay_on_https(net: responses.RequestsMock, target: str) -> None:
    """A feed can't be led to plain HTTP, other schemes or services of the own network."""
    net.get(PAGE, status=302, headers={"Location": target})
    with pytest.raises(FeedError, match="redirects to https only"):
        Fetcher().get(PAGE)
    assert len(net.calls) == 1


def test_redirects_on_https_are_followed_but_not_for_ever(net: responses.RequestsMock) -> None:
    """Release files live behind redirects; a circle ends."""
    net.get(PAGE, status=301, headers={"Location": "/moved.json"})
    net.get("https://feeds.example.com/moved.json", body="[1]", content_type="application/json")
    assert Fetcher().get(PAGE).text == "[1]"
    net.get("https://feeds.example.com/circle", status=302, headers={"Location": "/circle"})
    with pytest.raises(FeedError, match="5 redirects"):
        Fetcher().get("https://feeds.example.com/circle")


def test_the_token_goes_to_github_only(net: responses.RequestsMock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not to other hosts, not through a redirect, not to a mirror; and no .netrc is looked at."""
    (tmp_path / "netrc").write_text("machine feeds.example.com login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    net.get(API, status=302, headers={"Location": PAGE})
    net.get(PAGE, body="[1]", content_type="application/json")
    net.get("http://127.0.0.1:9/api.github.com/x", body="[1]", content_type="application/json")
    Fetcher(token="t0ken").get(API)
    Fetcher(token="t0ken", base="http://127.0.0.1:9").get("https://api.github.com/x")
    sent = [(call.request.url, call.request.headers.get("Authorization")) for call in net.calls]
    assert sent == [(API, "Bearer t0ken"), (PAGE, None), ("http://127.0.0.1:9/api.github.com/x", None)]


@pytest.mark.parametrize("address", ["http://feeds.example.com/x", "ftp://feeds.example.com/x", "file:///etc/passwd"])
def test_only_https_is_asked(address: str) -> None:
    """Whatever an entry says."""
    with pytest.raises(FeedError, match="https address"):
        Fetcher().get(address)


@pytest.mark.parametrize("base", ["mirror.example.com", "file:///srv", "http://"])
def test_a_mirror_has_an_address(base: str) -> None:
    """A slip in --feed-base is bad input."""
    with pytest.raises(InputError, match="address of a mirror"):
        Fetcher(base=base)


def test_a_page_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is bounded as a whole: not even a server that drips, or a name that does not resolve, holds an update up."""

    def drip(*_: object, **__: object) -> requests.Response:
        time.sleep(30)
        raise AssertionError

    monkeypatch.setattr(requests.Session, "get", drip)
    began = time.monotonic()
    with pytest.raises(FeedError, match="no end of it"):
        Fetcher(page_timeout=0.1).get(PAGE)
    with pytest.raises(FeedError, match="--timeout"):
        Fetcher(timeout=0).get(PAGE)
    assert time.monotonic() - began < 5


def test_a_fault_of_our_own_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no fault of the network comes out as it is."""
    broken: Callable[..., object] = lambda *_, **__: 1 / 0  # noqa: E731
    monkeypatch.setattr(requests.Session, "get", broken)
    with pytest.raises(ZeroDivisionError):
        Fetcher().get(PAGE)
