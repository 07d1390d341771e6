"""What every model engine has to keep; a subclass of `BackendContract` says which engine, by its fixture `engine`."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pytest

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.serving.backends import Completions, ModelBackend, PromptTooLongError
from rl_gym.serving.sampling import Sampling

__all__ = ["BackendContract", "Engine"]

T = TypeVar("T")

_SECONDS = 120
PROMPTS = ["# a bucket atlas-media\n", "# a kms key for the orders\n", "# a queue that nobody reads\n"]
GREEDY = Sampling(greedy=True, max_tokens=24)
ODD = "# ein Eimer für Café-Bilder, 北京 🎉 e\u0301 \u200d\n"


@dataclass(frozen=True)
class Engine:
    """An engine under test: how it is opened, what model it has, and a prompt that is longer than it takes.

    `running` counts what it works on at the moment. `seeded` says that seeds decide, while nothing else runs.
    """

    open: Callable[[], Awaitable[ModelBackend]]
    model: str
    too_long: str
    running: Callable[[ModelBackend], Awaitable[int]]
    prompts: Sequence[str] = tuple(PROMPTS)
    seeded: bool = True


def run(engine: Engine, scenario: Callable[[ModelBackend], Awaitable[T]]) -> T:
    async def whole() -> T:
        backend = await engine.open()
        try:
            async with asyncio.timeout(_SECONDS):
                return await scenario(backend)
        finally:
            await backend.close()

    return asyncio.run(whole())


def complete(engine: Engine, prompts: Sequence[str], sampling: Sampling) -> Completions:
    return run(engine, lambda backend: backend.complete(prompts, sampling, model=engine.model))


def texts(made: Completions) -> list[list[str]]:
    return [[sample.text for sample in answer] for answer in made.samples]


class BackendContract:
    def test_every_prompt_has_its_samples_in_its_place(self, engine: Engine) -> None:
        made = complete(engine, engine.prompts, Sampling(n=3, max_tokens=8))
        assert [len(answer) for answer in made.samples] == [3] * len(engine.prompts)
        greedy = texts(complete(engine, engine.prompts, GREEDY))
        turned = texts(complete(engine, engine.prompts[::-1], GREEDY))
        assert greedy == turned[::-1]
        assert len({answer[0] for answer in greedy}) > 1

    def test_no_prompts_are_no_samples(self, engine: Engine) -> None:
        made = complete(engine, [], GREEDY)
        assert (made.samples, made.usage.prompt_tokens, made.usage.completion_tokens) == ([], 0, 0)

    def test_it_names_the_model_that_answered(self, engine: Engine) -> None:
        assert complete(engine, engine.prompts[:1], GREEDY).model == engine.model
        assert engine.model in run(engine, lambda backend: backend.models())

    def test_greedy_is_the_same_again(self, engine: Engine) -> None:
        assert texts(complete(engine, engine.prompts, GREEDY)) == texts(complete(engine, engine.prompts, GREEDY))

    def test_seeds_decide(self, engine: Engine) -> None:
        if not engine.seeded:
            pytest.skip("this engine does not follow seeds")

        def sampled(seed: int) -> list[str]:
            return texts(complete(engine, engine.prompts[:1], Sampling(n=4, seed=seed, max_tokens=48)))[0]

        first = sampled(1)
        assert first == sampled(1)
        assert first != sampled(2)
        assert len(set(first)) > 1

    def test_samples_say_how_they_ended_and_how_long_they_are(self, engine: Engine) -> None:
        [[cut]] = complete(engine, engine.prompts[:1], Sampling(greedy=True, max_tokens=3)).samples
        [[whole]] = complete(engine, engine.prompts[:1], Sampling(greedy=True, max_tokens=400)).samples
        assert (cut.finish_reason, cut.tokens) == ("length", 3)
        assert whole.finish_reason == "stop"
        assert 3 < whole.tokens < 400
        assert whole.text.startswith(cut.text)

    def test_log_probabilities_come_one_a_token(self, engine: Engine) -> None:
        made = complete(engine, engine.prompts[:2], Sampling(n=2, max_tokens=200, logprobs=True))
        for sample in (sample for answer in made.samples for sample in answer):
            assert sample.logprobs is not None
            assert len(sample.logprobs) == sample.tokens
            assert all(math.isfinite(logprob) and logprob <= 0 for logprob in sample.logprobs)
        assert complete(engine, engine.prompts[:1], GREEDY).samples[0][0].logprobs is None

    def test_usage_adds_up(self, engine: Engine) -> None:
        made = complete(engine, engine.prompts[:2], Sampling(n=3, max_tokens=64))
        assert made.usage.completion_tokens == sum(sample.tokens for answer in made.samples for sample in answer)
        alone = [complete(engine, [prompt], GREEDY).usage.prompt_tokens for prompt in engine.prompts[:2]]
        assert made.usage.prompt_tokens == sum(alone) > 0
        assert made.usage.seconds > 0

    @pytest.mark.parametrize("sampling", [GREEDY, Sampling(n=3, seed=4, max_tokens=200)], ids=["greedy", "sampled"])
    def test_streamed_parts_are_the_whole_text(self, engine: Engine, sampling: Sampling) -> None:
        parts: dict[tuple[int, int], list[str]] = defaultdict(list)
        made = run(
            engine,
            lambda backend: backend.complete(
                [*engine.prompts[:2], ODD],
                sampling,
                model=engine.model,
                on_text=lambda prompt, sample, text: parts[prompt, sample].append(text),
            ),
        )
        for number, answer in enumerate(made.samples):
            for place, sample in enumerate(answer):
                assert "".join(parts[number, place]) == sample.text
        assert len(parts[0, 0]) > 1
        assert made.usage.completion_tokens == sum(sample.tokens for answer in made.samples for sample in answer)

    def test_a_prompt_that_leaves_no_room(self, engine: Engine) -> None:
        with pytest.raises(PromptTooLongError) as raised:
            complete(engine, [engine.prompts[0], engine.too_long], Sampling(greedy=True, max_tokens=16))
        assert raised.value.tokens > raised.value.limit > 0
        assert complete(engine, engine.prompts[:1], GREEDY).samples

    def test_an_empty_prompt(self, engine: Engine) -> None:
        with pytest.raises(UsageError, match="prompt 1 is empty"):
            complete(engine, [engine.prompts[0], ""], GREEDY)

    def test_a_model_that_there_is_not(self, engine: Engine) -> None:
        with pytest.raises(NotFoundError, match="no-such-model"):
            run(engine, lambda backend: backend.complete(engine.prompts, GREEDY, model="no-such-model"))

    def test_odd_characters_go_in_and_come_out(self, engine: Engine) -> None:
        made = complete(engine, [ODD, ODD], Sampling(n=2, max_tokens=32, temperature=2.0))
        for sample in (sample for answer in made.samples for sample in answer):
            sample.text.encode()

    def test_calls_run_beside_each_other(self, engine: Engine) -> None:
        how = [GREEDY, Sampling(seed=3, max_tokens=12), Sampling(n=2, seed=1, top_p=0.9, max_tokens=40)]
        calls = [(prompt, sampling) for prompt in engine.prompts for sampling in how]

        async def scenario(backend: ModelBackend) -> None:
            together = await asyncio.gather(*(backend.complete([p], s, model=engine.model) for p, s in calls))
            for made, (prompt, sampling) in zip(together, calls, strict=True):
                assert len(made.samples[0]) == sampling.n
                if backend.deterministic(sampling):
                    alone = await backend.complete([prompt], sampling, model=engine.model)
                    assert texts(made) == texts(alone)

        run(engine, scenario)

    def test_a_call_that_is_cancelled_stops_the_work(self, engine: Engine) -> None:
        async def scenario(backend: ModelBackend) -> None:
            begun = asyncio.Event()
            endless = Sampling(n=4, max_tokens=900, temperature=2.0)
            call = backend.complete(engine.prompts[:1], endless, model=engine.model, on_text=lambda *_: begun.set())
            task = asyncio.create_task(call)
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while await engine.running(backend):
                await asyncio.sleep(0.01)
            assert (await backend.complete(engine.prompts[:1], GREEDY, model=engine.model)).samples

        run(engine, scenario)

    def test_what_a_listener_raises_is_the_callers(self, engine: Engine) -> None:
        class LeftError(Exception):
            pass

        def leave(*_: object) -> None:
            raise LeftError

        with pytest.raises(LeftError):
            run(engine, lambda backend: backend.complete(engine.prompts, GREEDY, model=engine.model, on_text=leave))

    def test_calls_on_their_way_end_where_the_engine_is_closed(self, engine: Engine) -> None:
        async def scenario(backend: ModelBackend) -> None:
            begun = asyncio.Event()
            calls = [
                backend.complete(
                    engine.prompts[:1],
                    Sampling(n=2, max_tokens=900, temperature=2.0),
                    model=engine.model,
                    on_text=lambda *_: begun.set(),
                )
                for _ in range(3)
            ]
            tasks = [asyncio.create_task(call) for call in calls]
            await begun.wait()
            await backend.close()
            for outcome in await asyncio.gather(*tasks, return_exceptions=True):
                assert isinstance(outcome, Completions | InfrastructureError)

        run(engine, scenario)

    def test_a_closed_engine_says_so(self, engine: Engine) -> None:
        async def scenario(backend: ModelBackend) -> None:
            await backend.close()
            with pytest.raises(InfrastructureError):
                await backend.complete(engine.prompts[:1], GREEDY, model=engine.model)
            await backend.close()

        run(engine, scenario)
