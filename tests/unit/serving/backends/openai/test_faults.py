"""What refusals become in our family of errors."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

pytest.importorskip("stamina", reason="the extra services is not installed")

from rl_gym.infra.errors import InfrastructureError, NotFoundError, RlGymError, UsageError
from rl_gym.serving.backends import PromptTooLongError
from rl_gym.serving.backends.openai.faults import NoChatTemplateError, NoRouteError, refusal, retry_after, said


def error(status: int, body: bytes) -> RlGymError:
    return refusal("the engine", said(status, body), {}, 100).error


TOO_LONG = {
    "vLLM": (
        b"""{"error": {"param": "input_tokens", "message": "This model's maximum context length is 1024 tokens. """
        b"""However, your prompt contains at least 1025 input tokens (parameter=input_tokens, value=1025)"}}""",
        1025,
        924,
    ),
    "older vLLM": (
        b"""{"message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens """
        b"""(4900 in the messages, 100 in the completion)."}""",
        4900,
        3996,
    ),
    "OpenAI": (
        b"""{"error": {"code": "context_length_exceeded", "message": "This model's maximum context length is 8192 """
        b"""tokens. However, your messages resulted in 10000 tokens."}}""",
        10000,
        8092,
    ),
    "no figures": (b'{"error": {"param": "input_tokens", "message": "too long"}}', 0, 0),
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_a_prompt_that_is_too_long(name: str) -> None:
    body, tokens, limit = TOO_LONG[name]
    raised = error(400, body)
    assert isinstance(raised, PromptTooLongError)
    assert (raised.tokens, raised.limit) == (tokens, limit)


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (404, b'{"error": {"message": "The model `x` does not exist."}}', NotFoundError, "The model `x` does not"),
        (404, b'{"detail": "Not Found"}', NoRouteError, "no such endpoint: Not Found"),
        (404, b"404 page not found", NoRouteError, "no such endpoint"),
        (400, b'{"error": {"message": "provide a chat template"}}', NoChatTemplateError, "chat template"),
        (422, b'{"detail": "n is too large"}', UsageError, r"refuses the request \(422\): n is too large"),
        (401, b'{"error": "Unauthorized"}', InfrastructureError, r"refuses the API key \(401\)"),
        (403, b"", InfrastructureError, "refuses the API key"),
        (402, b"", InfrastructureError, "refuses the API key"),
        (307, b"", InfrastructureError, "sends elsewhere"),
        (500, b"\xff\xfe", InfrastructureError, r"failed \(500\)"),
        (500, b"[" * 100_000, InfrastructureError, r"failed \(500\)"),
        (418, b'{"error": {"message": {"a": ["b"]}}}', UsageError, "418"),
    ],
)
def test_refusals(status: int, body: bytes, kind: type[RlGymError], words: str) -> None:
    raised = error(status, body)
    assert type(raised) is kind
    with pytest.raises(kind, match=words):
        raise raised


def test_an_engines_words_are_one_bounded_printable_line() -> None:
    raised = str(error(400, b'{"error": {"message": "a\\n\\u001b[31mb\\u0000' + b"c" * 10_000 + b'"}}'))
    assert raised.isprintable()
    assert len(raised) < 400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("1e300", 3600.0),
        ("inf", 3600.0),
        ("nan", None),
        ("", None),
        ("soon", None),
        ("Mon, 30 Nov 2026 06:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 05:00:00 GMT", 0.0),
        ("Mon, 30 Nov 2026 06:00:30", 30.0),
    ],
)
def test_times_to_wait(text: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": text}, datetime(2026, 11, 30, 6, tzinfo=UTC)) == seconds
