"""Hot swaps: the old model serves until the new one has passed, and until the last request that began with it ends."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography", reason="the extra services is not installed")

from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.infra.object_store import ObjectStore, open_store
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.serving.adapters import publish
from rl_gym.serving.backends import ModelBackend
from rl_gym.serving.backends.scripted import Asked, ScriptedBackend
from rl_gym.serving.canary import Canary
from rl_gym.serving.deployment import Deployment, Promotions
from rl_gym.serving.promotion import promote, promoted
from rl_gym.wire import ServedModel
from rl_gym.wire.model import PROMOTED

KEY = SigningKey.generate()
BASE = ServedModel(engine="scripted", name="base", base="nano-base")
FIRST = BASE.model_copy(update={"name": "first"})


class Host(ScriptedBackend):
    """An engine that keeps a list of what it was told, and fails as it is told to."""

    def __init__(self) -> None:
        super().__init__(self._say, models=("base", "first"))
        self.said: list[str] = []
        self.failing: Exception | None = None
        self.unload_failing: Exception | None = None
        self.asked = asyncio.Event()
        self.answer = asyncio.Event()
        self.answer.set()
        self.noop = False

    async def _say(self, asked: Asked) -> str:
        self.asked.set()
        await self.answer.wait()
        return "base" if self.noop else asked.model

    async def load(self, name: str, folder: Path) -> None:
        self.said.append(f"+{name[-4:]}")
        if self.failing is not None:
            raise self.failing
        await super().load(name, folder)

    async def unload(self, name: str) -> None:
        self.said.append(f"-{name[-4:]}")
        if self.unload_failing is not None:
            raise self.unload_failing
        await super().unload(name)


class Stage:
    """A store to promote in, an engine, and the deployment between them, within one event loop."""

    def __init__(self, folder: Path, backend: ModelBackend | None = None, keys: KeyRing | None = None) -> None:
        self.folder, self.store = folder, open_store(str(folder / "objects"))
        self.host = Host()
        self.now = 0.0
        keys = KeyRing((KEY.public,)) if keys is None else keys
        promotions = Promotions(lambda: self.store, keys, folder / "cache")
        canary = Canary(("a prompt",), max_tokens=8, seconds=5)
        self.deployment = Deployment(backend or self.host, BASE, FIRST, promotions, canary, lambda: self.now)

    def promote(self, word: str, base: str = "nano-base") -> str:
        """Publish an adapter that is made of a word, and point to it; gives the name that it will have."""
        digest = publish(self.store, adapter(self.folder / "made" / word, word))
        incumbent = promoted(self.store, KeyRing((KEY.public,)))
        promote(self.store, KEY, incumbent, model=word, base=base, adapter_digest=digest, run="7", verdict="b" * 64)
        return f"tuned-{digest[:12]}"

    @property
    def current(self) -> str:
        return self.deployment.current().name


def adapter(folder: Path, word: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(f'"{word}"')
    return folder


Scenario = Callable[[Stage], Awaitable[None]]


def run(tmp_path: Path, scenario: Scenario, **options: Any) -> None:
    async def whole() -> None:
        stage = Stage(tmp_path, **options)
        try:
            await asyncio.wait_for(scenario(stage), 30)
        finally:
            await stage.deployment.close()

    asyncio.run(whole())


async def settled(stage: Stage, names: list[str]) -> None:
    """Wait until the engine has these models: what nobody waits for happens soon."""
    while sorted(await stage.host.models()) != sorted(names):
        await asyncio.sleep(0)


def test_until_a_model_is_promoted_the_first_serves(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        said = await stage.deployment.reload()
        assert (said.outcome, said.model, said.trouble) == ("unchanged", FIRST, "")
        assert (stage.deployment.current(), stage.deployment.promoted, stage.host.said) == (FIRST, None, [])

    run(tmp_path, scenario)


def test_a_promoted_model_serves_and_then_the_next(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        one = stage.promote("one")
        said = await stage.deployment.reload()
        assert (said.outcome, said.model.name, said.model.base) == ("switched", one, "nano-base")
        assert stage.deployment.promoted == said.model.adapter_digest
        assert stage.deployment.current() == said.model
        assert (await stage.deployment.reload()).outcome == "unchanged"
        two = stage.promote("two")
        assert (await stage.deployment.reload()).model.name == two
        await settled(stage, ["base", "first", two])

    run(tmp_path, scenario)


def test_the_old_model_serves_whoever_began_with_it_and_is_unloaded_after_the_last(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        one = stage.promote("one")
        await stage.deployment.reload()
        with stage.deployment.lease() as early:
            with stage.deployment.lease():
                two = stage.promote("two")
                await stage.deployment.reload()
            with stage.deployment.lease() as late:
                assert (early.name, late.name) == (one, two)
            await asyncio.sleep(0)
            assert one in await stage.host.models()
        await settled(stage, ["base", "first", two])

    run(tmp_path, scenario)


def test_a_model_that_comes_back_while_it_still_serves_is_not_loaded_twice(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        one = stage.promote("one")
        await stage.deployment.reload()
        with stage.deployment.lease():
            two = stage.promote("two")
            await stage.deployment.reload()
            assert stage.promote("one") == one
            await stage.deployment.reload()
        await settled(stage, ["base", "first", one])
        assert stage.current == one
        assert stage.host.said == [f"+{one[-4:]}", f"+{two[-4:]}", f"-{two[-4:]}"]

    run(tmp_path, scenario)


def test_while_the_canary_is_asked_the_old_one_serves(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.host.answer.clear()
        one = stage.promote("one")
        first, second = (asyncio.ensure_future(stage.deployment.reload()) for _ in range(2))
        await stage.host.asked.wait()
        assert stage.current == "first"
        stage.host.answer.set()
        assert await first == await second
        assert stage.current == one
        assert stage.host.said == [f"+{one[-4:]}"]

    run(tmp_path, scenario)


def noop(stage: Stage) -> None:
    stage.promote("noop")
    stage.host.noop = True


def other_base(stage: Stage) -> None:
    stage.promote("other", base="another-base")


def refused(stage: Stage) -> None:
    stage.promote("refused")
    stage.host.failing = UsageError("its rank is too large")


def broken(stage: Stage) -> None:
    stage.promote("broken")
    stage.host.failing = RuntimeError("a bug")


def keys_of(stage: Stage, name: str) -> list[str]:
    """The keys of a stored model."""
    return list(stage.store.list(f"models/{name.removeprefix('tuned-')}"))


def not_stored(stage: Stage) -> None:
    for key in keys_of(stage, stage.promote("gone")):
        stage.store.delete(key)


def damaged(stage: Stage) -> None:
    (key,) = (key for key in keys_of(stage, stage.promote("damaged")) if key.endswith("adapter_config.json"))
    stage.store.put(key, b"{}")


def malformed(stage: Stage) -> None:
    stage.store.put(PROMOTED, b"{}")


@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        (noop, "answered as base answers it, word for word"),
        (other_base, "model other is made of another-base, and the engine runs nano-base"),
        (refused, "its rank is too large"),
        (broken, "RuntimeError: a bug"),
        (not_stored, "there is no model"),
        (damaged, "adapter_config.json is damaged"),
        (malformed, "the pointer to the promoted model is malformed"),
    ],
)
def test_on_any_failure_the_old_one_stays_and_the_reason_is_kept(
    tmp_path: Path, fail: Callable[[Stage], None], reason: str
) -> None:
    async def scenario(stage: Stage) -> None:
        one = stage.promote("one")
        await stage.deployment.reload()
        fail(stage)
        said = await stage.deployment.reload()
        assert (said.outcome, said.model.name) == ("kept", one)
        assert reason in said.trouble
        assert (stage.deployment.trouble, stage.current) == (said.trouble, one)
        await settled(stage, ["base", "first", one])

    run(tmp_path, scenario)


def test_a_promotion_that_failed_is_left_alone_for_a_growing_while(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        one = stage.promote("one")
        stage.host.failing = InfrastructureError("out of memory")
        tries = []
        for second in range(0, 300, 10):
            stage.now = float(second)
            before = len(stage.host.said)
            said = await stage.deployment.reload(patient=True)
            assert (said.outcome, said.trouble) == ("kept", "out of memory")
            tries += [second] if len(stage.host.said) > before else []
        assert tries == [0, 30, 90, 210]
        stage.host.failing = None
        assert (await stage.deployment.reload()).model.name == one

    run(tmp_path, scenario)


def test_patience_is_with_one_promotion_and_not_with_the_next(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        noop(stage)
        assert (await stage.deployment.reload(patient=True)).outcome == "kept"
        stage.host.noop = False
        two = stage.promote("two")
        assert (await stage.deployment.reload(patient=True)).model.name == two
        assert stage.deployment.trouble == ""

    run(tmp_path, scenario)


def test_a_pointer_that_was_seen_to_be_replaced_is_not_believed_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.promote("one")
        old = stage.store.get(PROMOTED).body
        two = stage.promote("two")
        await stage.deployment.reload()
        stage.store.put(PROMOTED, old)
        said = await stage.deployment.reload()
        assert (said.outcome, said.model.name) == ("kept", two)
        assert said.trouble == "promotion 0 is older than 1, which was seen before"

    run(tmp_path, scenario)


def test_without_keys_nothing_is_promoted(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.promote("one")
        said = await stage.deployment.reload()
        assert (said.outcome, said.model, stage.host.said) == ("kept", FIRST, [])
        assert "RL_GYM_PROMOTION_KEYS" in said.trouble

    run(tmp_path, scenario, keys=KeyRing())


class Fixed:
    """An engine that takes no model while it runs."""

    engine = "fixed"


def test_an_engine_that_takes_no_model_says_so(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.promote("one")
        assert (await stage.deployment.reload()).trouble == "the engine fixed takes no model while it runs"

    run(tmp_path, scenario, backend=Fixed())


def test_an_engine_that_came_up_anew_is_given_what_serves(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        one = stage.promote("one")
        await stage.deployment.reload()
        with stage.deployment.lease():
            two = stage.promote("two")
            await stage.deployment.reload()
            for name in (one, two):
                await ScriptedBackend.unload(stage.host, name)
            # What is in the cache is enough; what is damaged there comes from the store again.
            shutil.rmtree(next((stage.folder / "cache").glob(f"{two.removeprefix('tuned-')}*")))
            await stage.deployment.restore()
            assert {one, two} <= set(await stage.host.models())
        await settled(stage, ["base", "first", two])
        stage.host.failing = InfrastructureError("no connection")
        with pytest.raises(InfrastructureError, match="no connection"):
            await stage.deployment.restore()

    run(tmp_path, scenario)


def test_a_model_that_is_not_unloaded_holds_up_nothing(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.promote("one")
        await stage.deployment.reload()
        stage.host.unload_failing = InfrastructureError("no connection")
        stage.promote("two")
        assert (await stage.deployment.reload()).outcome == "switched"
        three = stage.promote("three")
        assert (await stage.deployment.reload()).model.name == three

    run(tmp_path, scenario)


def test_closing_in_the_middle_of_a_change_leaves_nothing_behind(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.host.answer.clear()
        stage.promote("one")
        reloading = asyncio.ensure_future(stage.deployment.reload())
        await stage.host.asked.wait()
        await stage.deployment.close()
        with pytest.raises(asyncio.CancelledError):
            await reloading
        assert (stage.current, await stage.host.models()) == ("first", ["base", "first"])

    run(tmp_path, scenario)


def test_the_store_is_asked_for_when_it_is_needed(tmp_path: Path) -> None:
    def none() -> ObjectStore:
        raise UsageError("object store 's3://x': a folder is needed")

    async def scenario(stage: Stage) -> None:
        promotions = Promotions(none, KeyRing((KEY.public,)), tmp_path / "cache")
        deployment = Deployment(stage.host, BASE, FIRST, promotions, Canary(("x",)))
        assert (await deployment.reload()).trouble == "object store 's3://x': a folder is needed"

    run(tmp_path, scenario)
