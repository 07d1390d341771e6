"""The parser accepts what `terraform fmt` accepts and refuses what it refuses."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from rl_gym.hcl import HclLimitError, HclSyntaxError, parse
from rl_gym.hcl.identifiers import CONTINUES, STARTS
from tests.unit.hcl.mutants import mutants

SEED = 20_240
COUNT = 5_400
FILES_A_CALL = 450
_REFUSED = re.compile(r"on (\d+)\.tf line")


def corpus(data_dir: Path) -> Iterator[str]:
    """Every configuration of the public corpora."""
    csv.field_size_limit(2**24)
    with (data_dir / "iac_eval.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield row["Reference output"]
    for name in ("checkov_tf.jsonl", "github_tf.jsonl"):
        with (data_dir / name).open(encoding="utf-8") as file:
            yield from filter(None, (json.loads(line)["hcl"] for line in file))


def accepted_by_fmt(terraform: str, texts: Sequence[str], folder: Path) -> list[bool]:
    """What `terraform fmt` says of each text, many files in one call."""
    verdicts: list[bool] = []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    for start in range(0, len(texts), FILES_A_CALL):
        batch = texts[start : start + FILES_A_CALL]
        for index, text in enumerate(batch):
            (folder / f"{index}.tf").write_bytes(text.encode())
        command = [terraform, "fmt", "-no-color", "-write=false", "-list=false"]
        command += [f"{index}.tf" for index in range(len(batch))]
        result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
        said = (result.stdout + result.stderr).decode("utf-8", "replace")
        refused = {int(index) for index in _REFUSED.findall(said)}
        assert result.returncode == (2 if refused else 0), said[-2000:]
        verdicts += [index not in refused for index in range(len(batch))]
    return verdicts


def accepted(text: str) -> bool | None:
    """What the parser says; None where a bound speaks first."""
    try:
        parse(text)
    except HclLimitError:
        return None
    except HclSyntaxError:
        return False
    return True


def disagreements(texts: Sequence[str], verdicts: Sequence[bool]) -> list[tuple[str, bool]]:
    return [
        (text, verdict) for text, verdict in zip(texts, verdicts, strict=True) if accepted(text) not in (verdict, None)
    ]


def test_the_corpora(data_dir: Path, terraform: str, tmp_path: Path) -> None:
    texts = list(corpus(data_dir))
    assert len(texts) > 1_000
    verdicts = accepted_by_fmt(terraform, texts, tmp_path)
    assert disagreements(texts, verdicts) == []
    assert None not in map(accepted, texts)


def test_mutants(data_dir: Path, terraform: str, tmp_path: Path) -> None:
    donors = [text for text in corpus(data_dir) if len(text) < 6_000]
    texts = mutants(SEED, COUNT, donors)
    verdicts = accepted_by_fmt(terraform, texts, tmp_path)
    assert disagreements(texts, verdicts) == []
    # A corpus that is nearly always refused, or nearly never, would prove little.
    assert COUNT / 4 < sum(verdicts) < COUNT * 3 / 4
    assert sum(accepted(text) is None for text in texts) < COUNT / 100


ACCEPTED = [
    "a = 1e5", "a = 1.e", "a = 1.foo", "a = f(1...)", "a = 5 %{}", "a = true()", "a = a.0e1", "a = -1[0]",
    "a = {a ? b : c = d}", "a = <<E\nx\nE \t\n", "a = <<E\nx\nE\u2003\n", 'a = "${b # x\n}"', 'a = "\x00"', "ａ１ = 1",
    "𝐀 = 1", 'a = "\U0010ffff"', "a = {b = 1, b = 2}", "a = [1\n+2]", "a = [a[\n*\n]]", 'a = "$${"',
    'a = "$\u0301{b}"', 'a "$${b}" {}', "\ufeff", "/**/", "//", "a = <<E\n$E\nE\n", "a = <<E\nE\n\n",
    "a = [for true in y : x]", "a = - - b", 'a = "%$${b}"', "a = b ? c : d ? e : f", "a = /* \n */ 1",
    'a = "\\ufffd"', "a = f(b...\n)",
]  # fmt: skip

REFUSED = [
    "a { b = 1 c = 2 }", "a = 1\na = 2", "a = 1 b = 2", "a\n{\n}", "a = {b = 1 c = 2}", 'a = "x\ny"', "a = <<E\nx\nE",
    "a = <<E \nx\nE\n", "a\u00a0= 1", "a = 1\ufeff", "a = local.l.0.0", "a = 1.5.6", "a = b.*.*", "a = 1\rb = 2",
    "a = <<E\nx\ry\nE\n", "a = <<E\nx\nE\x1c\n", 'a = "\\ud83d\\ude00"', 'a = "\\U00110000"', 'a = "\\\n"',
    "a = b.1.5", "a = a[*\n]", 'a = "${b ~ }"', "a = {~}", "a = [for]", "a = f(,)", "a = {,}", "a = [,]",
    "a = f(b...,)", "a = {\nfor = 1}", "a\u200d = 1", "a { b = 1\n}", "a {} b {}", "\ufeff\ufeff",
    "a = 1 /* \n */ b = 2", "/*/", "a = (b,)", "a = f()()", "a = {a::b}",
]  # fmt: skip


def test_odd_texts(terraform: str, tmp_path: Path) -> None:
    assert accepted_by_fmt(terraform, ACCEPTED + REFUSED, tmp_path) == [True] * len(ACCEPTED) + [False] * len(REFUSED)
    assert [text for text in ACCEPTED if not accepted(text)] == []
    assert [text for text in REFUSED if accepted(text)] == []


def test_characters_of_names(terraform: str, tmp_path: Path) -> None:
    starts, continues = range_ends(STARTS), range_ends(CONTINUES)
    good = [f"{chr(code)}{index} = 1" for index, code in enumerate(starts)]
    good += [f"a{chr(code)}{index} = 1" for index, code in enumerate([*starts, *continues])]
    beyond = [code + 1 for code in starts[1::2] if code + 1 not in starts and code + 1 not in continues][::3]
    bad = [f"a{chr(code)} = 1" for code in beyond] + [f"{chr(code)} = 1" for code in continues[::3]]
    texts = ["\n".join(good), *bad]
    assert accepted_by_fmt(terraform, texts, tmp_path) == [True] + [False] * len(bad)
    assert [text for text in texts if accepted(text)] == ["\n".join(good)]


def range_ends(ranges: str) -> list[int]:
    """First and last character of each range."""
    return [int(end, 16) for item in ranges.split() for end in (item.split("-")[0], item.split("-")[-1])]
