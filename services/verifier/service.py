"""What hosting adds to the verifier: processes and their supervision, a cache, bundles of rules, engines beside."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from functools import partial
from typing import Annotated, Any, NamedTuple

from prometheus_client import CollectorRegistry
from pydantic import Field, ValidationError

from rl_gym.iac.rules import RULESETS, get_ruleset
from rl_gym.infra.errors import TooLargeError, revived
from rl_gym.infra.hosting.errors import error_body
from rl_gym.infra.object_store import open_store
from rl_gym.infra.signing import KeyRing
from rl_gym.wire import FixRequest, RulesetBody, RulesetsResponse, RulesResponse, ScanRequest, ScoreRequest
from rl_gym.wire.message import refusal
from rl_gym.wire.score import MAX_ITEMS
from services.verifier import tasks
from services.verifier.cache import JudgementCache
from services.verifier.engines import ScanEngines
from services.verifier.frames import Kind
from services.verifier.items import ItemScorer
from services.verifier.metrics import VerifierMetrics
from services.verifier.pool import Pool
from services.verifier.process import Worker, WorkerLimits
from services.verifier.rulesets import BundleRulesets, BundleStore, bundle_digest, load_compiler
from services.verifier.settings import VerifierSettings

__all__ = ["VerifierService"]

_MOST_DESCRIBED = 256
_MOST_MODULES = 20


class _Batch(ScoreRequest):
    """A ScoreRequest whose items are not looked at yet: each is read by itself, where a bad one spoils no other."""

    items: Annotated[list[Any], Field(min_length=1, max_length=MAX_ITEMS)]


class _Decider(NamedTuple):
    """What decides about a batch: the digest of the reward, and the full name of the profile."""

    digest: str
    profile: str


class VerifierService:
    """One for an application; `open` and `close` belong to its life."""

    def __init__(self, settings: VerifierSettings, registry: CollectorRegistry) -> None:
        self._settings = settings
        self._metrics = VerifierMetrics(registry)
        compile_rules = load_compiler(settings.rule_compiler)
        self._bundles = BundleStore(partial(open_store, settings.objects), KeyRing.load(settings.bundle_keys))
        self._rulesets = BundleRulesets(lambda digest: self._bundles.load(digest).bundle, compile_rules)
        self._cache = JudgementCache(settings.cache_entries, settings.cache_bytes)
        self._deciders: OrderedDict[tuple[str, str, str], _Decider] = OrderedDict()
        self._engines = ScanEngines(settings.engines)
        self._scores = self._pool(settings.workers, settings.item_seconds, settings.item_memory_mib)
        self._items = ItemScorer(self._scores, self._cache, self._metrics, settings.item_bytes)
        self._scans = self._pool(settings.scan_workers, settings.scan_seconds, settings.scan_memory_mib)
        for name, text, read in (
            ("items_waiting", "Items that wait to be judged", lambda: self._scores.waiting),
            ("workers", "Processes that score and are up", lambda: self._scores.alive),
            ("scan_workers", "Processes that scan and are up", lambda: self._scans.alive),
            ("cache_entries", "Judgements that are kept", lambda: len(self._cache)),
            ("cache_bytes", "Size of the judgements that are kept", lambda: self._cache.size_bytes),
        ):
            self._metrics.gauge(name, text, read)

    def _pool(self, workers: int, seconds: float, memory_mib: int) -> Pool:
        settings = self._settings
        limits = WorkerLimits(seconds, memory_mib << 20, settings.worker_items)
        return Pool(
            partial(Worker.start, settings.environments, settings.rule_compiler, limits),
            workers=workers,
            most_waiting=settings.queue_items,
            seconds=max(settings.request_seconds, 2 * seconds + 1),
            lost=lambda cause: self._metrics.workers_lost.labels(cause).inc(),
        )

    def open(self) -> None:
        self._scores.open()
        self._scans.open()

    async def close(self) -> None:
        await asyncio.gather(self._scores.close(), self._scans.close(), self._engines.close())

    async def score(self, body: object) -> bytes:
        """A ScoreResponse, in JSON, for the JSON value of a ScoreRequest.

        Raises UsageError for what is no batch, NotFoundError for a name that there is not, BusyError when full.
        """
        try:
            batch = _Batch.model_validate(body)
        except ValidationError as error:
            raise refusal(error) from None
        bundle = await self._bundle(batch.ruleset)
        decider = await self._decider(batch, bundle)
        task = tasks.score(batch.environment, batch.ruleset, batch.profile, bundle)
        names = (batch.environment, batch.ruleset, decider.profile, decider.digest)
        results = await self._items.results(task, names, batch.items)
        head = {
            "environment": batch.environment,
            "ruleset": batch.ruleset,
            "profile": decider.profile,
            "digest": decider.digest,
        }
        return json.dumps(head)[:-1].encode() + b', "results": [' + b",".join(results) + b"]}"

    async def _decider(self, batch: ScoreRequest, bundle: tuple[str, str] | None) -> _Decider:
        key = (batch.environment, batch.ruleset, batch.profile)
        if key not in self._deciders:
            said = await self._asked(self._scores, tasks.describe(*key, bundle), b"")
            self._deciders[key] = _Decider(**json.loads(said))
            if len(self._deciders) > _MOST_DESCRIBED:
                self._deciders.popitem(last=False)
        return self._deciders[key]

    async def _asked(self, pool: Pool, task: tasks.Task, payload: bytes) -> bytes:
        """The answer to a task of one payload; raises what the worker says, of the family of RlGymError."""
        (answer,) = await pool.run(task, [payload])
        if answer.kind is Kind.JUDGED:
            return answer.body
        said = json.loads(answer.body)
        raise revived(said["error"], said["detail"], said["status"])

    async def _bundle(self, ruleset: str) -> tuple[str, str] | None:
        digest = bundle_digest(ruleset)
        if digest is None or not self._settings.rule_compiler:
            return None
        return digest, (await asyncio.to_thread(self._bundles.load, digest)).text

    async def fix(self, body: bytes) -> bytes:
        """A FixResponse, in JSON, for a FixRequest in JSON; raises as `score` does."""
        try:
            request = FixRequest.model_validate_json(body)
        except ValidationError as error:
            raise refusal(error) from None
        bundle = await self._bundle(request.ruleset)
        return await self._asked(
            self._scans, tasks.fix(request.environment, request.ruleset, request.profile, bundle), body
        )

    async def scan(self, body: bytes) -> bytes:
        """A ScanResponse, or a SARIF log where that is asked for, in JSON, for a ScanRequest in JSON.

        Raises as `score` does, and UsageError for an engine that may not be asked for here.
        """
        try:
            request = ScanRequest.model_validate_json(body)
        except ValidationError as error:
            raise refusal(error) from None
        self._engines.check(request.engines)
        bundle = await self._bundle(request.ruleset)
        said = await self._said(request, body)
        return await self._asked(self._scans, tasks.scan(said, bundle), body)

    async def _said(self, request: ScanRequest, body: bytes) -> list[list[dict[str, Any]]]:
        """What the engines beside the rules say of each root module; nothing where none is asked."""
        if set(request.engines) <= {"builtin"}:
            return []
        modules = json.loads(await self._asked(self._scans, tasks.modules(), body))
        if len(modules) > _MOST_MODULES:
            raise TooLargeError(f"{len(modules)} root modules; other engines judge at most {_MOST_MODULES} at a time")
        said = await asyncio.gather(
            *(
                self._engines.scan(
                    request.engines,
                    {name: request.files[path] for name, path in module["files"].items()},
                    module["variables"],
                )
                for module in modules
            )
        )
        return [[report.to_dict() for report in reports] for reports in said]

    async def rules(self, ruleset: str) -> RulesResponse:
        """Raises NotFoundError for a ruleset that there is not."""
        return RulesResponse.of(await asyncio.to_thread(get_ruleset, ruleset, self._rulesets))

    def rulesets(self) -> RulesetsResponse:
        return RulesetsResponse(rulesets=[RulesetBody.of(get_ruleset(name)) for name in RULESETS])

    async def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Whether items can be judged now, and how the parts are; an engine beside the rules may be missing."""
        engines = await self._engines.health()
        pools = {"score": self._scores, "scan": self._scans}
        ready = all(pool.alive for pool in pools.values())
        error = {} if ready else error_body("not_ready", "no worker is up yet, or none comes up: see `troubles`")
        return ready, {
            **error,
            "status": "ready" if ready else "not_ready",
            "workers": {name: pool.alive for name, pool in pools.items()},
            "engines": engines,
            "troubles": {name: pool.trouble for name, pool in pools.items() if pool.trouble},
        }
