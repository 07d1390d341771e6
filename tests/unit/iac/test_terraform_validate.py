"""What the generator writes, judged by Terraform itself: its formatter, and its validation with the AWS provider."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

from rl_gym.gym.core import Episode
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.tasks.bare import BODIES, bare
from rl_gym.iac.tasks.builders import BUILDERS
from rl_gym.iac.tasks.parametric import SPLITS, floor, make_episode, oracle, render, stack_of

EVERY_RULE = frozenset(rule.id for rule in get_ruleset("base+drift").rules)
STACKS = 100


def stacks() -> list[Episode]:
    """A hundred, and as many more as it takes until every kind of part was there."""
    episodes = [make_episode(seed, split) for split in SPLITS for seed in range(STACKS // 2)]
    seed = STACKS
    while {part.kind for episode in episodes for part in stack_of(episode).parts} != set(BUILDERS):
        episodes.append(make_episode(seed))
        seed += 1
    return episodes


def answers() -> Iterator[tuple[str, str]]:
    """Every way of writing every stack, each with a name."""
    for number, episode in enumerate(stacks()):
        rng = Random(number)
        yield f"oracle_{number}", oracle(episode, EVERY_RULE)
        yield f"floor_{number}", floor(episode)
        yield f"mixed_{number}", render(episode, 0.5, rng, EVERY_RULE)
    yield "bare", bare([*(kind for builder in BUILDERS.values() for kind in builder.types), *BODIES])


def test_fmt_changes_nothing(terraform: str, tmp_path: Path) -> None:
    for seed in range(120):
        for split in SPLITS:
            episode = make_episode(seed, split)
            texts = (oracle(episode), oracle(episode, EVERY_RULE), floor(episode), render(episode, 0.4, Random(seed)))
            for kind, text in enumerate(texts):
                (tmp_path / f"{split}_{seed}_{kind}.tf").write_text(text)
    done = subprocess.run(
        [terraform, "fmt", "-check", "-list=true", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "")


def test_the_provider_takes_every_stack(terraform: str, provider_mirror: Path, tmp_path: Path) -> None:
    calls = []
    for name, text in answers():
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.tf").write_text(text)
        calls.append(f'module "{name}" {{\n  source = "./{name}"\n}}\n')
    assert len(calls) > 3 * STACKS
    (tmp_path / "main.tf").write_text("\n".join(calls))
    run(terraform, tmp_path, "init", "-input=false", "-backend=false", f"-plugin-dir={provider_mirror}")
    report = json.loads(run(terraform, tmp_path, "validate", "-json"))
    assert [d["summary"] + ": " + d.get("detail", "") for d in report["diagnostics"] if d["severity"] == "error"] == []
    assert report["valid"] is True


def run(terraform: str, folder: Path, *arguments: str) -> str:
    """Standard output of a Terraform command that must succeed, without a network and within two minutes."""
    environment = {**os.environ, "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1"}
    done = subprocess.run(
        [terraform, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout
