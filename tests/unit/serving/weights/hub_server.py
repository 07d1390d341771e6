"""The part of the hub's HTTP interface that a download uses, on loopback, with faults as they are asked for."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["COMMIT", "HubServer", "running"]

COMMIT = "a" * 40
_LFS_BYTES = 10_000


@dataclass
class HubServer:
    """One model, `org/model`, whose branch `main` is at COMMIT.

    `refusal` answers every call instead, `tree` that for the list of files; `sent` replaces what is sent of a file,
    `listed` the size in the list.
    """

    endpoint: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    refusal: tuple[int, str] | None = None
    tree: bytes | None = None
    sent: dict[str, bytes] = field(default_factory=dict)
    listed: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)

    def reset(self) -> None:
        self.refusal = self.tree = None
        for holder in (self.files, self.sent, self.listed, self.asked, self.tokens):
            holder.clear()

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        path = path.partition("?")[0]
        self.asked.append(path)
        if self.refusal:
            return _refused(*self.refusal)
        if not path.startswith(("/api/models/org/model", "/org/model/resolve/")):
            return _refused(404, "RepoNotFound")
        revision = path.split("/")[6 if "/api/" in path else 4] if path.count("/") > 4 else "main"
        if revision not in ("main", "v1", COMMIT):
            return _refused(404, "RevisionNotFound")
        if "/resolve/" in path:
            return self._file(path.split("/", 5)[5])
        if "/tree/" in path and self.tree is not None:
            return 200, {"Content-Type": "application/json"}, self.tree
        if "/tree/" in path:
            return _json([self._entry(name) for name in self.files])
        return _json({"id": "org/model", "sha": COMMIT, "siblings": [{"rfilename": name} for name in self.files]})

    def _entry(self, name: str) -> dict[str, Any]:
        body = self.files[name]
        size = self.listed.get(name, len(body))
        entry: dict[str, Any] = {"type": "file", "path": name, "size": size, "oid": _blob(body)}
        if len(body) > _LFS_BYTES:
            entry["lfs"] = {"oid": hashlib.sha256(body).hexdigest(), "size": size, "pointerSize": 130}
        return entry

    def _file(self, name: str) -> tuple[int, dict[str, str], bytes]:
        if name not in self.files:
            return _refused(404, "EntryNotFound")
        etag = hashlib.sha256(self.files[name]).hexdigest()
        return 200, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT}, self.sent.get(name, self.files[name])


def _blob(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def _json(document: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json"}, json.dumps(document).encode()


def _refused(status: int, code: str) -> tuple[int, dict[str, str], bytes]:
    return status, {"X-Error-Code": code, "X-Error-Message": "the SECRET-TEXT of a server"}, b""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: HubServer

    def do_any(self) -> None:
        self.hub.tokens.add(self.headers.get("Authorization", ""))
        status, headers, body = self.hub.answer(self.path)
        self.send_response_only(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_GET = do_HEAD = do_any  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Requests are told by `asked`."""


@contextmanager
def running() -> Iterator[HubServer]:
    hub = HubServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
