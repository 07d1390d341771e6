"""Override files against what Terraform's documentation of them says, and against terraform itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from rl_gym.hcl import HclError, evaluate, load

MAIN = """
variable "size" {
  default = 1
}

locals {
  name = "plain"
  kept = "kept"
}

resource "null_resource" "r" {
  triggers = { name = local.name, size = var.size }

  lifecycle {
    create_before_destroy = true
  }

  provisioner "local-exec" {
    command = "true"
  }
}

output "name" {
  value = "${local.name} ${local.kept} ${var.size}"
}
"""
OVERRIDE = """
variable "size" {
  default = 2
}

locals {
  name = "overridden"
}

resource "null_resource" "r" {
  triggers = { other = "x" }

  lifecycle {
    prevent_destroy = true
  }
}
"""


def test_arguments_replace_their_namesakes_and_keep_their_place() -> None:
    configuration = evaluate(load({"main.tf": MAIN, "a_override.tf": OVERRIDE}))
    assert configuration.locals == {"name": "overridden", "kept": "kept"}
    assert configuration.variables == {"size": 2}
    (resource,) = configuration.resources()
    assert resource.get("triggers") == {"other": "x"}
    assert resource.filename == "main.tf"
    assert resource.line_of("triggers") == OVERRIDE.splitlines().index('  triggers = { other = "x" }') + 1


def test_blocks_of_a_type_replace_all_of_that_type() -> None:
    main = (
        'resource "aws_security_group" "g" {\n  ingress {\n    to_port = 1\n  }\n  egress {\n    to_port = 2\n  }\n}\n'
    )
    other = 'resource "aws_security_group" "g" {\n  dynamic "ingress" {\n    for_each = [22, 23]\n'
    other += "    content {\n      to_port = ingress.value\n    }\n  }\n}\n"
    (group,) = evaluate(load({"main.tf": main, "override.tf": other})).resources()
    assert [block.get("to_port") for block in group.blocks("ingress")] == [22, 23]
    assert [block.get("to_port") for block in group.blocks("egress")] == [2]


def test_the_last_override_wins() -> None:
    files = {"main.tf": "locals {\n  a = 1\n}\n", "a_override.tf": "locals {\n  a = 2\n}\n"}
    assert evaluate(load(files | {"b_override.tf": "locals {\n  a = 3\n}\n"})).locals == {"a": 3}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ('resource "aws_vpc" "v" {\n}\n', r'overrides resource "aws_vpc" "v", which is declared nowhere'),
        ("locals {\n  b = 1\n}\n", "overrides local.b, which is declared nowhere"),
    ],
)
def test_an_override_of_nothing_is_an_error_with_its_place(override: str, message: str) -> None:
    with pytest.raises(HclError, match=message) as caught:
        load({"main.tf": "locals {\n  a = 1\n}\n", "override.tf": override})
    assert caught.value.filename == "override.tf"


@pytest.mark.parametrize("kind", ["check", "import", "moved", "removed"])
def test_what_an_override_file_may_not_hold_is_refused(kind: str) -> None:
    label = ' "c"' if kind == "check" else ""
    with pytest.raises(HclError, match=f'blocks of type "{kind}" are not expected in an override file'):
        load({"main.tf": "", "override.tf": f"{kind}{label} {{\n}}\n"})


@pytest.mark.parametrize("text", ["x = 1\n", "bogus {\n}\n"])
def test_what_no_file_may_hold_is_refused_in_an_override_file_too(text: str) -> None:
    with pytest.raises(HclError, match="not expected") as caught:
        evaluate(load({"override.tf": text}))
    assert caught.value.filename == "override.tf"


def test_a_provider_that_nobody_configures_may_be_overridden_but_for_an_alias() -> None:
    default = 'provider "aws" {\n  region = "eu-west-1"\n}\n'
    for files in ({"main.tf": ""}, {}):
        assert len(load({**files, "override.tf": default}).declared.providers) == 1
    with pytest.raises(HclError, match='overrides provider "aws", which is declared nowhere'):
        load({"main.tf": default, "override.tf": 'provider "aws" {\n  alias = "west"\n}\n'})


def test_a_backend_replaces_the_backend_and_requirements_are_merged_by_name() -> None:
    settings = "terraform {\n  %s {\n  }\n  required_providers {\n    %s\n  }\n}\n"
    files = {
        "main.tf": settings % ('backend "s3"', 'aws = "5"\n    tls = "4"'),
        "a_override.tf": settings % ("cloud", 'aws = "6"'),
        "b_override.tf": 'terraform {\n  backend "local" {\n  }\n}\n',
    }
    blocks = [block for file in load(files).files for block in file.body.blocks]
    held = [(inner.type, inner.labels) for block in blocks for inner in block.body.blocks]
    assert held == [("backend", ["local"]), ("required_providers", [])]
    required = blocks[0].body.blocks[1].body.attributes
    assert {name: one.source.filename for name, one in required.items()} == {"aws": "a_override.tf", "tls": "main.tf"}


def test_terraform_merges_alike(terraform: str, tmp_path: Path) -> None:
    # Without the resource, which would need a provider.
    cut = MAIN.partition("resource")[0] + MAIN[MAIN.index("output") :]
    (tmp_path / "main.tf").write_text(cut)
    (tmp_path / "a_override.tf").write_text(OVERRIDE.partition("resource")[0])
    command = [terraform, "console"]
    said = subprocess.run(
        command, cwd=tmp_path, input="jsonencode([local.name, local.kept, var.size])\n", capture_output=True, text=True
    )
    assert json.loads(json.loads(said.stdout)) == ["overridden", "kept", 2]
