"""The application in process, with real workers: items that stand alone, limits, cache, bundles, principals."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra services is not installed")

import httpx

from rl_gym.gym.core import score_completion
from rl_gym.gym.registry import get_env
from rl_gym.iac.engines.opa import OpaEngine
from rl_gym.infra.errors import UsageError
from rl_gym.infra.object_store import open_store
from rl_gym.infra.principals import Issuer
from rl_gym.infra.settings import read_settings
from rl_gym.infra.signing import SigningKey
from rl_gym.wire import ErrorBody, Fixed, FixResponse, RuleBundle, ScanResponse, Scorecard, ScoreResponse
from services.verifier import engines
from services.verifier.app import create_app
from services.verifier.settings import VerifierSettings
from tests.unit.services.verifier import hostile_environment, rule_compiler
from tests.unit.services.verifier.bundles import RULE, make_bundle

HOSTILE = hostile_environment.NAME
VOLUME = 'resource "aws_ebs_volume" "x" {\n  availability_zone = "eu-west-1a"\n  size = 1\n}\n'
SETTINGS: dict[str, Any] = {"workers": 1, "engines": ("builtin",), "item_seconds": 3, "item_memory_mib": 128}

Client = httpx.AsyncClient


@asynccontextmanager
async def running(**settings: Any) -> AsyncIterator[Client]:
    app = create_app(VerifierSettings(**{**SETTINGS, **settings}))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with Client(transport=transport, base_url="http://localhost", timeout=100) as client:
            yield client


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), 100))  # type: ignore[arg-type]


def item(completion: Any, **data: Any) -> dict[str, Any]:
    return {"episode": {"id": "e", "request": "a volume", "data": data}, "completion": completion}


async def metric(client: Client, name: str) -> float:
    lines = (await client.get("/metrics")).text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


def test_a_batch_is_judged_as_in_process_and_a_bad_item_spoils_no_other() -> None:
    async def scenario() -> None:
        async with running() as client:
            good = item(VOLUME, required=["aws_ebs_volume"])
            bad = {
                "3": 3,
                "{}": {},
                "long": item("x" * 300_000),
                "surrogate": item("\ud800"),
                "huge number": item(VOLUME, n="HUGE"),
                "more": {**good, "more": 1},
                "another surrogate": {**good, "\udc00": 1},
                "deeper": json.loads("[" * 900 + "]" * 900),
                "required": item(VOLUME, required=5),
                "required kinds": item("x", required=[5]),
                "deep": item(VOLUME, a=json.loads("[" * 300 + "]" * 300)),
            }
            good["completion"] += "# To Infinity, as a word\n"
            items = [one for pair in zip([good] * len(bad), bad.values(), strict=True) for one in pair]
            content = json.dumps({"items": items}).replace('"HUGE"', "1e999")
            headers = {"content-type": "application/json", "x-request-id": "r-1"}
            response = await client.post("/score", content=content, headers=headers)
            answer = ScoreResponse.model_validate(response.json())
            expected = get_env("iac").reward
            assert (answer.profile, answer.digest) == ("default@2", expected.digest)
            for result in answer.results[::2]:
                assert result.scorecard is not None
                own = score_completion(get_env("iac"), good["completion"], _episode(good))
                assert result.scorecard.breakdown == own
                assert result.scorecard.checks["ebs_encrypted"] == "fail"
                assert result.scorecard.findings[0].rule == "ebs_encrypted"
                assert result.scorecard.findings[0].line == 1
            for name, result in zip(bad, answer.results[1::2], strict=True):
                assert result.error is not None, name
                assert (result.error.error, result.error.request_id) == ("usage", "r-1"), name
            assert await metric(client, 'rl_gym_verifier_items_total{outcome="refused"}') == len(bad)

    run(scenario)


def _episode(one: dict[str, Any]) -> Any:
    from rl_gym.wire import EpisodeBody

    return EpisodeBody.model_validate(one["episode"]).to_episode()


def test_a_stuck_item_is_a_fault_of_ours_and_never_a_reward() -> None:
    async def scenario() -> None:
        async with running(environments=(HOSTILE,)) as client:
            items = [item("reward 0.5"), item("sleep 60"), item("swell"), item("reward 0.25")]
            answer = (await client.post("/score", json={"environment": HOSTILE, "items": items})).json()
            first, stuck, swollen, last = answer["results"]
            assert [one["scorecard"]["breakdown"]["reward"] for one in (first, last)] == [0.5, 0.25]
            for one in (stuck, swollen):
                assert one["scorecard"] is None
                assert one["error"]["error"] == "infrastructure_error"
                assert "it was tried 2 times" in one["error"]["detail"]
            assert await metric(client, 'rl_gym_verifier_items_total{outcome="fault"}') == 2
            assert await metric(client, "rl_gym_verifier_workers_lost_total") == 4
            # A fault is not kept: the next call tries again.
            assert await metric(client, "rl_gym_verifier_cache_entries") == 2

    run(scenario)


def test_what_was_judged_before_is_kept_by_all_that_decided() -> None:
    async def scenario() -> None:
        async with running() as client:
            answers = []
            for ruleset in ("base", "base", "seed18"):
                body = {"ruleset": ruleset, "profile": "default@1", "items": [item(VOLUME)]}
                answers.append((await client.post("/score", json=body)).json())
            assert answers[0] == answers[1]
            assert answers[0]["digest"] != answers[2]["digest"]
            assert await metric(client, "rl_gym_verifier_cache_hits_total") == 1
            assert await metric(client, "rl_gym_verifier_cache_misses_total") == 2

    run(scenario)


def test_what_may_not_be_asked_is_refused() -> None:
    refused: list[tuple[dict[str, Any], int, str]] = [
        ({"items": []}, 422, "items: List should have at least 1 item"),
        ({"items": [1] * 1_025}, 422, "at most 1024"),
        ({"items": [1], "environment": "os:system"}, 404, "choose one of iac, countdown"),
        ({"items": [1], "ruleset": "nope"}, 404, "choose one of seed18, base"),
        ({"items": [1], "profile": "nope"}, 404, "reward profile"),
        ({"items": [1], "ruleset": "base+bundle:" + "0" * 64}, 422, "no compiler"),
        ({"items": [1], "environment": "countdown", "ruleset": "seed18"}, 422, "has no rulesets"),
        ({"items": [1], "more": 1}, 422, "more: Extra inputs"),
        ({}, 422, "items: Field required"),
    ]

    async def scenario() -> None:
        async with running(body_bytes=100_000) as client:
            for body, status, reason in refused:
                response = await client.post("/score", json=body)
                assert (response.status_code, reason in response.json()["detail"]) == (status, True), response.text
            for content in (b"[]", b"3", b"null", b'"x"', b""):
                headers = {"content-type": "application/json"}
                response = await client.post("/score", content=content, headers=headers)
                assert response.status_code == 422
                assert "_Batch" not in response.text
            response = await client.post("/score", json={"items": [item("x" * 200_000)]})
            assert (response.status_code, response.json()["error"]) == (413, "too_large")
            one = item("1 + 2", target=3, numbers=[1, 2])
            answer = (await client.post("/score", json={"environment": "countdown", "items": [one]})).json()
            assert (answer["ruleset"], answer["profile"]) == ("base", "default")
            assert answer["results"][0]["scorecard"]["breakdown"]["reward"] == 1.0

    run(scenario)


def test_what_is_mechanical_is_fixed() -> None:
    async def scenario() -> None:
        async with running() as client:
            body = item(VOLUME, required=["aws_ebs_volume"])
            fixed = FixResponse.model_validate((await client.post("/fix", json=body)).json()).fixed
            assert fixed == Fixed.of(get_env("iac"), _episode(body), VOLUME)
            assert fixed is not None
            again = await client.post("/fix", json={**body, "completion": fixed.completion})
            assert again.json() == {"fixed": None}
            one = {"environment": "countdown", **item("1 * 2", target=3, numbers=[1, 2])}
            assert (await client.post("/fix", json=one)).json() == {"fixed": None}

    run(scenario)


def test_what_may_not_be_fixed_is_refused() -> None:
    good = item(VOLUME)
    refused: list[tuple[dict[str, Any], int, str]] = [
        ({**good, "environment": "os:system"}, 404, "choose one of iac, countdown"),
        ({**good, "ruleset": "nope"}, 404, "choose one of seed18, base"),
        ({**good, "profile": "nope"}, 404, "reward profile"),
        ({**good, "environment": "countdown", "profile": "seed@1"}, 422, "has no profiles"),
        ({**good, "ruleset": "base+bundle:" + "0" * 64}, 422, "no compiler"),
        ({**good, "more": 1}, 422, "more: Extra inputs"),
        ({"completion": VOLUME}, 422, "episode: Field required"),
        (item(VOLUME, required=5), 422, "list of resource types"),
        (item("x" * 300_000), 422, "at most 262144"),
        (item("x" * 200_000, padding="x" * 200_000), 413, "larger than"),
    ]

    async def scenario() -> None:
        async with running(item_bytes=320_000) as client:
            for body, status, reason in refused:
                response = await client.post("/fix", json=body)
                assert (response.status_code, reason in response.json()["detail"]) == (status, True), response.text

    run(scenario)


def test_fixing_that_does_not_end_is_a_fault_of_ours() -> None:
    async def scenario() -> None:
        async with running(environments=(HOSTILE,), scan_seconds=1, scan_memory_mib=128) as client:
            for completion in ("fix sleep 60", "fix swell", "fix raise"):
                response = await client.post("/fix", json={"environment": HOSTILE, **item(completion)})
                assert (response.status_code, response.json()["error"]) == (503, "infrastructure_error")
            assert (await client.post("/score", json={"environment": HOSTILE, "items": [item("reward 1")]})).is_success

    run(scenario)


def test_a_scorecard_tells_what_a_repair_acts_on() -> None:
    async def scenario() -> None:
        async with running() as client:
            body = {"items": [item(VOLUME, required=["aws_ebs_volume", "aws_vpc"]), item("")]}
            built, empty = (await client.post("/score", json=body)).json()["results"]
            expected = Scorecard.of(get_env("iac"), _episode(body["items"][0]), VOLUME)
            assert built["scorecard"]["problems"] == expected.problems != []
            assert empty["scorecard"]["problems"] == ["there is no Terraform in the answer"]
            one = item("1 * 2", target=3, numbers=[1, 2])
            answer = (await client.post("/score", json={"environment": "countdown", "items": [one]})).json()
            assert answer["results"][0]["scorecard"]["problems"] == []

    run(scenario)


def test_a_full_service_says_when_to_come_again() -> None:
    async def scenario() -> None:
        async with running(environments=(HOSTILE,), queue_items=4, in_flight=2) as client:
            body = {"environment": HOSTILE, "items": [item("sleep 0.3")] * 6}
            first = asyncio.create_task(client.post("/score", json=body))
            while await metric(client, "rl_gym_verifier_items_waiting") != 6:
                await asyncio.sleep(0.01)
            second = await client.post("/score", json=body)
            assert (second.status_code, second.json()["error"]) == (429, "busy")
            assert int(second.headers["retry-after"]) >= 1
            assert (await first).status_code == 200
            third = await client.post("/score", json={**body, "items": body["items"][:1]})
            assert third.status_code == 200

    run(scenario)


def test_a_scan_answers_as_json_and_as_sarif() -> None:
    async def scenario() -> None:
        async with running() as client:
            body: dict[str, Any] = {"files": {"main.tf": VOLUME, "modules/a/main.tf": ""}, "required": ["aws_vpc"]}
            found = ScanResponse.model_validate((await client.post("/scan", json=body)).json())
            assert (found.valid, found.verdicts["ebs_encrypted"], found.gates["builds_required"]) == (
                True,
                "fail",
                False,
            )
            assert [report.engine for report in found.engines] == ["builtin"]
            assert ("ebs_encrypted", "main.tf", 1) in {
                (one.rule, one.filename, one.line) for one in found.engines[0].findings
            }
            log = (await client.post("/scan", json={**body, "format": "sarif"})).json()
            assert log["version"] == "2.1.0"
            assert "ebs_encrypted" in {result["ruleId"] for result in log["runs"][0]["results"]}
            broken = {"files": {"main.tf": "resource {"}}
            wrong = ScanResponse.model_validate((await client.post("/scan", json=broken)).json())
            assert (wrong.valid, wrong.errors[0].filename, wrong.errors[0].line) == (False, "main.tf", 2)
            unknown = ScanResponse.model_validate(
                (await client.post("/scan", json={"files": {"a.tf": 'variable "v" {}\n'}})).json()
            )
            assert unknown.pass_rate is None
            refused = await client.post("/scan", json={**body, "engines": ["builtin", "checkov"]})
            assert (refused.status_code, "not here" in refused.json()["detail"]) == (422, True)

    run(scenario)


def test_every_root_module_is_judged_and_a_module_that_was_not_sent_is_told() -> None:
    call = 'module "m" {\n  source = "../../modules/%s"\n}\n'
    files = {"infra/app/main.tf": call % "a", "infra/network/main.tf": VOLUME, "modules/a/main.tf": VOLUME}

    async def scenario() -> None:
        async with running() as client:
            found = ScanResponse.model_validate((await client.post("/scan", json={"files": files})).json())
            assert (found.valid, found.modules, found.problems) == (True, ["infra/app", "infra/network"], [])
            assert {(one.address, one.filename) for one in found.engines[0].findings} == {
                ("module.m.aws_ebs_volume.x", "modules/a/main.tf"),
                ("aws_ebs_volume.x", "infra/network/main.tf"),
            }
            body = {"files": {"infra/app/main.tf": call % "b"}}
            (unread,) = ScanResponse.model_validate((await client.post("/scan", json=body)).json()).problems
            assert (unread.kind, unread.filename, unread.address) == ("module", "infra/app/main.tf", "module.m")
            log = (await client.post("/scan", json={"files": {**files, **body["files"]}, "format": "sarif"})).json()
            (run_of_rules,) = log["runs"]
            (invocation,) = run_of_rules["invocations"]
            (notification,) = invocation["toolExecutionNotifications"]
            assert (invocation["executionSuccessful"], notification["level"]) == (True, "warning")
            places = [one["locations"][0]["physicalLocation"] for one in run_of_rules["results"]]
            assert {place["artifactLocation"]["uri"] for place in places} == {*files}

    run(scenario)


@pytest.mark.skipif(find_spec("regorus") is None, reason="needs pip install 'rl-gym[opa]'")
def test_other_engines_judge_every_root_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sized.rego").write_text(
        "package sized\nimport rego.v1\n\ndeny contains msg if {\n"
        '\tsome change in input.resource_changes\n\tchange.type == "aws_ebs_volume"\n\tmsg := change.address\n}\n'
    )
    monkeypatch.setattr(engines, "get_engine", lambda _name: OpaEngine(tmp_path))
    files = {"a/main.tf": f'variable "v" {{}}\n{VOLUME}', "b/main.tf": VOLUME.replace('"x"', '"y"')}

    async def scenario() -> None:
        async with running(engines=("builtin", "opa")) as client:
            body: dict[str, Any] = {"files": files, "engines": ["builtin", "opa"], "variables": {"v": 1}}
            found = ScanResponse.model_validate((await client.post("/scan", json=body)).json())
            _, opa = found.engines
            assert (opa.status, {one.reason for one in opa.findings}) == (
                "answered",
                {"aws_ebs_volume.x", "aws_ebs_volume.y"},
            )
            many = {**body, "files": {f"{number}/main.tf": "" for number in range(21)}}
            assert (await client.post("/scan", json=many)).status_code == 413

    run(scenario)


def test_rules_and_rulesets_are_told() -> None:
    async def scenario() -> None:
        async with running() as client:
            rulesets = (await client.get("/rulesets")).json()["rulesets"]
            sizes = {one["name"]: one["rules"] for one in rulesets}
            rules = (await client.get("/rules", params={"ruleset": "seed18"})).json()
            assert len(rules["rules"]) == sizes["seed18"] == 18
            assert all(rule["why"] and rule["fix"] for rule in rules["rules"])
            assert (await client.get("/rules", params={"ruleset": "nope"})).status_code == 404
            assert (await client.get("/rules", params={"ruleset": "../"})).status_code == 422

    run(scenario)


def test_a_bundle_in_the_store_is_a_ruleset(tmp_path: Path) -> None:
    key = SigningKey.generate()
    bundle = make_bundle(key)
    open_store(str(tmp_path)).put(RuleBundle.key(bundle.digest), bundle.model_dump_json().encode())
    forged = make_bundle(SigningKey.generate(), RULE.model_copy(update={"severity": "low"}))
    open_store(str(tmp_path)).put(RuleBundle.key(forged.digest), forged.model_dump_json().encode())
    name = f"base+bundle:{bundle.digest}"
    settings = {"objects": str(tmp_path), "bundle_keys": str(key.public), "rule_compiler": rule_compiler.NAME}

    async def scenario() -> None:
        async with running(**settings) as client:
            body = {"ruleset": name, "items": [item(VOLUME)]}
            for _ in range(2):
                answer = (await client.post("/score", json=body)).json()
                assert answer["results"][0]["scorecard"]["checks"][RULE.name] == "fail"
            plain = (await client.post("/score", json={"items": [item(VOLUME)]})).json()
            assert plain["digest"] != answer["digest"]
            fixed = (await client.post("/fix", json={"ruleset": name, **item(VOLUME)})).json()["fixed"]
            assert fixed["scorecard"]["checks"][RULE.name] == "fail"
            scanned = (await client.post("/scan", json={"ruleset": name, "files": {"main.tf": VOLUME}})).json()
            assert scanned["verdicts"][RULE.name] == "fail"
            assert (await client.get("/rules", params={"ruleset": name})).json()["rules"][-1]["id"] == RULE.name
            refused = await client.post("/score", json={**body, "ruleset": f"base+bundle:{forged.digest}"})
            assert (refused.status_code, refused.json()["error"]) == (503, "infrastructure_error")
            missing = await client.post("/score", json={**body, "ruleset": "base+bundle:" + "0" * 64})
            assert missing.status_code == 404

    run(scenario)


def test_every_route_but_those_of_operations_asks_for_a_principal() -> None:
    key = SigningKey.generate()
    app = create_app(VerifierSettings(**SETTINGS, principal_keys=str(key.public)))
    open_to_all = {"/healthz", "/readyz", "/metrics"}
    operations = [(path, method) for path, methods in app.openapi()["paths"].items() for method in methods]
    guarded = [(path, method) for path, method in operations if path not in open_to_all]
    assert {path for path, _ in guarded} == {"/score", "/fix", "/scan", "/rules", "/rulesets"}

    async def scenario() -> None:
        transport = httpx.ASGITransport(app, client=("10.0.0.9", 1))
        async with Client(transport=transport, base_url="http://verifier") as client:
            for path, method in guarded:
                for token in ("", Issuer(key, "a", "verifier", ["other"]).token()):
                    headers = {"Authorization": f"Bearer {token}"} if token else {}
                    response = await client.request(method, path, headers=headers)
                    assert response.status_code == (403 if token else 401), path
            scoped = {"Authorization": f"Bearer {Issuer(key, 'a', 'verifier', ['scan']).token()}"}
            assert (await client.get("/rulesets", headers=scoped)).status_code == 200

    run(scenario)


def test_it_is_ready_once_workers_are_up() -> None:
    async def scenario() -> None:
        async with running() as client:
            before = await client.get("/readyz")
            assert (before.status_code, before.json()["status"]) == (503, "not_ready")
            assert ErrorBody.model_validate(before.json()).error == "not_ready"
            await client.post("/score", json={"items": [item(VOLUME)]})
            await client.post("/scan", json={"files": {"main.tf": VOLUME}})
            after = await client.get("/readyz")
            assert (after.status_code, after.json()["engines"]) == (200, {"builtin": {"status": "answered"}})

    run(scenario)


def test_the_rules_judge_whatever_engines_may_be_asked() -> None:
    async def scenario() -> None:
        async with running(engines=()) as client:
            found = (await client.post("/scan", json={"files": {"main.tf": VOLUME}})).json()
            assert [report["engine"] for report in found["engines"]] == ["builtin"]
            assert (await client.get("/readyz")).json()["engines"] == {"builtin": {"status": "answered"}}

    run(scenario)


def test_an_engine_that_there_is_not_is_refused_at_the_start() -> None:
    with pytest.raises(UsageError, match=r"^RL_GYM_VERIFIER_ENGINES: 'chekov' is no engine: choose among builtin, "):
        create_app(VerifierSettings(engines=("builtin", "chekov")))


def test_settings_are_read_and_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RL_GYM_VERIFIER_ENVIRONMENTS", "iac, my.package:make")
    monkeypatch.setenv("RL_GYM_VERIFIER_ENGINES", "builtin")
    settings = read_settings(VerifierSettings)
    assert (settings.environments, settings.engines) == (("iac", "my.package:make"), ("builtin",))
    assert all(field.description for field in VerifierSettings.model_fields.values())
    monkeypatch.setenv("RL_GYM_VERIFIER_WORKERS", "none")
    with pytest.raises(UsageError, match=r"^RL_GYM_VERIFIER_WORKERS: .*integer"):
        read_settings(VerifierSettings)
    monkeypatch.delenv("RL_GYM_VERIFIER_WORKERS")
    monkeypatch.setenv("RL_GYM_WORKERS", "none")
    with pytest.raises(UsageError, match=r"^RL_GYM_WORKERS: .*integer"):
        read_settings(VerifierSettings)
