"""What the policy service keeps over HTTP, whatever its engine; a subclass of `PolicyContract` gives its address.

It is a process of its own, with a real model and a real verifier, and answers of at most 48 tokens.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from schemathesis.generation import GenerationMode

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.wire import AnswerEvent, CompleteRequest, GenerateRequest, SamplingBody, TokensEvent
from rl_gym.wire.clients.policy import AsyncPolicyClient, PolicyClient
from tests.contract.openapi import check_operation, check_refused

REQUEST = GenerateRequest(request="a private bucket named atlas-invoices", required=["aws_s3_bucket"])


def metric(policy: str, name: str) -> float:
    lines = httpx.get(f"{policy}/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


_POSITIVE, _NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
_CALLERS = 8
"""So many at once that an engine is at work for longer than it takes to see it."""
_WITH_INPUT = ("POST /generate", "POST /complete")
_WITHOUT_INPUT = ("GET /config", "POST /reload", "GET /readyz", "GET /healthz", "GET /metrics")


class PolicyContract:
    """A subclass has the fixture `policy`, an address, and `models`, the names of the tuned model and of its base."""

    models: tuple[str, str]
    context = 1_024

    def test_the_same_request_has_the_same_answer_whole_and_streamed(self, policy: str) -> None:
        request = REQUEST.model_copy(update={"engines": ["tuned", "base"]})
        with PolicyClient(policy) as client:
            whole = client.generate(request)
            events = list(client.stream(request))
        for column in whole.columns:
            assert column.deterministic
            assert column.chosen is not None
            [answer] = [e.answer for e in events if isinstance(e, AnswerEvent) and e.answer.column == column.column]
            assert [one.completion for one in answer.passes] == [one.completion for one in column.passes]
            for one in column.passes:
                parts = [e for e in events if isinstance(e, TokensEvent) and e.column == column.column]
                assert "".join(part.text for part in parts if part.kind == one.kind) == one.completion

    def test_many_at_once_are_answered_as_one_alone(self, policy: str) -> None:
        async def scenario() -> None:
            async with AsyncPolicyClient(policy) as client:
                alone = await client.generate(REQUEST)
                many = await asyncio.gather(*(client.generate(REQUEST, f"r-{number}") for number in range(8)))
                assert {answer.columns[0].passes[0].completion for answer in many} == {
                    alone.columns[0].passes[0].completion
                }
                assert {answer.request_id for answer in many} == {f"r-{number}" for number in range(8)}

        asyncio.run(scenario())

    def test_samples_follow_their_seed(self, policy: str) -> None:
        def texts(seed: int) -> list[str]:
            request = CompleteRequest(prompts=["Terraform:\n"], sampling=SamplingBody(n=3, seed=seed, max_tokens=12))
            with PolicyClient(policy) as client:
                answer = client.complete(request)
            return [sample.text for sample in answer.samples[0]]

        assert texts(1) == texts(1) != texts(2)

    def test_it_tells_what_it_is_and_refuses_by_name(self, policy: str) -> None:
        with PolicyClient(policy) as client:
            assert [column.model.name for column in client.config().columns] == [*self.models]
            assert client.reload().outcome == "unchanged"
            with pytest.raises(NotFoundError, match="no model"):
                client.complete(CompleteRequest(prompts=["x"], model="nope"))
            with pytest.raises(UsageError, match=f"a context of {self.context}"):
                client.generate(GenerateRequest(request="word " * 3_000))

    @pytest.mark.parametrize("stream", [False, True])
    def test_the_work_for_those_who_vanished_ends(self, policy: str, stream: bool) -> None:
        asked: dict[str, Any] = {"request": "a bucket", "mode": "best-of-n", "n": 16, "stream": stream}
        body = json.dumps(asked).encode()
        host, port = policy.removeprefix("http://").split(":")
        head = f"POST /generate HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        message = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        answered = 'rl_gym_policy_answers_total{column="tuned",error="none",mode="best-of-n"}'
        before = metric(policy, answered)
        callers = [socket.create_connection((host, int(port))) for _ in range(_CALLERS)]
        for caller in callers:
            caller.sendall(message)
        wait_until(lambda: metric(policy, "rl_gym_policy_sequences_inside") >= 16)
        for caller in callers:
            # Nobody is told good-bye: the connection is reset.
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            caller.close()
        wait_until(lambda: metric(policy, "rl_gym_policy_sequences_inside") == 0)
        # Those whose answer came first do count.
        assert metric(policy, answered) < before + _CALLERS

    def test_half_a_body_is_no_request(self, policy: str) -> None:
        async def send() -> None:
            host, port = policy.removeprefix("http://").split(":")
            _, writer = await asyncio.open_connection(host, int(port))
            head = f"POST /generate HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            writer.write(f"{head}Content-Length: 1000\r\n\r\n".encode() + b'{"request"')
            await writer.drain()
            writer.close()

        asyncio.run(send())
        assert httpx.get(f"{policy}/readyz").is_success

    @pytest.mark.parametrize("path", ["/generate", "/complete"])
    @pytest.mark.parametrize(
        ("body", "status"),
        [
            (b"", 422),
            (b"{", 422),
            (b"\xff\xfe\0\0", 422),
            (b"[" * 100_000, 422),
            (b"x" * (5 << 20), 413),
            (b'{"request": "\\ud800", "prompts": ["\\ud800"]}', 422),
            (b'{"request": "x", "n": 1e999, "prompts": ["x"], "sampling": {"n": 100000}}', 422),
        ],
        ids=range(7),
    )
    def test_a_body_that_makes_no_sense_is_refused(self, policy: str, path: str, body: bytes, status: int) -> None:
        check_refused(policy, path, body, status)

    @pytest.mark.parametrize(
        ("operation", "mode"),
        [
            *((one, mode) for one in ("POST /generate", "POST /complete") for mode in (_POSITIVE, _NEGATIVE)),
            *(
                (one, _POSITIVE)
                for one in ("GET /config", "POST /reload", "GET /readyz", "GET /healthz", "GET /metrics")
            ),
        ],
    )
    def test_whatever_is_sent_is_answered_as_the_openapi_says(
        self, policy: str, operation: str, mode: GenerationMode
    ) -> None:
        document = httpx.get(f"{policy}/openapi.json").json()
        check_operation(policy, document, operation, mode, examples=20 if mode is _NEGATIVE else 8)
