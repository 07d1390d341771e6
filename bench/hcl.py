"""How fast HCL is parsed: ours beside python-hcl2 and tree-sitter, on the corpora, and ours on hostile texts.

    python bench/hcl.py [DATA_FOLDER]

DATA_FOLDER defaults to `RL_GYM_DATA`, else `../shared/data` beside the checkout. Each text is timed as the best of
three (python-hcl2: once, on every tenth text), in processor time, the parsers in turn on each text. tree-sitter is
timed with a walk in Python over all nodes, without which its tree has told nothing.
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

import hcl2
import tree_sitter
import tree_sitter_hcl

from rl_gym.hcl import HclError, parse
from rl_gym.hcl.limits import DEFAULT

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tests.unit.hcl import hostile  # noqa: E402

REPEATS = 3
SLOW_PARSER_STRIDE = 10
GOAL_MEDIAN_MS = 0.15
GOAL_WORST_MS = 50.0

_TREE_SITTER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_hcl.language()))


def corpus(folder: Path) -> Iterator[str]:
    csv.field_size_limit(2**24)
    with (folder / "iac_eval.csv").open(encoding="utf-8", newline="") as stream:
        yield from (row["Reference output"] for row in csv.DictReader(stream))
    for name in ("checkov_tf.jsonl", "github_tf.jsonl"):
        with (folder / name).open(encoding="utf-8") as stream:
            yield from filter(None, (json.loads(line)["hcl"] for line in stream))


def ours(text: str) -> None:
    parse(text)


def tree_sitter_walk(text: str) -> None:
    """Parse, and visit each node's type and place."""
    tree = _TREE_SITTER.parse(text.encode())
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        _ = node.type, node.start_byte
        stack.extend(node.children)


def python_hcl2(text: str) -> None:
    hcl2.loads(text if text.endswith("\n") else text + "\n")


def timed(parser: Callable[[str], None], text: str, repeats: int) -> float | None:
    """The shortest of some runs, in milliseconds; None where the parser refuses the text."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        try:
            parser(text)
        except Exception:
            return None
        best = min(best, time.process_time() - start)
    return best * 1e3


def show(name: str, times: list[float], reference: list[float]) -> None:
    median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    ratio = statistics.median(times) / statistics.median(reference)
    print(f"{name:30}{len(times):8}{median:12.4f}{p95:12.4f}{max(times):12.4f}{ratio:12.1f}x")


def compare(texts: list[str]) -> float:
    """Print the table; give our median in milliseconds."""
    mine: list[float] = []
    walked: list[float] = []
    loaded: list[tuple[float, float]] = []
    slower = 0
    for index, text in enumerate(texts):
        own = timed(ours, text, REPEATS)
        other = timed(tree_sitter_walk, text, REPEATS)
        if own is None or other is None:
            continue
        mine.append(own)
        walked.append(other)
        slower += own > other
        if index % SLOW_PARSER_STRIDE == 0 and (third := timed(python_hcl2, text, 1)) is not None:
            loaded.append((third, own))
    print(f"{'milliseconds a file':30}{'files':>8}{'median':>12}{'p95':>12}{'worst':>12}{'median/ours':>13}")
    show("rl_gym.hcl", mine, mine)
    show("tree-sitter-hcl, walked", walked, mine)
    show("python-hcl2, every tenth file", [third for third, _ in loaded], [own for _, own in loaded])
    print(f"\nfiles on which ours is slower than tree-sitter with its walk: {slower} of {len(mine)}")
    return statistics.median(mine)


def worst_hostile() -> float:
    """Print the slowest hostile texts; give the worst time in milliseconds."""
    rows = []
    for name, text in hostile.texts(DEFAULT.max_bytes).items():
        best, answer = float("inf"), "accepted"
        for _ in range(REPEATS):
            start = time.process_time()
            try:
                parse(text)
            except HclError as error:
                answer = type(error).__name__
            best = min(best, time.process_time() - start)
        rows.append((best * 1e3, name, answer))
    rows.sort(reverse=True)
    print(f"\n{len(rows)} hostile texts of {DEFAULT.max_bytes // 1024} KB, the slowest five:")
    for elapsed, name, answer in rows[:5]:
        print(f"{elapsed:8.1f} ms  {name}  ({answer})")
    return rows[0][0]


def main() -> None:
    default = os.environ.get("RL_GYM_DATA") or ROOT.parent / "shared" / "data"
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else default)
    if not (folder / "iac_eval.csv").is_file():
        sys.exit(f"error: the corpora are not in {folder}: name their folder, or set RL_GYM_DATA")
    median = compare(list(corpus(folder)))
    worst = worst_hostile()
    for what, value, goal in (("median", median, GOAL_MEDIAN_MS), ("worst hostile text", worst, GOAL_WORST_MS)):
        print(f"{what}: {value:.3f} ms, goal {goal:g} ms: {'met' if value <= goal else 'MISSED'}")


if __name__ == "__main__":
    main()
