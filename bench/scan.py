"""How long a scan takes on the corpus: parsing, evaluating and asking every rule, median and 95th percentile.

    python bench/scan.py [DATA_FOLDER]

DATA_FOLDER defaults to `RL_GYM_DATA`, else `../shared/data` beside the checkout. Each stage of each text is timed as
the best of three, in one process on one core.
"""

from __future__ import annotations

import csv
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rl_gym.hcl import HclError, evaluate, load
from rl_gym.iac.context import Context
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.scan import judge, scan

REPEATS = 3
RULESET = get_ruleset("base+drift")


def corpus(folder: Path) -> Iterator[str]:
    csv.field_size_limit(sys.maxsize)
    with open(folder / "iac_eval.csv", newline="") as stream:
        yield from (row["Reference output"] for row in csv.DictReader(stream))
    for name in ("checkov_tf.jsonl", "github_tf.jsonl"):
        for line in (folder / name).read_text().splitlines():
            if text := json.loads(line)["hcl"]:
                yield text


def best(action: Callable[[], Any]) -> tuple[float, Any]:
    """The shortest of some runs, in milliseconds, and what the last one answered."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3, result


def measure(text: str) -> dict[str, float]:
    text += "\n"
    parse, module = best(lambda: load({"main.tf": text}))
    evaluation, configuration = best(lambda: evaluate(module))
    rules, _ = best(lambda: judge(Context(configuration, module), RULESET))
    whole, _ = best(lambda: scan(text, ruleset=RULESET))
    return {"parse": parse, "evaluate": evaluation, "rules": rules, "scan": whole}


def main() -> None:
    default = os.environ.get("RL_GYM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else default)
    rows = []
    unreadable = 0
    for text in corpus(folder):
        try:
            rows.append(measure(text))
        except HclError:
            unreadable += 1
    print(f"{len(rows)} configurations, {unreadable} that cannot be read left out, {len(RULESET.rules)} rules\n")
    print(f"{'stage':10}{'median ms':>12}{'p95 ms':>10}")
    for stage in rows[0]:
        times = [row[stage] for row in rows]
        print(f"{stage:10}{statistics.median(times):12.3f}{statistics.quantiles(times, n=20)[-1]:10.3f}")
    ratio = statistics.median(row["rules"] / row["parse"] for row in rows)
    print(f"\nasking every rule costs {ratio:.2f} times what parsing does (median over the configurations)")


if __name__ == "__main__":
    main()
