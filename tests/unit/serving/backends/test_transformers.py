"""The embedded engine: batches of whatever arrives, each sample its own, and what happens where one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra serve is not installed")

import torch

from rl_gym.infra.errors import BusyError, InfrastructureError, NotFoundError, UsageError
from rl_gym.serving.backends import AdapterHost, Completions, decoding, transformers
from rl_gym.serving.backends.transformers import TransformersBackend
from rl_gym.serving.local_model import LocalModel
from rl_gym.serving.sampling import Sampling
from rl_gym.serving.weights import find_model

PROMPTS = [f"# {what}\n" for what in ("a bucket atlas-media", "a kms key", "a queue for the orders of a shop", "x")]
GREEDY = Sampling(greedy=True, max_tokens=40)
MIXED = [
    GREEDY,
    Sampling(seed=3, max_tokens=30),
    Sampling(n=3, seed=3, temperature=1.7, max_tokens=25, logprobs=True),
    Sampling(n=2, seed=9, temperature=0.6, top_p=0.8, max_tokens=40),
    Sampling(seed=3, top_p=0.5, max_tokens=1),
]


def run(scenario: Callable[[TransformersBackend], Awaitable[Any]], *, folder: Path | None = None, **how: Any) -> Any:
    async def whole() -> Any:
        backend = TransformersBackend(**how)
        await backend.load("nano", folder or find_model("nano"))
        try:
            async with asyncio.timeout(60):
                return await scenario(backend)
        finally:
            await backend.close()

    return asyncio.run(whole())


@contextmanager
def batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many rows each batch had."""
    sizes: list[int] = []

    def counted(model: Any, ends: Any, rows: Any) -> None:
        sizes.append(len(rows))
        decoding.decode(model, ends, rows)

    with monkeypatch.context() as patch:
        patch.setattr(transformers, "decode", counted)
        yield sizes


def one(made: Completions) -> str:
    return made.samples[0][0].text


def test_it_hosts_models() -> None:
    assert isinstance(TransformersBackend(), AdapterHost)


def test_a_sample_is_the_same_alone_and_among_others() -> None:
    async def scenario(backend: TransformersBackend) -> None:
        assert all(backend.deterministic(sampling) for sampling in MIXED)
        calls = [(prompt, sampling) for prompt in PROMPTS for sampling in MIXED]
        together = await asyncio.gather(*(backend.complete([p], s, model="nano") for p, s in calls))
        for made, (prompt, sampling) in zip(together, calls, strict=True):
            alone = await backend.complete([prompt], sampling, model="nano")
            for sample, again in zip(made.samples[0], alone.samples[0], strict=True):
                assert (sample.text, sample.tokens) == (again.text, again.tokens)
                assert sample.logprobs == pytest.approx(again.logprobs, abs=1e-3)

    run(scenario)


def test_a_sample_does_not_depend_on_how_many_there_are() -> None:
    async def scenario(backend: TransformersBackend) -> None:
        few = await backend.complete(PROMPTS[:1], Sampling(n=2, seed=1, max_tokens=20), model="nano")
        many = await backend.complete(PROMPTS[::-1], Sampling(n=5, seed=1, max_tokens=20), model="nano")
        assert many.samples[-1][:2] == few.samples[0]
        assert len({sample.text for sample in many.samples[-1]}) > 1

    run(scenario)


def test_close_calls_are_decided_by_the_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every choice called close, every token comes of the row alone: the texts stay what they were."""
    sampling = Sampling(n=2, seed=2, temperature=1.5, top_p=0.9, max_tokens=12)

    async def scenario(backend: TransformersBackend) -> list[str]:
        made = await backend.complete(PROMPTS, sampling, model="nano")
        return [sample.text for answer in made.samples for sample in answer]

    plain = run(scenario)
    monkeypatch.setattr("rl_gym.serving.backends.picking._CLOSE_CALL", 1e9)
    assert run(scenario) == plain


def test_greedy_is_what_training_evaluates_with() -> None:
    local = LocalModel(find_model("nano")).complete(PROMPTS, Sampling(greedy=True, max_tokens=60, logprobs=True))
    made = run(lambda b: b.complete(PROMPTS, Sampling(greedy=True, max_tokens=60, logprobs=True), model="nano"))
    for [mine], [theirs] in zip(made.samples, local, strict=True):
        assert (mine.text, mine.tokens, mine.finish_reason) == (theirs.text, theirs.tokens, theirs.finish_reason)
        assert mine.logprobs == pytest.approx(theirs.logprobs, abs=1e-3)


def test_calls_that_wait_form_a_batch_together(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(backend: TransformersBackend) -> None:
        first = asyncio.create_task(backend.complete(PROMPTS[:1], GREEDY, model="nano"))
        while not backend.running:
            await asyncio.sleep(0)
        await asyncio.gather(*(backend.complete([p], MIXED[1], model="nano") for p in PROMPTS), first)

    with batches(monkeypatch) as sizes:
        run(scenario)
    assert sizes == [1, 4]


def test_a_batch_is_bounded_and_a_small_call_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []

    async def ask(backend: TransformersBackend, name: str, n: int) -> None:
        await backend.complete(PROMPTS[:1], Sampling(n=n, max_tokens=4), model="nano")
        ended.append(name)

    async def scenario(backend: TransformersBackend) -> None:
        large = asyncio.create_task(ask(backend, "large", 30))
        # Else the small one might be encoded first, and have begun alone.
        while not backend.running:
            await asyncio.sleep(0)
        await asyncio.gather(large, ask(backend, "small", 2))

    with batches(monkeypatch) as sizes:
        run(scenario, batch_size=8)
    assert ended == ["small", "large"]
    assert sizes == [8, 8, 8, 8]


def test_rows_that_would_not_fit_together_have_batches_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(backend: TransformersBackend) -> None:
        long, short = Sampling(greedy=True, max_tokens=1), Sampling(greedy=True, max_tokens=900)
        await asyncio.gather(
            backend.complete(["word " * 300], long, model="nano"), backend.complete(["x"], short, model="nano")
        )

    with batches(monkeypatch) as sizes:
        run(scenario)
    assert sizes == [1, 1]


def test_more_than_may_wait_are_told_to_come_again() -> None:
    async def scenario(backend: TransformersBackend) -> None:
        calls = [backend.complete(PROMPTS, GREEDY, model="nano") for _ in range(2)]
        tasks = [asyncio.create_task(call) for call in calls]
        while not backend.running:
            await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await backend.complete(PROMPTS, GREEDY, model="nano")
        await asyncio.gather(*tasks)

    run(scenario, batch_size=1, waiting=1)


@pytest.mark.parametrize("fault", [RuntimeError("not enough memory:\nyou tried"), MemoryError()])
def test_a_batch_that_fails_is_a_fault_and_the_next_one_works(
    monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def failing(*_: Any) -> None:
        raise fault

    async def scenario(backend: TransformersBackend) -> None:
        good = one(await backend.complete(PROMPTS[:1], GREEDY, model="nano"))
        with monkeypatch.context() as patch:
            patch.setattr(transformers, "decode", failing)
            with pytest.raises(InfrastructureError, match=type(fault).__name__) as raised:
                await backend.complete(PROMPTS, GREEDY, model="nano")
        assert str(raised.value).isprintable()
        assert one(await backend.complete(PROMPTS[:1], GREEDY, model="nano")) == good

    run(scenario)


def test_the_event_loop_goes_on_meanwhile() -> None:
    async def scenario(backend: TransformersBackend) -> None:
        work = asyncio.create_task(backend.complete(PROMPTS, Sampling(n=8, max_tokens=200), model="nano"))
        turns = 0
        while not work.done():
            await asyncio.sleep(0)
            turns += 1
        assert turns > 100

    run(scenario)


def test_a_batch_that_nobody_waits_for_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    take = decoding.Row.take

    def counted(self: decoding.Row, *rest: Any) -> None:
        nonlocal taken
        taken += 1
        take(self, *rest)

    monkeypatch.setattr(decoding.Row, "take", counted)

    async def scenario(backend: TransformersBackend) -> None:
        begun = asyncio.Event()
        call = backend.complete(
            PROMPTS, Sampling(n=8, temperature=10.0, max_tokens=900), model="nano", on_text=lambda *_: begun.set()
        )
        work = asyncio.create_task(call)
        await begun.wait()
        work.cancel()
        await asyncio.wait([work])
        while backend.running:
            await asyncio.sleep(0.001)

    run(scenario)
    assert taken < 32 * 900 / 4


def test_closing_ends_what_is_on_its_way() -> None:
    async def scenario(backend: TransformersBackend) -> None:
        calls = [backend.complete(PROMPTS, Sampling(n=8, max_tokens=900), model="nano") for _ in range(3)]
        work = [asyncio.create_task(call) for call in calls]
        while not backend.running:
            await asyncio.sleep(0)
        await backend.close()
        for outcome in await asyncio.gather(*work, return_exceptions=True):
            assert isinstance(outcome, InfrastructureError)

    run(scenario)


class TestTemplates:
    def folder(self, to: Path, template: str | None) -> Path:
        for file in find_model("nano").iterdir():
            (to / file.name).write_bytes(file.read_bytes())
        if template is not None:
            (to / "chat_template.jinja").write_text(template)
        return to

    def test_a_prompt_is_the_message_of_a_chat(self, tmp_path: Path) -> None:
        template = "# {{ messages[0].content }}{{ '\\n' if add_generation_prompt }}"
        folder = self.folder(tmp_path, template)
        chat = run(lambda b: b.complete(["a kms key"], GREEDY, model="nano"), folder=folder)
        plain = run(lambda b: b.complete(["# a kms key\n"], GREEDY, model="nano"))
        assert (chat.samples, chat.usage.prompt_tokens) == (plain.samples, plain.usage.prompt_tokens)

    def test_what_a_folder_says_of_sampling_is_not_followed(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path, None)
        config = '{"eos_token_id": [1, 200], "do_sample": true, "top_k": 1, "repetition_penalty": 5.0}'
        (folder / "generation_config.json").write_text(config)
        mine = run(lambda b: b.complete(PROMPTS[:1], GREEDY, model="nano"), folder=folder)
        plain = run(lambda b: b.complete(PROMPTS[:1], GREEDY, model="nano"))
        # Token 200 is a new line: with it among the ends, the completion is the first line.
        assert one(mine) == one(plain).splitlines(keepends=True)[0]
        assert mine.samples[0][0].finish_reason == "stop"


@pytest.fixture(scope="module")
def adapters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    peft = pytest.importorskip("peft", reason="the extra train is not installed")
    from transformers import AutoModelForCausalLM

    folder = tmp_path_factory.mktemp("adapters")
    for name, modules in {"one": ["q_proj", "o_proj"], "two": ["v_proj"]}.items():
        base = AutoModelForCausalLM.from_pretrained(find_model("nano"), dtype=torch.float32)
        config = peft.LoraConfig(r=4, target_modules=modules, init_lora_weights=False)
        peft.get_peft_model(base, config).save_pretrained(folder / name)
    return folder


class TestAdapters:
    def test_models_and_adapters_answer_side_by_side(self, adapters: Path) -> None:
        names = ["nano", "one", "two"]

        async def scenario(backend: TransformersBackend) -> None:
            async def ask(name: str) -> str:
                return one(await backend.complete(PROMPTS[:1], GREEDY, model=name))

            before = await ask("nano")
            await backend.load("one", adapters / "one")
            await backend.load("two", adapters / "two")
            answers = [await ask(name) for name in names]
            assert answers[0] == before
            assert len(set(answers)) == 3
            assert await asyncio.gather(*map(ask, names * 3)) == answers * 3
            await backend.load("one", adapters / "two")
            assert await ask("one") == answers[2]
            for name in ("one", "two", "two"):
                await backend.unload(name)
            assert await backend.models() == ["nano"]
            assert await ask("nano") == before
            with pytest.raises(NotFoundError, match="'two'"):
                await ask("two")

        run(scenario)

    @pytest.mark.parametrize(
        ("file", "content", "said"),
        [
            ("adapter_config.json", b'{"peft_type": "IA3"}', "no LoRA adapter"),
            ("adapter_config.json", b"{", "not JSON"),
            ("adapter_config.json", b'{"peft_type": "LORA", "target_modules": ["nowhere"]}', "cannot be loaded"),
            ("adapter_model.safetensors", None, "has no adapter_model.safetensors"),
            ("adapter_model.safetensors", b"\x80\x04.", "cannot be loaded"),
        ],
    )
    def test_what_is_no_adapter(
        self, adapters: Path, tmp_path: Path, file: str, content: bytes | None, said: str
    ) -> None:
        for part in (adapters / "one").iterdir():
            (tmp_path / part.name).write_bytes(part.read_bytes())
        if content is None:
            (tmp_path / file).rename(tmp_path / "adapter_model.bin")
        else:
            (tmp_path / file).write_bytes(content)

        async def scenario(backend: TransformersBackend) -> None:
            before = one(await backend.complete(PROMPTS[:1], GREEDY, model="nano"))
            with pytest.raises(UsageError, match=said) as raised:
                await backend.load("one", tmp_path)
            assert "\n" not in str(raised.value)
            assert await backend.models() == ["nano"]
            assert one(await backend.complete(PROMPTS[:1], GREEDY, model="nano")) == before

        run(scenario)

    def test_an_adapter_needs_its_base(self, adapters: Path) -> None:
        async def scenario() -> None:
            backend = TransformersBackend()
            with pytest.raises(NotFoundError, match="needs its base model"):
                await backend.load("one", adapters / "one")
            await backend.close()

        asyncio.run(scenario())
