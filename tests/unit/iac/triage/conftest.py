"""A module to triage: an open database, an open bucket, and a key that cannot be told about."""

from __future__ import annotations

import pytest

from rl_gym.iac.scan import scan
from rl_gym.iac.triage import JudgedModule, judged

FILES = {
    "db.tf": 'resource "aws_db_instance" "d" {\n  instance_class = "db.t4g.small"\n  publicly_accessible = true\n}\n',
    "key.tf": 'variable "v" {}\nresource "aws_kms_key" "k" {\n  enable_key_rotation = var.v\n}\n',
    "web.tf": 'resource "aws_instance" "web" {\n  count = 2\n  ami = "ami-1"\n  instance_type = "t3.micro"\n}\n',
}


@pytest.fixture
def module() -> JudgedModule:
    return judged(scan(None, files=FILES, ruleset="seed18"), name="infra", path=lambda name: f"infra/{name}")
