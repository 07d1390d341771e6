"""The verifier over HTTP, as a process of its own: its client, bad input of every kind, and its OpenAPI."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("fastapi", reason="the extra services is not installed")

import httpx
from schemathesis.generation import GenerationMode

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.serving.judges import LocalJudge, Standard
from rl_gym.serving.verifier_judge import VerifierJudge
from rl_gym.wire import EpisodeBody, ErrorBody, Fixed, FixRequest, ScanRequest, ScoreItem, ScoreRequest
from rl_gym.wire.clients.verifier import AsyncVerifierClient, VerifierClient
from tests.contract.openapi import check_operation

VOLUME = 'resource "aws_ebs_volume" "x" {\n  availability_zone = "eu-west-1a"\n  size = 1\n%s}\n'
EPISODE = EpisodeBody(id="e", request="a volume", data={"required": ["aws_ebs_volume"]})


def batch() -> ScoreRequest:
    bodies = ["", "  encrypted = true\n"] * 20
    return ScoreRequest(items=[ScoreItem(episode=EPISODE, completion=VOLUME % body) for body in bodies])


class TestTheClient:
    def test_it_scores_in_order(self, verifier: str) -> None:
        with VerifierClient(verifier) as client:
            answer = client.score(batch())
        cards = [result.scorecard for result in answer.results]
        assert [card.checks["ebs_encrypted"] for card in cards if card] == ["fail", "pass"] * 20

    def test_it_scores_within_an_event_loop_too(self, verifier: str) -> None:
        async def scenario() -> None:
            async with AsyncVerifierClient(verifier) as client:
                answers = await asyncio.gather(*(client.score(batch(), f"r-{number}") for number in range(4)))
                assert len({answer.model_dump_json() for answer in answers}) == 1
                assert (await client.rules("seed18")).ruleset.rules == 18
                with pytest.raises(NotFoundError, match="no ruleset"):
                    await client.scan(ScanRequest(files={"a.tf": ""}, ruleset="nope"))

        asyncio.run(scenario())

    def test_it_fixes(self, verifier: str) -> None:
        request = FixRequest(episode=EPISODE, completion=VOLUME % "")
        with VerifierClient(verifier) as client:
            fixed = client.fix(request).fixed
            assert fixed is not None
            assert fixed.scorecard.checks["ebs_encrypted"] == "pass"
            with pytest.raises(NotFoundError, match="no ruleset"):
                client.fix(request.model_copy(update={"ruleset": "nope"}))

        async def again() -> Fixed | None:
            async with AsyncVerifierClient(verifier) as client:
                return (await client.fix(request.model_copy(update={"completion": fixed.completion}))).fixed

        assert asyncio.run(again()) is None

    def test_it_scans(self, verifier: str) -> None:
        request = ScanRequest(files={"main.tf": VOLUME % "", "modules/a.tf": ""})
        with VerifierClient(verifier) as client:
            assert client.scan(request).verdicts["ebs_encrypted"] == "fail"
            assert client.scan_sarif(request)["version"] == "2.1.0"
            assert "base" in {ruleset.name for ruleset in client.rulesets().rulesets}
            with pytest.raises(UsageError, match="not here"):
                client.scan(ScanRequest(files={"a.tf": ""}, engines=["checkov"]))


class TestTheJudgeThatAsksIt:
    def test_it_judges_as_in_process(self, verifier: str) -> None:
        completions = [VOLUME % "", VOLUME % "  encrypted = true\n", "prose"]
        episode = EPISODE.to_episode()

        async def scenario() -> None:
            judge = VerifierJudge(verifier)
            for standard in (Standard(), Standard(ruleset="seed18", profile="seed@1")):
                local, asked = LocalJudge(), await judge.score(standard, episode, completions)
                assert asked == await local.score(standard, episode, completions)
                for completion in completions:
                    assert await judge.fix(standard, episode, completion) == await local.fix(
                        standard, episode, completion
                    )
            assert await judge.trouble() == ""
            with pytest.raises(NotFoundError, match="no ruleset"):
                await judge.score(Standard(ruleset="nope"), episode, completions)
            with pytest.raises(UsageError, match="has no rulesets"):
                await judge.score(Standard("countdown", ruleset="seed18"), episode, completions)
            await judge.close()

        asyncio.run(scenario())


UNREADABLE = {
    "binary": "\0\1\2\x7f" * 100,
    "UTF-16 read as Latin": 'resource "a" "b" {}'.encode("utf-16").decode("latin-1"),
    "brackets": "locals {\n  a = " + "[" * 10_000 + "\n}\n",
    "additions": "locals {\n  a = 1" + "+1" * 1_000_000 + "\n}\n",
    "cycle": "locals {\n  a = local.b\n  b = local.a\n}\n",
    "prose": "Sure! Here is your bucket.\n",
}


class TestBadInput:
    @pytest.mark.parametrize("name", UNREADABLE)
    def test_what_cannot_be_read_is_told_with_its_place(self, verifier: str, name: str) -> None:
        with VerifierClient(verifier) as client:
            found = client.scan(ScanRequest(files={"x/main.tf": UNREADABLE[name][: 1 << 20]}))
        assert not found.valid
        assert found.errors[0].filename == "x/main.tf"
        assert found.errors[0].line >= 1
        assert found.errors[0].message
        assert "unknown" in found.verdicts.values()

    def test_json_that_is_no_terraform_is_told(self, verifier: str) -> None:
        with VerifierClient(verifier) as client:
            assert not client.scan(ScanRequest(files={"main.tf.json": '["a"]'})).valid
            assert not client.scan(ScanRequest(files={"main.tf.json": '{"a": '})).valid

    @pytest.mark.parametrize("name", UNREADABLE)
    def test_what_cannot_be_read_is_not_fixed(self, verifier: str, name: str) -> None:
        with VerifierClient(verifier) as client:
            completion = UNREADABLE[name][: 1 << 18]
            assert client.fix(FixRequest(episode=EPISODE, completion=completion)).fixed is None
            (result,) = client.score(ScoreRequest(items=[ScoreItem(episode=EPISODE, completion=completion)])).results
        assert result.scorecard is not None
        assert result.scorecard.problems

    @pytest.mark.parametrize("path", ["/score", "/fix", "/scan"])
    @pytest.mark.parametrize(
        ("body", "statuses"),
        [
            (b"\xff\xfe\0\0", {422}),
            (b"x" * (5 << 20), {413}),
            (b"[" * 100_000, {422}),
            (b"[" * 2_000_000, {413}),
            (b'{"files": {"a.tf": "\\ud800"}, "items": [NaN]}', {422}),
            (b'{"files": {"/etc/passwd": ""}}', {422}),
            (b'{"files": {"a.tf": 1e999}, "items": ' + b"9" * 5_000 + b"}", {422}),
            (b"", {422}),
        ],
        ids=range(8),
    )
    def test_a_body_that_makes_no_sense_is_refused(
        self, verifier: str, path: str, body: bytes, statuses: set[int]
    ) -> None:
        response = httpx.post(f"{verifier}{path}", content=body, headers={"content-type": "application/json"})
        assert response.status_code in statuses
        assert ErrorBody.model_validate(response.json()).request_id == response.headers["x-request-id"]
        assert httpx.get(f"{verifier}/readyz").is_success

    def test_raw_nonsense_instead_of_http_is_survived(self, verifier: str) -> None:
        host, port = verifier.removeprefix("http://").split(":")

        async def send(data: bytes) -> None:
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(data)
            await writer.drain()
            writer.close()

        for data in (
            b"\0" * 100,
            b"POST /score HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            b"GET / HTTP/9\r\n" + b"a:" * 99,
        ):
            asyncio.run(send(data))
        assert httpx.get(f"{verifier}/healthz").is_success


_POSITIVE, _NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
_WITH_INPUT = ["POST /score", "POST /fix", "POST /scan", "GET /rules"]
_WITHOUT_INPUT = ["GET /rulesets", "GET /readyz", "GET /healthz", "GET /metrics"]


@pytest.mark.parametrize(
    ("operation", "mode"),
    [
        *((one, mode) for one in _WITH_INPUT for mode in (_POSITIVE, _NEGATIVE)),
        *((one, _POSITIVE) for one in _WITHOUT_INPUT),
    ],
)
def test_whatever_is_sent_is_answered_as_the_openapi_says(verifier: str, operation: str, mode: GenerationMode) -> None:
    check_operation(verifier, httpx.get(f"{verifier}/openapi.json").json(), operation, mode)
