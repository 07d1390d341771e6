"""Clients of the verifier, blocking and asynchronous."""

from __future__ import annotations

import json
from typing import Any

from rl_gym.iac.defaults import DEFAULT_RULESET
from rl_gym.wire.catalog import RulesetsResponse, RulesResponse
from rl_gym.wire.clients.calls import AsyncClient, Call, Client, Repeat
from rl_gym.wire.fix import FixRequest, FixResponse
from rl_gym.wire.scan import ScanRequest, ScanResponse
from rl_gym.wire.score import ScoreRequest, ScoreResponse

__all__ = ["AsyncVerifierClient", "VerifierClient"]

_SERVICE = "verifier"
_SECONDS = 60.0


def _score(request: ScoreRequest) -> Call:
    return Call("POST", "/score", request.model_dump_json().encode())


def _fix(request: FixRequest) -> Call:
    return Call("POST", "/fix", request.model_dump_json().encode())


def _scan(request: ScanRequest, form: str) -> Call:
    return Call("POST", "/scan", request.model_copy(update={"format": form}).model_dump_json().encode())


def _rules(ruleset: str) -> Call:
    return Call("GET", "/rules", query={"ruleset": ruleset})


_RULESETS = Call("GET", "/rulesets")
_READY = Call("GET", "/readyz", repeat=Repeat.NEVER)


class VerifierClient(Client):
    """Blocks until an answer is there, `seconds` at most with all tries.

    Every method raises of the family of RlGymError: UsageError and its like for what the service refuses, BusyError
    where it is full, InfrastructureError where it does not answer. `request_id` names the call in all logs.
    """

    service = _SERVICE
    seconds = _SECONDS

    def score(self, request: ScoreRequest, request_id: str = "") -> ScoreResponse:
        return self._transport.ask(ScoreResponse, _score(request), request_id)

    def fix(self, request: FixRequest, request_id: str = "") -> FixResponse:
        return self._transport.ask(FixResponse, _fix(request), request_id)

    def scan(self, request: ScanRequest, request_id: str = "") -> ScanResponse:
        """The report, whatever `request.format` is."""
        return self._transport.ask(ScanResponse, _scan(request, "json"), request_id)

    def scan_sarif(self, request: ScanRequest, request_id: str = "") -> dict[str, Any]:
        """The SARIF log, whatever `request.format` is."""
        log: dict[str, Any] = json.loads(self._transport.call(_scan(request, "sarif"), request_id))
        return log

    def rules(self, ruleset: str = DEFAULT_RULESET, request_id: str = "") -> RulesResponse:
        return self._transport.ask(RulesResponse, _rules(ruleset), request_id)

    def rulesets(self, request_id: str = "") -> RulesetsResponse:
        return self._transport.ask(RulesetsResponse, _RULESETS, request_id)

    def ready(self, request_id: str = "") -> None:
        """Raises InfrastructureError, after one try, where items cannot be judged now."""
        self._transport.call(_READY, request_id)


class AsyncVerifierClient(AsyncClient):
    """As `VerifierClient`, for an event loop."""

    service = _SERVICE
    seconds = _SECONDS

    async def score(self, request: ScoreRequest, request_id: str = "") -> ScoreResponse:
        return await self._transport.ask(ScoreResponse, _score(request), request_id)

    async def fix(self, request: FixRequest, request_id: str = "") -> FixResponse:
        return await self._transport.ask(FixResponse, _fix(request), request_id)

    async def scan(self, request: ScanRequest, request_id: str = "") -> ScanResponse:
        """The report, whatever `request.format` is."""
        return await self._transport.ask(ScanResponse, _scan(request, "json"), request_id)

    async def scan_sarif(self, request: ScanRequest, request_id: str = "") -> dict[str, Any]:
        """The SARIF log, whatever `request.format` is."""
        log: dict[str, Any] = json.loads(await self._transport.call(_scan(request, "sarif"), request_id))
        return log

    async def rules(self, ruleset: str = DEFAULT_RULESET, request_id: str = "") -> RulesResponse:
        return await self._transport.ask(RulesResponse, _rules(ruleset), request_id)

    async def rulesets(self, request_id: str = "") -> RulesetsResponse:
        return await self._transport.ask(RulesetsResponse, _RULESETS, request_id)

    async def ready(self, request_id: str = "") -> None:
        """As `VerifierClient.ready`."""
        await self._transport.call(_READY, request_id)
