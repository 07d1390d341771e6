"""One request, answered by the base and by the trained model side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from rl_gym.cli.answers import Answer, show_answers
from rl_gym.infra.errors import UsageError

__all__ = ["answer_request"]

_TYPE = re.compile(r"\baws_[a-z0-9_]+\b")
_LONGEST_REQUEST = 4000
_MAX_TOKENS = 384


def answer_request(console: Console, request: str, required: Sequence[str], run: Path | None) -> None:
    """Write Terraform for `request` with both models, greedily, and print the scorecards.

    Without `required`, the types that the request itself spells out are required. The trained model is that of `run`,
    else of the last run, else the packaged one.
    """
    from rl_gym.infra.extras import extra

    if not request.strip() or len(request) > _LONGEST_REQUEST:
        raise UsageError(f"--req takes 1 to {_LONGEST_REQUEST} characters, not {len(request.strip())}")
    for name in required:
        if not _TYPE.fullmatch(name):
            raise UsageError(f"--required takes types such as aws_s3_bucket, separated by commas, not {name!r}")
    with extra("train"):
        from rl_gym.iac.prompts import prompt
        from rl_gym.infra.settings import load_settings
        from rl_gym.serving.local_model import LocalModel
        from rl_gym.serving.sampling import Sampling
        from rl_gym.training.determinism import pin
        from rl_gym.training.models import trained_model
        from rl_gym.training.run import Run

    types = tuple(required) or tuple(dict.fromkeys(_TYPE.findall(request)))
    trained = trained_model(load_settings().runs, run=Run.open(run) if run else None)
    pin(0, threads=1)
    sampling = Sampling(greedy=True, max_tokens=_MAX_TOKENS)
    answers = []
    for by, folder in (("base", trained.base), (f"trained: {trained.origin}", trained.folder)):
        [[sample]] = LocalModel(folder).complete([prompt(request, types)], sampling)
        answers.append(Answer(by, sample.text))
    show_answers(console, request, types, answers)
