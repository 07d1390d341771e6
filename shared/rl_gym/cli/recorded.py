"""Where `audit` and `gate` find their evidence: a run that has been evaluated, or a file of recorded completions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rl_gym.gym.core import Environment
    from rl_gym.gym.records import RecordedCompletion
    from rl_gym.training.run import Run

__all__ = ["Evidence", "environment", "key_values", "read_evidence"]


@dataclass(frozen=True)
class Evidence:
    """Recorded completions, and the run that they come from where it is one."""

    records: Sequence[RecordedCompletion]
    run: Run | None


def read_evidence(path: Path) -> Evidence:
    """Read a run folder or a JSON-lines file; UsageError, in one line, where it is neither or damaged."""
    from rl_gym.gym import records

    if not path.is_dir():
        return Evidence(records.read(path), None)
    from rl_gym.training.run import Run

    run = Run.open(path)
    if not run.stands("evaluate"):
        raise UsageError(f"{path}: this run is not evaluated yet: rl-gym pipeline --resume {path}")
    return Evidence(records.read(path / "evaluate" / "completions.jsonl"), run)


def environment(evidence: Evidence, name: str | None, options: dict[str, str]) -> Environment | None:
    """The environment that a person named, else the run's own; None for a file alone."""
    from rl_gym.gym.registry import get_env, resolve

    if name is not None:
        return resolve(name, **options)
    if options:
        raise UsageError("--option is for the environment that --env names")
    if evidence.run is None:
        return None
    section = evidence.run.config.environment
    return get_env(section.name, **section.options)


def key_values(option: str, words: Sequence[str]) -> dict[str, str]:
    """KEY=VALUE words of a repeated option; UsageError for one of another form."""
    pairs: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (equals and value and key.isidentifier()):
            raise UsageError(f"{option} {word!r}: KEY=VALUE is needed")
        pairs[key] = value
    return pairs
