"""Demands of parametric requests: which are stated, what meets them, and what a wrong answer costs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from random import Random

import pytest

from rl_gym.gym.core import Episode
from rl_gym.iac import scan
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.tasks.asked import demanded_rules, share_met, stated
from rl_gym.iac.tasks.builders import BUILDERS
from rl_gym.iac.tasks.parametric import SEED_RULES, floor, make_episode, oracle


def share(text: str, episode: Episode) -> float | None:
    return share_met(scan.read(text), episode)


def best(episode: Episode) -> str:
    return oracle(episode, SEED_RULES | demanded_rules(episode))


def an_episode(request: str, **parts: Mapping[str, object]) -> Episode:
    """An episode of parts by kind with a request of its own; what is given stands in for what is drawn."""
    drawn = {kind: BUILDERS[kind].draw("shop", Random(kind)).to_dict() for kind in parts}
    stack = [{**drawn[kind], **given} for kind, given in parts.items()]
    return Episode("e", request, "parametric", {"required": [], "project": "shop", "stack": stack})


@pytest.fixture(scope="module")
def episodes() -> list[Episode]:
    return [make_episode(seed, split) for split in ("train", "synthetic") for seed in range(250)]


def test_the_best_answer_does_all_that_was_asked_under_every_ruleset(episodes: list[Episode]) -> None:
    everything = frozenset(rule.id for rule in get_ruleset("base+drift").rules)
    for episode in episodes:
        for rules in (SEED_RULES, everything, frozenset[str]()):
            assert share(oracle(episode, rules | demanded_rules(episode)), episode) in (1.0, None)


def test_the_floor_does_what_was_asked_but_for_what_protects(episodes: list[Episode]) -> None:
    for episode in episodes:
        context = scan.read(floor(episode))
        for part, demands in stated(episode):
            found = context.of_type(*BUILDERS[part.kind].types)
            unmet = [d for d in demands if not any(d.holds(one, context) for one in found)]
            # A floor opens a guarded port to the world, which is not what was asked.
            assert all(demand.rule or demand.words.startswith("port ") for demand in unmet)


def test_what_a_request_leaves_out_is_not_demanded() -> None:
    database = {"name": "shop-db", "engine": "mysql", "size": 50, "user": "app"}
    terse = an_episode("need aws_db_instance called shop-db", database=database)
    assert [[demand.words for demand in demands] for _, demands in stated(terse)] == [["shop-db"]]
    full = an_episode("a mysql database shop-db, 50 GB, user app", database=database)
    assert [[d.words for d in demands] for _, demands in stated(full)] == [["mysql", "shop-db", "50 GB", "user app"]]


def test_the_words_of_every_demand_are_those_of_the_request(episodes: list[Episode]) -> None:
    for episode in episodes:
        assert all(demand.words in episode.request for _, demands in stated(episode) for demand in demands)


def test_demands_survive_json(episodes: list[Episode]) -> None:
    for episode in episodes[:50]:
        travelled = Episode.from_dict(json.loads(json.dumps(episode.to_dict())))
        assert share(best(episode), travelled) == share(best(episode), episode)


DATABASE = an_episode(
    "a mysql database shop-db, 50 GB, class db.t3.micro, user app",
    database={"name": "shop-db", "engine": "mysql", "size": 50, "user": "app", "class": "db.t3.micro"},
)
LOGS = an_episode("a log group called shop-api, keep 90 days", logs={"name": "shop-api", "days": 90})
NETWORK = an_episode("a VPC shop-net, range 10.7.0.0/16", network={"cidr": "10.7.0.0/16", "name": "shop-net"})
GROUP = an_episode(
    "a firewall shop-web, port 443 from 10.7.0.0/16",
    security_group={"name": "shop-web", "port": 443, "cidr": "10.7.0.0/16"},
)
BUCKET = an_episode("a bucket shop-media, objects kept 60 days", bucket={"name": "shop-media", "days": 60})
ENCRYPTED = an_episode(
    "a NoSQL table shop-carts, encrypted with the project key", table={"name": "shop-carts"}, key={"name": "shop-key"}
)


@pytest.mark.parametrize(
    ("episode", "written", "instead"),
    [
        (DATABASE, '"mysql"', '"postgres"'),
        (DATABASE, "= 50", "= 20"),
        (DATABASE, "db.t3.micro", "db.r5.large"),
        (DATABASE, '"app"', '"dba"'),
        (DATABASE, "shop-db", "shop-data"),
        (LOGS, "= 90", "= 30"),
        (LOGS, "= 90", "= var.days"),
        (NETWORK, "10.7.", "10.8."),
        (NETWORK, "/16", "/24"),
        (GROUP, "10.7.", "10.8."),
        (GROUP, "10.7.0.0/16", "0.0.0.0/0"),
        (GROUP, "443", "80"),
        (BUCKET, "= 60", "= 30"),
        (BUCKET, 'status = "Enabled"', 'status = "Disabled"'),
        (ENCRYPTED, "kms_key_arn", "# kms_key_arn"),
        (ENCRYPTED, "aws_kms_key.", "data.aws_kms_key."),
    ],
)
def test_a_wrong_answer_costs(episode: Episode, written: str, instead: str) -> None:
    answer = best(episode)
    assert share(answer, episode) == 1.0
    assert written in answer
    wrong = 'variable "days" {}\n' + answer.replace(written, instead)
    found = share(wrong, episode)
    assert found is not None
    assert found < 1.0


@pytest.mark.parametrize(
    ("episode", "written", "instead"),
    [
        (LOGS, "= 90", '= "90"'),
        (LOGS, "= 90", "= local.days"),
        (LOGS, "= 90", "= var.days"),
        (NETWORK, '"10.7.0.0/16"', "local.net"),
        (NETWORK, '"10.7.0.0/16"', 'cidrsubnet("10.0.0.0/8", 8, 7)'),
        (GROUP, '["10.7.0.0/16"]', '["10.7.0.0/17", "10.7.128.0/17"]'),
        (GROUP, '"tcp"', '"-1"'),
        (ENCRYPTED, ".arn", ".key_id"),
        (ENCRYPTED, "aws_kms_key.shop.arn", "aws_kms_alias.a.arn"),
        (ENCRYPTED, "aws_kms_key.shop.arn", '"alias/shop"'),
    ],
)
def test_an_equivalent_answer_costs_nothing(episode: Episode, written: str, instead: str) -> None:
    answer = best(episode)
    assert written in answer
    extra = (
        'locals {\n  days = 30 * 3\n  net  = "10.7.0.0/16"\n}\nvariable "days" {\n  default = 90\n}\n'
        'resource "aws_kms_alias" "a" {\n  name = "alias/shop"\n  target_key_id = aws_kms_key.shop.id\n}\n'
    )
    assert share(answer.replace(written, instead) + extra, episode) == 1.0


def test_ports_may_be_opened_by_rules_of_their_own() -> None:
    for kind, source, protocol in (
        ("aws_security_group_rule", 'type = "ingress"\n  cidr_blocks = ["10.7.0.0/16"]', "protocol"),
        ("aws_vpc_security_group_ingress_rule", 'cidr_ipv4 = "10.7.0.0/16"', "ip_protocol"),
    ):
        text = (
            'resource "aws_security_group" "g" {\n  name = "shop-web"\n}\n'
            f'resource "{kind}" "r" {{\n  security_group_id = aws_security_group.g.id\n  from_port = 443\n'
            f'  to_port = 443\n  {protocol} = "tcp"\n  {source}\n}}\n'
        )
        assert share(text, GROUP) == 1.0
        assert share(text.replace("aws_security_group.g.id", '"sg-1"'), GROUP) == 0.5


def test_objects_may_expire_by_the_older_block_of_the_bucket() -> None:
    text = (
        'resource "aws_s3_bucket" "b" {\n  bucket = "shop-media"\n  lifecycle_rule {\n    enabled = true\n'
        "    expiration {\n      days = 60\n    }\n  }\n}\n"
    )
    assert share(text, BUCKET) == 1.0
    assert share(text.replace("true", "false"), BUCKET) == 0.5


ROLE_POLICY = an_episode(
    "an inline policy shop-access, on role shop-task, to write queue shop-inbox",
    role_policy={"name": "shop-access", "role": "shop-task", "service": "sqs", "verb": "write", "target": "shop-inbox"}
    | {"invitation": ""},
)
DOCUMENT = """jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect = "Allow", Action = "sqs:SendMessage", Resource = "arn:aws:sqs:us-east-1:123456789012:shop-inbox"
    }]
  })"""
ROLE = 'resource "aws_iam_role" "r" {\n  name = "shop-task"\n  assume_role_policy = "{}"\n%s}\n'


@pytest.mark.parametrize(
    "text",
    [
        'resource "aws_iam_role_policy" "p" {\n  name = "shop-access"\n  role = "shop-task"\n'
        f"  policy = {DOCUMENT}\n}}\n",
        ROLE % ""
        + 'resource "aws_iam_role_policy" "p" {\n  name = "shop-access"\n  role = aws_iam_role.r.id\n'
        + f"  policy = {DOCUMENT}\n}}\n",
        f'resource "aws_iam_policy" "p" {{\n  name = "shop-access"\n  policy = {DOCUMENT}\n}}\n'
        'resource "aws_iam_role_policy_attachment" "a" {\n  role = "shop-task"\n'
        "  policy_arn = aws_iam_policy.p.arn\n}\n",
        ROLE % f'  inline_policy {{\n    name = "shop-access"\n    policy = {DOCUMENT}\n  }}\n',
    ],
)
def test_a_policy_comes_to_its_role_in_several_ways(text: str) -> None:
    assert share(text, ROLE_POLICY) == 1.0
    assert share(text.replace("shop-task", "shop-other"), ROLE_POLICY) == pytest.approx(2 / 3)


def test_a_server_may_have_its_size_from_a_launch_template() -> None:
    server = an_episode("a server shop-app, size t3.micro", server={"name": "shop-app", "size": "t3.micro"})
    text = (
        'resource "aws_launch_template" "t" {\n  instance_type = "t3.micro"\n}\n'
        'resource "aws_instance" "i" {\n  launch_template {\n    id = aws_launch_template.t.id\n  }\n}\n'
    )
    assert share(text, server) == 1.0
    assert share(text.replace("micro", "large"), server) == 0.0


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ('"${aws_dynamodb_table.t.arn}"', 1.0),
        ('"arn:aws:dynamodb:us-east-1:123456789012:table/shop-carts"', 1.0),
        ('"*"', 1.0),
        ('"arn:aws:dynamodb:us-east-1:123456789012:table/other"', 0.5),
    ],
)
def test_a_policy_grants_what_it_is_for(resource: str, expected: float) -> None:
    episode = an_episode(
        "an IAM policy shop-sync, to read table shop-carts",
        policy={"name": "shop-sync", "service": "dynamodb", "verb": "read", "invitation": ""},
        table={"name": "shop-carts"},
    )
    text = (
        'resource "aws_dynamodb_table" "t" {\n  name = "shop-carts"\n}\n'
        'resource "aws_iam_policy" "p" {\n  name = "shop-sync"\n  policy = jsonencode({\n    Version = "2012-10-17"\n'
        f'    Statement = [{{ Effect = "Allow", Action = "dynamodb:Get*", Resource = {resource} }}]\n  }})\n}}\n'
    )
    assert share(text, episode) == expected
    assert share(text.replace("Get*", "PutItem"), episode) == 0.5
    assert share(text.replace("Allow", "Deny"), episode) == 0.5


def test_more_resources_never_make_up_for_a_wrong_one(episodes: list[Episode]) -> None:
    for episode in episodes[:150]:
        wrong = re.sub(r"(= )(\d+)$", r"\g<1>1", floor(episode), flags=re.MULTILINE)
        right = re.sub(r'" "\w+" \{', '" "other" {', best(episode))
        right = re.sub(rf"\.{episode.data['project']}\.", ".other.", right)
        before, after = share(wrong, episode), share(wrong + right, episode)
        if before is not None:
            assert after is not None
            assert after <= before


def test_the_resource_that_carries_the_name_is_the_one_that_was_asked_for() -> None:
    logs = best(LOGS)
    other = 'resource "aws_cloudwatch_log_group" "other" {\n  name = "elsewhere"\n  retention_in_days = 7\n}\n'
    assert share(logs + other, LOGS) == 1.0
    twin = other.replace("elsewhere", "shop-api")
    assert share(logs + twin, LOGS) == 0.5


def test_what_is_never_created_answers_nothing() -> None:
    answer = best(LOGS)
    assert share(answer.replace("  name", "  count = 0\n  name", 1), LOGS) == 0.0
    assert share("", LOGS) == 0.0
