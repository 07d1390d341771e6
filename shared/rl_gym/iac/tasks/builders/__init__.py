"""The kinds of parts, one module for each AWS service."""

from __future__ import annotations

from rl_gym.iac.tasks.builders.cloudwatch import LogGroup
from rl_gym.iac.tasks.builders.dynamodb import Table
from rl_gym.iac.tasks.builders.ec2 import LaunchTemplate, Server, Volume
from rl_gym.iac.tasks.builders.iam import Policy, RolePolicy
from rl_gym.iac.tasks.builders.kms import Key
from rl_gym.iac.tasks.builders.rds import Cluster, Database
from rl_gym.iac.tasks.builders.s3 import Bucket
from rl_gym.iac.tasks.builders.vpc import Network, SecurityGroup
from rl_gym.iac.tasks.parts import Builder

__all__ = ["BUILDERS"]

BUILDERS: dict[str, Builder] = {
    builder.kind: builder
    for builder in (
        Bucket(), SecurityGroup(), Database(), Cluster(), Server(), LaunchTemplate(), Volume(), Table(), LogGroup(),
        Network(), Key(), Policy(), RolePolicy(),
    )
}  # fmt: skip
