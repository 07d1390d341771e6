"""Subnets: whether what is launched in them is on the internet."""

from __future__ import annotations

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Truth, answer, truth

SUBNETS = ("aws_subnet", "aws_default_subnet")
_PATH = "map_public_ip_on_launch"


def hands_out_addresses(subnet: Resource) -> Truth:
    """Whether a subnet gives what is launched in it a public address: a default subnet does unless told otherwise."""
    return truth(subnet.get(_PATH), subnet.type == "aws_default_subnet")


@rule(
    "subnet_no_public_ip",
    severity="medium",
    types=SUBNETS,
    title="Subnets hand out no public addresses",
    fix="set map_public_ip_on_launch = false",
    references=("CKV_AWS_130", "FSBP EC2.15"),
    passing="""
        resource "aws_subnet" "apps" {
          vpc_id                  = "vpc-1"
          cidr_block              = "10.0.1.0/24"
          map_public_ip_on_launch = false
        }
    """,
    failing="""
        resource "aws_subnet" "apps" {
          vpc_id                  = "vpc-1"
          cidr_block              = "10.0.1.0/24"
          map_public_ip_on_launch = true
        }
    """,
)
def subnet_no_public_ip(resource: Resource, context: Context) -> Answer | None:
    """What is launched there is on the internet only where somebody asks for it, not by default.

    Absent means no for a subnet, and yes for one that AWS made with the account.
    """
    public = hands_out_addresses(resource)
    holds = None if public is None else not public
    return answer(holds, "no public address is given by default", "everything here gets a public address", _PATH)
