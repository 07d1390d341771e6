"""Bodies of an engine's answers, whole or as server-sent events, of bounded size whatever the engine sends."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx

from rl_gym.infra.errors import InfrastructureError

__all__ = ["events", "read_whole"]

_REPLY_BYTES = 64 << 20
_LINE_BYTES = 1 << 20
_MIB = 1 << 20
_DONE = b"[DONE]"


async def read_whole(response: httpx.Response, most: int = _REPLY_BYTES, *, cut: bool = False) -> bytes:
    """The body; more than `most` bytes of it are cut off, or raise InfrastructureError."""
    body = bytearray()
    async for chunk in _chunks(response):
        body += chunk
        if len(body) > most:
            if cut:
                return bytes(body[:most])
            raise InfrastructureError(f"the engine's answer is larger than {most // _MIB} MiB")
    return bytes(body)


async def events(response: httpx.Response) -> AsyncIterator[bytes]:
    """The data of every event until `[DONE]`.

    Raises InfrastructureError for lines that are no events, or are too long, for a stream that is, and where it ends
    before.
    """
    async for line in _lines(response):
        field, colon, value = line.partition(b":")
        if field == b"data" and colon:
            data = value.strip()
            if data == _DONE:
                return
            yield data
        elif field not in (b"", b"event", b"id", b"retry"):
            raise InfrastructureError("the engine's stream holds a line that is no event")
    raise InfrastructureError("the engine's stream ended before the answer did")


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    rest, size = b"", 0
    async for chunk in _chunks(response):
        size += len(chunk)
        if size > _REPLY_BYTES:
            raise InfrastructureError(f"the engine's stream is longer than {_REPLY_BYTES // _MIB} MiB")
        *lines, rest = (rest + chunk).split(b"\n")
        for line in (*lines, rest):
            if len(line) > _LINE_BYTES:
                raise InfrastructureError(f"the engine's stream holds a line of more than {_LINE_BYTES // _MIB} MiB")
        for line in lines:
            yield line.rstrip(b"\r")


async def _chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    # Not unpacked: a few bytes could become gigabytes, and we asked for none that are packed.
    if response.headers.get("content-encoding", "identity") != "identity":
        raise InfrastructureError("the engine's answer is compressed, which it was asked not to be")
    async for chunk in response.aiter_raw():
        yield chunk
