"""The policy service over a real vLLM that it only watches: answers, promotion by adapter, the engine lost and back."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

pytest.importorskip("cryptography", reason="the extra services is not installed")

from rl_gym.infra.errors import UsageError
from rl_gym.infra.object_store import open_store
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.serving.adapters import publish
from rl_gym.serving.promotion import promote, promoted
from rl_gym.wire import CompleteRequest, GenerateRequest, SamplingBody
from rl_gym.wire.clients.policy import PolicyClient
from tests.vllm.engines import MODEL, Hosted

ROOT = Path(__file__).resolve().parents[2]
KEY = SigningKey.generate()
REQUEST = GenerateRequest(request="a bucket for media", required=["aws_s3_bucket"])
PROMPT = "# a bucket atlas-media\n"


@dataclass(frozen=True)
class Service:
    """A running policy service, and the object store in which models are promoted."""

    address: str
    objects: Path

    def client(self) -> PolicyClient:
        return PolicyClient(self.address)

    def promote(self, folder: Path) -> str:
        """Point to an adapter; gives the name under which it will serve."""
        store = open_store(str(self.objects))
        digest = publish(store, folder)
        incumbent = promoted(store, KeyRing((KEY.public,)))
        promote(store, KEY, incumbent, model="m", base=MODEL, adapter_digest=digest, run="r", verdict="b" * 64)
        return f"tuned-{digest[:12]}"


@pytest.fixture(scope="module")
def service(vllm: Hosted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    objects = tmp_path_factory.mktemp("objects")
    settings = {
        "PORT": str(port),
        "ENGINE": "vllm",
        "ENGINE_URL": vllm.supervisor.address,
        "ENGINE_KEY": vllm.supervisor.api_key,
        "BASE": MODEL,
        "MAX_TOKENS": "200",
        "OBJECTS": str(objects),
        "ADAPTERS": str(tmp_path_factory.mktemp("adapters")),
        "PROMOTION_KEYS": base64.b64encode(KEY.public.raw).decode(),
        "PROMOTION_SECONDS": "3600",
        "LOG_LEVEL": "error",
    }
    environment = {f"RL_GYM_POLICY_{name}": value for name, value in settings.items()}
    environment["PYTHONPATH"] = os.pathsep.join((str(ROOT / "shared"), str(ROOT)))
    process = subprocess.Popen([sys.executable, "-m", "services.policy"], cwd=ROOT, env={**os.environ, **environment})
    running = Service(f"http://127.0.0.1:{port}", objects)
    try:
        until(lambda: process.poll() is not None or ready(running))
        assert process.poll() is None
        yield running
    finally:
        process.terminate()
        process.wait(60)


def ready(service: Service) -> bool:
    try:
        return httpx.get(f"{service.address}/readyz", timeout=5).is_success
    except httpx.TransportError:
        return False


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def complete(client: PolicyClient) -> str:
    asked = CompleteRequest(prompts=[PROMPT], sampling=SamplingBody(greedy=True, max_tokens=24))
    return client.complete(asked).samples[0][0].text


def test_it_completes_and_generates_with_a_judgement(service: Service) -> None:
    with service.client() as client:
        assert client.config().engine.status == "ready"
        assert complete(client)
        [column] = client.generate(REQUEST).columns
        assert column.model.engine == "vllm"
        assert column.passes[0].scorecard.breakdown.components


def test_a_prompt_that_is_too_long_is_the_callers_mistake(service: Service) -> None:
    with service.client() as client, pytest.raises(UsageError, match="does not fit"):
        client.complete(CompleteRequest(prompts=["word " * 2_000], sampling=SamplingBody(greedy=True, max_tokens=8)))


def test_a_promoted_adapter_serves_once_its_canary_passes(service: Service, adapters: dict[str, Path]) -> None:
    with service.client() as client:
        name = service.promote(adapters["buckets"])
        assert client.reload().outcome == "switched"
        assert client.config().promoted.adapter_digest
        assert "aws_s3_bucket" in complete(client)
        service.promote(adapters["nothing"])
        kept = client.reload()
        assert (kept.outcome, kept.model.name) == ("kept", name)
        assert "word for word" in kept.trouble
        service.promote(adapters["large"])
        kept = client.reload()
        assert (kept.outcome, kept.model.name) == ("kept", name)
        assert "rank" in kept.trouble


def test_the_engine_is_lost_and_back_with_what_was_promoted(
    service: Service, vllm: Hosted, adapters: dict[str, Path]
) -> None:
    with service.client() as client:
        service.promote(adapters["keys"])
        assert client.reload().model.name != MODEL
        before = complete(client)
        vllm.kill("api_server")
        until(lambda: not ready(service))
        refused = httpx.post(f"{service.address}/complete", json={"prompts": [PROMPT]})
        assert (refused.status_code, refused.json()["error"]) == (503, "infrastructure_error")
        until(lambda: ready(service))
        assert complete(client) == before
        assert client.config().engine.restarts == 1
