"""Public corpora as episodes: a request, the types that it requires, and the answer that a person wrote."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from rl_gym.gym.core import Episode
from rl_gym.hcl import HclError, Limits, parse
from rl_gym.hcl.limits import COMPLETION
from rl_gym.iac.corpora import IAC_EVAL_FILE, iac_eval_rows, json_rows
from rl_gym.iac.intent import POLICY

__all__ = [
    "FILES",
    "Corpus",
    "Dropped",
    "checkov",
    "checkov_request",
    "iac_eval",
    "in_words",
    "managed_types",
    "modules",
    "unjudged",
]

FILES = {"iac_eval": IAC_EVAL_FILE, "checkov": "checkov_tf.jsonl", "module": "github_tf.jsonl"}
"""Where each source of episodes lies in the folder of the corpora."""

POLICIES = "iac_eval_policies.txt"
"""The rows of IaC-Eval whose policy does not judge, each with the cause, among the data of the package."""

_MOST_TYPES = 8


@dataclass(frozen=True, slots=True)
class Dropped:
    """A row that makes no episode, and why."""

    row: str
    reason: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """The episodes of a corpus, and the rows that make none."""

    episodes: Sequence[Episode]
    dropped: Sequence[Dropped]


def iac_eval(folder: Path | None, *, cache: Path | None = None, fetch: bool = True) -> Corpus:
    """IaC-Eval: 455 of 458 rows; the three others ask for a data source alone, so that nothing is built.

    Required are the managed types of the row's `Resource` column that its reference builds: the column also names data
    sources, and resources that the reference does without. A row's Rego policy judges its episode where the row's own
    reference passes it.
    """
    episodes: list[Episode] = []
    dropped: list[Dropped] = []
    for number, row in enumerate(iac_eval_rows(folder, cache=cache, fetch=fetch)):
        reference = row["Reference output"].strip() + "\n"
        built = managed_types(reference)
        named = (name.strip() for name in row["Resource"].split(","))
        required = [name for name in dict.fromkeys(named) if name in built]
        if not required:
            dropped.append(Dropped(f"iac-eval-{number}", "its reference builds none of the resources that it names"))
            continue
        data = {"required": required, "reference": reference, "difficulty": int(row["Difficulty"])}
        judging = {} if number in unjudged() else {POLICY: row["Rego intent"].strip() + "\n"}
        episodes.append(Episode(f"iac-eval-{number}", row["Prompt"].strip(), "iac_eval", data, judging))
    return Corpus(episodes, dropped)


@cache
def unjudged() -> Mapping[int, str]:
    """The rows of IaC-Eval, from 0, whose policy does not judge, each with the cause."""
    text = (resources.files("rl_gym.iac") / "data" / POLICIES).read_text(encoding="utf-8")
    lines = (line.partition("\t") for line in text.splitlines() if not line.startswith("#"))
    return {int(number): cause for number, _, cause in lines}


def checkov(folder: Path | None) -> Corpus:
    """Requests from the resource types of the Checkov project's test configurations, one for each set of types."""
    return _templated(json_rows(folder, FILES["checkov"]), "checkov", _CHECKOV_WORDINGS)


def checkov_request(name: str, types: Sequence[str]) -> str:
    """The request of an episode of `checkov`, by its id and what it requires."""
    return _request(name, types, _CHECKOV_WORDINGS)


def modules(folder: Path | None) -> Corpus:
    """Requests from the resource types of public module files, one for each set of types."""
    return _templated(json_rows(folder, FILES["module"]), "module", _MODULE_WORDINGS)


_CHECKOV_WORDINGS = (
    "Write a Terraform configuration for AWS that contains: {types}.",
    "I need the following on AWS, ready to apply: {types}.",
    "Our platform team asks for {types}. Follow good security practice.",
    "{types}, please, with sensible settings.",
)
_MODULE_WORDINGS = (
    "Draft infrastructure code with {types}.",
    "Could you put together {types} for a new account?",
    "New module wanted. Contents: {types}.",
)
_GONE = frozenset(
    {
        "aws_db_security_group",
        "aws_elasticache_security_group",
        "aws_redshift_security_group",
        "aws_something",
        "aws_xyz",
    }
)
"""Types that the provider does not have: EC2-Classic's groups, and two inventions of test files."""

_ACRONYMS = """
    acl acm ami api aws cidr db dlm dms dns dx ebs ec2 ecr ecs efs eip eks elb emr fsx iam kms lb mfa mq msk mwaa nat
    ram rds s3 ses sns sqs ssm ssl tls vpc vpn waf wafv2
"""


def _templated(rows: Iterable[Mapping[str, Any]], source: str, wordings: Sequence[str]) -> Corpus:
    episodes: dict[tuple[str, ...], Episode] = {}
    dropped: list[Dropped] = []
    for row in rows:
        name, text = str(row["id"]), row["hcl"]
        try:
            required = list(managed_types(text or ""))
        except HclError as error:
            dropped.append(Dropped(name, f"not well formed: {error.message}"))
            continue
        kinds = tuple(sorted(required))
        if not required or not all(kind.startswith("aws_") for kind in kinds):
            dropped.append(Dropped(name, "no text" if not text else "builds nothing, or not for AWS alone"))
        elif _GONE.intersection(kinds):
            dropped.append(Dropped(name, "asks for a type that the provider does not have"))
        elif len(required) > _MOST_TYPES:
            dropped.append(Dropped(name, f"more than {_MOST_TYPES} types"))
        elif kinds in episodes:
            dropped.append(Dropped(name, f"the same types as {episodes[kinds].id}"))
        else:
            data = {"required": required, "reference": text.rstrip() + "\n"}
            episodes[kinds] = Episode(name, _request(name, required, wordings), source, data)
    return Corpus(list(episodes.values()), dropped)


def managed_types(text: str, limits: Limits = COMPLETION) -> dict[str, None]:
    """The types of the text's resource blocks, each once, in order; raises HclError."""
    blocks = parse(text, limits=limits).body.blocks_of("resource")
    return dict.fromkeys(block.labels[0] for block in blocks if block.labels)


def _request(name: str, types: Sequence[str], wordings: Sequence[str]) -> str:
    """A wording chosen by the row's name: half of them in words, half with the types as Terraform spells them."""
    draw = hashlib.sha256(name.encode()).digest()
    said = [in_words(kind) if draw[0] % 2 else kind for kind in types]
    listed = said[0] if len(said) == 1 else ", ".join(said[:-1]) + " and " + said[-1]
    text = wordings[draw[1] % len(wordings)].format(types=listed)
    return text[0].upper() + text[1:] if draw[0] % 2 else text


def in_words(kind: str) -> str:
    """A resource type as one may say it: `aws_s3_bucket` is an S3 bucket."""
    words = re.sub(r"^aws_", "", kind).split("_")
    return " ".join(word.upper() if word in _ACRONYMS.split() else word for word in words)
