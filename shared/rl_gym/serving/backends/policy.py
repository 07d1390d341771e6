"""The models of a policy service as an engine: its raw completions, which nothing judges or repairs."""

from __future__ import annotations

from collections.abc import Sequence

from rl_gym.serving.backends.protocol import Completions, OnText
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.wire import CompleteRequest, ServedModel
from rl_gym.wire.clients.calls import Caller
from rl_gym.wire.clients.policy import AsyncPolicyClient
from rl_gym.wire.complete import SamplingBody

__all__ = ["PolicyBackend"]


class PolicyBackend:
    """Asks the policy service at an address; `caller` proves who asks, where it wants to know."""

    engine = "policy"

    def __init__(self, address: str, *, caller: Caller | None = None, seconds: float = 600.0) -> None:
        self._client = AsyncPolicyClient(address, caller=caller, seconds=seconds)
        self._repeats: dict[bool, bool] = {}

    def deterministic(self, sampling: Sampling) -> bool:
        """Whether the service said so with every answer to a request that was as greedy; not known before one."""
        return self._repeats.get(sampling.greedy, False)

    async def models(self) -> list[str]:
        return [model.name for model in await self.served()]

    async def served(self) -> list[ServedModel]:
        """What it answers for now, by column; an outside model is not among it."""
        columns = (await self._client.config()).columns
        return [column.model for column in columns if column.name != "external"]

    async def complete(
        self, prompts: Sequence[str], sampling: Sampling, *, model: str, on_text: OnText | None = None
    ) -> Completions:
        """As the protocol says; text is told whole, once an answer is there."""
        body = SamplingBody(
            n=sampling.n,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            max_tokens=sampling.max_tokens,
            seed=sampling.seed,
            greedy=sampling.greedy,
            logprobs=sampling.logprobs,
        )
        answer = await self._client.complete(CompleteRequest(model=model, prompts=list(prompts), sampling=body))
        self._repeats[sampling.greedy] = self._repeats.get(sampling.greedy, True) and answer.deterministic
        samples = [
            [Sample(s.text, s.tokens, s.finish_reason, tuple(s.logprobs) if s.logprobs else None) for s in own]
            for own in answer.samples
        ]
        if on_text is not None:
            for number, own in enumerate(samples):
                for place, sample in enumerate(own):
                    on_text(number, place, sample.text)
        return Completions(samples, answer.usage, answer.model.name)

    async def close(self) -> None:
        await self._client.close()
