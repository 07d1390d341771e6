"""The messages that services share, one module a subject: bounded, documented, refused when they do not fit."""

from rl_gym.gym.records import RecordedCompletion
from rl_gym.wire.catalog import RuleBody, RulesetBody, RulesetsResponse, RulesResponse
from rl_gym.wire.complete import CompleteRequest, CompleteResponse, SampleBody, SamplingBody
from rl_gym.wire.config import (
    ColumnConfig,
    ConfigResponse,
    EngineBody,
    GenerateLimits,
    PricesBody,
    PromotedState,
    ReloadResponse,
)
from rl_gym.wire.cost import Cost, Usage
from rl_gym.wire.error import ErrorBody
from rl_gym.wire.finding import Finding, Scorecard
from rl_gym.wire.fix import Fixed, FixRequest, FixResponse
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
from rl_gym.wire.model import Model, ModelManifest, PromotedPointer, ServedModel
from rl_gym.wire.rule import BundledRule, RuleBundle, RuleDraft, RuleGateResult, RuleReview, RuleSpec
from rl_gym.wire.run import (
    ArtifactsResponse,
    EventsResponse,
    ModelsResponse,
    Run,
    RunEvent,
    RunSpec,
    RunsResponse,
    StageProgress,
    StageStatus,
)
from rl_gym.wire.scan import EngineReport, Problem, SarifLog, ScanError, ScanRequest, ScanResponse
from rl_gym.wire.score import EpisodeBody, ScoreItem, ScoreRequest, ScoreResponse, ScoreResult
from rl_gym.wire.traffic import TrafficRow

__all__ = [
    "AnswerEvent",
    "ArtifactsResponse",
    "BundledRule",
    "ColumnAnswer",
    "ColumnConfig",
    "CompleteRequest",
    "CompleteResponse",
    "ConfigResponse",
    "Cost",
    "EngineBody",
    "EngineReport",
    "EpisodeBody",
    "ErrorBody",
    "EventsResponse",
    "Finding",
    "FixRequest",
    "FixResponse",
    "Fixed",
    "GenerateEvent",
    "GenerateLimits",
    "GenerateRequest",
    "GenerateResponse",
    "Model",
    "ModelManifest",
    "ModelsResponse",
    "Pass",
    "PassEvent",
    "PricesBody",
    "Problem",
    "PromotedPointer",
    "PromotedState",
    "RecordedCompletion",
    "ReloadResponse",
    "RuleBody",
    "RuleBundle",
    "RuleDraft",
    "RuleGateResult",
    "RuleReview",
    "RuleSpec",
    "RulesResponse",
    "RulesetBody",
    "RulesetsResponse",
    "Run",
    "RunEvent",
    "RunSpec",
    "RunsResponse",
    "SampleBody",
    "SamplingBody",
    "SarifLog",
    "ScanError",
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
