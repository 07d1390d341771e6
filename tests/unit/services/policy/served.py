"""The policy's application in process: a scripted engine, and a verifier that judges with the real rules over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx

from rl_gym.iac.standard import Standard
from rl_gym.serving.backends import ModelBackend
from rl_gym.serving.backends.scripted import ScriptedBackend
from rl_gym.serving.verifier_judge import VerifierJudge
from rl_gym.wire import Fixed, FixRequest, FixResponse, Scorecard, ScoreRequest, ScoreResponse, ScoreResult, ServedModel
from services.policy.app import create_app
from services.policy.engines import OwnEngine
from services.policy.remote import RemoteEngine
from services.policy.settings import PolicySettings
from services.policy.wiring import assemble

SERVED = ServedModel(engine="scripted", name="scripted", base="scripted")
SECURE = 'resource "aws_ebs_volume" "v" {\n  availability_zone = "eu-west-1a"\n  size              = 1\n%s}\n'
BAD, GOOD = SECURE % "", SECURE % '  encrypted         = true\n  tags              = { Owner = "ana" }\n'
ASKED = {"request": "a volume", "required": ["aws_ebs_volume"]}


class Verifier:
    """Stands in for the verifier's process: the same messages, and the real judgement, without its workers."""

    def __init__(self) -> None:
        self.down = False
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        if self.down:
            raise httpx.ConnectError("refused")
        if request.url.path == "/score":
            return httpx.Response(200, content=self._score(ScoreRequest.model_validate_json(request.content)))
        if request.url.path == "/fix":
            asked = FixRequest.model_validate_json(request.content)
            fixed = Fixed.of(Standard().make(), asked.episode.to_episode(), asked.completion)
            return httpx.Response(200, content=FixResponse(fixed=fixed).model_dump_json())
        return httpx.Response(200, json={"status": "ready"})

    def _score(self, asked: ScoreRequest) -> str:
        env = Standard(asked.environment, asked.ruleset, asked.profile).make()
        cards = [Scorecard.of(env, item.episode.to_episode(), item.completion) for item in asked.items]
        return ScoreResponse(
            environment=asked.environment,
            ruleset=asked.ruleset,
            profile=asked.profile,
            digest=env.reward.digest,
            results=[ScoreResult(scorecard=card) for card in cards],
        ).model_dump_json()


@asynccontextmanager
async def running(
    backend: ModelBackend | None = None, verifier: Verifier | None = None, **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    chosen = PolicySettings(**{"objects": "unused", "verifier_seconds": 1, **settings})
    client = httpx.AsyncClient(transport=httpx.MockTransport(verifier or Verifier()))
    judge = VerifierJudge("http://verifier", seconds=chosen.verifier_seconds, client=client)
    own = OwnEngine(backend or ScriptedBackend([GOOD]), RemoteEngine(""), SERVED, SERVED)
    app = create_app(chosen, assemble(chosen, own, judge))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http:
            yield http


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), 60))  # type: ignore[arg-type]


async def metric(http: httpx.AsyncClient, name: str) -> float:
    lines = (await http.get("/metrics")).text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))
