"""The API in process: what it stores, what it refuses before that, what it tells of a run while it runs and after."""

from __future__ import annotations

import asyncio
import json
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi", reason="the extra services is not installed")

from rl_gym.infra.errors import ForbiddenError, UsageError
from rl_gym.infra.folder_store import FolderStore
from rl_gym.infra.object_store import Stored
from rl_gym.infra.principals import Issuer
from rl_gym.infra.signing import SigningKey
from rl_gym.training.config import resolve
from rl_gym.wire import (
    ArtifactsResponse,
    ErrorBody,
    EventsResponse,
    ModelsResponse,
    Run,
    RunEvent,
    RunSpec,
    RunsResponse,
)
from rl_gym.wire.run import RunMode, RunState, StageProgress
from services.trainer.artifacts import store_log
from services.trainer.server_files import require_allowed_files
from services.trainer.settings import TrainerSettings
from services.trainer.submission import checked
from tests.unit.services.trainer.runs import DIGEST, FAULT, Runs
from tests.unit.services.trainer.served import run, running, stored

MICRO = {"preset": "micro", "seed": 3}


def error_of(response: httpx.Response) -> ErrorBody:
    return ErrorBody.model_validate_json(response.content)


def sent_events(text: str) -> list[dict[str, str]]:
    """Server-sent events, each by its fields."""
    blocks = text.replace("\r\n", "\n").split("\n\n")
    fields = [dict(line.split(": ", 1) for line in block.split("\n") if line[:1] not in ("", ":")) for block in blocks]
    return [event for event in fields if event]


class TestSubmit:
    def test_a_run_is_stored_resolved_with_its_stages_and_sent(self, runs: Runs) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                response = await http.post("/runs", json={**MICRO, "overrides": ["grpo.steps=7"]})
                assert response.status_code == 201
                made = Run.model_validate_json(response.content)
                assert made.state == "waiting"
                assert [stage.stage for stage in made.stages][:3] == ["prepare", "sft", "grpo"]
                config = runs.delivery.config(made.id)
                assert (config["grpo"]["steps"], config["seed"], config["preset"]) == (7, 3, "micro")
                assert runs.sent == [(made.id, "prepare")]
                assert Run.model_validate_json((await http.get(f"/runs/{made.id}")).content) == made

        run(scenario)

    def test_what_trains_or_runs_models_has_the_gpu_and_nothing_else(self, runs: Runs) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                made = Run.model_validate_json((await http.post("/runs", json=MICRO)).content)
                other = Run.model_validate_json((await http.post("/runs", json=MICRO)).content)
                for one in (made, other):
                    runs.delivery.finish(runs.claim(one, "prepare"), DIGEST)
                runs.delivery.finish(runs.claim(made, "sft"), DIGEST)
                runs.claim(made, "grpo")
                assert runs.delivery.claim(other.id, "sft", "ben") is None

        run(scenario)

    def test_one_key_is_one_run_and_no_other(self, runs: Runs) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                spec = {**MICRO, "idempotency_key": "nightly"}
                first, second = [await http.post("/runs", json=spec) for _ in range(2)]
                assert (first.status_code, first.json()) == (second.status_code, second.json())
                other = await http.post("/runs", json={**spec, "seed": 4})
                assert other.status_code == 409
                assert "'nightly' is that of run" in error_of(other).detail
                assert len(runs.delivery.runs()) == 1

        run(scenario)

    def test_the_same_again_is_not_judged_by_what_is_there_now(
        self, runs: Runs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                spec = {**MICRO, "idempotency_key": "nightly"}
                first = await http.post("/runs", json=spec)
                monkeypatch.setenv("RL_GYM_WEIGHTS", "hub")
                monkeypatch.setattr("services.trainer.service.checked", pytest.fail)
                assert (await http.post("/runs", json=spec)).json() == first.json()

        run(scenario)

    @pytest.mark.parametrize(
        ("spec", "status", "complaint"),
        [
            ({"preset": "nanno"}, 404, "no preset 'nanno'; did you mean 'nano'?"),
            ({"overrides": ["grpo.stepz=1"]}, 422, "unknown key 'grpo.stepz'; did you mean 'grpo.steps'?"),
            ({"overrides": ["grpo.generations=1"]}, 422, "grpo.generations"),
            ({"overrides": ["grpo.steps"]}, 422, "overrides.0"),
            ({"overrides": ["model.base=gpt"]}, 422, "no model 'gpt'"),
            ({"overrides": ["model.base=/etc/model"]}, 422, "model"),
            ({"overrides": ["environment.name=os"]}, 404, "environment"),
            ({"overrides": ["environment.options.nothing=1"]}, 422, "nothing"),
            ({"overrides": ["environment.options.name=x"]}, 422, "unexpected keyword argument 'name'"),
            ({"preset": "multi-node"}, 422, "a trainer does a stage on one machine; set machine.machines=1"),
            (
                {"preset": "multi-node", "overrides": ["machine.machines=1"]},
                422,
                "machine.sharding fsdp: no worker shards",
            ),
            ({"overrides": ["sft.steps=" + "[" * 900]}, 422, "nested too deep"),
            ({"overrides": ["environment.options.a=1", "environment.options.a.b=2"]}, 422, "environment.options.a"),
            ({"overrides": ["model.base=./" + "a" * 900]}, 422, "File name too long"),
            ({"overrides": ["model.base=~nobody-here/x"]}, 422, "home directory"),
            ({"mode": "drift", "overrides": ["drift.before=nope"]}, 404, "drift.before: there is no ruleset 'nope'"),
            ({"overrides": ["evaluate.policies=['base','sft']"]}, 422, "leaves out grpo, which stage audit compares"),
            ({"mode": "dance"}, 422, "mode"),
            ({"colour": "red"}, 422, "colour"),
            ([], 422, "object"),
        ],
    )
    def test_what_cannot_be_run_is_one_line_and_stores_nothing(
        self, runs: Runs, spec: Any, status: int, complaint: str
    ) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                response = await http.post("/runs", json={**MICRO, **spec} if isinstance(spec, dict) else spec)
                assert response.status_code == status, response.text
                assert complaint in error_of(response).detail
                assert "\n" not in error_of(response).detail
                assert runs.delivery.runs() == []

        run(scenario)

    def test_only_where_it_would_run_is_the_machine_looked_at(self, runs: Runs) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                # This machine has no GPU, but a worker elsewhere may have one.
                response = await http.post("/runs", json={"preset": "granite-8b"})
                assert response.status_code == 201, response.text

        run(scenario)

    @pytest.mark.parametrize(("mode", "key"), [("pipeline", "gate.tolerance"), ("drift", "drift.tolerance")])
    def test_nobody_has_a_gate_let_more_pass_than_the_trainer_promotes_by(self, mode: RunMode, key: str) -> None:
        def asked(tolerance: float) -> RunSpec:
            return RunSpec(preset="micro", mode=mode, overrides=[f"{key}={tolerance}"])

        with pytest.raises(UsageError, match=rf"^{key} 0\.06: this trainer promotes by 0\.05 at most: .*_TOLERANCE"):
            checked(asked(0.06), TrainerSettings(), works_here=True)
        checked(asked(0.05), TrainerSettings(), works_here=True)
        checked(asked(0.06), TrainerSettings(tolerance=0.06), works_here=True)

    def test_models_are_allowed_by_the_settings_that_stages_go_by(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = RunSpec(preset="micro", overrides=["model.base=hub:a/b"])
        monkeypatch.setenv("RL_GYM_TRAINER_WEIGHTS", "hub")
        monkeypatch.setenv("RL_GYM_WEIGHTS", "packaged")
        with pytest.raises(UsageError, match="RL_GYM_WEIGHTS"):
            checked(asked, TrainerSettings(), works_here=True)
        monkeypatch.setenv("RL_GYM_WEIGHTS", "hub")
        checked(asked, TrainerSettings(), works_here=True)

    @pytest.mark.parametrize(
        ("spec", "who"),
        [
            ({"mode": "bakeoff"}, "mode bakeoff asks a policy service"),
            ({"overrides": ["evaluate.through=policy"]}, "evaluate.through = policy asks a policy service"),
        ],
    )
    def test_where_the_worker_is_here_it_is_known_whether_there_is_a_policy_service(
        self, runs: Runs, spec: dict[str, Any], who: str
    ) -> None:
        asked = RunSpec.model_validate({"preset": "micro", **spec})
        with pytest.raises(UsageError, match=f"{who}, and there is none here: .* RL_GYM_TRAINER_POLICY"):
            checked(asked, TrainerSettings(), works_here=True)
        checked(asked, TrainerSettings(policy="http://127.0.0.1:8082"), works_here=True)
        checked(asked, TrainerSettings(), works_here=False)

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("flywheel.traffic", "{}"),
            ("grpo.difficulty_map", "{}"),
            ("mine.folders", '["{}"]'),
            ("model.base", "{}"),
            ("model.base", "gguf:{}"),
            ("model.root", "{}"),
            ("environment.options.mined", "{}"),
            ("environment.options.data", "{}"),
        ],
    )
    def test_who_has_to_say_who_it_is_names_no_file_but_those_that_may_be_named(
        self, tmp_path: Path, key: str, value: str
    ) -> None:
        inside, outside = tmp_path / "allowed" / "rates.json", tmp_path / "secret.json"
        inside.parent.mkdir()
        (tmp_path / "allowed" / "link").symlink_to(tmp_path)
        settings = TrainerSettings(files=f"/nowhere:{tmp_path / 'allowed'}")

        def refused(path: str, settings: TrainerSettings = settings) -> str:
            spec = RunSpec(preset="micro", overrides=[f"{key}={value.format(path)}"])
            try:
                require_allowed_files(resolve(spec.preset, spec.overrides), settings)
            except ForbiddenError as error:
                return str(error)
            return ""

        assert refused(str(inside)) == ""
        for path in (outside, tmp_path / "allowed" / ".." / "secret.json", tmp_path / "allowed" / "link" / "x"):
            assert refused(str(path)).startswith(f"{key}: of the trainer's own files below /nowhere:{tmp_path}/allowed")
        # By its answer nobody learns whether there is a file.
        before = refused(str(outside))
        outside.touch()
        assert refused(str(outside)) == before
        assert refused(str(inside), TrainerSettings()) == (
            f"{key}: of the trainer's own files none may be named: allow more by RL_GYM_FILES"
        )

    def test_only_who_has_to_say_who_it_is_is_asked_for_its_files(self, runs: Runs) -> None:
        key = SigningKey.generate()
        spec = {**MICRO, "overrides": ["grpo.difficulty_map=/etc/passwd"]}
        stored = {"preset": "micro", "mode": "flywheel", "overrides": ["flywheel.traffic=traffic/mix.jsonl"]}
        headers = {"Authorization": f"Bearer {Issuer(key, 'ana', 'trainer', ('train',)).token()}"}

        async def scenario() -> None:
            async with running(runs) as http:
                assert (await http.post("/runs", json=spec)).status_code == 201
            async with running(runs, principal_keys=str(key.public)) as http:
                refused = await http.post("/runs", json=spec, headers=headers)
                assert (refused.status_code, error_of(refused).error) == (403, "forbidden")
                assert "allow more by RL_GYM_FILES" in error_of(refused).detail
                assert (await http.post("/runs", json=stored, headers=headers)).status_code == 201

        run(scenario)

    def test_no_more_runs_than_may_be_open(self, runs: Runs) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                runs.delivery._terms = type(runs.terms)(open_runs=1)
                assert (await http.post("/runs", json=MICRO)).status_code == 201
                full = await http.post("/runs", json=MICRO)
                assert full.status_code == 429
                assert int(full.headers["retry-after"]) > 0

        run(scenario)


class TestRuns:
    def test_they_are_listed_by_state_cancelled_and_tried_again(self, runs: Runs) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                dead, other = runs.submit(), runs.submit()
                for _ in range(runs.terms.attempts):
                    runs.delivery.fail(runs.claim(dead, "prepare"), FAULT)
                    runs.forward(3_600)
                listed = RunsResponse.model_validate_json((await http.get("/runs?state=dead")).content)
                assert [one.id for one in listed.runs] == [dead.id]
                assert listed.runs[0].stages[0].error == FAULT
                again = await http.post(f"/runs/{dead.id}/retry")
                assert again.json()["state"] == "waiting"
                assert (await http.post(f"/runs/{dead.id}/retry")).status_code == 409
                assert (await http.post(f"/runs/{other.id}/cancel")).json()["state"] == "cancelled"
                assert len((await http.get("/runs?limit=1")).json()["runs"]) == 1
                for path in ("/runs?state=odd", "/runs?limit=0", "/runs?limit=many", "/models?limit=1001"):
                    assert (await http.get(path)).status_code == 422

        run(scenario)

    @pytest.mark.parametrize("path", ["", "/events", "/document", "/artifacts/sft", "/artifacts/sft/job.json"])
    def test_what_there_is_not_is_not_found(self, runs: Runs, path: str) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                for accept in ("application/json", "text/event-stream"):
                    response = await http.get(f"/runs/20260101-0{path}", headers={"accept": accept})
                    assert (response.status_code, error_of(response).error) == (404, "not_found")

        run(scenario)

    def test_models_are_told_with_their_lineage(self, runs: Runs) -> None:
        async def scenario() -> None:
            from rl_gym.wire import Model

            made, lease = runs.until_sft()
            model = Model(
                name="m",
                base="nano-base",
                adapter_digest=DIGEST,
                data_digest=DIGEST,
                ruleset_digest=DIGEST,
                code_version="1",
                run=made.id,
                created=runs.now,
            )
            runs.delivery.add_model(lease, model)
            async with running(runs) as http:
                assert ModelsResponse.model_validate_json((await http.get("/models")).content).models == [model]

        run(scenario)


class TestEvents:
    def test_they_go_on_after_the_last_that_was_read(self, runs: Runs) -> None:
        async def scenario() -> None:
            made, _ = runs.until_sft()
            async with running(runs) as http:
                all_of_them = EventsResponse.model_validate_json((await http.get(f"/runs/{made.id}/events")).content)
                assert all_of_them.state == "running"
                numbers = [event.number for event in all_of_them.events]
                assert numbers == list(range(1, len(numbers) + 1))
                rest = (await http.get(f"/runs/{made.id}/events?after=2&limit=1")).json()["events"]
                assert [event["number"] for event in rest] == [3]
                assert (await http.get(f"/runs/{made.id}/events?after=-1")).status_code == 422

        run(scenario)

    def test_who_waits_has_what_happens_meanwhile(self, runs: Runs) -> None:
        async def scenario() -> None:
            made, lease = runs.until_sft()
            async with running(runs) as http:
                last = len(runs.delivery.events(made.id))
                asking = asyncio.create_task(http.get(f"/runs/{made.id}/events?after={last}&wait=20"))
                while "rl_gym_trainer_watched 1.0" not in (await http.get("/metrics")).text:
                    await asyncio.sleep(0.01)
                runs.delivery.heartbeat(lease, StageProgress(step=1, steps=2, reward=0.5))
                [event] = EventsResponse.model_validate_json((await asking).content).events
                assert event.progress == StageProgress(step=1, steps=2, reward=0.5)

        run(scenario)

    def test_a_stream_tells_all_to_the_end_and_resumes_where_it_was_cut(self, runs: Runs) -> None:
        async def scenario() -> None:
            made = runs.submit()
            for stage in made.stages:
                runs.delivery.finish(runs.claim(made, stage.stage), DIGEST)
            path, headers = f"/runs/{made.id}/events", {"accept": "text/event-stream"}
            async with running(runs) as http:
                response = await http.get(path, headers=headers)
                assert response.headers["content-type"].startswith("text/event-stream")
                events = sent_events(response.text)
                assert [event["event"] for event in events] == ["event"] * (len(events) - 1) + ["run"]
                told = [RunEvent.model_validate_json(event["data"]) for event in events[:-1]]
                assert told == runs.delivery.events(made.id)
                assert [event["id"] for event in events[:-1]] == [str(event.number) for event in told]
                assert Run.model_validate_json(events[-1]["data"]).state == "done"
                rest = await http.get(path, headers={**headers, "last-event-id": str(told[-2].number)})
                assert sent_events(rest.text) == events[-2:]
                assert (await http.get(path, headers={**headers, "last-event-id": "x"})).status_code == 422

        run(scenario)

    def test_a_stream_and_their_number_are_bounded(self, runs: Runs) -> None:
        async def scenario() -> None:
            made, _ = runs.until_sft()
            path, headers = f"/runs/{made.id}/events", {"accept": "text/event-stream"}
            async with running(runs, stream_seconds=0.1) as http:
                cut = sent_events((await http.get(path, headers=headers)).text)
                assert {event["event"] for event in cut} == {"event"}
            async with running(runs, streams=1) as http:
                asking = asyncio.create_task(http.get(f"{path}?after=100&wait=2"))
                while "rl_gym_trainer_watched 1.0" not in (await http.get("/metrics")).text:
                    await asyncio.sleep(0.01)
                assert (await http.get(path, headers=headers)).status_code == 429
                assert (await asking).json() == {"state": "running", "events": [], "live": None}

        run(scenario)


class TestArtifacts:
    def test_they_are_listed_by_digest_and_sent(self, runs: Runs) -> None:
        async def scenario() -> None:
            made = runs.submit()
            big = bytes(range(256)) * (8 << 10)
            digest = stored(runs, made, "prepare", **{"sft.jsonl": b"{}\n", "big.bin": big})
            async with running(runs) as http:
                path = f"/runs/{made.id}/artifacts/prepare"
                listed = ArtifactsResponse.model_validate_json((await http.get(path)).content)
                assert listed.digest == digest
                assert listed.files == {"sft.jsonl": sha256(b"{}\n").hexdigest(), "big.bin": sha256(big).hexdigest()}
                assert (await http.get(f"{path}/big.bin")).content == big
                assert (await http.get(f"{path}/sft.jsonl")).headers["content-type"] == "application/octet-stream"
                for missing in ("nothing", "manifest.json", "..%2f..%2frun.json", "a/../../sft.jsonl"):
                    assert (await http.get(f"{path}/{missing}")).status_code in (404, 422), missing

        run(scenario)

    def test_the_log_of_a_stage_that_failed_is_sent(self, runs: Runs) -> None:
        async def scenario() -> None:
            made = runs.submit()
            runs.delivery.fail(runs.claim(made, "prepare"), FAULT)
            store_log(FolderStore(runs.folder / "objects"), made.id, "prepare", b"Traceback\n")
            async with running(runs) as http:
                path = f"/runs/{made.id}/artifacts"
                assert (await http.get(f"{path}/prepare/log.txt")).content == b"Traceback\n"
                assert (await http.get(f"{path}/sft/log.txt")).status_code == 404

        run(scenario)

    def test_a_stage_that_has_not_ended_has_none_yet(self, runs: Runs) -> None:
        async def scenario() -> None:
            made = runs.submit()
            async with running(runs) as http:
                path = f"/runs/{made.id}/artifacts"
                assert "has not ended" in error_of(await http.get(f"{path}/sft")).detail
                assert "has no stage 'dance'" in error_of(await http.get(f"{path}/dance")).detail

        run(scenario)

    def test_a_file_that_cannot_be_read_is_a_fault_of_ours(self, runs: Runs) -> None:
        async def scenario() -> None:
            made = runs.submit()
            stored(runs, made, "prepare", **{"sft.jsonl": b"{}\n"})
            for manifest in runs.folder.glob("objects/objects/runs/*/prepare/manifest.json"):
                manifest.write_text("{")
            async with running(runs) as http:
                response = await http.get(f"/runs/{made.id}/artifacts/prepare")
                assert (response.status_code, error_of(response).error) == (503, "infrastructure_error")

        run(scenario)

    def test_a_store_that_hangs_is_in_the_way_of_nothing_else(self, runs: Runs) -> None:
        class Hung(FolderStore):
            def get(self, key: str, *, max_bytes: int = 1) -> Stored:
                awake.wait(60)
                return super().get(key, max_bytes=max_bytes)

        async def scenario() -> None:
            made = runs.submit()
            async with running(runs, Hung(runs.folder / "objects"), downloads=3) as http:
                paths = [f"/runs/{made.id}/{path}" for path in ("document", "artifacts/sft", "artifacts/sft/job.json")]
                # More than there are threads for all else.
                asking = [asyncio.create_task(http.get(path)) for path in paths * 20]
                try:
                    async with asyncio.timeout(30):
                        assert (await http.get("/readyz")).json()["database"]["status"] == "ready"
                        assert (await http.post("/runs", json=MICRO)).status_code == 201
                finally:
                    awake.set()
                answers = [answer.status_code for answer in await asyncio.gather(*asking)]
                assert (answers.count(404), answers.count(429)) == (3, 57)

        awake = threading.Event()
        run(scenario)

    def test_a_reader_who_takes_nothing_is_not_waited_for(self, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("services.trainer.routes.SEND_SECONDS", 0.1)
        sent: list[str] = []

        async def send(message: Any) -> None:
            sent.append(message["type"])
            if message["type"] == "http.response.body":
                await asyncio.Event().wait()

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def scenario() -> None:
            made = runs.submit()
            stored(runs, made, "prepare", **{"sft.jsonl": b"{}\n"})
            path = f"/runs/{made.id}/artifacts/prepare/sft.jsonl"
            async with running(runs, downloads=1) as http:
                transport = http._transport
                assert isinstance(transport, httpx.ASGITransport)
                asked = {"type": "http", "method": "GET", "path": path, "query_string": b""}
                async with asyncio.timeout(30):
                    await transport.app(
                        {**asked, "client": ("127.0.0.1", 1), "headers": [(b"host", b"localhost")]}, receive, send
                    )
                assert sent == ["http.response.start", "http.response.body"]
                assert (await http.get(path)).content == b"{}\n"

        run(scenario)


class TestHosting:
    def test_database_and_queue_are_told_apart(self, runs: Runs) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                response = await http.get("/readyz")
                assert response.status_code == 503
                state = response.json()
                assert (state["database"]["status"], state["queue"]["status"]) == ("ready", "not_ready")
                assert state["detail"] == state["queue"]["trouble"] == "Redis is away or fails: the log says more"
                assert "127.0.0.1" not in response.text
                assert (await http.get("/healthz")).status_code == 200

        run(scenario)

    def test_a_database_that_fails_is_not_ready_and_no_traceback(self, runs: Runs) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                with runs.database.connection() as connection:
                    connection.exec_driver_sql("DROP TABLE events")
                    connection.exec_driver_sql("DROP TABLE stages")
                    connection.exec_driver_sql("DROP TABLE runs")
                state = (await http.get("/readyz")).json()
                assert state["database"]["status"] == "not_ready"
                assert state["database"]["trouble"] == "the database is away or fails: the log says more"
                for response in [await http.get("/runs"), await http.post("/runs", json=MICRO)]:
                    assert response.status_code == 503
                    assert error_of(response).detail.startswith("the database (sqlite ")

        run(scenario)

    def test_each_route_asks_for_its_scope(self, runs: Runs) -> None:
        key = SigningKey.generate()

        def headers(*scopes: str, audience: str = "trainer") -> dict[str, str]:
            return {"Authorization": f"Bearer {Issuer(key, 'ana', audience, scopes).token()}"}

        async def scenario() -> None:
            made = runs.submit()
            async with running(runs, principal_keys=str(key.public)) as http:
                assert (await http.get("/runs")).status_code == 401
                assert (await http.get("/runs", headers=headers("train"))).status_code == 403
                assert (await http.get("/runs", headers=headers("watch", audience="policy"))).status_code == 401
                assert (await http.get("/runs", headers=headers("watch"))).status_code == 200
                for path in ("/runs", f"/runs/{made.id}/cancel", f"/runs/{made.id}/retry"):
                    assert (await http.post(path, json=MICRO, headers=headers("watch"))).status_code == 403
                assert (await http.post("/runs", json=MICRO, headers=headers("train"))).status_code == 201
                assert (await http.get("/readyz")).status_code == 503

        run(scenario)

    def test_an_error_of_any_kind_does_not_end_the_count(self, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
        count, broken = runs.delivery.counts, iter([True])

        def counts() -> dict[RunState, int]:
            if next(broken, False):
                raise ValueError("no such state")
            return count()

        async def scenario() -> None:
            runs.submit()
            async with running(runs) as http:
                while 'rl_gym_trainer_runs{state="waiting"} 1.0' not in (await http.get("/metrics")).text:
                    await asyncio.sleep(0.01)

        monkeypatch.setattr(runs.delivery, "counts", counts)
        monkeypatch.setattr("services.trainer.service._COUNT_SECONDS", 0.01)
        run(scenario)

    def test_runs_are_counted_by_state(self, runs: Runs) -> None:
        async def scenario() -> None:
            runs.until_sft()
            runs.submit()
            async with running(runs) as http:
                while 'rl_gym_trainer_runs{state="running"} 1.0' not in (text := (await http.get("/metrics")).text):
                    await asyncio.sleep(0.01)
                assert 'rl_gym_trainer_runs{state="waiting"} 1.0' in text
                assert 'rl_gym_trainer_runs{state="dead"} 0.0' in text
                await http.post("/runs", json=MICRO)
                assert 'rl_gym_trainer_submitted_total{mode="pipeline"} 1.0' in (await http.get("/metrics")).text

        run(scenario)

    @pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 5_000, b'{"preset": "\\ud800"}'])
    def test_a_body_that_is_no_spec_is_refused(self, runs: Runs, body: bytes) -> None:
        async def scenario() -> None:
            async with running(runs) as http:
                response = await http.post("/runs", content=body, headers={"content-type": "application/json"})
                assert response.status_code == 422
                assert error_of(response).request_id == response.headers["x-request-id"]
                large = json.dumps({**MICRO, "idempotency_key": "x" * (2 << 20)}).encode()
                refused = await http.post("/runs", content=large, headers={"content-type": "application/json"})
                assert refused.status_code == 413

        run(scenario)
