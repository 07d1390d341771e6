"""Terraform as a witness: what it says of one module, and what it is not asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from rl_gym.iac.engines.terraform import TerraformEngine

VOLUME = """\
variable "size" {
  default = 1
}

provider "aws" {
  alias   = "far"
  profile = "nobody"
}

terraform {
  backend "s3" {
    bucket = "state"
  }
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 4.0"
    }
  }
}

data "aws_caller_identity" "me" {
  provider = aws.far
}

resource "aws_ebs_volume" "data" {
  availability_zone = "eu-west-1a"
  size              = var.size
}
"""


@pytest.fixture
def engine(terraform: str, provider_mirror: Path) -> TerraformEngine:
    return TerraformEngine(terraform, provider_mirror, seconds=120.0)


def test_it_plans_without_keys_state_or_cloud_and_takes_variables(engine: TerraformEngine) -> None:
    report = engine.scan({"main.tf": VOLUME}, {"size": "much"})
    assert report.status == "answered"
    assert report.version.startswith("1.")
    (found,) = report.findings
    assert (found.address, found.filename, found.line) == (
        "aws_ebs_volume.data",
        "main.tf",
        VOLUME.splitlines().index("  size              = var.size") + 1,
    )
    assert report.detail == "main.tf:22: a plan needs the cloud here"


def test_a_syntax_error_is_a_finding_with_its_line(engine: TerraformEngine) -> None:
    report = engine.scan({"main.tf": 'resource "aws_ebs_volume" "data" {\n  size = \n}\n'})
    assert report.status == "answered"
    assert {(found.filename, found.line) for found in report.findings} == {("main.tf", 2)}


def test_a_program_that_is_no_terraform_is_named(tmp_path: Path) -> None:
    package = tmp_path / "registry.terraform.io" / "hashicorp" / "aws" / "terraform-provider-aws_5.100.0_any.zip"
    package.parent.mkdir(parents=True)
    package.touch()
    report = TerraformEngine("echo", tmp_path).scan({"main.tf": ""})
    assert report.status == "failed"
    assert report.detail.endswith("echo is no Terraform: `version -json` tells no version")


def test_what_would_run_a_program_is_not_planned(engine: TerraformEngine, tmp_path: Path) -> None:
    program = f'data "external" "x" {{\n  program = ["touch", "{tmp_path}/ran"]\n}}\n'
    report = engine.scan({"main.tf": program})
    assert report.status == "failed"
    assert "main.tf:1" in report.detail
    assert list(tmp_path.iterdir()) == []


ELSEWHERE = 'resource "azurerm_subnet" "x" {\n}\n'


@pytest.mark.parametrize(
    "files",
    [
        {"main.tf": ELSEWHERE},
        # A warning has a place; the error beside it has none.
        {"main.tf": ELSEWHERE + 'provider "aws" {\n  version = "~> 5.0"\n}\n'},
        # The state is ours to place, whichever file says otherwise last.
        {
            "main.tf": ELSEWHERE,
            "\xe9_override.tf": 'terraform {\n  backend "http" {\n    address = "http://[::1]:9"\n  }\n}\n',
        },
    ],
)
def test_a_provider_that_the_mirror_lacks_is_no_fault_of_the_text(
    engine: TerraformEngine, files: Mapping[str, str]
) -> None:
    report = engine.scan(files)
    assert (report.status, list(report.findings)) == ("failed", [])
    assert "azurerm" in report.detail


def test_the_configurations_of_another_provider_are_left_alone(engine: TerraformEngine) -> None:
    report = engine.scan({"main.tf": 'provider "null" {\n  alias = "x"\n}\n'})
    assert list(report.findings) == []


@pytest.mark.parametrize("alias", ["a b", "$${path.module}"])
def test_an_alias_that_is_no_name_is_told_as_terraform_tells_it(engine: TerraformEngine, alias: str) -> None:
    report = engine.scan({"main.tf": f'provider "aws" {{\n  alias = "{alias}"\n}}\n'})
    assert (report.status, list(report.findings)) == ("failed", [])
    assert report.detail.startswith("terraform init: An alias must be a valid name.")


def test_it_is_stopped_in_time(terraform: str, provider_mirror: Path) -> None:
    report = TerraformEngine(terraform, provider_mirror, seconds=0.2).scan({"main.tf": VOLUME})
    assert (report.status, list(report.findings)) == ("timed_out", [])


def test_without_a_program_it_is_missing() -> None:
    report = TerraformEngine("no-such-terraform").scan({"main.tf": VOLUME})
    assert report.status == "missing"
    assert "RL_GYM_TERRAFORM" in report.detail


@pytest.mark.parametrize("named", [True, False])
def test_without_a_mirror_it_is_missing(terraform: str, tmp_path: Path, named: bool) -> None:
    report = TerraformEngine(terraform, tmp_path if named else None).health()
    assert report.status == "missing"
    assert "RL_GYM_PLUGIN_MIRROR" in report.detail
