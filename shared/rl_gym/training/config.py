"""What a run does, as typed keys: a preset from `presets/`, changed key by key, resolved once and kept with the run."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Annotated, Any, Literal, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from rl_gym.infra.errors import NotFoundError, UsageError

__all__ = [
    "Config",
    "EnvironmentSection",
    "EpisodesSection",
    "EvaluateSection",
    "GateSection",
    "GrpoSection",
    "ModelSection",
    "SftSection",
    "keys",
    "preset_names",
    "resolve",
]

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Rate = Annotated[float, Field(gt=0, le=1)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EnvironmentSection(Section):
    """The task, and what judges it. Both names are pinned by a preset: rewards under others are not comparable."""

    name: str = Field(description="registered environment")
    options: dict[str, str] = Field(default_factory=dict, description="passed to the environment's factory")


class ModelSection(Section):
    """The model that training starts from, and how this machine runs it."""

    base: str = Field(description="a packaged model (nano-base) or a folder with config.json and safetensors")
    threads: Annotated[int, Field(ge=1, le=256, description="threads of each training or generating process")] = 1


class EpisodesSection(Section):
    """Which episodes a model of this size can take, and how many each stage draws."""

    generated: Annotated[bool, Field(description="training draws from nano's generator, not from the split")] = False
    max_resources: Annotated[int, Field(ge=1, le=100, description="resource types a request may ask for")] = 100
    max_tokens: Annotated[int, Field(ge=8, le=16_384, description="tokens of the oracle's answer, at most")] = 1024
    max_prompt_tokens: Annotated[int, Field(ge=8, le=16_384, description="tokens of the prompt, at most")] = 1024
    sft: Count = Field(description="demonstrations that SFT draws its batches from")
    grpo: Count = Field(description="prompts that GRPO draws its groups from")
    held_out: Count = Field(description="episodes of the anchor that evaluation uses")


class SftSection(Section):
    """Supervised fine-tuning on the oracle mix (TRL's SFTTrainer)."""

    steps: Count
    batch_size: Count
    learning_rate: Rate
    warmup_steps: Annotated[int, Field(ge=0)] = 0
    lora_rank: Annotated[int, Field(ge=0, le=512, description="0 trains every weight")] = 0
    oracle_share: Annotated[float, Field(ge=0, le=1, description="demonstrations that are the oracle's own")] = 1.0
    secure: Annotated[
        float, Field(ge=0, le=1, description="in the other demonstrations: chance of each security attribute")
    ] = 0.5


class GrpoSection(Section):
    """Reinforcement learning with the verifier as the reward (TRL's GRPOTrainer)."""

    steps: Count
    prompts_per_step: Count
    generations: Annotated[int, Field(ge=2, le=256)]
    learning_rate: Rate
    temperature: Annotated[float, Field(gt=0, le=10)] = 1.0
    beta: Annotated[float, Field(ge=0, le=10, description="weight of the KL term to the SFT model")] = 0.0
    loss: Literal["dapo", "dr_grpo", "grpo", "bnpo"] = "dapo"
    num_iterations: Annotated[int, Field(ge=1, le=16, description="passes over each window of completions")] = 1
    epsilon_high: Annotated[float | None, Field(gt=0, le=10)] = None
    lora_rank: Annotated[int, Field(ge=0, le=512, description="0 trains every weight")] = 0
    lora_alpha: Annotated[int, Field(ge=1, le=1024)] = 32
    save_steps: Annotated[int, Field(ge=1, description="a checkpoint every so many steps")] = 10

    @model_validator(mode="after")
    def _save_at_the_end_of_a_window(self) -> GrpoSection:
        """Between, completions of the window would be lost, and a resumed run would not be the same run."""
        if self.save_steps % self.num_iterations:
            raise ValueError(f"grpo.save_steps must be a multiple of grpo.num_iterations ({self.num_iterations})")
        if self.epsilon_high is not None and self.num_iterations == 1:
            raise ValueError("grpo.epsilon_high does nothing with grpo.num_iterations at 1: nothing is ever clipped")
        return self


class EvaluateSection(Section):
    """What is measured on the held-out episodes."""

    anchor: str = "synthetic"
    policies: list[Literal["random", "base", "sft", "grpo", "oracle"]] = ["random", "base", "sft", "grpo", "oracle"]
    samples: Annotated[int, Field(ge=1, le=256, description="samples an episode, beside one greedy")] = 4
    temperature: Annotated[float, Field(gt=0, le=10)] = 1.0
    batch_size: Count = 128
    processes: Annotated[int, Field(ge=1, le=64, description="models that generate side by side")] = 1


class GateSection(Section):
    """The promotion gate: incumbent SFT, candidate GRPO."""

    tolerance: Annotated[float, Field(gt=0, le=1, description="loss of reward that still passes")] = 0.02


class Config(Section):
    """A resolved run configuration; `preset` names where it came from."""

    preset: str
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    environment: EnvironmentSection
    model: ModelSection
    episodes: EpisodesSection
    sft: SftSection
    grpo: GrpoSection
    evaluate: EvaluateSection = EvaluateSection()
    gate: GateSection = GateSection()


def preset_names() -> list[str]:
    """The presets that ship with the package, sorted."""
    folder = resources.files("rl_gym.training") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def keys() -> list[str]:
    """Every dotted key that an override may set; `environment.options` stands for its free entries."""
    return sorted(_keys(Config, ""))


def resolve(preset: str, overrides: Sequence[str] = (), *, seed: int | None = None) -> Config:
    """The preset `preset` with `overrides` ("grpo.steps=10") laid over it.

    Raises NotFoundError for an unknown preset and UsageError that names the key, and the nearest known one, for an
    override that does not fit.
    """
    known = preset_names()
    if preset not in known:
        raise NotFoundError(f"no preset {preset!r}{_nearest(preset, known)} (known: {', '.join(known)})")
    text = (resources.files("rl_gym.training") / "presets" / f"{preset}.toml").read_text("utf-8")
    document: dict[str, Any] = tomllib.loads(text)
    document["preset"] = preset
    for override in overrides:
        _override(document, override)
    if seed is not None:
        document["seed"] = seed
    return parse(document, f"preset {preset!r}")


def parse(document: Mapping[str, Any], where: str) -> Config:
    """Check a document against the typed keys; `where` names it in the one-line UsageError."""
    try:
        return Config.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"])
        if first["type"] == "extra_forbidden":
            raise UsageError(f"{where}: unknown key {key!r}{_nearest(key, keys())}") from None
        if first["type"] == "value_error":
            raise UsageError(f"{where}: {first['ctx']['error']}") from None
        raise UsageError(f"{where}: key {key!r}: {first['msg'].lower()}, not {first['input']!r}") from None


def _override(document: dict[str, Any], override: str) -> None:
    key, separator, text = override.partition("=")
    key = key.strip()
    if not separator:
        raise UsageError(f"--set takes key=value, not {override!r}")
    if key == "preset" or (key not in keys() and not key.startswith("environment.options.")):
        raise UsageError(f"unknown key {key!r}{_nearest(key, keys())}")
    *path, last = key.split(".")
    section = document
    for step in path:
        section = section.setdefault(step, {})
    section[last] = _value(text.strip())


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _keys(section: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in section.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and not get_origin(annotation) and issubclass(annotation, BaseModel):
            yield from _keys(annotation, f"{prefix}{name}.")
        else:
            yield prefix + name


def _nearest(name: str, known: Sequence[str]) -> str:
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {found[0]!r}?" if found else ""
