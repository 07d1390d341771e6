"""The judge that asks the verifier: few calls, second tries, deadlines, and whose fault it was."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

pytest.importorskip("jwt", reason="the extra services is not installed")

import httpx

from rl_gym.gym.core import Episode, RewardBreakdown
from rl_gym.infra.errors import InfrastructureError, NotFoundError, TooLargeError, UsageError
from rl_gym.infra.principals import Issuer, read_principal
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.serving import score_batches
from rl_gym.serving.judges import Judge, Standard
from rl_gym.serving.verifier_judge import VerifierJudge
from rl_gym.wire import ErrorBody, Fixed, FixResponse, Scorecard, ScoreRequest, ScoreResponse, ScoreResult

EPISODE = Episode("e", "x")
STANDARD = Standard()


class Verifier:
    """Gives the reward that a completion names, and fails as it says: `fault` always, `fault-once N`, `refuse`."""

    def __init__(self, before: Callable[[ScoreRequest], Awaitable[None]] | None = None) -> None:
        self.calls: list[ScoreRequest] = []
        self.requests: list[httpx.Request] = []
        self.answer: httpx.Response | Exception | None = None
        self._before = before
        self._seen: Counter[str] = Counter()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is not None:
            return httpx.Response(self.answer.status_code, content=self.answer.content)
        if request.url.path == "/readyz":
            return httpx.Response(200, json={"status": "ready"})
        if request.url.path == "/fix":
            return httpx.Response(200, content=FixResponse(fixed=FIXED).model_dump_json())
        return await self._score(ScoreRequest.model_validate_json(request.content))

    async def _score(self, request: ScoreRequest) -> httpx.Response:
        self.calls.append(request)
        if self._before is not None:
            await self._before(request)
        completions = [item.completion for item in request.items]
        if "too large" in completions:
            return httpx.Response(413, json={"error": "too_large", "detail": "the body is larger"})
        results = [self._result(text) for text in completions if text != "lose"]
        head = {"environment": "iac", "ruleset": request.ruleset, "profile": "default@2", "digest": "0" * 12}
        return httpx.Response(200, content=ScoreResponse(**head, results=results).model_dump_json())

    def _result(self, text: str) -> ScoreResult:
        self._seen[text] += 1
        if text == "fault" or (text.startswith("fault-once") and self._seen[text] == 1):
            return ScoreResult(error=ErrorBody(error="infrastructure_error", detail="tried 2 times"))
        if text.startswith("refuse"):
            return ScoreResult(error=ErrorBody(error="usage", detail="no list of types"))
        if text == "unheard-of":
            return ScoreResult(error=ErrorBody(error="unheard_of", detail="?"))
        return ScoreResult(scorecard=card(text))


def card(text: str) -> Scorecard:
    number = text.split()[-1]
    digest = "1" * 12 if text.startswith("other") else "0" * 12
    return Scorecard(breakdown=RewardBreakdown(float(number), {}, {}, True, text, digest))


FIXED = Fixed(completion="1", scorecard=card("1"))


def run(verifier: Verifier, scenario: Callable[[VerifierJudge], Awaitable[Any]], **options: Any) -> Any:
    async def whole() -> Any:
        client = httpx.AsyncClient(transport=httpx.MockTransport(verifier))
        judge = VerifierJudge("http://verifier:8081", client=client, **options)
        try:
            return await asyncio.wait_for(scenario(judge), 30)
        finally:
            await judge.close()

    return asyncio.run(whole())


def score(judge: Judge, *completions: str, standard: Standard = STANDARD) -> Awaitable[list[Scorecard]]:
    return judge.score(standard, EPISODE, completions)


def rewards(cards: Sequence[Scorecard]) -> list[float]:
    return [one.breakdown.reward for one in cards]


def sizes(verifier: Verifier) -> list[int]:
    return [len(call.items) for call in verifier.calls]


def test_all_samples_of_a_request_go_in_one_call() -> None:
    verifier = Verifier()
    assert rewards(run(verifier, lambda judge: score(judge, "0.5", "1", "0.25"))) == [0.5, 1.0, 0.25]
    assert sizes(verifier) == [3]
    assert run(verifier, lambda judge: score(judge)) == []


def test_what_is_asked_meanwhile_goes_together_and_comes_back_apart() -> None:
    verifier = Verifier()

    async def scenario(judge: VerifierJudge) -> list[list[Scorecard]]:
        return await asyncio.gather(*(score(judge, f"0.{number}", "1") for number in range(1, 8)))

    found = run(verifier, scenario)
    assert [rewards(cards) for cards in found] == [[float(f"0.{number}"), 1.0] for number in range(1, 8)]
    assert sizes(verifier) == [2, 2, 10]


def test_standards_are_not_mixed_and_calls_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_batches, "_MOST_ITEMS", 3)
    verifier = Verifier()
    standards = [STANDARD, STANDARD, *[STANDARD, Standard(ruleset="seed18")] * 4]

    async def scenario(judge: VerifierJudge) -> None:
        await asyncio.gather(*(score(judge, "1", standard=standard) for standard in standards))

    run(verifier, scenario)
    assert sum(sizes(verifier)) == len(standards)
    assert max(sizes(verifier)) == 3
    assert {call.ruleset for call in verifier.calls} == {"base", "seed18"}


def test_a_slow_call_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_batches, "_SLOW_SECONDS", 0.001)
    third = asyncio.Event()

    async def before(request: ScoreRequest) -> None:
        if request.items[0].completion == "0.3":
            third.set()
        await third.wait()

    async def scenario(judge: VerifierJudge) -> list[list[Scorecard]]:
        return await asyncio.gather(*(score(judge, f"0.{number}") for number in (1, 2, 3)))

    assert [rewards(cards) for cards in run(Verifier(before), scenario)] == [[0.1], [0.2], [0.3]]


def test_what_is_wrong_with_one_request_is_no_answer_to_the_others() -> None:
    verifier = Verifier()

    async def scenario(judge: VerifierJudge) -> list[Any]:
        asked = (score(judge, text) for text in ("0.1", "0.2", "0.3", "too large", "0.5"))
        return await asyncio.gather(*asked, return_exceptions=True)

    *_, third, large, fifth = run(verifier, scenario)
    assert (rewards(third), rewards(fifth)) == ([0.3], [0.5])
    assert isinstance(large, TooLargeError)
    assert sizes(verifier) == [1, 1, 3, 1, 1, 1]


def test_whoever_leaves_while_waiting_is_not_asked_for() -> None:
    verifier = Verifier()

    async def scenario(judge: VerifierJudge) -> list[Any]:
        tasks = [asyncio.ensure_future(score(judge, f"0.{number}")) for number in (1, 2, 3, 4)]
        await asyncio.sleep(0)
        tasks[2].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = run(verifier, scenario)
    assert isinstance(found[2], asyncio.CancelledError)
    assert [item.completion for item in verifier.calls[-1].items] == ["0.4"]


def test_an_item_that_met_with_a_fault_is_sent_once_more() -> None:
    verifier = Verifier()
    asked = ("0.1", "fault-once 0.2", "0.3", "fault-once 0.4")
    assert rewards(run(verifier, lambda judge: score(judge, *asked))) == [0.1, 0.2, 0.3, 0.4]
    assert [item.completion for item in verifier.calls[1].items] == ["fault-once 0.2", "fault-once 0.4"]


@pytest.mark.parametrize(
    ("completions", "kind", "reason", "calls"),
    [
        (["1", "fault"], InfrastructureError, "^the verifier: tried 2 times", 2),
        (["1", "refuse"], UsageError, "no list of types", 1),
        (["unheard-of"], InfrastructureError, r"\?", 2),
        (["1", "lose"], InfrastructureError, "1 results for 2 items", 1),
        (["1", "other 1"], InfrastructureError, "one batch by two standards", 1),
        (["too large"], TooLargeError, "the body is larger", 1),
        (["x" * 300_000], UsageError, "at most 262144 characters", 0),
        (["\ud800"], UsageError, "completion", 0),
    ],
)
def test_what_is_not_judged_is_raised_and_never_a_reward(
    completions: list[str], kind: type[Exception], reason: str, calls: int
) -> None:
    verifier = Verifier()
    with pytest.raises(kind, match=reason) as raised:
        run(verifier, lambda judge: score(judge, *completions))
    assert isinstance(raised.value, InfrastructureError) == (kind is InfrastructureError)
    assert len(verifier.calls) == calls


def test_a_standard_that_no_message_can_name_is_refused() -> None:
    odd = Standard(environment="an environment")
    for ask in (lambda judge: score(judge, "1", standard=odd), lambda judge: judge.fix(odd, EPISODE, "1")):
        with pytest.raises(UsageError, match=r"^environment: String should match pattern"):
            run(Verifier(), ask)


def ask_for_a_score(judge: VerifierJudge) -> Awaitable[Any]:
    return score(judge, "1")


def ask_for_a_fix(judge: VerifierJudge) -> Awaitable[Any]:
    return judge.fix(STANDARD, EPISODE, "1")


@pytest.mark.parametrize("ask", [ask_for_a_score, ask_for_a_fix])
@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (httpx.ConnectError("refused"), InfrastructureError, "the verifier at http://verifier:8081 does not answer"),
        (httpx.Response(500), InfrastructureError, "answered 500"),
        (httpx.Response(200, content=b"<html>"), InfrastructureError, "is no (Score|Fix)Response"),
        (httpx.Response(404, json={"error": "not_found", "detail": "no ruleset"}), NotFoundError, "no ruleset"),
        (httpx.Response(401, json={"error": "unauthorized", "detail": "expired"}), InfrastructureError, "refuses this"),
        (httpx.Response(403, json={"error": "forbidden", "detail": "scope"}), InfrastructureError, "refuses this"),
    ],
)
def test_what_the_verifier_says_of_the_whole_call_is_raised(
    ask: Callable[[VerifierJudge], Awaitable[Any]], answer: Any, kind: type[Exception], reason: str
) -> None:
    verifier = Verifier()
    verifier.answer = answer
    with pytest.raises(kind, match=reason):
        run(verifier, ask, seconds=1.0)


def test_a_judgement_that_does_not_come_in_time_is_a_fault() -> None:
    async def never(_request: ScoreRequest) -> None:
        await asyncio.Event().wait()

    with pytest.raises(InfrastructureError, match=r"gave no answer within 0\.05 s"):
        run(Verifier(never), ask_for_a_score, seconds=0.05)


def test_closing_lets_whoever_waits_go() -> None:
    async def never(_request: ScoreRequest) -> None:
        await asyncio.Event().wait()

    async def scenario(judge: VerifierJudge) -> list[Any]:
        asked = [asyncio.ensure_future(score(judge, f"0.{number}")) for number in (1, 2, 3, 4)]
        await asyncio.sleep(0)
        await judge.close()
        return await asyncio.gather(*asked, return_exceptions=True)

    assert all(isinstance(one, asyncio.CancelledError) for one in run(Verifier(never), scenario))


def test_it_fixes() -> None:
    assert run(Verifier(), ask_for_a_fix) == FIXED


def test_it_asks_under_the_id_of_the_request_in_its_own_name() -> None:
    key = SigningKey.generate()
    verifier = Verifier()
    names = iter(["r-1", "r-2"])
    caller = Issuer(key, "policy", "verifier", ["score"])

    async def scenario(judge: VerifierJudge) -> None:
        await score(judge, "1")
        await judge.fix(STANDARD, EPISODE, "1")

    run(verifier, scenario, caller=caller, request_id=lambda: next(names))
    assert [request.headers["x-request-id"] for request in verifier.requests] == ["r-1", "r-2"]
    token = verifier.requests[1].headers["authorization"].removeprefix("Bearer ")
    assert read_principal(token, KeyRing((key.public,)), "verifier").request_id == "r-2"
    assert json.loads(verifier.requests[1].content)["completion"] == "1"


def test_readiness_is_asked_for_once_and_kept_for_a_moment() -> None:
    verifier = Verifier()

    async def scenario(judge: VerifierJudge) -> None:
        await asyncio.gather(*(judge.ready() for _ in range(5)))
        assert await judge.trouble() == ""

    run(verifier, scenario)
    assert len(verifier.requests) == 1


def test_what_was_judged_a_moment_ago_counts_as_ready() -> None:
    verifier = Verifier()

    async def scenario(judge: VerifierJudge) -> None:
        await score(judge, "1")
        await judge.ready()

    run(verifier, scenario)
    assert [request.url.path for request in verifier.requests] == ["/score"]


def test_a_verifier_that_is_not_ready_says_why_and_is_asked_again() -> None:
    verifier = Verifier()
    verifier.answer = httpx.Response(503, json={"error": "not_ready", "detail": "no worker is up yet"})

    async def scenario(judge: VerifierJudge) -> None:
        with pytest.raises(InfrastructureError, match=r"^the verifier: no worker is up yet"):
            await judge.ready()
        assert await judge.trouble() == "the verifier: no worker is up yet"
        verifier.answer = None
        await judge.ready()

    run(verifier, scenario)
    assert len(verifier.requests) == 3
