"""What happens inside a worker: one payload in, one message out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rl_gym.gym.core import Environment
from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET
from rl_gym.iac.engines import EngineFinding, EngineReport
from rl_gym.iac.formats.sarif import sarif_log
from rl_gym.iac.repository import JudgedRoot, scan_repository, united, values_for
from rl_gym.iac.root_modules import root_modules
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.standard import Standard
from rl_gym.iac.triage import judged
from rl_gym.infra.errors import NotFoundError, TooLargeError
from rl_gym.wire import Fixed, FixRequest, FixResponse, RuleBundle, ScanRequest, ScanResponse, Scorecard, ScoreItem
from rl_gym.wire.finding import MAX_FINDINGS
from rl_gym.wire.message import refusal
from services.verifier.rulesets import BundleRulesets, load_compiler

__all__ = ["Judge"]

_MOST_ENVIRONMENTS = 16

M = TypeVar("M", bound=BaseModel)


class Judge:
    """Judges for the environments of an allow-list; what it loads and makes it keeps for the next payload.

    Anything but an RlGymError that `answer` raises is a fault of ours.
    """

    def __init__(self, environments: Sequence[str], compiler: str) -> None:
        self._allowed = tuple(environments)
        self._bundles: dict[str, RuleBundle] = {}
        self._source = BundleRulesets(self._bundles.__getitem__, load_compiler(compiler))
        self._environment = lru_cache(_MOST_ENVIRONMENTS)(self._make_environment)
        for name in self._allowed:
            self._environment(name, DEFAULT_RULESET, DEFAULT_PROFILE)

    def answer(self, task: Mapping[str, Any], payload: bytes) -> bytes:
        """The message that answers a payload, in JSON."""
        if "bundle" in task:
            self._learn(*task["bundle"])
        return self._work[task["name"]](self, task["options"], payload)

    def _learn(self, digest: str, text: str) -> None:
        """Take a bundle that the service has verified."""
        if digest not in self._bundles:
            self._bundles[digest] = RuleBundle.model_validate_json(text)

    def _make_environment(self, environment: str, ruleset: str, profile: str) -> Environment:
        if environment not in self._allowed:
            raise NotFoundError(
                f"there is no environment {environment!r} here: choose one of {', '.join(self._allowed)}"
            )
        return Standard(environment, ruleset, profile).make(self._source)

    def _describe(self, options: Mapping[str, Any], _payload: bytes) -> bytes:
        env = self._environment(**options)
        profile = getattr(env, "profile", options["profile"])
        return json.dumps({"digest": env.reward.digest, "profile": profile}).encode()

    def _score(self, options: Mapping[str, Any], payload: bytes) -> bytes:
        env = self._environment(**options)
        item = _read(ScoreItem, payload)
        return _written(Scorecard.of(env, item.episode.to_episode(), item.completion))

    def _fix(self, options: Mapping[str, Any], payload: bytes) -> bytes:
        env = self._environment(**options)
        request = _read(FixRequest, payload)
        return _written(FixResponse(fixed=Fixed.of(env, request.episode.to_episode(), request.completion)))

    def _scan(self, options: Mapping[str, Any], payload: bytes) -> bytes:
        request = _read(ScanRequest, payload)
        roots = scan_repository(
            request.files,
            ruleset=get_ruleset(request.ruleset, self._source),
            required=request.required,
            variables=request.variables,
        )
        roots = [
            root._replace(report=replace(root.report, engines=[_engine_report(one) for one in said]))
            for root, said in zip(roots, options["engines"] or [()] * len(roots), strict=True)
        ]
        report = united(roots)
        _bound(len(report.findings) + sum(len(said.findings) for said in report.engines))
        if request.format == "sarif":
            return json.dumps(_sarif(roots, request.required)).encode()
        return _written(ScanResponse.of(report, [root.module.folder for root in roots]))

    def _modules(self, _options: Mapping[str, Any], payload: bytes) -> bytes:
        request = _read(ScanRequest, payload)
        modules = root_modules(request.files)
        return json.dumps(
            [
                {"files": {name: module.path(name) for name in module.files}, "variables": values}
                for module, values in zip(modules, values_for(modules, request.variables), strict=True)
            ]
        ).encode()

    _work: Mapping[str, Callable[[Judge, Mapping[str, Any], bytes], bytes]] = {
        "describe": _describe,
        "score": _score,
        "fix": _fix,
        "modules": _modules,
        "scan": _scan,
    }


def _read(kind: type[M], payload: bytes) -> M:
    try:
        return kind.model_validate_json(payload)
    except ValidationError as error:
        raise refusal(error) from None


def _written(message: BaseModel) -> bytes:
    return message.model_dump_json().encode()


def _sarif(roots: Sequence[JudgedRoot], required: Sequence[str]) -> dict[str, Any]:
    return sarif_log(
        [judged(root.report, name=root.module.folder, path=root.module.path, required=required) for root in roots]
    )


def _bound(findings: int) -> None:
    if findings > MAX_FINDINGS:
        raise TooLargeError(f"{findings} findings; at most {MAX_FINDINGS} are answered: send less at a time")


def _engine_report(said: Mapping[str, Any]) -> EngineReport:
    return EngineReport(**{**said, "findings": [EngineFinding(**found) for found in said["findings"]]})
