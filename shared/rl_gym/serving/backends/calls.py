"""Calls of the embedded engine: what each still has to have decoded, and what has come of it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from functools import partial

from rl_gym.infra.errors import RlGymError
from rl_gym.serving.backends.decoding import Row
from rl_gym.serving.backends.loaded import LoadedModel
from rl_gym.serving.backends.protocol import OnText
from rl_gym.serving.backends.seeds import sample_seed
from rl_gym.serving.sampling import Sample, Sampling

__all__ = ["Call", "next_batch"]


class Call:
    """One call of an event loop, and its rows, which are decoded in another thread.

    `left` is set where nobody waits for it any more; its rows then end at their next token.
    """

    def __init__(
        self,
        model: LoadedModel,
        prompts: Sequence[str],
        encoded: Sequence[Sequence[int]],
        sampling: Sampling,
        *,
        streamed: bool,
    ) -> None:
        self.model, self.left = model, False
        self._prompts, self._encoded, self._sampling, self._streamed = prompts, encoded, sampling, streamed
        self._next = 0
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[tuple[int, int, str | Sample] | RlGymError] = asyncio.Queue()

    @property
    def rows_left(self) -> int:
        return len(self._prompts) * self._sampling.n - self._next

    def widths(self) -> tuple[int, int]:
        """Tokens of the next row's prompt, and the most that it may grow by."""
        return len(self._encoded[self._next // self._sampling.n]), self._sampling.max_tokens

    def next_row(self) -> Row:
        prompt, sample = divmod(self._next, self._sampling.n)
        self._next += 1
        tell = partial(self._tell, prompt, sample)
        return Row(
            self._encoded[prompt],
            self._sampling,
            sample_seed(self._sampling.seed, self._prompts[prompt], sample),
            wanted=lambda: not self.left,
            on_end=tell,
            on_text=tell if self._streamed else None,
        )

    async def outcome(self, on_text: OnText | None) -> list[list[Sample]]:
        """Wait for all samples, and tell of text meanwhile; raises what `fail` was given."""
        ended: dict[tuple[int, int], Sample] = {}
        n = self._sampling.n
        while len(ended) < len(self._prompts) * n:
            event = await self._events.get()
            if isinstance(event, RlGymError):
                raise event
            prompt, sample, what = event
            if isinstance(what, Sample):
                ended[prompt, sample] = what
            elif on_text is not None:
                on_text(prompt, sample, what)
        return [[ended[prompt, sample] for sample in range(n)] for prompt in range(len(self._prompts))]

    def fail(self, error: RlGymError) -> None:
        """End the call with an error."""
        self.left = True
        self._events.put_nowait(error)

    def _tell(self, prompt: int, sample: int, what: str | Sample) -> None:
        try:
            self._loop.call_soon_threadsafe(self._events.put_nowait, (prompt, sample, what))
        except RuntimeError:
            # The event loop has ended, and with it whoever waited.
            self.left = True


def next_batch(waiting: deque[Call], most: int) -> tuple[list[Row], set[Call]]:
    """Rows for one batch, and whose they are: of the first call's model, from every call in turn.

    All of them fit the context together, since each is padded to the longest. Calls without further rows leave
    `waiting`; the others go on behind those that had no turn.
    """
    rows: list[Row] = []
    calls: set[Call] = set()
    if not waiting:
        return rows, calls
    model = waiting[0].model
    turn = deque(call for call in waiting if call.model is model)
    width = steps = 0
    while turn and len(rows) < most:
        call = turn.popleft()
        prompt, grows = call.widths()
        if rows and max(width, prompt) + max(steps, grows) > model.model.context:
            continue
        width, steps = max(width, prompt), max(steps, grows)
        rows.append(call.next_row())
        calls.add(call)
        if call.rows_left:
            turn.append(call)
    behind = [call for call in waiting if call in calls and call.rows_left]
    ahead = [call for call in waiting if call not in calls]
    waiting.clear()
    waiting.extend(ahead + behind)
    return rows, calls
