"""A web server on loopback that answers pages one after another, for what fetches from the web."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class Page:
    """An answer; `length` is what the header says, where that is not the body's."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None


class Web:
    """`pages` by path, the last of which stays; `asked` and `headers` are what came, in order."""

    def __init__(self) -> None:
        self.pages: dict[str, list[Page]] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked.append(self.path)
                web.headers.append({name.lower(): value for name, value in self.headers.items()})
                page = web._next(self.path)
                self.send_response(page.status)
                for name, value in page.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(page.body) if page.length is None else page.length))
                self.end_headers()
                self.wfile.write(page.body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that it overrides
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def _next(self, path: str) -> Page:
        pages = self.pages.get(path, [Page(b"", 404)])
        return pages.pop(0) if len(pages) > 1 else pages[0]

    def __enter__(self) -> Web:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
