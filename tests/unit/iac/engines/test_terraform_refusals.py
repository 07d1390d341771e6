"""What Terraform is not asked to plan."""

from __future__ import annotations

import json

import pytest

from rl_gym.hcl import parse
from rl_gym.iac.engines.terraform_refusals import refusals

RUNS = [
    'data "external" "x" {\n  program = ["sh"]\n}\n',
    'data "http" "x" {\n  url = "http://localhost"\n}\n',
    'data "terraform_remote_state" "x" {\n  backend = "http"\n}\n',
    'check "c" {\n  data "terraform_remote_state" "x" {\n    backend = "local"\n  }\n}\n',
    'module "m" {\n  source = "terraform-aws-modules/vpc/aws"\n}\n',
    'module "m" {\n  source = "git::ssh://host/repo"\n}\n',
    'module "m" {\n  source = "../elsewhere"\n}\n',
    'module "m" {\n  source = "./a/../../b"\n}\n',
    'module "m" {\n  source = "/etc"\n}\n',
    'module "m" {\n}\n',
    'provider "aws" {\n  shared_config_files = ["config"]\n}\n',
    'provider "aws" {\n  endpoints {\n    s3 = "http://10.0.0.1"\n  }\n}\n',
    'provider "aws" {\n  assume_role {\n    role_arn = "x"\n  }\n}\n',
    'locals {\n  x = file("/etc/passwd")\n}\n',
    'locals {\n  x = core::file("/etc/passwd")\n}\n',
    'locals {\n  x = file("../secret")\n}\n',
    'locals {\n  x = file("~/.aws/credentials")\n}\n',
    'locals {\n  x = file("/et${"c"}/passwd")\n}\n',
    'locals {\n  x = file("${path.module}/../../secret")\n}\n',
    "locals {\n  x = file(var.path)\n}\n",
    'locals {\n  x = filebase64sha256("${var.path}/x")\n}\n',
    'locals {\n  x = fileset(path.module, "../*")\n}\n',
    'locals {\n  x = file(["/etc/passwd"]...)\n}\n',
    'locals {\n  x = templatefile("main.tf", {})\n}\n',
    'resource "a" "b" {\n  c {\n    d = [for x in y : { k = filemd5(x) }]\n  }\n}\n',
    'output "x" {\n  value = "%{ if true }${file("/etc/passwd")}%{ endif }"\n}\n',
]


@pytest.mark.parametrize("text", RUNS)
def test_what_would_run_or_read_something_else_is_refused(text: str) -> None:
    (reason,) = refusals(parse(text))
    assert reason.startswith("main.tf:")


def test_json_syntax_is_no_way_around() -> None:
    text = json.dumps(
        {
            "data": {"external": {"x": {"program": ["sh"]}}},
            "check": {"c": {"data": {"http": {"x": {"url": "http://localhost"}}}}},
            "locals": {"x": '${file("/etc/passwd")}'},
            "provider": {"aws": [{"alias": "a", "shared_config_files": ["x"]}]},
            "module": {"m": {"source": "git::x"}},
        }
    )
    assert len(list(refusals(parse(text, "main.tf.json")))) == 5


@pytest.mark.parametrize(
    "text",
    [
        'data "aws_ami" "x" {\n}\n',
        'module "m" {\n  source = "./m"\n}\n',
        'provider "aws" {\n  region  = var.region\n  profile = "dev"\n}\n',
        'locals {\n  x = filebase64sha256("lambda.zip")\n  y = file("${path.module}/a/b.json")\n}\n',
        'locals {\n  x = fileset("${path.root}/a", "*.json")\n}\n',
    ],
)
def test_the_ordinary_is_planned(text: str) -> None:
    assert list(refusals(parse(text))) == []


def test_a_module_may_call_its_neighbour_within_the_configuration() -> None:
    assert list(refusals(parse('module "m" {\n  source = "../b"\n}\n', "modules/a/main.tf"))) == []
