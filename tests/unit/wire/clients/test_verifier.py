"""The verifier's client: what it sends, what it makes of refusals, and when it tries again."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("jwt", reason="the extra services is not installed")

import httpx

from rl_gym.infra.errors import BusyError, ForbiddenError, InfrastructureError, NotFoundError, RlGymError, UsageError
from rl_gym.infra.principals import Issuer, read_principal
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.wire import EpisodeBody, ScanRequest, ScoreItem, ScoreRequest
from rl_gym.wire.clients.verifier import AsyncVerifierClient, VerifierClient
from tests.unit.wire.clients.services import Service, refusal

RULESETS = {"rulesets": [{"name": "base", "digest": "0" * 12, "rules": 1}]}
OK = httpx.Response(200, json=RULESETS)


def blocking(service: Service, **options: Any) -> VerifierClient:
    return VerifierClient("http://verifier/", client=httpx.Client(transport=httpx.MockTransport(service)), **options)


def ask_blocking(service: Service) -> Any:
    with blocking(service) as client:
        return client.rulesets("r-7")


def ask_asynchronously(service: Service) -> Any:
    async def scenario() -> Any:
        client = httpx.AsyncClient(transport=httpx.MockTransport(service))
        async with AsyncVerifierClient("http://verifier", client=client) as verifier:
            return await verifier.rulesets("r-7")

    return asyncio.run(scenario())


@pytest.mark.parametrize("ask", [ask_blocking, ask_asynchronously])
class TestBothKinds:
    def test_what_may_pass_is_tried_again_under_the_same_id(self, ask: Callable[[Service], Any]) -> None:
        away = [refusal("busy", 429), refusal("request_timeout", 408), httpx.Response(502, text="x")]
        service = Service(*away, httpx.ConnectError("refused"), OK)
        assert ask(service).rulesets[0].name == "base"
        assert [request.headers["x-request-id"] for request in service.requests] == ["r-7"] * 5

    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            (refusal("not_found", 404), NotFoundError),
            (refusal("forbidden", 403), ForbiddenError),
            (httpx.Response(500, text="oops"), InfrastructureError),
            (refusal("internal_error", 500), InfrastructureError),
        ],
    )
    def test_what_will_not_pass_is_not(
        self, ask: Callable[[Service], Any], answer: httpx.Response, kind: type[RlGymError]
    ) -> None:
        service = Service(answer)
        with pytest.raises(kind):
            ask(service)
        assert len(service.requests) == 1

    def test_it_gives_up(self, ask: Callable[[Service], Any], pauses: list[float]) -> None:
        service = Service(httpx.ReadTimeout("late"))
        with pytest.raises(InfrastructureError, match=r"the verifier at http://verifier/? does not answer: .*late"):
            ask(service)
        assert len(service.requests) == 5
        assert all(early < late * 3 for early, late in itertools.pairwise(pauses))


def test_it_waits_as_long_as_it_is_asked_to(pauses: list[float]) -> None:
    ask_blocking(Service(refusal("busy", 429, retry_after="7"), OK))
    assert pauses == [7.0]


def test_it_does_not_wait_beyond_its_time(pauses: list[float]) -> None:
    service = Service(refusal("busy", 429, retry_after="7"))
    with pytest.raises(BusyError, match="why"), blocking(service, seconds=5) as client:
        client.rulesets()
    assert (len(service.requests), pauses) == (1, [])


def test_what_is_no_message_is_a_fault_of_the_service() -> None:
    with pytest.raises(InfrastructureError, match="answered with what is no RulesetsResponse: 1 misfits"):
        ask_blocking(Service(httpx.Response(200, json={"rules": 1})))
    with pytest.raises(InfrastructureError, match="does not answer: DecodingError"):
        ask_blocking(Service(httpx.DecodingError("gzip")))


def test_readiness_is_asked_for_once() -> None:
    service = Service(refusal("not_ready", 503), httpx.Response(200, json={}))
    with blocking(service) as client:
        with pytest.raises(InfrastructureError, match="why"):
            client.ready()
        client.ready()
    assert [request.url.path for request in service.requests] == ["/readyz"] * 2


@pytest.mark.parametrize("address", ["", "verifier:8081", "ftp://verifier", "http://", "http://a:b@c", "http://a:x"])
def test_an_address_that_is_none_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(UsageError, match=r"^the address of the verifier must be http://HOST:PORT, without a password$"):
        VerifierClient(address)


def test_it_calls_in_the_name_of_a_principal_made_for_the_request() -> None:
    key = SigningKey.generate()
    service = Service(OK)
    with blocking(service, caller=Issuer(key, "policy", "verifier", ["scan"])) as client:
        client.rulesets("r-1")
    token = service.requests[0].headers["authorization"].removeprefix("Bearer ")
    principal = read_principal(token, KeyRing((key.public,)), "verifier")
    assert (principal.subject, principal.request_id) == ("policy", "r-1")


def test_it_sends_messages_as_they_are() -> None:
    score = ScoreRequest(items=[ScoreItem(episode=EpisodeBody(id="e", request="x"), completion="é")])
    scan = ScanRequest(files={"main.tf": ""}, format="sarif")
    service = Service(httpx.Response(404))
    with blocking(service) as client:
        for call in (lambda: client.score(score), lambda: client.scan(scan), lambda: client.scan_sarif(scan)):
            with pytest.raises(InfrastructureError, match="answered 404"):
                call()
        with pytest.raises(InfrastructureError):
            client.rules("base+drift")
    sent = [json.loads(request.content) for request in service.requests[:3]]
    assert ScoreRequest.model_validate(sent[0]) == score
    assert [one["format"] for one in sent[1:]] == ["json", "sarif"]
    assert str(service.requests[3].url) == "http://verifier/rules?ruleset=base%2Bdrift"
