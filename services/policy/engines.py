"""The engines that settings name: the own one, and perhaps one outside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from rl_gym.infra.boundary import is_inside
from rl_gym.infra.errors import UsageError
from rl_gym.infra.extras import extra
from rl_gym.serving.backends import ModelBackend
from rl_gym.serving.backends.openai import OpenAIBackend
from rl_gym.serving.backends.vllm import VllmBackend
from rl_gym.serving.columns import Column, EnginePlace
from rl_gym.serving.cost import Prices
from rl_gym.serving.weights import find_model, model_name
from rl_gym.wire import ServedModel
from services.policy.remote import RemoteEngine
from services.policy.settings import PolicySettings
from services.policy.supervision import Device, Engine, EngineFlags, Patience, Supervisor, Watched, read_flags

__all__ = ["OwnEngine", "outside_column", "own_engine"]

_EMBEDDED_MODEL = "nano"
_MAX_LORAS, _MAX_LORA_RANK = 4, 64
_GPU_NODES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))
"""Where Linux, and Linux within Windows, show a GPU of NVIDIA."""


class OwnEngine(NamedTuple):
    """What completes, what keeps it up, its base model, and the model that serves until one is promoted."""

    backend: ModelBackend
    engine: Engine
    base: ServedModel
    first: ServedModel


def own_engine(settings: PolicySettings) -> OwnEngine:
    """Raises UsageError for settings that do not fit, NotFoundError for a missing model."""
    if settings.engine == "transformers":
        return _embedded(settings)
    if settings.engine == "vllm":
        return _vllm(settings)
    return _openai(settings)


def _embedded(settings: PolicySettings) -> OwnEngine:
    with extra("serve"):
        from rl_gym.serving.backends.transformers import TransformersBackend
        from services.policy.embedded import EmbeddedEngine

    base, model = settings.base, settings.model or _EMBEDDED_MODEL
    found = {name: find_model(name, settings) for name in (model, base)}
    folders = {model_name(name): folder for name, folder in found.items()}
    if found[model] != folders[model_name(model)]:
        raise UsageError(f"RL_GYM_POLICY_MODEL: a folder named like the base, {model_name(base)!r}: rename one of them")
    backend = TransformersBackend()
    engine = EmbeddedEngine(backend, folders)
    return OwnEngine(backend, engine, _served("transformers", base, base), _served("transformers", model, base))


def _vllm(settings: PolicySettings) -> OwnEngine:
    if settings.model not in ("", settings.base):
        raise UsageError("RL_GYM_POLICY_MODEL: vLLM serves its base until a model is promoted: leave it out")
    base = _served("vllm", settings.base, settings.base)
    engine: Engine
    repeats = False
    if settings.engine_url:
        _require_inside(settings, settings.engine_url, "RL_GYM_POLICY_ENGINE_URL")
        key = settings.engine_key.get_secret_value()
        engine = Watched(settings.engine_url, key, base.name)
    else:
        flags = replace(
            _with_adapters(read_flags(settings.vllm_flags)),
            model=str(find_model(settings.base, settings).absolute()),
            served_model_name=base.name,
        )
        # Elsewhere what a batch holds beside a sequence decides its last bits.
        device = _device() if settings.vllm_device == "auto" else settings.vllm_device
        repeats = device == "cpu" and flags.dtype == "float32"
        patience = Patience(restarts=settings.vllm_restarts)
        engine = Supervisor(settings.vllm_python.absolute(), flags, device, patience)
    backend = VllmBackend(
        engine.address,
        api_key=engine.api_key,
        api=settings.engine_api,
        deterministic_greedy=repeats,
        paid=settings.engine_paid is True,
        seconds=settings.engine_seconds_max,
        connections=settings.engine_sequences,
    )
    return OwnEngine(backend, engine, base, base)


def _device() -> Device:
    return "cuda" if any(path.exists() for path in _GPU_NODES) else "cpu"


def _with_adapters(flags: EngineFlags) -> EngineFlags:
    """Flags under which a promoted model can be loaded, where nobody said otherwise."""
    return replace(
        flags,
        enable_lora=True if flags.enable_lora is None else flags.enable_lora,
        max_loras=_MAX_LORAS if flags.max_loras is None else flags.max_loras,
        max_lora_rank=_MAX_LORA_RANK if flags.max_lora_rank is None else flags.max_lora_rank,
    )


def _openai(settings: PolicySettings) -> OwnEngine:
    if not settings.engine_url:
        raise UsageError("RL_GYM_POLICY_ENGINE_URL: the engine openai needs an address")
    _require_inside(settings, settings.engine_url, "RL_GYM_POLICY_ENGINE_URL")
    backend = OpenAIBackend(
        settings.engine_url,
        api_key=settings.engine_key.get_secret_value(),
        api=settings.engine_api,
        paid=settings.engine_paid is not False,
        idempotent=settings.engine_idempotent,
        seconds=settings.engine_seconds_max,
        connections=settings.engine_sequences,
    )
    base, model = settings.base, settings.model or settings.base
    return OwnEngine(
        backend, RemoteEngine(settings.engine_url), _served("openai", base, base), _served("openai", model, base)
    )


def outside_column(settings: PolicySettings) -> Column | None:
    """The column of an outside model, where settings name one. Raises UsageError for one without a name."""
    if not settings.external_url:
        return None
    if not settings.external_model:
        raise UsageError("RL_GYM_POLICY_EXTERNAL_MODEL: the external column needs the name of its model")
    backend = OpenAIBackend(
        settings.external_url,
        api_key=settings.external_key.get_secret_value(),
        api="chat",
        idempotent=settings.external_idempotent,
    )
    prices = Prices(0, settings.external_prompt_million_usd, settings.external_completion_million_usd)
    served = _served("openai", settings.external_model, settings.external_model)
    return Column("external", EnginePlace(backend), served, prices)


def _require_inside(settings: PolicySettings, address: str, setting: str) -> None:
    if settings.boundary == "closed" and not is_inside(address):
        raise UsageError(f"{setting}: it lies outside of the deployment, whose boundary is closed")


def _served(engine: str, model: str, base: str) -> ServedModel:
    try:
        return ServedModel(engine=engine, name=model_name(model), base=model_name(base))
    except ValidationError:
        raise UsageError(
            f"the model {model_name(model)!r} over {model_name(base)!r}: "
            "a name is of letters, digits and . _ : + @ / - alone"
        ) from None
