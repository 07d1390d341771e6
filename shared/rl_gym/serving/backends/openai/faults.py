"""What an engine's refusals mean in our family of errors, and whether the same request may be sent again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

import httpx

from rl_gym.infra.errors import BusyError, InfrastructureError, NotFoundError, RlGymError, UsageError, one_line
from rl_gym.serving.backends.protocol import PromptTooLongError

__all__ = ["Again", "NoChatTemplateError", "NoRouteError", "Refused", "Said", "lost", "refusal", "said"]

_MESSAGE_CHARACTERS = 300
_LONGEST_WAIT_SECONDS = 3_600.0
_CONTEXT = re.compile(r"maximum context length (?:is|of) (\d{1,9})")
_TOKENS = (re.compile(r"(\d{1,9}) in the (?:messages|prompt)"), re.compile(r"(\d{1,9}) (?:input )?tokens"))


class Again(Enum):
    """Whether a request that failed may be sent again."""

    SAFE = "the engine did not work on it"
    UNSURE = "the engine may have worked on it"
    NEVER = "the same request would fail the same way"


class Refused(Exception):  # noqa: N818 - what its reader asks is not what went wrong, but what comes next
    """A try that failed: the error that it would be, whether there may be another, and the wait that was asked for."""

    def __init__(self, error: RlGymError, again: Again, after: float | None = None) -> None:
        super().__init__(str(error))
        self.error, self.again, self.after = error, again, after


class NoRouteError(NotFoundError):
    """The engine does not have this endpoint."""


class NoChatTemplateError(UsageError):
    """The model has no chat template: it takes raw prompts alone."""


@dataclass(frozen=True, slots=True)
class Said:
    """An engine's own words about a failure: of its error object, where it sent one."""

    status: int
    message: str
    param: str = ""
    code: str = ""
    typed: bool = False


def said(status: int, body: bytes, secret: str = "") -> Said:
    """What the body of a refusal says, on one printable line and without the secret."""
    try:
        content: Any = json.loads(body)
    except (ValueError, RecursionError):
        content = body.decode("utf-8", "replace")
    return of_content(status, content, secret)


def of_content(status: int, content: Any, secret: str = "") -> Said:
    """As `said`, of a body that was read before."""
    told = content.get("error", content.get("detail", content.get("message"))) if isinstance(content, dict) else content
    fields: Mapping[str, Any] = told if isinstance(told, dict) else {"message": told}
    text = str(fields.get("message") or "")
    if secret:
        text = text.replace(secret, "***")
    message = one_line(text, _MESSAGE_CHARACTERS)
    param, code = (str(fields.get(name) or "")[:80] for name in ("param", "code"))
    return Said(status, message, param, code, isinstance(told, dict))


def refusal(who: str, what: Said, headers: Mapping[str, str], max_tokens: int) -> Refused:
    """What an HTTP status of 300 and above means; `max_tokens` is what was to be generated."""
    status = what.status
    words = f": {what.message}" if what.message else ""
    if status == 429 or status == 503:
        after = retry_after(headers)
        if status == 429 or after is not None:
            return Refused(BusyError(f"{who} asks for patience ({status}){words}", after or 1.0), Again.SAFE, after)
        # A gateway says so too of an engine that it lost in the middle.
        return Refused(InfrastructureError(f"{who} cannot serve now (503){words}"), Again.UNSURE)
    if status >= 500 or status == 408:
        return Refused(InfrastructureError(f"{who} failed ({status}){words}"), Again.UNSURE, retry_after(headers))
    return Refused(_mistake(who, what, words, max_tokens), Again.NEVER)


def _mistake(who: str, what: Said, words: str, max_tokens: int) -> RlGymError:
    """What will not do, however often it is sent."""
    if what.status in (401, 402, 403):
        # Not the caller's key, but ours; and the engine's own words may hold a part of it.
        return InfrastructureError(f"{who} refuses the API key ({what.status})")
    if what.status < 400:
        return InfrastructureError(f"{who} sends elsewhere ({what.status}): give its final address")
    lower = what.message.lower()
    if what.param == "input_tokens" or what.code == "context_length_exceeded" or "maximum context length" in lower:
        return _too_long(who, what.message, words, max_tokens)
    if what.status == 404:
        return NotFoundError(f"{who}{words}") if what.typed else NoRouteError(f"{who} has no such endpoint{words}")
    if "chat template" in lower:
        return NoChatTemplateError(f"{who}{words}")
    return UsageError(f"{who} refuses the request ({what.status}){words}")


def _too_long(who: str, message: str, words: str, max_tokens: int) -> PromptTooLongError:
    context = _CONTEXT.search(message)
    rest = message[context.end() :] if context else message
    tokens = next((found for pattern in _TOKENS if (found := pattern.search(rest))), None)
    limit = max(0, int(context[1]) - max_tokens) if context else 0
    return PromptTooLongError(f"{who}{words}", int(tokens[1]) if tokens else 0, limit)


def lost(who: str, error: httpx.TransportError) -> Refused:
    """What it means that no answer came, or not the whole of it."""
    unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    words = f": {one_line(str(error), _MESSAGE_CHARACTERS)}" if str(error) else ""
    fault = InfrastructureError(f"{who} does not answer ({type(error).__name__}{words})")
    return Refused(fault, Again.SAFE if unsent else Again.UNSURE)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that an engine asks to wait, as seconds or an HTTP date, an hour at most; None where it does not ask."""
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            at = parsedate_to_datetime(text)
        except ValueError:
            return None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        seconds = (at - (now or datetime.now(UTC))).total_seconds()
    # The comparison fails for what is no number.
    return min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS) if seconds == seconds else None
