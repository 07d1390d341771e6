"""The static plan document, beside the plans that Terraform made of the same configurations."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

import pytest

from rl_gym.iac import scan
from rl_gym.iac.corpora import iac_eval_rows
from rl_gym.iac.intent.plan_document import plan_document
from rl_gym.iac.intent.planned import planned

CAUSES = {
    ("aws_cloudwatch_metric_alarm", "insufficient_data_actions"): "an empty set is null to the provider",
    ("aws_dynamodb_table", "ttl.attribute_name"): "the provider drops what a TTL that is off is on",
    (
        "aws_kendra_index",
        "document_metadata_configuration_updates.relevance.values_importance_map",
    ): "an empty map in a set of blocks is null to the provider",
    ("aws_lightsail_certificate", "subject_alternative_names"): "the provider adds the domain itself",
}
"""Why a value that a configuration sets is another one in the plan."""

UNTOLD = {
    ("aws_connect_bot_association", "lex_bot"): "the provider looks up its own region",
    ("aws_elastic_beanstalk_environment", "setting"): "blocks of a set stand in another order in the plan",
    ("aws_sagemaker_model", "primary_container"): "the provider looks the image up in a table of its own",
}
"""Why a plan knows more of an argument than the configuration tells."""

Row = tuple[str, dict[str, Any]]


def document(text: str, **options: Any) -> dict[str, Any]:
    context = scan.read(text)
    assert context.module is not None
    return plan_document(context.configuration, context.module, **options)


@pytest.fixture(scope="module")
def plans(data_dir: Path) -> list[Row]:
    """References of IaC-Eval with the plans that Terraform made of them."""
    if not (data_dir / "plans").is_dir():
        pytest.skip(f"no plans in {data_dir}")
    found = []
    for number, row in enumerate(iac_eval_rows(data_dir)):
        path = data_dir / "plans" / f"iac_eval-{number}.json.gz"
        if path.is_file():
            found.append((row["Reference output"], json.loads(gzip.decompress(path.read_bytes()))))
    return found


def leaves(ours: Mapping[str, Any], theirs: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Each value that is set and known, with its path and what the plan has there; blocks of a set in any order."""
    for name, value in ours.items():
        other, path = theirs.get(name), f"{place}{name}"
        if is_blocks(value) and is_blocks(other) and len(value) == len(other):
            left = list(other)
            for block in value:
                nearest = max(left, key=lambda one: sum(one.get(key) == item for key, item in block.items()))
                left.remove(nearest)
                yield from leaves(block, nearest, f"{path}.")
        else:
            yield path, value, other


def is_blocks(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def in_any_order(value: Any) -> Any:
    return sorted(map(json.dumps, value)) if isinstance(value, list) else value


def test_what_is_set_and_known_is_as_terraform_plans_it(plans: list[Row]) -> None:
    same, other, unexplained = 0, 0, set()
    for text, plan in plans:
        changes = {one["address"]: one["change"]["after"] for one in plan["resource_changes"]}
        for resource in scan.read(text).configuration.resources():
            for path, ours, theirs in leaves(planned(resource, filled=False).known, changes[resource.address]):
                if in_any_order(ours) == in_any_order(theirs):
                    same += 1
                else:
                    other += 1
                    unexplained |= {(resource.type, path)} - CAUSES.keys()
    assert unexplained == set()
    assert same > 3_400
    assert same / (same + other) >= 0.98


def test_what_terraform_knows_of_an_argument_is_known(plans: list[Row]) -> None:
    untold = set()
    for text, plan in plans:
        changes = {one["address"]: one["change"] for one in plan["resource_changes"]}
        for resource in scan.read(text).configuration.resources():
            unknown, change = planned(resource, filled=False).unknown, changes[resource.address]
            for name in unknown.keys() & resource.attributes().keys():
                if known_leaves(change["after"].get(name), unknown[name]):
                    untold.add((resource.type, name))
    assert untold == UNTOLD.keys()


def known_leaves(value: Any, unknown: Any) -> bool:
    """Whether there is a value where the places of `unknown` say that there is none."""
    if unknown is True:
        return value is not None
    if isinstance(unknown, list) and isinstance(value, list):
        return any(known_leaves(item, place) for item, place in zip(value, unknown, strict=False))
    if isinstance(unknown, dict) and isinstance(value, dict):
        return any(known_leaves(value.get(name), place) for name, place in unknown.items())
    return False


def test_the_configuration_is_told_as_terraform_tells_it(plans: list[Row]) -> None:
    for text, plan in plans:
        ours = {one["address"]: one for one in document(text)["configuration"]["root_module"]["resources"]}
        for theirs in plan["configuration"]["root_module"]["resources"]:
            assert ours[theirs["address"]] == {key: item for key, item in theirs.items() if key != "schema_version"}


def test_the_same_resources_are_planned(plans: list[Row]) -> None:
    for text, plan in plans:
        ours = document(text)
        for part in ("address", "index", "mode", "type", "name", "provider_name"):
            told = [one.get(part) for one in ours["resource_changes"]]
            assert sorted(map(str, told)) == sorted(str(one.get(part)) for one in plan["resource_changes"])


def test_a_default_of_the_provider_is_never_other_than_in_a_plan(plans: list[Row]) -> None:
    for text, plan in plans:
        changes = {one["address"]: one["change"]["after"] for one in plan["resource_changes"]}
        for resource in scan.read(text).configuration.resources():
            plain, filled = planned(resource, filled=False).known, planned(resource).known
            for name in filled.keys() - plain.keys():
                assert changes[resource.address].get(name) == filled[name]


def test_unknown_values_are_absent_and_told_apart() -> None:
    found = document(
        """
        resource "aws_kms_key" "k" {}
        resource "aws_ebs_volume" "v" {
          availability_zone = "eu-west-1a"
          size              = "8"
          kms_key_id        = aws_kms_key.k.arn
        }
        """
    )
    change = found["resource_changes"][0]["change"]
    assert change["after"]["size"] == 8
    assert "kms_key_id" not in change["after"]
    assert change["after_unknown"]["kms_key_id"] is True
    (volume,) = (r for r in found["planned_values"]["root_module"]["resources"] if r["name"] == "v")
    assert volume["values"] == change["after"]


def test_blocks_that_are_an_argument_to_the_provider_are_told_as_its_value() -> None:
    text = (
        'resource "aws_security_group" "g" {\n  ingress {\n    from_port = "22"\n    to_port = 22\n    protocol = -1\n'
        '    cidr_blocks = ["10.0.0.0/8"]\n  }\n}\n'
    )
    found = document(text)
    (planned_rule,) = found["resource_changes"][0]["change"]["after"]["ingress"]
    assert (planned_rule["protocol"], planned_rule["from_port"], planned_rule["self"]) == ("-1", 22, False)
    told = found["configuration"]["root_module"]["resources"][0]["expressions"]["ingress"]
    assert told["constant_value"][0]["protocol"] == "-1"
    assert told["constant_value"][0]["self"] is None


def test_user_data_of_an_instance_is_shown_by_its_digest() -> None:
    found = document('resource "aws_instance" "i" {\n  ami = "ami-1"\n  user_data = "#!/bin/sh\\necho hi\\n"\n}\n')
    assert found["resource_changes"][0]["change"]["after"]["user_data"] == "b2b62c101a156f5f12dd7197cf7ae9424164b115"


def test_instances_have_their_index_and_modules_their_place() -> None:
    context = scan.read(
        None,
        files={
            "main.tf": 'module "m" {\n  source   = "./m"\n  for_each = toset(["a", "b"])\n}\n',
            "m/main.tf": 'resource "aws_sqs_queue" "q" {\n  count = 2\n  name  = "q${count.index}"\n}\n',
        },
    )
    assert context.module is not None
    found = plan_document(context.configuration, context.module)
    children = found["planned_values"]["root_module"]["child_modules"]
    assert [child["address"] for child in children] == ['module.m["a"]', 'module.m["b"]']
    assert [one["index"] for one in children[0]["resources"]] == [0, 1]
    assert found["resource_changes"][3]["module_address"] == 'module.m["b"]'
    call = found["configuration"]["root_module"]["module_calls"]["m"]
    assert call["module"]["resources"][0]["count_expression"] == {"constant_value": 2}


NEVER = 'resource "aws_sqs_queue" "q" {\n  count = 0\n  name  = "q"\n}\n'
MAYBE = 'variable "n" {}\n' + NEVER.replace("= 0", "= var.n")


@pytest.mark.parametrize("text", [NEVER, MAYBE])
def test_what_is_not_surely_created_is_in_the_source_alone(text: str) -> None:
    found = document(text)
    assert found["resource_changes"] == []
    assert len(found["configuration"]["root_module"]["resources"]) == 1
    assert "resources" not in document(text, only_created=True)["configuration"]["root_module"]


def test_a_policy_document_is_read_before_apply_where_it_can_be() -> None:
    known = (
        'data "aws_iam_policy_document" "d" {\n  statement {\n    actions = ["s3:*"]\n    resources = ["*"]\n  }\n}\n'
    )
    (read,) = document(known)["prior_state"]["values"]["root_module"]["resources"]
    assert json.loads(read["values"]["json"])["Statement"][0]["Action"] == "s3:*"
    unknown = 'resource "aws_s3_bucket" "b" {}\n' + known.replace('["*"]', "[aws_s3_bucket.b.arn]")
    changes = {one["address"]: one["change"] for one in document(unknown)["resource_changes"]}
    assert changes["data.aws_iam_policy_document.d"]["actions"] == ["read"]
    assert changes["data.aws_iam_policy_document.d"]["after_unknown"]["json"] is True
