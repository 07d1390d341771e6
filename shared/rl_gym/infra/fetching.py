"""One small document from an address on the web: bounded in size and time, whole, and never by way of a file."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.parse import urlsplit

from rl_gym.infra.errors import NotFoundError, UsageError, one_line

__all__ = ["Answer", "UnreachableError", "fetch"]

_CHUNK = 1 << 16


class UnreachableError(NotFoundError):
    """Nothing came from the address, or not all of it: whoever asks again may get it."""


class Answer:
    """What came: `status` (of HTTP), `headers`, and the body."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.body = body


def fetch(
    url: str, *, most_bytes: int, seconds: float, headers: Mapping[str, str] | None = None, follow: bool = True
) -> Answer:
    """Get a document of at most `most_bytes` within `seconds` in all; an answer with an error's status is one too.

    With `follow` false a redirection is answered as it is, so that `headers` go to this address alone. Raises
    UnreachableError with the reason where it does not come whole, UsageError for another kind of address and for a
    document that is larger.
    """
    if not _is_of_the_web(url):
        raise UsageError(f"{one_line(url, 200)!r} is no address of the web: it begins with http:// or https://")
    deadline = time.monotonic() + seconds
    request = urllib.request.Request(url, headers=dict(headers or {}))  # noqa: S310 - the scheme was looked at
    opener = urllib.request.build_opener(*(() if follow else (_Stay(),)))
    try:
        try:
            response = opener.open(request, timeout=seconds)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            body = _read(response, most_bytes, deadline, seconds)
            length = response.headers.get("Content-Length", "")
            if length.isdigit() and len(body) < min(int(length), most_bytes):
                raise TimeoutError(f"{len(body)} of {length} bytes, then nothing more")
            answer = Answer(response.status, dict(response.headers.items()), body)
    except (HTTPException, OSError, ValueError) as error:
        reason = one_line(str(getattr(error, "reason", None) or error or type(error).__name__), 200)
        raise UnreachableError(reason) from None
    if len(body) > most_bytes:
        raise UsageError(f"{one_line(url, 200)} answered with more than {most_bytes >> 10} KiB")
    return answer


def _is_of_the_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url


def _read(response: IO[bytes], most_bytes: int, deadline: float, seconds: float) -> bytes:
    body = b""
    # `read1` gives what has come: a sender of a byte a second is noticed at the deadline.
    read = getattr(response, "read1", response.read)
    while len(body) <= most_bytes and (chunk := read(_CHUNK)):
        body += chunk
        if time.monotonic() > deadline:
            raise TimeoutError(f"not done after {seconds:g} s")
    return body


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None
