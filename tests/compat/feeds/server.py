"""A real HTTP server on this machine that plays all feeds, as a mirror does: /HOST/PATH."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Mirror:
    """What the server says, and what it was asked."""

    base: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    """Address without https:// -> body."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Address -> content type; default: JSON for bodies that look like it, else plain text."""
    asked: list[tuple[str, int, dict[str, str]]] = field(default_factory=list)
    """Address, status of the answer, headers of the question."""
    slow: float = 0
    """Seconds that each answer takes."""
    first: dict[str, list[tuple[int, dict[str, str]]]] = field(default_factory=dict)
    """Address -> answers (status, headers) before the page is shown."""
    cut: set[str] = field(default_factory=set)
    """Addresses whose bodies break off in the middle."""

    def put(self, address: str, body: str) -> None:
        """Publish a page."""
        self.pages[address.removeprefix("https://")] = body


@contextmanager
def mirror() -> Iterator[Mirror]:
    """Run a mirror until the block ends."""
    state = Mirror()
    halt = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            address = self.path.lstrip("/")
            if state.slow:
                halt.wait(state.slow)
            if state.first.get(address):
                code, headers = state.first[address].pop(0)
                state.asked.append((address, code, dict(self.headers)))
                self.send_response(code)
                for name, value in {"Content-Length": "0", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                return
            text = state.pages.get(address)
            body = (text or "404: Not Found").encode()
            tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            status = 404 if text is None else 304 if self.headers.get("If-None-Match") == tag else 200
            state.asked.append((address, status, dict(self.headers)))
            self.send_response(status)
            if status == 304:
                self.send_header("ETag", tag)
                self.end_headers()
                return
            self.send_header("Content-Type", state.kinds.get(address, "application/json; charset=utf-8" if body[:1] in b"[{" else "text/plain; charset=utf-8"))
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", tag)
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if address in state.cut else body)
            if address in state.cut:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass  # clients that are killed or give up are what some tests are about

    server = Server(("127.0.0.1", 0), Handler)
    state.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        halt.set()
        server.shutdown()
        server.server_close()
        thread.join()
