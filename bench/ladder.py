"""The ladder of several runs as one Markdown table: sampled reward of each policy and the paired lift of each step.

for seed in 0 1 2 3 4; do rl-gym pipeline --preset nano --seed $seed --run runs/seed$seed; done
python bench/ladder.py runs/seed*
"""

from __future__ import annotations

import sys
from pathlib import Path

from rl_gym.gym.files import read_document
from rl_gym.gym.ladder import ladder, lift
from rl_gym.gym.records import read
from rl_gym.gym.statistics import Interval
from rl_gym.training.run import Run

POLICIES = ("random", "base", "sft", "grpo", "oracle")


def main(folders: list[str]) -> None:
    print("| seed | " + " | ".join(POLICIES) + " | base to SFT | SFT to GRPO | greedy base / SFT / GRPO | gate |")
    print("|---" * (len(POLICIES) + 5) + "|")
    held = [0, 0]
    for folder in folders:
        run = Run.open(Path(folder))
        records = read(run.folder / "evaluate" / "completions.jsonl")
        rows = {row.policy: row for row in ladder(records)}
        sampled = [_interval(row.sampled.reward) for policy in POLICIES if (row := rows[policy]).sampled]
        greedy = " / ".join(f"{row.greedy.reward.estimate:.3f}" for p in POLICIES[1:4] if (row := rows[p]).greedy)
        anchor = run.config.evaluate.anchor
        steps = [lift(records, *pair, split=anchor).reward for pair in (("base", "sft"), ("sft", "grpo"))]
        held = [count + (step.low > 0) for count, step in zip(held, steps, strict=True)]
        decision = read_document(run.folder / "gate" / "verdict.json")["decision"]
        cells = [str(run.config.seed), *sampled, *(_interval(step, sign="+") for step in steps), greedy, decision]
        print(f"| {' | '.join(cells)} |")
    print(f"\nThe interval lies above zero in {held[0]} (SFT) and {held[1]} (GRPO) of {len(folders)} runs.")


def _interval(interval: Interval, sign: str = "") -> str:
    return f"{interval.estimate:{sign}.3f} [{interval.low:{sign}.3f}, {interval.high:{sign}.3f}]"


if __name__ == "__main__":
    main(sys.argv[1:])
