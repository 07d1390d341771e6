"""The names that models have: `nano`, a folder, `gguf:FILE`, `hub:ORG/NAME@REVISION`, `s3://BUCKET/PREFIX`.

Behind each may stand `@sha256:HEX`, the digest that it must have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rl_gym.infra.errors import UsageError
from rl_gym.infra.object_store import check_key
from rl_gym.serving.weights.packaged import SMOL, packaged_models

__all__ = ["Kind", "Source", "model_name", "parse_source"]

Kind = Literal["packaged", "folder", "gguf", "hub", "s3"]

_LONGEST = 1_024
_PIN = "@sha256:"
_HEX = re.compile(r"[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model comes from.

    `place` is a packaged name, a path as it was given, ORG/NAME, or BUCKET/PREFIX. `pin` is the SHA-256 that is asked
    for: of the file with `gguf`, else that of `tree_digest` over the model's files.
    """

    kind: Kind
    place: str
    revision: str = ""
    pin: str = ""

    @property
    def address(self) -> str:
        """What an allow-list is about: the source without its revision and its digest, a path made absolute."""
        match self.kind:
            case "packaged":
                return self.place
            case "s3":
                return f"s3://{self.place}"
            case "hub":
                return f"hub:{self.place}"
            case _:
                return f"{self.kind}:{Path(self.place).expanduser().resolve()}"

    def __str__(self) -> str:
        shown = self.address if self.kind in ("hub", "s3") else f"{'gguf:' if self.kind == 'gguf' else ''}{self.place}"
        return f"{shown}{f'@{self.revision}' if self.revision else ''}"


def parse_source(text: str) -> Source:
    """Raises UsageError for a source that is not well-formed. What has no kind before it is a name or a folder."""
    if not text or len(text) > _LONGEST or not text.isprintable():
        raise UsageError(f"a model is named by 1 to {_LONGEST} printable characters")
    body, pinned, pin = text.rpartition(_PIN) if _PIN in text else (text, "", "")
    if pinned and not _HEX.fullmatch(pin):
        raise UsageError(f"{body}{_PIN} takes 64 hexadecimal digits in lower case")
    if body.startswith("hub:"):
        place, _, revision = body.removeprefix("hub:").partition("@")
        return _hub(place, revision, pin, body)
    if body.startswith("s3://"):
        return Source("s3", _bucket(body), pin=pin)
    if body.startswith("gguf:"):
        return Source("gguf", _path(body.removeprefix("gguf:"), "gguf:FILE"), pin=pin)
    if body in (*packaged_models(), SMOL):
        return Source("packaged", body, pin=pin)
    return Source("folder", _path(body, "a model"), pin=pin)


def model_name(source: str) -> str:
    """The name that a model serves under: without what is before and behind it; of a path its last part.

    What an engine elsewhere calls its model is that name already. Raises UsageError as `parse_source`.
    """
    parsed = parse_source(source)
    match parsed.kind:
        case "gguf":
            return Path(parsed.place).stem
        case "s3":
            return parsed.place.rpartition("/")[2]
        case "folder" if parsed.place.startswith((".", "/", "~")):
            return Path(parsed.place).name
        case _:
            return parsed.place


def _hub(place: str, revision: str, pin: str, body: str) -> Source:
    if not _REPOSITORY.fullmatch(place) or ".." in place:
        raise UsageError(f"{body!r}: the hub's models are named hub:ORG/NAME or hub:ORG/NAME@REVISION")
    if ("@" in body and not _REVISION.fullmatch(revision)) or ".." in revision:
        raise UsageError(f"{body!r}: {revision!r} is no branch, tag or commit")
    return Source("hub", place, revision, pin)


def _bucket(body: str) -> str:
    bucket, _, prefix = body.removeprefix("s3://").strip("/").partition("/")
    # An endpoint is the deployment's business: it could be anybody's, where a caller might name one.
    if not _BUCKET.fullmatch(bucket) or not prefix:
        raise UsageError(f"{body!r}: a model in S3 is named s3://BUCKET/PREFIX")
    return f"{bucket}/{check_key(prefix)}"


def _path(text: str, what: str) -> str:
    if not text:
        raise UsageError(f"{what} needs a path")
    return text
