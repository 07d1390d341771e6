"""The scripted engine: it says what it was told to, in the time that it was given."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.serving.backends import AdapterHost
from rl_gym.serving.backends.scripted import Asked, ScriptedBackend
from rl_gym.serving.sampling import Sampling

GREEDY = Sampling(greedy=True)


def run(backend: ScriptedBackend, *calls: Callable[[ScriptedBackend], Awaitable[Any]]) -> list[Any]:
    async def whole() -> list[Any]:
        return await asyncio.gather(*(call(backend) for call in calls))

    return asyncio.run(whole())


def ask(*prompts: str, sampling: Sampling = GREEDY) -> Callable[[ScriptedBackend], Awaitable[Any]]:
    return lambda backend: backend.complete(prompts or ("p",), sampling, model="scripted")


def test_it_says_that_it_is_scripted() -> None:
    assert ScriptedBackend(["a"]).engine == "scripted"
    assert isinstance(ScriptedBackend(["a"]), AdapterHost)


def test_greedy_is_the_first_text_and_seeds_choose_among_all() -> None:
    backend = ScriptedBackend(["a", "b", "c"])
    [made, sampled] = run(backend, ask(), ask(sampling=Sampling(n=50, seed=1)))
    assert made.samples[0][0].text == "a"
    assert {sample.text for sample in sampled.samples[0]} == {"a", "b", "c"}


def test_a_script_knows_what_it_is_asked() -> None:
    asked: list[Asked] = []

    def script(one: Asked) -> str:
        asked.append(one)
        return one.prompt.upper()

    [made] = run(ScriptedBackend(script), ask("p", "q"))
    assert [answer[0].text for answer in made.samples] == ["P", "Q"]
    assert asked == [Asked("p", "scripted", 0), Asked("q", "scripted", 0)]


def test_a_text_is_cut_after_its_tokens() -> None:
    [made] = run(ScriptedBackend(["one  two\nthree"]), ask(sampling=Sampling(greedy=True, max_tokens=2)))
    [sample] = made.samples[0]
    assert (sample.text, sample.tokens, sample.finish_reason) == ("one  two", 2, "length")


def test_a_script_that_raises_is_an_engine_that_fails() -> None:
    def script(one: Asked) -> str:
        raise InfrastructureError("the engine is on fire")

    with pytest.raises(InfrastructureError, match="on fire"):
        run(ScriptedBackend(script), ask("p", "q"))


def test_a_script_that_never_returns_is_an_engine_that_hangs() -> None:
    async def script(one: Asked) -> str:
        await asyncio.Event().wait()
        return ""

    async def whole() -> None:
        backend = ScriptedBackend(script)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await backend.complete(["p"], GREEDY, model="scripted")
        assert backend.running == 0

    asyncio.run(whole())


def test_slots_bound_what_runs_at_a_time() -> None:
    most = 0

    async def script(one: Asked) -> str:
        nonlocal most
        most = max(most, backend.running)
        await asyncio.sleep(0)
        return "a"

    backend = ScriptedBackend(script, slots=3)
    run(backend, *[ask(sampling=Sampling(n=4))] * 5)
    assert most == 3


def test_it_takes_at_least_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    sleep = asyncio.sleep

    async def passing(seconds: float) -> None:
        nonlocal now
        now += seconds
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", passing)
    monkeypatch.setattr(time, "monotonic", lambda: now)
    told: list[float] = []

    async def whole() -> float:
        backend = ScriptedBackend(["one two three"], call_seconds=1.0, token_seconds=0.1)
        made = await backend.complete(["p"], GREEDY, model="scripted", on_text=lambda *_: told.append(now))
        return made.usage.seconds

    assert asyncio.run(whole()) == pytest.approx(1.4)
    assert told == pytest.approx([1.1, 1.2, 1.3])


def test_models_come_and_go(tmp_path: Path) -> None:
    async def whole() -> None:
        backend = ScriptedBackend(["a"])
        await backend.load("new", tmp_path)
        await backend.load("new", tmp_path)
        assert await backend.models() == ["scripted", "new"]
        await backend.complete(["p"], GREEDY, model="new")
        await backend.unload("new")
        await backend.unload("new")
        with pytest.raises(NotFoundError):
            await backend.complete(["p"], GREEDY, model="new")
        with pytest.raises(UsageError, match="no such folder"):
            await backend.load("x", tmp_path / "nowhere")

    asyncio.run(whole())


def test_a_script_of_no_texts() -> None:
    with pytest.raises(UsageError, match="no text"):
        ScriptedBackend([])
