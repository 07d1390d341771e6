"""Hot swaps in the embedded engine, with the packaged models: real weights, fetched, loaded, asked and unloaded."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="the extra serve is not installed")
pytest.importorskip("cryptography", reason="the extra services is not installed")

from rl_gym.gym.registry import get_env
from rl_gym.infra.digests import tree_digest
from rl_gym.infra.object_store import open_store
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.serving.adapters import publish
from rl_gym.serving.backends.transformers import TransformersBackend
from rl_gym.serving.canary import Canary
from rl_gym.serving.deployment import Deployment, Promotions
from rl_gym.serving.promotion import promote, promoted
from rl_gym.serving.weights import find_model
from rl_gym.wire import ServedModel

KEY = SigningKey.generate()
RING = KeyRing((KEY.public,))
BASE = ServedModel(engine="transformers", name="nano-base", base="nano-base")


def test_the_packaged_model_serves_once_promoted_and_its_base_does_not(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "objects"))

    def point_to(model: str) -> None:
        digest = publish(store, find_model(model))
        what = {"model": model, "base": "nano-base", "adapter_digest": digest, "run": "7", "verdict": "b" * 64}
        promote(store, KEY, promoted(store, RING), **what)

    async def scenario() -> None:
        backend = TransformersBackend()
        await backend.load("nano-base", find_model("nano-base"))
        canary = Canary.of(get_env("iac"), max_tokens=16)
        promotions = Promotions(lambda: store, RING, tmp_path / "cache")
        deployment = Deployment(backend, BASE, BASE, promotions, canary)
        try:
            point_to("nano")
            said = await deployment.reload()
            assert (said.outcome, said.trouble) == ("switched", "")
            assert said.model.adapter_digest == tree_digest(find_model("nano"))
            point_to("nano-base")
            kept = await deployment.reload()
            assert (kept.outcome, kept.model) == ("kept", said.model)
            assert "answered as nano-base answers it" in kept.trouble
            assert await backend.models() == ["nano-base", said.model.name]
        finally:
            await deployment.close()
            await backend.close()

    asyncio.run(asyncio.wait_for(scenario(), 120))
