"""Judgements that were made before, by the digest of all that decided them; the least used one goes first."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable

__all__ = ["JudgementCache", "cache_key"]

_OVERHEAD_BYTES = 300
"""What an entry takes beside its body: key, objects, table."""


def cache_key(decided_by: Iterable[str], item: bytes) -> bytes:
    """SHA-256 of an item, in JSON, and of the names and digests that decide about it."""
    digest = hashlib.sha256("\0".join(decided_by).encode())
    digest.update(b"\0\0")
    digest.update(item)
    return digest.digest()


class JudgementCache:
    """Bodies by key, at most `entries` of at most `size_bytes` together; 0 of either keeps nothing."""

    def __init__(self, entries: int, size_bytes: int) -> None:
        self._most, self._most_bytes = entries, size_bytes
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: bytes) -> bytes | None:
        body = self._kept.get(key)
        if body is not None:
            self._kept.move_to_end(key)
        return body

    def put(self, key: bytes, body: bytes) -> None:
        if key in self._kept or len(body) + _OVERHEAD_BYTES > self._most_bytes:
            return
        self._kept[key] = body
        self.size_bytes += len(body) + _OVERHEAD_BYTES
        while len(self._kept) > self._most or self.size_bytes > self._most_bytes:
            _, dropped = self._kept.popitem(last=False)
            self.size_bytes -= len(dropped) + _OVERHEAD_BYTES
