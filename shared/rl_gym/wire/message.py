"""What all messages share: how unknown keys are met, and the bounded types that their fields are made of."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError

from rl_gym.infra.errors import UsageError, misfit

__all__ = [
    "Completion",
    "Count",
    "Digest",
    "FullDigest",
    "JsonObject",
    "Line",
    "Message",
    "Name",
    "Reply",
    "RequestText",
    "ResourceType",
    "Seed",
    "Signature",
    "as_name",
    "refusal",
    "unique",
]

MAX_JSON_BYTES = 256 << 10
_NAME_CHARACTERS = 200
_NO_NAME = re.compile(r"[^A-Za-z0-9._:+@/-]+")

T = TypeVar("T")


class Message(BaseModel):
    """What a caller sends or what is stored. An unknown key is refused: else it would silently be without effect."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Reply(BaseModel):
    """What a service answers. An unknown key is passed over, so that an older client reads a newer service."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


def _bounded(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    size = len(json.dumps(value, ensure_ascii=False).encode())
    if size > MAX_JSON_BYTES:
        raise ValueError(f"{size} bytes of JSON; at most {MAX_JSON_BYTES} are allowed")
    return value


def _readable(text: str) -> str:
    # Category Cc, without which neither a terminal nor a log can be steered by what somebody asks for.
    hidden = next((c for c in text if unicodedata.category(c) == "Cc" and c not in "\t\n\r"), None)
    if hidden is not None:
        raise ValueError(f"control character U+{ord(hidden):04X}: leave it out")
    return text


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:+@/-]*$", max_length=_NAME_CHARACTERS)]
"""An environment, ruleset (`base+drift`), profile (`default@1`), model, preset or rule by its name."""

ResourceType = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=128)]

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12,64}$")]
"""A SHA-256 in lower-case hex; what decides a reward is named by its first twelve digits."""

FullDigest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A whole SHA-256 in lower-case hex."""

Signature = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{86}==$")]
"""64 bytes in base64."""

RequestText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=16_384), AfterValidator(_readable)
]
"""What a person asks for, in words: no control characters but tabs and ends of lines."""

Completion = Annotated[str, StringConstraints(max_length=262_144)]
"""What a model wrote, prose and fences included; the configuration in it has a narrower bound of its own."""

Line = Annotated[str, StringConstraints(max_length=2_000)]
"""A sentence for a person."""

Count = Annotated[int, Field(strict=True, ge=0, le=2**53)]

Seed = Annotated[int, Field(strict=True, ge=0, lt=2**31)]

JsonObject = Annotated[dict[str, JsonValue], AfterValidator(_bounded)]
"""A JSON object of at most MAX_JSON_BYTES."""


def as_name(text: str, longest: int = _NAME_CHARACTERS, *, empty: str = "unnamed") -> str:
    """A text, a path say, as a Name of at most `longest` characters; `empty` where nothing of it can stand in one."""
    return _NO_NAME.sub("-", text).lstrip("-._:+@/")[:longest] or empty


def refusal(error: ValidationError) -> UsageError:
    """What did not fit in a message, as one line: where, and what was wrong; never the value itself."""
    return misfit(error.errors(include_url=False, include_input=False, include_context=False))


def unique(values: list[T]) -> list[T]:
    """The list itself; raises ValueError (a refusal of the message) where a value is given twice."""
    if len(set(values)) != len(values):
        raise ValueError("a value is given twice")
    return values
