"""Every message travels as JSON and back, says what its fields mean, and refuses what does not fit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

import rl_gym.wire as wire
from rl_gym.gym.core import Episode, RewardBreakdown
from rl_gym.wire.message import MAX_JSON_BYTES, Message, Reply

DIGEST = "0123456789ab" + "c" * 52
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HCL = 'resource "aws_sqs_queue" "jobs" {\n  sqs_managed_sse_enabled = true\n}\n'

BREAKDOWN = RewardBreakdown(0.75, {"security": 0.75, "intent": None}, {"no_critical": True}, True, HCL, DIGEST[:12])
ERROR = wire.ErrorBody(error="infrastructure_error", detail="the worker died", request_id="r1")
FINDING = wire.Finding(
    rule="tags", address="aws_sqs_queue.jobs", verdict="fail", severity="low", line=1, reason="no tags", fix="add tags"
)
CARD = wire.Scorecard(breakdown=BREAKDOWN, checks={"tags": "fail"}, findings=[FINDING])
EPISODE = wire.EpisodeBody(id="e1", request="a queue", source="parametric", data={"required": ["aws_sqs_queue"]})
USAGE = wire.Usage(prompt_tokens=10, completion_tokens=20, seconds=0.5)
COST = wire.Cost(usd=0.001, basis="gpu_seconds", gpu_hour_usd=2.0)
SERVED = wire.ServedModel(engine="openai", name="tuned-1", base="ibm-granite/granite-4.1-8b", adapter_digest=DIGEST)
PASS = wire.Pass(kind="first", completion=HCL, finish_reason="stop", scorecard=CARD, usage=USAGE)
ANSWER = wire.ColumnAnswer(column="tuned", model=SERVED, passes=[PASS], chosen=0, cost=COST)
POINTER = wire.PromotedPointer(
    number=3,
    model="nano-7",
    base="nano-base",
    adapter_digest=DIGEST,
    run="7",
    verdict=DIGEST,
    signature="A" * 86 + "==",
)
ENGINE = wire.EngineBody(
    name="openai", status="ready", base="ibm-granite/granite-4.1-8b", flags={"max-num-seqs": 64, "enforce-eager": True}
)
COLUMN = wire.ColumnConfig(name="tuned", model=SERVED, deterministic=False)
LIMITS = wire.GenerateLimits(samples=16, max_tokens=1_024, request_characters=4_000)
SPEC = wire.RuleSpec(
    name="sqs_dlq",
    severity="medium",
    resource_types=["aws_sqs_queue"],
    intent="Every queue has a dead-letter queue.",
    hint="Set redrive_policy.",
    pass_examples=[HCL, HCL],
    fail_examples=[HCL, HCL],
)
BUNDLED = wire.BundledRule(
    name="sqs_dlq", severity="medium", resource_types=["aws_sqs_queue"], hint="Set it.", source="def rule", draft=DIGEST
)
RUN_SPEC = wire.RunSpec(preset="nano", overrides=["grpo.steps=10"], seed=3, idempotency_key="k")
PROGRESS = wire.StageProgress(step=3, steps=40, reward=0.5, seconds_left=12.0)
EVENT = wire.RunEvent(run="7", number=1, time=NOW, stage="grpo", state="running", progress=PROGRESS)
MODEL = wire.Model(
    name="nano-7",
    base="nano-base",
    adapter_digest=DIGEST,
    data_digest=DIGEST,
    ruleset_digest=DIGEST[:12],
    code_version="0.1.0",
    run="7",
    created=NOW,
)
STAGE = wire.StageStatus(stage="grpo", state="running", attempt=1, started=NOW, progress=PROGRESS)
RUN = wire.Run(id="7", spec=RUN_SPEC, state="running", created=NOW, stages=[STAGE])

RULE = wire.RuleBody(
    id="tags",
    severity="low",
    weight=1.0,
    title="Tags",
    why="Who owns it?",
    fix="add tags",
    resource_types=["*"],
    references=["AWS Tagging"],
    version=1,
)
RULESET = wire.RulesetBody(name="base", digest=DIGEST[:12], rules=1)

EXAMPLES: list[BaseModel] = [
    RULE,
    RULESET,
    wire.RulesetsResponse(rulesets=[RULESET]),
    wire.RulesResponse(ruleset=RULESET, rules=[RULE]),
    ERROR,
    FINDING,
    CARD,
    EPISODE,
    USAGE,
    COST,
    SERVED,
    PASS,
    ANSWER,
    SPEC,
    BUNDLED,
    RUN_SPEC,
    PROGRESS,
    STAGE,
    wire.ScoreItem(episode=EPISODE, completion=HCL),
    wire.ScoreRequest(
        ruleset="base+drift", profile="default@1", items=[wire.ScoreItem(episode=EPISODE, completion=HCL)]
    ),
    wire.ScoreResult(scorecard=CARD),
    wire.ScoreResponse(
        environment="iac",
        ruleset="base",
        profile="default@1",
        digest=DIGEST[:12],
        results=[wire.ScoreResult(scorecard=CARD), wire.ScoreResult(error=ERROR)],
    ),
    wire.FixRequest(episode=EPISODE, completion=HCL),
    wire.Fixed(completion=HCL, scorecard=CARD),
    wire.FixResponse(fixed=wire.Fixed(completion=HCL, scorecard=CARD)),
    wire.ScanRequest(files={"main.tf": HCL, "modules/vpc/main.tf.json": "{}"}, engines=["builtin", "checkov"]),
    wire.ScanError(message="a brace is missing", filename="main.tf", line=3, column=1),
    wire.Problem(
        kind="schema", message="no argument acls", filename="main.tf", line=3, column=3, address="aws_a.b", hint="acl"
    ),
    wire.SarifLog(version="2.1.0", runs=[{"results": []}]),
    wire.EngineReport(engine="checkov", version="3.2", status="timed_out", detail="after 30 s"),
    wire.ScanResponse(
        valid=True,
        ruleset="base",
        digest=DIGEST[:12],
        verdicts={"tags": "fail"},
        gates={"no_critical": True},
        pass_rate=0.5,
        security=0.9,
        engines=[wire.EngineReport(engine="builtin", version="0.1.0", status="answered", findings=[FINDING])],
    ),
    wire.SamplingBody(n=4, temperature=0.8),
    wire.CompleteRequest(model="nano", prompts=["a queue"]),
    wire.SampleBody(text=HCL, tokens=20, finish_reason="length", logprobs=[-0.5]),
    wire.CompleteResponse(model=SERVED, samples=[[]], usage=USAGE, deterministic=True),
    wire.GenerateRequest(
        request="a queue", required=["aws_sqs_queue"], mode="best-of-n", n=4, engines=["tuned", "base"]
    ),
    wire.GenerateResponse(
        request_id="r1",
        mode="best-of-n",
        ruleset="base",
        profile="default@1",
        columns=[ANSWER, wire.ColumnAnswer(column="base", model=SERVED, error=ERROR)],
    ),
    wire.TokensEvent(column="tuned", kind="first", text="resource"),
    wire.PassEvent(column="tuned", result=PASS),
    wire.AnswerEvent(answer=ANSWER),
    MODEL,
    wire.ModelManifest(files={"adapter_config.json": DIGEST, "checkpoint/adapter_model.safetensors": DIGEST}),
    POINTER,
    ENGINE,
    COLUMN,
    wire.PricesBody(gpu_hour_usd=2.0),
    LIMITS,
    wire.PromotedState(adapter_digest=DIGEST, trouble="the canary answered as the base does"),
    wire.ConfigResponse(engine=ENGINE, columns=[COLUMN], modes=["pass@1", "best-of-n"], limits=LIMITS),
    wire.ReloadResponse(outcome="kept", model=SERVED, trouble="its base is another"),
    wire.RuleDraft(
        digest=DIGEST, spec=SPEC, source="def rule", drafter="inductive", author="ana", attempt=1, created=NOW
    ),
    wire.RuleGateResult(gate="mutation", outcome="pass", score=0.9),
    wire.RuleReview(draft=DIGEST, decision="approve", reviewer="ben", time=NOW),
    wire.RuleBundle(digest=DIGEST, rules=[BUNDLED], created=NOW, signature="A" * 86 + "=="),
    RUN,
    EVENT,
    wire.RunsResponse(runs=[RUN]),
    wire.EventsResponse(state="running", events=[EVENT]),
    wire.ModelsResponse(models=[MODEL]),
    wire.ArtifactsResponse(run="7", stage="audit", digest=DIGEST, files={"report.json": DIGEST}),
    wire.TrafficRow(
        request_id="r1",
        time=NOW,
        environment="iac",
        request="a queue",
        mode="pass@1+repair",
        model=SERVED,
        author="model",
        completion=HCL,
        breakdown=BREAKDOWN,
        first_reward=0.5,
        usage=USAGE,
        cost=COST,
        consent=False,
    ),
    wire.RecordedCompletion(
        environment="iac",
        split="dev",
        episode_id="e1",
        episode_hash=DIGEST,
        request="a queue",
        policy="sft",
        sample=0,
        greedy=True,
        completion=HCL,
        breakdown=BREAKDOWN,
    ),
]
KINDS = {type(example).__name__: type(example) for example in EXAMPLES}


def name(value: object) -> str:
    return value.__name__ if isinstance(value, type) else type(value).__name__


def test_every_public_message_has_an_example() -> None:
    assert set(KINDS) == set(wire.__all__) - {"GenerateEvent"}


@pytest.mark.parametrize("message", EXAMPLES, ids=name)
class TestEveryMessage:
    def test_it_survives_the_wire(self, message: BaseModel) -> None:
        assert type(message).model_validate_json(message.model_dump_json()) == message

    def test_its_schema_describes_what_is_sent(self, message: BaseModel) -> None:
        sent = message.model_dump(mode="json")
        schema = type(message).model_json_schema(mode="serialization")
        jsonschema.validate(sent, schema)
        # What is sent may be sent again: by name, not by another word for it.
        jsonschema.validate(sent, type(message).model_json_schema(mode="validation"))

    def test_it_cannot_be_changed(self, message: BaseModel) -> None:
        field = next(iter(type(message).model_fields))
        with pytest.raises(ValidationError, match="frozen"):
            setattr(message, field, getattr(message, field))

    def test_it_says_what_it_is(self, message: BaseModel) -> None:
        assert type(message).__doc__

    def test_an_unknown_key_is_refused_when_sent_and_passed_over_when_answered(self, message: BaseModel) -> None:
        sent = {**message.model_dump(mode="json"), "from_the_future": 1}
        if isinstance(message, Reply):
            assert type(message).model_validate(sent) == message
        else:
            with pytest.raises(ValidationError, match="from_the_future"):
                type(message).model_validate(sent)


def test_req_is_understood_for_request() -> None:
    assert wire.GenerateRequest.model_validate({"req": "a queue"}).request == "a queue"
    with pytest.raises(ValidationError):
        wire.GenerateRequest.model_validate({"req": "a queue", "request": "another"})


def test_an_event_is_known_by_its_name() -> None:
    events: TypeAdapter[Any] = TypeAdapter(wire.GenerateEvent)
    kinds = get_args(get_args(wire.GenerateEvent)[0])
    for example in EXAMPLES:
        if type(example) in kinds:
            assert events.validate_json(example.model_dump_json()) == example


def test_an_episode_travels_unchanged() -> None:
    episode = Episode("e1", "a queue", "parametric", {"required": ["aws_sqs_queue"], "seed": 7})
    body = wire.EpisodeBody.model_validate_json(wire.EpisodeBody.of(episode).model_dump_json())
    assert body.to_episode() == episode
    assert body.to_episode().hash == episode.hash


BOTH = {"scorecard": CARD, "error": ERROR}
MISFITS: list[tuple[type[BaseModel], dict[str, Any], str]] = [
    (wire.GenerateRequest, {"request": " \n "}, "at least 1 character"),
    (wire.GenerateRequest, {"request": "x" * 100_000}, "at most 16384"),
    (wire.GenerateRequest, {"request": "x", "required": ["aws_a"] * 2}, "given twice"),
    (wire.GenerateRequest, {"request": "x", "required": [f"aws_{n}" for n in range(500)]}, "at most 64"),
    (wire.GenerateRequest, {"request": "x", "required": ["AWS S3"]}, "pattern"),
    (wire.GenerateRequest, {"request": "x", "n": 1000, "mode": "best-of-n"}, "less than or equal to 32"),
    (wire.GenerateRequest, {"request": "x", "n": 4}, "pass@1 needs 1"),
    (wire.GenerateRequest, {"request": "x", "mode": "best-of-n"}, "at least 2"),
    (wire.GenerateRequest, {"request": "x", "n": "4", "mode": "best-of-n"}, "valid integer"),
    (wire.GenerateRequest, {"request": "x", "engines": ["mine"]}, "'tuned', 'base' or 'external'"),
    (wire.GenerateRequest, {"request": "x", "engines": []}, "at least 1 item"),
    (wire.GenerateRequest, {"request": "x", "ruleset": "../base"}, "pattern"),
    (wire.SamplingBody, {"greedy": True, "n": 2}, "greedy gives one"),
    (wire.SamplingBody, {"temperature": float("nan")}, "finite number"),
    (wire.SamplingBody, {"max_tokens": 1 << 20}, "less than or equal to 16384"),
    (wire.CompleteRequest, {"prompts": []}, "at least 1 item"),
    (wire.ScoreRequest, {"items": []}, "at least 1 item"),
    (wire.ScoreItem, {"episode": EPISODE, "completion": "x" * 300_000}, "at most 262144"),
    (wire.EpisodeBody, {"id": "e", "request": "x", "data": {"a": "x" * MAX_JSON_BYTES}}, "bytes of JSON"),
    (wire.EpisodeBody, {"id": "e", "request": "x", "data": {"a": object()}}, "JSON"),
    (wire.ScoreResult, {}, "either a scorecard or an error"),
    (wire.ScoreResult, BOTH, "either a scorecard or an error"),
    (wire.ColumnAnswer, {"column": "base", "model": SERVED}, "either a chosen pass or an error"),
    (wire.ColumnAnswer, {"column": "base", "model": SERVED, "passes": [PASS], "chosen": 1}, "pass 1 is chosen of 1"),
    (wire.ScanRequest, {"files": {}}, "at least 1 item"),
    *[
        (wire.ScanRequest, {"files": {path: ""}}, "plain path")
        for path in ("/etc/x.tf", "../x.tf", "a//b", "a\\b", "a\0")
    ],
    (wire.ScanRequest, {"files": {f"{n}.tf": "x" * (1 << 20) for n in range(9)}}, "characters in all files"),
    (wire.RuleSpec, {**SPEC.model_dump(), "fail_examples": [HCL]}, "at least 2 items"),
    (wire.RuleSpec, {**SPEC.model_dump(), "name": "Bad-Name"}, "pattern"),
    (wire.RunSpec, {"preset": "nano", "overrides": ["grpo steps 10"]}, "pattern"),
    (wire.ModelManifest, {"files": {}}, "at least 1 item"),
    (wire.ModelManifest, {"files": {f"{number}.json": DIGEST for number in range(129)}}, "at most 128 items"),
    *[(wire.ModelManifest, {"files": {name: DIGEST}}, "pattern") for name in ("/a", "../a", ".a", "a\\b", "a b", "")],
    (
        wire.PromotedPointer,
        {**POINTER.model_dump(), "adapter_digest": "latest"},
        "pattern",
    ),
    (
        wire.PromotedPointer,
        {**POINTER.model_dump(), "adapter_digest": DIGEST[:12]},
        "pattern",
    ),
    (
        wire.Run,
        {"id": "7", "spec": RUN_SPEC, "state": "running", "created": "2026-01-02T03:04:05", "stages": []},
        "timezone",
    ),
    (wire.ErrorBody, {"error": "Not Found", "detail": ""}, "pattern"),
]


@pytest.mark.parametrize(("kind", "fields", "reason"), MISFITS)
def test_what_does_not_fit_is_refused(kind: type[BaseModel], fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        kind.model_validate(fields)


@pytest.mark.parametrize("field", sorted(set(wire.PromotedPointer.model_fields) - {"signature"}))
def test_all_of_a_pointer_is_signed(field: str) -> None:
    changed = POINTER.model_copy(update={field: 4 if field == "number" else "d" * 64})
    assert changed.signed != POINTER.signed
    assert POINTER.model_copy(update={"signature": "B" * 86 + "=="}).signed == POINTER.signed


def test_messages_are_of_two_kinds() -> None:
    ours = [kind for kind in KINDS.values() if kind is not wire.RecordedCompletion]
    assert all(issubclass(kind, Message) != issubclass(kind, Reply) for kind in ours)
