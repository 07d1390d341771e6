"""Intent as a part of the reward: a policy or an episode's own demands, behind the gates."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from rl_gym.gym.core import Episode, InfrastructureError
from rl_gym.iac import scan
from rl_gym.iac.corpora import iac_eval_rows
from rl_gym.iac.datasets import iac_eval, unjudged
from rl_gym.iac.intent import POLICY, intent
from rl_gym.iac.intent.judgement import MOST_RESOURCES
from rl_gym.iac.intent.plan_document import plan_document
from rl_gym.iac.intent.rego import PolicyError, policy_passes
from rl_gym.iac.reward import IacAction, make_reward
from rl_gym.wire.score import EpisodeBody

pytest.importorskip("regorus", reason="regorus is not installed: pip install 'rl-gym[opa]'")

RULE = """
package p
default allow = false
allow {
  r := input.configuration.root_module.resources[_]
  r.type == "aws_ebs_volume"
  r.expressions.size.constant_value == 8
}
"""
VOLUME = 'resource "aws_ebs_volume" "v" {\n  availability_zone = "eu-west-1a"\n  size = 8\n  encrypted = true\n}\n'


def episode(policy: str = RULE, **data: Any) -> Episode:
    return Episode("e", "a disk of 8 GB", "iac_eval", {"required": ["aws_ebs_volume"], **data}, {POLICY: policy})


def judged(text: str, **options: Any) -> float | None:
    return intent(scan.read(text), episode(**options))


def test_a_policy_holds_or_does_not() -> None:
    assert judged(VOLUME) == 1.0
    assert judged(VOLUME.replace("8", "9")) == 0.0


def test_an_episode_without_policy_and_demands_leaves_intent_out() -> None:
    assert intent(scan.read(VOLUME), Episode("e", "a disk", "checkov", {"required": []})) is None


@pytest.mark.parametrize(
    "text",
    [
        VOLUME.replace("  size", "  count = 0\n  size"),
        'variable "n" {}\n' + VOLUME.replace("  size", "  count = var.n\n  size"),
        "/*\n" + VOLUME + "*/\n",
    ],
)
def test_a_decoy_that_is_not_surely_created_says_nothing(text: str) -> None:
    wrong = VOLUME.replace('"v"', '"w"').replace("8", "9")
    assert judged(text) == 0.0
    assert judged(text + wrong) == 0.0


@pytest.mark.parametrize(
    "text", [VOLUME.replace("  size", "  count = 0\n  size"), 'resource "aws_ebs_volume" "v" {}\n', ""]
)
def test_the_gates_come_first(text: str) -> None:
    always = "package p\ndefault allow = false\nallow { true }\n"
    reward = make_reward("default@2", "base")
    assert reward.score(IacAction(text), episode(always)).reward == 0.0
    assert reward.score(IacAction(VOLUME), episode(always)).components["intent"] == 1.0


def test_more_resources_than_a_policy_is_asked_about_are_not_what_was_asked_for() -> None:
    many = VOLUME + f'resource "aws_sqs_queue" "q" {{\n  count = {MOST_RESOURCES}\n}}\n'
    assert judged(many) == 0.0


def test_a_document_beyond_the_bound_is_refused_before_it_is_written() -> None:
    tags = ", ".join(f"t{n} = local.s" for n in range(100))
    text = f'locals {{\n  s = join("", [for i in range(900) : "{"x" * 100}"])\n}}\n' + VOLUME
    assert judged(text.replace("  size", f"  tags = {{ {tags} }}\n  size")) == 0.0


def test_a_policy_that_fails_is_a_fault_of_ours() -> None:
    with pytest.raises(InfrastructureError):
        judged(VOLUME, policy="package p\ndefault a = false\na { count(null) == 1 }\n")


def test_the_policy_travels_with_its_episode_and_is_no_part_of_its_identity() -> None:
    original = episode()
    travelled = Episode.from_dict(json.loads(json.dumps(original.to_dict())))
    assert travelled == original
    assert EpisodeBody.model_validate_json(EpisodeBody.of(original).model_dump_json()).to_episode() == original
    assert travelled.hash == Episode("x", original.request, "", original.data).hash


def test_policies_of_iac_eval_pass_their_own_references_or_are_listed_with_a_cause(data_dir: Path) -> None:
    passed, wrongly_judged = set(), []
    for number, row in enumerate(iac_eval_rows(data_dir)):
        context = scan.read(row["Reference output"])
        assert context.module is not None
        try:
            if policy_passes(row["Rego intent"], plan_document(context.configuration, context.module)):
                passed.add(number)
        except PolicyError:
            pass
        if number not in passed and number not in unjudged():
            wrongly_judged.append(number)
    assert len(passed) >= 333
    assert wrongly_judged == []
    slow = {number for number in unjudged() if "takes seconds" in unjudged()[number]}
    assert passed & unjudged().keys() == slow
    assert all(unjudged().values())


def test_episodes_of_iac_eval_are_judged_by_their_policies(data_dir: Path) -> None:
    for one in iac_eval(data_dir).episodes:
        listed = int(one.id.rpartition("-")[2]) in unjudged()
        found = intent(scan.read(one.data["reference"]), one)
        assert found == (None if listed else 1.0)


def test_real_plans_are_judged_as_the_labels_say(data_dir: Path) -> None:
    labels = data_dir / "terraform_labels.jsonl"
    if not labels.is_file():
        pytest.skip(f"no labels in {data_dir}")
    rows = iac_eval_rows(data_dir)
    for line in labels.read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        path = data_dir / "plans" / f"iac_eval-{label['row']}.json.gz"
        if label["source"] == "iac_eval" and label.get("policy") in ("pass", "fail") and path.is_file():
            plan = json.loads(gzip.decompress(path.read_bytes()))
            assert policy_passes(rows[label["row"]]["Rego intent"], plan) == (label["policy"] == "pass")
