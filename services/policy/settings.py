"""The settings of the policy service, from `RL_GYM_POLICY_<FIELD>`, else `RL_GYM_<FIELD>`."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, SecretStr

from rl_gym.infra.settings import Names, ServiceSettings

__all__ = ["PolicySettings"]


class PolicySettings(ServiceSettings):
    """Which models answer, who judges, how much may be asked, and what it costs."""

    service: ClassVar[str] = "policy"

    port: int = Field(default=8082, ge=0, le=65_535, description="Port to listen on; 0 takes a free one")
    in_flight: int = Field(default=512, ge=1, description="Requests with a body that are read and served at a time")
    environments: Names = Field(
        default=("iac",),
        min_length=1,
        description="Environments that may be asked for: names, or package.module:factory",
    )

    engine: Literal["transformers", "vllm", "openai"] = Field(
        default="transformers",
        description="What runs the models: this process on its CPU, a vLLM server, or any OpenAI-compatible address",
    )
    base: str = Field(
        default="nano-base",
        description="The base model: packaged, a folder, hub:ORG/NAME or another source, or the engine's own name",
    )
    model: str = Field(
        default="", description="What serves until a model is promoted; else nano where it is embedded, else the base"
    )
    engine_url: str = Field(default="", description="Address of the engine; a vLLM without one is started here")
    engine_key: SecretStr = Field(default=SecretStr(""), description="API key of the engine")
    engine_api: Literal["auto", "chat", "completions"] = Field(
        default="auto", description="How the engine takes a prompt; `auto` finds out whether it has a chat template"
    )
    engine_seconds_max: float = Field(default=600, gt=0, description="Time that one call of the engine may take")
    engine_paid: bool | None = Field(
        default=None,
        description="Whether the engine bills by the request: then none is sent twice that may be done; "
        "where nothing is said, openai does and vllm does not",
    )
    engine_idempotent: bool = Field(
        default=False, description="Whether the engine honours Idempotency-Key: then it may be asked twice all the same"
    )
    vllm_python: Path = Field(
        default=Path(".venv-vllm/bin/python"), description="Python that has vLLM, where it is started here"
    )
    vllm_device: Literal["auto", "cuda", "cpu"] = Field(
        default="auto", description="What the started vLLM runs on; `auto` is the GPU where there is one"
    )
    vllm_flags: str = Field(default="", description="Further flags of the started vLLM, as on its command line")
    vllm_restarts: int = Field(default=5, ge=0, description="How often vLLM is started again within ten minutes")

    external_url: str = Field(
        default="", description="An outside model as a third column: its OpenAI-compatible address"
    )
    external_model: str = Field(default="", description="Its name there")
    external_key: SecretStr = Field(default=SecretStr(""), description="API key for it")
    external_idempotent: bool = Field(default=False, description="Whether the outside model honours Idempotency-Key")

    verifier: str = Field(default="", description="Address of the verifier; without one a verifier is started here")
    verifier_seconds: float = Field(default=30, gt=0, description="Time that a judgement may take, with its retries")
    signing_key: str = Field(default="", description="File of the private key that signs for the verifier who calls")

    max_samples: int = Field(default=16, ge=1, le=32, description="The most samples of a request to generate")
    max_tokens: int = Field(default=512, ge=1, le=16_384, description="Tokens of one completion of /generate")
    temperature: float = Field(default=0.8, gt=0, le=10, description="Of sampling in /generate")
    top_p: float = Field(default=1.0, gt=0, le=1, description="Of sampling in /generate")
    request_seconds: float = Field(default=120, gt=0, description="Time that an answer may take, waiting included")
    engine_sequences: int = Field(default=256, ge=1, description="Sequences that the engine works on at a time")
    queue_sequences: int = Field(default=1_024, ge=0, description="Sequences that wait in front of the engine")
    batch_sequences: int = Field(default=16_384, ge=1, description="The most sequences of one request to complete")
    body_bytes: int = Field(default=8 << 20, ge=1_024, description="Size of a body")
    body_values: int = Field(default=2_000_000, ge=100, description="Commas and brackets in a body, in its text too")

    gpu_hour_usd: float = Field(default=0, ge=0, description="Price of an hour of the engine's GPU")
    prompt_million_usd: float = Field(
        default=0, ge=0, description="Price of a million prompt tokens, where it bills so"
    )
    completion_million_usd: float = Field(default=0, ge=0, description="Price of a million completion tokens")
    external_prompt_million_usd: float = Field(default=0, ge=0, description="The same, of the external column")
    external_completion_million_usd: float = Field(default=0, ge=0, description="The same, of the external column")

    promotion_keys: str = Field(
        default="",
        description="Public keys whose promotions are believed, as in `principal_keys`; without any, none is",
    )
    promotion_seconds: float = Field(default=15, ge=1, description="How often the promoted model is looked up")
    adapters: Path = Field(default=Path("runs/adapters"), description="Folder for the promoted models, as files")
