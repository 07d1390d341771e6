"""What means the same is judged the same, whatever it looks like; more that nobody asked for earns no more."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rl_gym.gym.core import Episode, score_completion
from rl_gym.hcl import HclError, parse
from rl_gym.iac.environment import make
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.scan import scan
from rl_gym.iac.tasks.parametric import make_episode, render
from tests.unit.iac.metamorphic.rewrites import REWRITES

RULES = frozenset(rule.id for rule in get_ruleset("base+drift").rules)
ENVIRONMENT = make()
CASES = Path(__file__).parents[1] / "rules" / "cases"
SEEDS = st.integers(min_value=0, max_value=10**6)
CHOSEN = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@cache
def case_texts() -> list[str]:
    """The readable texts among the rules' cases, which hold every form that the rules know."""
    found = []
    for path in sorted(CASES.glob("*.hcl")):
        for case in path.read_text().split("#### ")[1:]:
            text = case.partition("\n")[2]
            try:
                parse(text)
            except HclError:
                continue
            found.append(text)
    return found


def written(seed: int) -> tuple[Episode, str]:
    """An episode and an answer as people write it, between floor and oracle."""
    rng = Random(seed)
    episode = make_episode(seed % 5000)
    return episode, render(episode, rng.choice((0.2, 0.5, 0.9)), rng, RULES)


def judgement(text: str) -> dict[str, Any]:
    """All that a scan says but for names and places."""
    report = scan(text, ruleset="base+drift")
    return {
        "valid": report.valid,
        "verdicts": dict(report.verdicts),
        "results": Counter((result.rule, result.verdict) for result in report.results),
        "gates": dict(report.gates),
        "problems": Counter(problem.kind for problem in report.problems),
        "security": report.security,
    }


@pytest.mark.parametrize("name", REWRITES)
@CHOSEN
@given(seed=SEEDS, times=st.integers(min_value=1, max_value=3))
def test_a_rewrite_of_an_answer_changes_no_verdict(name: str, seed: int, times: int) -> None:
    _, text = written(seed)
    rng = Random(seed)
    rewritten = text
    for _ in range(times):
        rewritten = REWRITES[name](rewritten, rng)
    assert judgement(rewritten) == judgement(text)


@pytest.mark.parametrize("name", REWRITES)
@CHOSEN
@given(seed=SEEDS)
def test_a_rewrite_of_a_case_changes_no_verdict(name: str, seed: int) -> None:
    text = case_texts()[seed % len(case_texts())]
    assert judgement(REWRITES[name](text, Random(seed))) == judgement(text)


@CHOSEN
@given(seed=SEEDS)
def test_all_rewrites_together_change_no_verdict(seed: int) -> None:
    _, text = written(seed)
    rng = Random(seed)
    rewritten = text
    for name in rng.sample(sorted(REWRITES), len(REWRITES)):
        rewritten = REWRITES[name](rewritten, rng)
    assert judgement(rewritten) == judgement(text)


# ---- one policy in every form ----------------------------------------------------------------------------------------

ACTIONS = ("s3:GetObject", "s3:*", "*", "iam:PassRole", "ec2:Describe*", "kms:Decrypt", "sts:AssumeRole", "sqs:Send*")
RESOURCES = ("*", "arn:aws:s3:::acme/*", "arn:aws:iam::123456789012:role/app")
CONDITIONS: tuple[tuple[str, str, list[str]] | None, ...] = (
    None,
    ("Bool", "aws:SecureTransport", ["true"]),
    ("StringEquals", "aws:PrincipalOrgID", ["o-abc123"]),
)
STATEMENTS = st.lists(
    st.fixed_dictionaries(
        {
            "effect": st.sampled_from(("Allow", "Allow", "Deny")),
            "actions": st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=3, unique=True),
            "negated": st.sampled_from((False, False, False, True)),
            "resources": st.lists(st.sampled_from(RESOURCES), min_size=1, max_size=2, unique=True),
            "principal": st.sampled_from(("*", "123456789012", "arn:aws:iam::123456789012:role/app")),
            "condition": st.sampled_from(CONDITIONS),
        }
    ),
    min_size=1,
    max_size=3,
)
CARRIERS = {
    "aws_iam_policy": ('  name   = "p"\n  policy = ', False),
    "aws_iam_role": ('  name               = "r"\n  assume_role_policy = ', True),
    "aws_s3_bucket_policy": ('  bucket = "acme"\n  policy = ', True),
    "aws_sqs_queue_policy": (
        '  queue_url = "https://sqs.eu-west-1.amazonaws.com/123456789012/q"\n  policy    = ',
        True,
    ),
    "aws_kms_key": ("  enable_key_rotation = true\n  policy              = ", True),
}


def as_json(statements: list[dict[str, Any]], principals: bool) -> dict[str, Any]:
    found = []
    for one in statements:
        statement: dict[str, Any] = {
            "Effect": one["effect"],
            "NotAction" if one["negated"] else "Action": one["actions"],
            "Resource": one["resources"],
        }
        if principals:
            statement["Principal"] = {"AWS": [one["principal"]]}
        if one["condition"]:
            test, key, values = one["condition"]
            statement["Condition"] = {test: {key: values}}
        found.append(statement)
    return {"Version": "2012-10-17", "Statement": found}


def as_document(statements: list[dict[str, Any]], principals: bool) -> str:
    lines = ['data "aws_iam_policy_document" "d" {']
    for one in statements:
        lines += ["  statement {", f'    effect = "{one["effect"]}"']
        lines += [f"    {'not_actions' if one['negated'] else 'actions'} = {json.dumps(one['actions'])}"]
        lines += [f"    resources = {json.dumps(one['resources'])}"]
        if principals:
            lines += [
                "    principals {",
                '      type = "AWS"',
                f"      identifiers = {json.dumps([one['principal']])}",
                "    }",
            ]
        if one["condition"]:
            test, key, values = one["condition"]
            lines += ["    condition {", f'      test = "{test}"', f'      variable = "{key}"']
            lines += [f"      values = {json.dumps(values)}", "    }"]
        lines += ["  }"]
    return "\n".join([*lines, "}", ""])


def policy_forms(kind: str, statements: list[dict[str, Any]]) -> Mapping[str, str]:
    """One policy as jsonencode, as a heredoc, as a string, through a local, and as a document."""
    head, principals = CARRIERS[kind]
    document = as_json(statements, principals)
    text = json.dumps(document)

    def carrier(policy: str) -> str:
        return f'resource "{kind}" "c" {{\n{head}{policy}\n}}\n'

    return {
        "jsonencode": carrier(f"jsonencode({text})"),
        "heredoc": carrier(f"<<-EOT\n{json.dumps(document, indent=2)}\nEOT"),
        "string": carrier(json.dumps(text)),
        "local": f"locals {{\n  p = {text}\n}}\n" + carrier("jsonencode(local.p)"),
        "variable": f'variable "p" {{\n  default = {json.dumps(text)}\n}}\n' + carrier("var.p"),
        "document": as_document(statements, principals) + carrier("data.aws_iam_policy_document.d.json"),
        "single": carrier(f"jsonencode({json.dumps(_unlisted(document))})"),
    }


def _unlisted(document: dict[str, Any]) -> dict[str, Any]:
    """The document with lists of one written as that one."""
    rows = [
        {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in statement.items()}
        for statement in document["Statement"]
    ]
    return {**document, "Statement": rows[0] if len(rows) == 1 else rows}


@pytest.mark.parametrize("kind", CARRIERS)
@CHOSEN
@given(statements=STATEMENTS)
def test_a_policy_is_judged_alike_in_every_form(kind: str, statements: list[dict[str, Any]]) -> None:
    judged = {form: judgement(text)["results"] for form, text in policy_forms(kind, statements).items()}
    assert all(found == judged["jsonencode"] for found in judged.values()), judged


# ---- more and less ---------------------------------------------------------------------------------------------------


@CHOSEN
@given(seed=SEEDS, other=SEEDS)
def test_resources_that_nobody_asked_for_never_raise_a_reward(seed: int, other: int) -> None:
    episode, text = written(seed)
    _, more = written(other)
    more = REWRITES["rename"](more, Random(other))
    plain = score_completion(ENVIRONMENT, text, episode).reward
    extra = [more[block.start : block.end] for block in parse(more).body.blocks]
    for block in extra:
        assert score_completion(ENVIRONMENT, f"{text}\n{block}\n", episode).reward <= plain
    assert score_completion(ENVIRONMENT, "\n\n".join([text, *extra]) + "\n", episode).reward <= plain


@CHOSEN
@given(seed=SEEDS, rule=st.sampled_from(sorted(RULES)))
def test_removing_a_finding_never_lowers_a_reward(seed: int, rule: str) -> None:
    rng = Random(seed)
    episode = make_episode(seed % 5000)
    broken = {one: 0.0 for one in RULES if rng.random() < 0.3} | {rule: 0.0}
    worse = render(episode, broken, Random(seed), RULES)
    better = render(episode, {**broken, rule: 1.0}, Random(seed), RULES)
    assert score_completion(ENVIRONMENT, better, episode).reward >= score_completion(ENVIRONMENT, worse, episode).reward
