"""The address of an object store in S3: bucket, prefix, and where and how it is reached."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from rl_gym.infra.errors import UsageError, one_line
from rl_gym.infra.object_store import check_key

__all__ = ["Place"]

_LONGEST_PREFIX = 480
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_REGION = re.compile(r"[a-z0-9-]{1,63}")
_FORM = "s3://bucket/prefix, with ?endpoint=, &region= and &read_only=true as they are needed"


@dataclass(frozen=True, slots=True)
class Place:
    """`prefix` is empty or ends in a slash; without `endpoint` and `region`, those of boto3's own chain are taken."""

    bucket: str
    prefix: str = ""
    endpoint: str = ""
    region: str = ""
    read_only: bool = False

    @classmethod
    def of(cls, address: str) -> Place:
        """The place that `s3://bucket/prefix?endpoint=URL&region=NAME&read_only=true` names.

        Raises UsageError for any other form, without the address itself: it may hold what is secret.
        """
        try:
            parts = urlsplit(address)
            options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        except ValueError:
            raise UsageError(f"the address of an object store in S3 is not of the form {_FORM}") from None
        if "@" in parts.netloc:
            raise UsageError("the address of an object store in S3 holds no credentials: boto3 finds them by itself")
        if unknown := sorted(set(options) - {"endpoint", "region", "read_only"}):
            named = one_line(unknown[0], 40)
            raise UsageError(f"the address of an object store in S3 has no {named!r}: {_FORM}")
        prefix = parts.path.strip("/")
        if not _BUCKET.fullmatch(parts.netloc) or parts.fragment or len(prefix) > _LONGEST_PREFIX:
            raise UsageError(f"the address of an object store in S3 is not of the form {_FORM}")
        if options.get("read_only", "false") not in ("true", "false"):
            raise UsageError("the address of an object store in S3: read_only is true or false")
        return cls(
            bucket=parts.netloc,
            prefix=f"{check_key(prefix)}/" if prefix else "",
            endpoint=_endpoint(options.get("endpoint", "")),
            region=_region(options.get("region", "")),
            read_only=options.get("read_only") == "true",
        )

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/") + (f" at {self.endpoint}" if self.endpoint else "")


def _endpoint(value: str) -> str:
    try:
        parts = urlsplit(value)
        plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        plain = False
    if value and not (plain and value.isascii() and value.isprintable() and not parts.query and not parts.fragment):
        raise UsageError("the endpoint of an object store in S3 is http://host:port or https://host:port")
    return value


def _region(value: str) -> str:
    if value and not _REGION.fullmatch(value):
        raise UsageError("the region of an object store in S3 is a name such as eu-central-1")
    return value
