"""How often the rules and Checkov are wrong, on labelled inputs, and where the two disagree on real ones.

    python bench/accuracy.py [DATA_FOLDER] > docs/accuracy.md

DATA_FOLDER defaults to `RL_GYM_DATA`, else `../shared/data` beside the checkout; Checkov is that of `make checkov`. A
rule is compared with the Checkov checks among its references, on the same resource. `accuracy.toml` holds what was
found by looking at each class of disagreement; a class that nobody has looked at is said to be so.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from rl_gym import __version__
from rl_gym.gym.statistics import wilson
from rl_gym.hcl.limits import FILES
from rl_gym.iac.corpora import iac_eval_rows, json_rows
from rl_gym.iac.engines import EngineReport
from rl_gym.iac.engines.checkov import CheckovEngine
from rl_gym.iac.report import ScanReport
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.scan import scan
from rl_gym.infra.errors import RlGymError

ROOT = Path(__file__).resolve().parents[1]
RULESET = get_ruleset("base+drift")
CHECKS = {rule.id: frozenset(name for name in rule.references if name.startswith("CKV")) for rule in RULESET.rules}
UNSEEN = "Not looked at yet."
EXAMPLES = 3
"""How many places are named for a class of disagreement."""
Word = Literal["pass", "fail", "unknown", "na"]
JUDGES = ("rl-gym", "Checkov")
NOTES = tomllib.loads((ROOT / "bench" / "accuracy.toml").read_text())


class Text(NamedTuple):
    """A configuration and where it is from; `row` counts from 0."""

    source: str
    row: int
    hcl: str


class Case(NamedTuple):
    """A configuration with the right verdict of one rule."""

    rule: str
    expected: Word
    hcl: str


@dataclass(frozen=True)
class Judged:
    """What the two judges said of one configuration."""

    rules: ScanReport
    checkov: EngineReport

    def by_address(self, rule: str, checks: frozenset[str]) -> dict[str, tuple[Word, Word]]:
        """Our word and Checkov's on each resource that either of them judged; a fault by any check is a fault."""
        ours: dict[str, Word] = {one.address: one.verdict for one in self.rules.results if one.rule == rule}
        theirs: dict[str, Word] = {address: "pass" for check, address in self.checkov.passed if check in checks}
        theirs |= {one.address: "fail" for one in self.checkov.findings if one.rule in checks}
        return {name: (ours.get(name, "na"), theirs.get(name, "na")) for name in {**ours, **theirs}}

    def overall(self, rule: str) -> tuple[Word, Word]:
        """The two words on the whole configuration."""
        theirs = {word for _, word in self.by_address(rule, CHECKS[rule]).values()}
        return self.rules.verdicts[rule], "fail" if "fail" in theirs else "pass" if "pass" in theirs else "na"


@dataclass
class Counts:
    """One judge's words on labelled inputs: by the right verdict and the word that was given."""

    words: Counter[tuple[Word, Word]] = field(default_factory=Counter)

    def rate(self, expected: Word, wrong: Callable[[Word], bool]) -> str:
        n = sum(count for (right, _), count in self.words.items() if right == expected)
        if n == 0:
            return "-"
        k = sum(count for (right, word), count in self.words.items() if right == expected and wrong(word))
        interval = wilson(k, n)
        return f"{k}/{n} = {interval.estimate:.1%} [{interval.low:.1%}, {interval.high:.1%}]"

    def row(self) -> list[str]:
        """False positives of what is right, and false negatives of what is wrong: unsure is a miss, not an alarm."""
        return [self.rate("pass", lambda word: word == "fail"), self.rate("fail", lambda word: word != "fail")]


Pair = tuple[Counts, Counts]
"""Ours and Checkov's."""


def new_pair() -> Pair:
    return Counts(), Counts()


def main() -> None:
    default = os.environ.get("RL_GYM_DATA") or ROOT.parent / "shared" / "data"
    data = Path(sys.argv[1] if len(sys.argv) > 1 else default)
    engine = CheckovEngine(workers=1)
    health = engine.health()
    if health.status != "answered":
        sys.exit(f"error: {health.detail}")
    corpus_texts = list(texts(data))

    def judge(hcl: str) -> Judged | None:
        name = "main.tf.json" if hcl.lstrip().startswith("{") else "main.tf"
        theirs = engine.scan({name: hcl})
        ours = scan(None, files={name: hcl}, ruleset=RULESET, limits=FILES)
        return Judged(ours, theirs) if ours.valid and theirs.status == "answered" else None

    print(
        HEAD.format(date=datetime.now(UTC).date(), version=__version__, checkov=health.version, digest=RULESET.digest)
    )
    print("## Our own labels\n")
    report_cases(list(own_cases(data)), judge)
    corpus = [(text, judged) for text in corpus_texts if (judged := judge(text.hcl))]
    print("\n## Labels that are not ours\n")
    report_named(corpus)
    print("\n## Agreement on the corpus\n")
    report_agreement(corpus)
    engine.close()


HEAD = """\
# How often the verifier is wrong

`python bench/accuracy.py > docs/accuracy.md` made this page on {date}: rl-gym {version}, ruleset `base+drift`
({digest}), Checkov {checkov} by warm workers, AWS checks only, suppression comments ignored. A rule is compared with
the Checkov checks among its references (`rl-gym explain RULE`): the nearest ones, not always the same question. False
positives are counted over what is right, false negatives over what is wrong; a verdict of unknown, or none at all, is
no alarm, so it is a miss where something is wrong. Intervals are Wilson's, 95%.
"""


# ---- labelled inputs -------------------------------------------------------------------------------------------------


def own_cases(data: Path) -> Iterator[Case]:
    """The cases of the rules' tests, and the labelled verdicts beside the data folder, where Checkov has a check."""
    for path in sorted((ROOT / "tests" / "unit" / "iac" / "rules" / "cases").glob("*.hcl")):
        for text in path.read_text().split("#### ")[1:]:
            head, _, hcl = text.partition("\n")
            rule, expected, _ = head.split(": ", 2)
            if CHECKS.get(rule) and expected in ("pass", "fail"):
                yield Case(rule, "pass" if expected == "pass" else "fail", hcl)
    for row in json_rows(data.parent / "cases", "verdicts.jsonl"):
        if CHECKS.get(row["rule"]) and row["expect"] in ("pass", "fail"):
            yield Case(row["rule"], row["expect"], row["hcl"])


OWN = """\
{n} configurations that we wrote and labelled, for the rules for which Checkov has a check, each judged by its one rule.
The rules were written against most of them, so our column shows that they do what was meant, not how they do elsewhere;
they were chosen to be hard, so Checkov's column is no estimate of its rates on ordinary files. Left out: {unread} that
Checkov does not read, nearly all in JSON syntax.
"""


def report_cases(cases: Sequence[Case], judge: Callable[[str], Judged | None]) -> None:
    counts: defaultdict[str, Pair] = defaultdict(new_pair)
    unread = 0
    for case in cases:
        judged = judge(case.hcl)
        if judged is None:
            unread += 1
            continue
        for judge_counts, word in zip(counts[case.rule], judged.overall(case.rule), strict=True):
            judge_counts.words[case.expected, word] += 1
    print(OWN.format(n=len(cases) - unread, unread=unread))
    print_rates(counts)


NAMED = """\
{configurations} configurations of the Checkov project whose resources are named `pass` or `fail`: what a resource
should be is its name, and which rule and check its configuration is about was told from the text (`accuracy.toml`).
They are Checkov's own tests, so its column shows that it passes them.
"""


def report_named(corpus: Sequence[tuple[Text, Judged]]) -> None:
    counts: defaultdict[str, Pair] = defaultdict(new_pair)
    subjects = NOTES["subjects"]
    rows = {str(text.row): judged for text, judged in corpus if text.source == "checkov_tf"}
    remarks: list[str] = []
    for row, (rule, check, *remark) in subjects.items():
        wrong: list[str] = []
        for address, words in rows[row].by_address(rule, frozenset({check})).items():
            label = name_label(address)
            if label is None:
                continue
            for judge_counts, word in zip(counts[rule], words, strict=True):
                judge_counts.words[label, word] += 1
            if (words[0] == "fail") != (label == "fail"):
                wrong.append(f"`{address}` ({words[0]})")
        if wrong:
            remarks.append(f"- row {row}, `{rule}`: {', '.join(wrong)}. {' '.join(remark) or UNSEEN}")
    print(NAMED.format(configurations=len(subjects)))
    print_rates(counts)
    print("\nWhere the rule differs from the name, with its word:\n")
    print("\n".join(remarks))


def name_label(address: str) -> Word | None:
    found = re.search("pass|fail", address.split("[")[0].rpartition(".")[2])
    return None if found is None else "pass" if found[0] == "pass" else "fail"


def print_rates(counts: Mapping[str, Pair]) -> None:
    rows = [[f"`{rule}`", *ours.row(), *theirs.row()] for rule, (ours, theirs) in sorted(counts.items())]
    totals = [Counts(sum((pair[judge].words for pair in counts.values()), Counter())) for judge in (0, 1)]
    rows.insert(0, ["**all**", *totals[0].row(), *totals[1].row()])
    print_table(["rule", *(f"{judge}: false {kind}" for judge in JUDGES for kind in ("positives", "negatives"))], rows)


# ---- the corpus ------------------------------------------------------------------------------------------------------


def texts(data: Path) -> Iterator[Text]:
    for name in ("checkov_tf", "github_tf"):
        for row, values in enumerate(json_rows(data, f"{name}.jsonl")):
            if values["hcl"]:
                yield Text(name, row, values["hcl"])
    for row, values in enumerate(iac_eval_rows(data)):
        yield Text("iac_eval", row, values["Reference output"])


AGREEMENT = """\
{configurations} configurations that both can read: the references of IaC-Eval, Checkov's own tests and module files of
public repositories. Of {n} verdicts of a rule on a resource that Checkov judges by the same question, {alike}
({share:.1%}) are the same. Columns: our word, then Checkov's.
"""

CLASSES = """
### Each class of disagreement

With the number of places and the first of them; rows count from 0.
"""


def report_agreement(corpus: Sequence[tuple[Text, Judged]]) -> None:
    tables: defaultdict[str, Counter[tuple[Word, Word]]] = defaultdict(Counter)
    places: defaultdict[tuple[str, Word, Word], list[str]] = defaultdict(list)
    for text, judged in corpus:
        for rule in RULESET.rules:
            if not CHECKS[rule.id]:
                continue
            for address, words in judged.by_address(rule.id, CHECKS[rule.id]).items():
                if "na" not in words:
                    tables[rule.id][words] += 1
                    places[rule.id, *words].append(f"{text.source} {text.row} `{address}`")
    n = sum(sum(table.values()) for table in tables.values())
    alike = sum(table["pass", "pass"] + table["fail", "fail"] for table in tables.values())
    print(AGREEMENT.format(configurations=len(corpus), n=n, alike=alike, share=alike / n))
    order: list[tuple[Word, Word]] = [("pass", "pass"), ("fail", "fail"), ("fail", "pass"), ("pass", "fail")]
    order += [("unknown", "pass"), ("unknown", "fail")]
    rows = [[f"`{rule}`", *(str(table[words]) for words in order)] for rule, table in sorted(tables.items())]
    print_table(["rule", *(" / ".join(words) for words in order)], rows)
    print(CLASSES)
    for (name, ours, theirs), where in sorted(places.items()):
        if ours != theirs:
            seen, reason = NOTES.get(name, {}).get(f"{ours}-{theirs}", (len(where), UNSEEN))
            if len(where) > seen:
                reason += f" ({len(where) - seen} more since this was written.)"
            print(f"- **`{name}`: {ours}, Checkov {theirs}** ({len(where)}: {', '.join(where[:EXAMPLES])}). {reason}")


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    try:
        main()
    except RlGymError as error:
        sys.exit(f"error: {error}")
