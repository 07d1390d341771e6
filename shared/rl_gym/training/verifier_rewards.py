"""Rewards from the verifier service: a batch in few calls at the same time, patience where it is away, and never a 0
for a fault.

Whatever the service refuses (who calls, a ruleset that it does not have, an episode that makes no sense) is a
UsageError at once. A call without an answer is made again after a pause, for `patience` seconds; a completion whose
judgement alone failed is sent once more. What is not judged then is a fault, by which TRL leaves the sample out.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import httpx
from pydantic import ValidationError

from rl_gym.gym.core import Environment, Episode, RewardBreakdown, score_completion
from rl_gym.gym.retry import attempt
from rl_gym.gym.trl import Answer
from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET
from rl_gym.iac.standard import Standard
from rl_gym.infra.errors import InfrastructureError, RlGymError, TooLargeError, UsageError
from rl_gym.serving.score_batches import ScoreBatches, scorecard_or_error
from rl_gym.training.config import EnvironmentSection
from rl_gym.wire import EpisodeBody, Scorecard, ScoreItem
from rl_gym.wire.clients.calls import Caller
from rl_gym.wire.clients.verifier import AsyncVerifierClient
from rl_gym.wire.message import refusal

__all__ = ["VerifierRewards", "standard_of"]

_PATIENCE_SECONDS = 120.0
"""Longer than a verifier takes to start."""
_CALL_SECONDS = 90.0
"""Longer than a verifier works on one request until it gives up."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 5.0
_ITEMS = 256
"""Of one call. More of them travel and are judged side by side."""
_TRIES = 2
"""Of a completion, where the service answers and others are judged."""
_RECENT = 8
"""Batches that are looked back on."""
_MOST_SKIPPED = 0.5

Outcome = RewardBreakdown | InfrastructureError


@dataclass(eq=False, slots=True)
class _Asked:
    """An answer, what came of it so far, and how often the verifier said something about it."""

    answer: Answer
    outcome: Outcome
    tries: int = 0

    @property
    def failed(self) -> bool:
        return isinstance(self.outcome, InfrastructureError)


def standard_of(section: EnvironmentSection) -> Standard:
    """By what a run judges, in the names that a service knows. Options that only choose episodes are none of it."""
    options = section.options
    return Standard(section.name, options.get("ruleset", DEFAULT_RULESET), options.get("profile", DEFAULT_PROFILE))


class VerifierRewards:
    """A `gym.trl.Score`: judges batches by the verifier at `address`, as `env` does in this process.

    What no message can carry, such as a completion of more than 262,144 characters, is judged here by `env`: writing
    too much is no way out of a reward. `tell` is given what a person should know: that the verifier is away, or that
    samples were skipped.
    """

    def __init__(
        self,
        env: Environment,
        standard: Standard,
        address: str,
        *,
        caller: Caller | None = None,
        tell: Callable[[str], None] = lambda text: None,
        patience: float | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._env, self._standard, self._address = env, standard, address
        self._digest = env.reward.digest
        self._tell = tell
        self._patience = _PATIENCE_SECONDS if patience is None else patience
        self._verifier = AsyncVerifierClient(address, caller=caller, seconds=_CALL_SECONDS, client=client)
        self._batches = ScoreBatches(self._verifier)
        self._recent: deque[tuple[int, int]] = deque(maxlen=_RECENT)
        """Of each batch, how many were skipped of how many."""
        self._loop = asyncio.Runner()

    def check(self, episode: Episode) -> None:
        """Have an empty answer to `episode` judged, to see that the verifier is there and judges as `env` does.

        Raises UsageError where it judges by other rules or refuses, InfrastructureError where it stays away.
        """
        (outcome,) = self._loop.run(self._judged([(episode, "")]))
        if isinstance(outcome, InfrastructureError):
            raise outcome

    def __call__(self, answers: Sequence[Answer]) -> list[Outcome]:
        """One outcome an answer, in order.

        Raises UsageError as `check` does, and InfrastructureError where more than half of the completions of the last
        8 batches could not be judged.
        """
        outcomes = self._loop.run(self._judged(answers))
        faults = [one for one in outcomes if isinstance(one, InfrastructureError)]
        self._recent.append((len(faults), len(outcomes)))
        if faults:
            self._tell(f"warning: {len(faults)} of {len(outcomes)} completions are skipped: {faults[0]}")
        skipped, asked = (sum(column) for column in zip(*self._recent, strict=True))
        if len(self._recent) == _RECENT and skipped > _MOST_SKIPPED * asked:
            raise InfrastructureError(
                f"the verifier at {self._address} did not judge {skipped} of {asked} completions of the last "
                f"{_RECENT} batches"
            )
        return outcomes

    def close(self) -> None:
        """Leave the verifier."""
        self._loop.run(self._close())
        self._loop.close()

    async def _close(self) -> None:
        await self._batches.close()
        await self._verifier.close()

    async def _judged(self, answers: Sequence[Answer]) -> list[Outcome]:
        end, pause = time.monotonic() + self._patience, _FIRST_PAUSE_SECONDS
        waiting = asked = [_Asked(answer, InfrastructureError("not asked yet")) for answer in answers]
        while True:
            await asyncio.gather(*(self._ask(chunk) for chunk in _chunks(waiting)))
            others_are_judged = not all(one.failed for one in asked)
            waiting = [one for one in waiting if one.failed and not (others_are_judged and one.tries >= _TRIES)]
            if not waiting or time.monotonic() + pause > end:
                return [one.outcome for one in asked]
            if pause == _FIRST_PAUSE_SECONDS:
                self._tell(f"warning: {waiting[0].outcome}; asking again for {self._patience:g} s at most")
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def _ask(self, chunk: Sequence[_Asked]) -> None:
        """Have a chunk judged in one call; where there is no answer, that is the outcome of all of it."""
        try:
            outcomes = await self._outcomes([one.answer for one in chunk])
        except InfrastructureError as error:
            for one in chunk:
                one.outcome = error
            return
        for one, outcome in zip(chunk, outcomes, strict=True):
            one.outcome = outcome
            one.tries += 1

    async def _outcomes(self, answers: Sequence[Answer]) -> list[Outcome]:
        items = [_item(*answer) for answer in answers]
        sent = [item for item in items if item is not None]
        try:
            results = iter(await self._batches.results(self._standard, sent, "") if sent else ())
        except TooLargeError:
            if len(answers) == 1:
                return [self._here(*answers[0])]
            middle = len(answers) // 2
            halves = await asyncio.gather(self._outcomes(answers[:middle]), self._outcomes(answers[middle:]))
            return [*halves[0], *halves[1]]
        return [
            self._here(*answer) if item is None else self._outcome(answer, scorecard_or_error(next(results)))
            for answer, item in zip(answers, items, strict=True)
        ]

    def _outcome(self, answer: Answer, said: Scorecard | RlGymError) -> Outcome:
        if isinstance(said, TooLargeError):
            return self._here(*answer)
        if isinstance(said, InfrastructureError):
            return said
        if isinstance(said, RlGymError):
            raise said
        if said.breakdown.digest != self._digest:
            raise UsageError(
                f"the verifier at {self._address} judges by other rules: digest {said.breakdown.digest}, this run "
                f"{self._digest}; use a verifier of the same version, or judge in the trainer's process"
            )
        return said.breakdown

    def _here(self, episode: Episode, completion: str) -> Outcome:
        return attempt(partial(score_completion, self._env, completion, episode))


def _item(episode: Episode, completion: str) -> ScoreItem | None:
    """What is sent; None for a completion that no message can carry. Raises UsageError for such an episode."""
    try:
        body = EpisodeBody.of(episode)
    except ValidationError as error:
        raise refusal(error) from None
    try:
        return ScoreItem(episode=body, completion=completion)
    except ValidationError:
        return None


def _chunks(asked: Sequence[_Asked]) -> list[Sequence[_Asked]]:
    return [asked[start : start + _ITEMS] for start in range(0, len(asked), _ITEMS)]
