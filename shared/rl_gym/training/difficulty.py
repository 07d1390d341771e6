"""The difficulty band: GRPO learns nothing from prompts that the base always fails, or never does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rl_gym.gym.core import Episode
from rl_gym.gym.files import read_document
from rl_gym.infra.errors import UsageError
from rl_gym.training.recipe import GrpoSection, Share

__all__ = ["read_rates", "within_band"]

_RATES: TypeAdapter[dict[str, float]] = TypeAdapter(dict[str, Share])


def read_rates(path: Path) -> dict[str, float]:
    """A difficulty map: pass rate, in [0, 1], by the content hash of an episode.

    Raises NotFoundError without the file, UsageError, in one line, where it holds anything else.
    """
    try:
        return _RATES.validate_python(read_document(path))
    except UsageError as error:
        raise type(error)(f"{path}: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"])
        raise UsageError(f"{path}: no difficulty map (episode hash to pass rate): {key}: {first['msg']}") from None


def within_band(
    rows: Sequence[Mapping[str, Any]],
    section: GrpoSection,
    rates: Mapping[str, float] | None = None,
    *,
    world: int = 1,
) -> list[Mapping[str, Any]]:
    """Those of GRPO's rows whose pass rate lies in [low, high], in their order; one without a known rate stays.

    The rates are those of the section's map where none are given, and where it names none either all rows stay. Raises
    UsageError where fewer are left than one generation of `world` processes takes.
    """
    if rates is None:
        if section.difficulty_map is None:
            return list(rows)
        rates = read_rates(Path(section.difficulty_map))
    low, high = section.difficulty_low, section.difficulty_high
    kept = [row for row in rows if low <= rates.get(_identity(row), low) <= high]
    wanted = section.prompts(world)
    if len(kept) < wanted:
        raise UsageError(
            f"{len(kept)} of {len(rows)} prompts have a pass rate within [{low:g}, {high:g}], one generation takes "
            f"{wanted}: widen grpo.difficulty_low and grpo.difficulty_high, or raise episodes.grpo"
        )
    return kept


def _identity(row: Mapping[str, Any]) -> str:
    return Episode.from_dict(json.loads(row["episode"])).hash
