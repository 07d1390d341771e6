"""What is asked for of a run, whether it is for this machine or for a trainer: one typed message."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rl_gym.wire.run import RunSpec

__all__ = ["run_spec"]


def run_spec(
    preset: str,
    changes: Sequence[str] = (),
    *,
    seed: int | None = None,
    mode: str | None = None,
    model: str | None = None,
    report_to: str | None = None,
    key: str | None = None,
) -> RunSpec:
    """The spec of a run of a preset, with `changes` such as "grpo.steps=10".

    Raises UsageError for what is no spec; whether there is such a preset or key it does not know.
    """
    from pydantic import ValidationError

    from rl_gym.training.chain import MODES
    from rl_gym.wire.message import refusal
    from rl_gym.wire.run import RunSpec

    if mode is not None and mode not in MODES:
        raise UsageError(f"--mode takes {', '.join(MODES)}, not {mode!r}")
    asked = [*map(_change, changes), *_named("model.base", model), *_named("report_to", report_to)]
    try:
        return RunSpec.model_validate(
            {
                "preset": preset,
                "overrides": asked,
                "seed": seed,
                "mode": mode or "pipeline",
                "idempotency_key": key,
            }
        )
    except ValidationError as error:
        raise refusal(error) from None


def _change(text: str) -> str:
    key, separator, value = text.partition("=")
    if not separator:
        raise UsageError(f"--set takes key=value, not {text!r}")
    return f"{key.strip()}={value.strip()}"


def _named(key: str, value: str | None) -> list[str]:
    return [] if value is None else [f"{key}={json.dumps(value, ensure_ascii=False)}"]
