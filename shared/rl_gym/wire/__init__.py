"""The messages that services share, one module a subject: bounded, documented, refused when they do not fit."""

from rl_gym.gym.records import RecordedCompletion
from rl_gym.wire.complete import CompleteRequest, CompleteResponse, SampleBody, SamplingBody
from rl_gym.wire.cost import Cost, Usage
from rl_gym.wire.error import ErrorBody
from rl_gym.wire.finding import Finding, Scorecard
from rl_gym.wire.generate import (
    AnswerEvent,
    ColumnAnswer,
    GenerateEvent,
    GenerateRequest,
    GenerateResponse,
    Pass,
    PassEvent,
    TokensEvent,
)
from rl_gym.wire.model import Model, PromotedPointer, ServedModel
from rl_gym.wire.rule import BundledRule, RuleBundle, RuleDraft, RuleGateResult, RuleReview, RuleSpec
from rl_gym.wire.run import Run, RunEvent, RunSpec, StageProgress, StageStatus
from rl_gym.wire.scan import EngineReport, ScanProblem, ScanRequest, ScanResponse
from rl_gym.wire.score import EpisodeBody, ScoreItem, ScoreRequest, ScoreResponse, ScoreResult
from rl_gym.wire.traffic import TrafficRow

__all__ = [
    "AnswerEvent",
    "BundledRule",
    "ColumnAnswer",
    "CompleteRequest",
    "CompleteResponse",
    "Cost",
    "EngineReport",
    "EpisodeBody",
    "ErrorBody",
    "Finding",
    "GenerateEvent",
    "GenerateRequest",
    "GenerateResponse",
    "Model",
    "Pass",
    "PassEvent",
    "PromotedPointer",
    "RecordedCompletion",
    "RuleBundle",
    "RuleDraft",
    "RuleGateResult",
    "RuleReview",
    "RuleSpec",
    "Run",
    "RunEvent",
    "RunSpec",
    "SampleBody",
    "SamplingBody",
    "ScanProblem",
    "ScanRequest",
    "ScanResponse",
    "ScoreItem",
    "ScoreRequest",
    "ScoreResponse",
    "ScoreResult",
    "Scorecard",
    "ServedModel",
    "StageProgress",
    "StageStatus",
    "TokensEvent",
    "TrafficRow",
    "Usage",
]
