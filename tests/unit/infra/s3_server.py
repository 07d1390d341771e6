"""S3 for tests: moto behind a real port, with what it lacks of S3, and with faults as they are asked for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from moto.backends import get_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import S3Backend
from werkzeug.test import EnvironBuilder, run_wsgi_app

__all__ = ["BUCKET", "Answer", "Fault", "Request", "S3Server", "cut", "lost", "refusal", "refused", "running"]

BUCKET = "objects"


@dataclass(frozen=True, slots=True)
class Request:
    """Its headers may be changed."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """`METHOD path?query`, with the question mark also where no query follows."""
        return f"{self.method} {self.path}{'' if '?' in self.path else '?'}"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


Fault = Callable[[Request, Callable[[], Answer]], Answer | None]
"""Given a request, and how to answer it: another answer, or None to break the connection."""


class S3Server:
    """One bucket at `endpoint`, of which a test uses what lies below `prefix`.

    `faults` are used up, one a request that they fit; the headers in `ignored` are; `asked` tells what was asked,
    and `came_by` by which connection, last.
    """

    def __init__(self) -> None:
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._one_at_a_time = threading.Lock()
        self._port = 0
        self.down = False
        self.prefix = "store"
        self.faults: list[tuple[str, Fault]] = []
        self.ignored: set[str] = set()
        self.asked: list[str] = []
        self.came_by: dict[str, int] = {}
        self.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def address(self) -> str:
        return f"s3://{BUCKET}/{self.prefix}?endpoint={self.endpoint}"

    @property
    def backend(self) -> S3Backend:
        backend: S3Backend = get_backend("s3")["123456789012"]["aws"]
        return backend

    def keys(self) -> list[str]:
        """What is there below the prefix, whoever wrote it."""
        return sorted(key for key in self.backend.get_bucket(BUCKET).keys if key.startswith(self.prefix))

    def put(self, key: str, body: bytes) -> None:
        """Write as somebody else."""
        self.backend.put_object(BUCKET, f"{self.prefix}/{key}", body)

    def uploads(self) -> dict[str, int]:
        """What was begun below the prefix, and neither completed nor given up: of each key the number of its parts."""
        begun = self.backend.get_bucket(BUCKET).multiparts.values()
        here = f"{self.prefix}/"
        return {one.key_name.removeprefix(here): len(one.parts) for one in begun if one.key_name.startswith(here)}

    def start(self) -> None:
        self.down = False
        server = self

        class Handler(_Handler):
            s3 = server

        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Take no connection, and end those that there are."""
        self.down = True
        self._server.shutdown()
        self._server.server_close()

    def fault(self, what: str, fault: Fault, times: int = 1) -> None:
        """The next requests of which method, key and query begin with `what` (`PUT a`) meet a fault."""
        method, _, key = what.partition(" ")
        self.faults += [(f"{method} /{BUCKET}/{self.prefix}/{key}" if key else f"{method} ", fault)] * times

    def answer(self, request: Request) -> Answer | None:
        self.asked.append(request.text)
        fault = next((one for one in list(self.faults) if request.text.startswith(one[0])), None)
        if fault is None:
            return self._answer(request)
        self.faults.remove(fault)
        return fault[1](request, lambda: self._answer(request))

    def _answer(self, request: Request) -> Answer:
        for name in self.ignored:
            request.headers.pop(name, None)
        environ = EnvironBuilder(
            request.path, self.endpoint, method=request.method, headers=request.headers, data=request.body
        ).get_environ()
        # moto checks a condition and writes in two steps, which another request could come between.
        with self._one_at_a_time:
            if "uploadId" in request.path and not self._holds(request):
                return refusal(412, "PreconditionFailed")
            body, status, headers = run_wsgi_app(self._moto, environ, buffered=True)
        return Answer(int(status.split()[0]), dict(headers), b"".join(body))

    def _holds(self, request: Request) -> bool:
        """The condition that moto does not look at: `If-Match` of the request that completes an upload."""
        wanted = request.headers.get("If-Match")
        found = self.backend.get_object(BUCKET, request.path.partition("?")[0].removeprefix(f"/{BUCKET}/"))
        return wanted is None or (found is not None and found.etag == wanted)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    s3: S3Server

    def do_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, self.path, dict(self.headers), body)
        self.s3.came_by[request.text] = self.client_address[1]
        answer = self.s3.answer(request)
        if answer is None or self.s3.down:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        try:
            self._send(answer)
        except ConnectionError:
            # Whoever asked has heard enough.
            self.close_connection = True

    def _send(self, answer: Answer) -> None:
        self.send_response_only(answer.status)
        headers = {"Content-Length": str(len(answer.body)), **answer.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
            self.close_connection |= int(headers["Content-Length"]) > len(answer.body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_any  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Requests are told by `asked`."""


def refusal(status: int, code: str) -> Answer:
    """An error as S3 words it, with a text in it that nobody should repeat."""
    text = f"<Error><Code>{code}</Code><Message>the SECRET-TEXT of a server</Message></Error>"
    return Answer(status, {"Content-Type": "application/xml"}, text.encode())


def refused(status: int, code: str) -> Fault:
    """The request is not carried out."""
    return lambda _, __: refusal(status, code)


def lost(then: Callable[[], object] = lambda: None) -> Fault:
    """The request is carried out, then something else happens, and the answer does not arrive."""

    def fault(_: Request, answer: Callable[[], Answer]) -> None:
        answer()
        then()

    return fault


def cut(size: int, then: Callable[[], object] = lambda: None) -> Fault:
    """The answer breaks off after some bytes of its body, and something else has happened."""

    def fault(_: Request, answer: Callable[[], Answer]) -> Answer:
        whole = answer()
        then()
        return Answer(whole.status, {"Content-Length": str(len(whole.body)), **whole.headers}, whole.body[:size])

    return fault


@contextmanager
def running() -> Iterator[S3Server]:
    server = S3Server()
    server.backend.create_bucket(BUCKET, "us-east-1")
    try:
        yield server
    finally:
        server.stop()
