"""The same question put to Terraform itself: which of these resources does it refuse?"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rl_gym.hcl import ast, parse
from rl_gym.iac.scan import read
from rl_gym.iac.schema.bundled import versions
from rl_gym.iac.schema.conformity import check_provider
from rl_gym.iac.schema.reporting import Reporter
from rl_gym.iac.schema.undeclared import find_undeclared
from rl_gym.iac.schema.uses import check_uses

VERSIONED = "versioning_configuration {\n status = %s\n }"
TABLE = 'name = "t"\n hash_key = "id"\n %s'
ATTRIBUTE = 'attribute {\n name = "id"\n type = "S"\n }'
DYNAMIC = 'dynamic "attribute" {\n for_each = %s\n content {\n %s\n }\n }'
INGRESS = 'ingress {\n from_port = 1\n to_port = 2\n protocol = "tcp"\n %s\n }'

BODIES = [
    ("aws_s3_bucket", ""),
    ("aws_s3_bucket", 'bucket_name = "b"'),
    ("aws_s3_bucket", "bucket = null"),
    ("aws_s3_bucket", "bucket = [1]"),
    ("aws_s3_bucket", "bucket = var.text"),
    ("aws_s3_bucket", "bucket = var.list"),
    ("aws_s3_bucket", "bucket = local.map"),
    ("aws_s3_bucket", 'force_destroy = "true"'),
    ("aws_s3_bucket", 'force_destroy = "True"'),
    ("aws_s3_bucket", "force_destroy = 1"),
    ("aws_s3_bucket", "tags = { a = 1, b = true }"),
    ("aws_s3_bucket", "tags = { a = [] }"),
    ("aws_s3_bucket", 'tags {\n a = "b"\n }'),
    ("aws_s3_bucket", "arn = null"),
    ("aws_s3_bucket", 'arn = "a"'),
    ("aws_s3_bucket", 'id = "a"'),
    ("aws_s3_bucket", "versioning {\n enabled = true\n }"),
    ("aws_s3_bucket", "versioning = { enabled = true }"),
    ("aws_s3_bucket", "versioning {\n enabled = true\n }\n versioning {\n enabled = true\n }"),
    ("aws_s3_bucket", 'timeouts {\n create = "1m"\n }'),
    ("aws_s3_bucket", 'timeouts {\n bogus = "1m"\n }'),
    ("aws_s3_bucket", "lifecycle {\n ignore_changes = [tags]\n }"),
    ("aws_s3_bucket", "lifecycle {\n ignore_changes = [bogus]\n }"),
    ("aws_s3_bucket", "connection {\n bogus = 1\n }"),
    ("aws_s3_bucket", 'provisioner "local-exec" {\n command = "true"\n }'),
    ("aws_s3_bucket", 'provisioner "local-exec" {\n }'),
    ("aws_s3_bucket", "bucket = aws_vpc.whole.id"),
    ("aws_s3_bucket", "bucket = aws_vpc.whole.idd"),
    ("aws_s3_bucket", "bucket = aws_vpc.whole.id.x"),
    ("aws_s3_bucket_versioning", f'bucket = "b"\n {VERSIONED}' % '"Enabled"'),
    ("aws_s3_bucket_versioning", VERSIONED % '"Enabled"'),
    ("aws_s3_bucket_versioning", f"bucket = null\n {VERSIONED}" % '"Enabled"'),
    ("aws_s3_bucket_versioning", 'bucket = "b"'),
    ("aws_s3_bucket_versioning", 'bucket = "b"\n versioning_configuration {\n }'),
    ("aws_dynamodb_table", TABLE % ATTRIBUTE),
    ("aws_dynamodb_table", TABLE % ATTRIBUTE.replace("}", "server_side_encryption {\n enabled = true\n }\n }", 1)),
    ("aws_dynamodb_table", TABLE % DYNAMIC % ('["id"]', 'name = attribute.value\n type = "S"')),
    ("aws_dynamodb_table", TABLE % f"{ATTRIBUTE}\n {DYNAMIC}" % ("[]", "bogus = 1")),
    ("aws_dynamodb_table", TABLE % f"{ATTRIBUTE}\n {DYNAMIC}" % ("var.list", 'name = "id"\n type = "S"\n bogus = 1')),
    ("aws_dynamodb_table", TABLE % ATTRIBUTE.replace("attribute", "atribute")),
    ("aws_dynamodb_table", TABLE % f"{ATTRIBUTE}\n read_capacity = var.text"),
    ("aws_dynamodb_table", TABLE % f'{ATTRIBUTE}\n read_capacity = "five"'),
    ("aws_security_group", INGRESS % ""),
    ("aws_security_group", INGRESS % 'cidr_block = "10.0.0.0/8"'),
    ("aws_security_group", "ingress = []"),
    ("aws_security_group", "ingress = [{ from_port = 1 }]"),
    ("aws_instance", 'ami = "a"\n instance_type = "t3.micro"'),
    ("aws_instance", 'instance_type = "t3.micro"'),
    ("aws_nope", ""),
]
REST = (
    'variable "text" {\n type = string\n}\nvariable "list" {\n type = list(string)\n}\n'
    'locals {\n map = {}\n}\nresource "aws_vpc" "whole" {\n cidr_block = "10.0.0.0/16"\n}\n'
)


def test_the_same_resources_are_refused(terraform: str, provider_mirror: Path, tmp_path: Path) -> None:
    text = REST + "".join(f'resource "{kind}" "r{n}" {{\n {body}\n}}\n' for n, (kind, body) in enumerate(BODIES))
    blocks = [block for block in parse(text, "main.tf").body.blocks if block.type == "resource"]
    refused = {
        _name(blocks, one["range"]["start"]["line"]) for one in _errors(terraform, provider_mirror, tmp_path, text)
    }
    ours = {_name(blocks, line) for line in _lines(text)}
    assert {name: BODIES[int(name[1:])] for name in refused ^ ours} == {}
    assert 20 < len(ours) < len(BODIES) - 15


def _lines(text: str) -> list[int]:
    """The lines that version 5 of the provider has a problem with."""
    module = read(text).module
    assert module is not None
    version, reporter = next(versions()), Reporter()
    check_provider(module, version, reporter)
    check_uses(find_undeclared(module, Reporter()), version, reporter)
    return [problem.line for problem in reporter.problems]


def _name(blocks: Sequence[ast.Block], line: int) -> str:
    """The name of the resource that a line is in."""
    return [block for block in blocks if block.line <= line][-1].labels[1]


def _errors(terraform: str, mirror: Path, folder: Path, text: str) -> list[dict[str, Any]]:
    """What Terraform calls an error, without a network and within two minutes a command."""
    (folder / "main.tf").write_text(text)
    environment = {**os.environ, "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [terraform, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout

    run("init", "-input=false", "-backend=false", f"-plugin-dir={mirror}")
    return [one for one in json.loads(run("validate", "-json"))["diagnostics"] if one["severity"] == "error"]
