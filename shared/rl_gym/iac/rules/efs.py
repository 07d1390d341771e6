"""EFS: file systems."""

from __future__ import annotations

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, truth


@rule(
    "efs_encrypted",
    severity="high",
    types=("aws_efs_file_system",),
    title="File systems are encrypted at rest",
    fix="set encrypted = true",
    references=("CKV_AWS_42", "CIS AWS 2.4.1", "FSBP EFS.1", "FSBP EFS.8"),
    passing="""
        resource "aws_efs_file_system" "shared" {
          creation_token = "shared"
          encrypted      = true
        }
    """,
    failing="""
        resource "aws_efs_file_system" "shared" {
          creation_token = "shared"
          encrypted      = false
        }
    """,
)
def efs_encrypted(resource: Resource, context: Context) -> Answer | None:
    """Data and metadata are encrypted. It cannot be turned on later, and a key alone does not do it.

    Absent means plain: only the console of AWS encrypts unless told otherwise.
    """
    holds = truth(resource.get("encrypted"), False)
    return answer(holds, "the file system is encrypted", "the file system is not encrypted", "encrypted")
