"""EC2: whether instances, and what they are launched from, get a public address."""

from __future__ import annotations

from collections.abc import Iterator

from rl_gym.hcl import Block, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.ec2 import INSTANCES, launch_template
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.rules.subnet import SUBNETS, hands_out_addresses
from rl_gym.iac.verdicts import Answer, Body, Truth, answer, inside, truth, worst, written

_TEMPLATE = "aws_launch_template"
_CONFIGURATION = "aws_launch_configuration"
_GROUP = "aws_autoscaling_group"
_GROUP_SUBNETS = "vpc_zone_identifier"
_DEFAULT_VPC = "a subnet of the default VPC gives it a public address"
_PATH = "associate_public_ip_address"

_ELASTIC = (
    ("aws_eip", "instance"),
    ("aws_eip", "network_interface"),
    ("aws_eip_association", "instance_id"),
    ("aws_eip_association", "network_interface_id"),
)
"""What gives an instance an address that outlives it, and by which argument it names the instance."""
_LAUNCHED_BY = {
    _TEMPLATE: (
        "launch_template.id",
        "launch_template.name",
        "mixed_instances_policy.launch_template.launch_template_specification.launch_template_id",
        "mixed_instances_policy.launch_template.launch_template_specification.launch_template_name",
    ),
    _CONFIGURATION: ("launch_configuration",),
}
"""By which arguments an autoscaling group names what its instances are launched from."""


@rule(
    "ec2_no_public_ip",
    severity="medium",
    types=(*INSTANCES, _TEMPLATE, _CONFIGURATION),
    title="Instances have no public address",
    fix="set associate_public_ip_address = false (in network_interfaces for a launch template)",
    short="associate_public_ip_address = false",
    references=("CKV_AWS_88", "FSBP EC2.9", "FSBP EC2.25", "FSBP AutoScaling.5"),
    passing="""
        resource "aws_instance" "app" {
          ami                         = "ami-0a1b2c3d"
          instance_type               = "t3.micro"
          associate_public_ip_address = false
        }
    """,
    failing="""
        resource "aws_instance" "app" {
          ami                         = "ami-0a1b2c3d"
          instance_type               = "t3.micro"
          associate_public_ip_address = true
        }
    """,
)
def ec2_no_public_ip(resource: Resource, context: Context) -> Answer | None:
    """An instance behind a load balancer, a NAT gateway or Session Manager needs no address of its own.

    Where the argument is absent the launch template decides, else the subnet: one of this configuration is looked up,
    another one is unknown, and without any the instance lands in the default VPC, whose subnets hand out addresses. An
    elastic address counts. A template or launch configuration that says nothing is judged by the autoscaling groups
    that launch from it; where there is none it is not judged.
    """
    if resource.type in INSTANCES:
        return worst([_instance(resource, context), *_elastic(resource, context)])
    return worst(_launched(resource, context))


def _judge(public: Truth, path: str, at: Body) -> Answer:
    holds = inside(at, None if public is None else not public)
    return answer(holds, "no public address is given", "a public address is given", path, at)


def _instance(instance: Resource, context: Context) -> Answer:
    own = instance.get(_PATH)
    if own is not None:
        return _judge(truth(own, False), _PATH, instance)
    if instance.blocks("network_interface") or instance.blocks("primary_network_interface"):
        return Answer("pass", "an interface that exists is given no public address", "network_interface")
    template = launch_template(instance, context)
    said = worst(_interfaces(template, context)) if template else None
    if said is not None:
        return said
    if instance.has("subnet_id") is not False:
        return _judge(_given_by_subnets(instance, "subnet_id", context), "subnet_id", instance)
    if template is None and instance.blocks("launch_template"):
        return Answer("unknown", "the launch template is not in this configuration", "launch_template")
    return Answer("fail", _DEFAULT_VPC, _PATH)


def _elastic(instance: Resource, context: Context) -> Iterator[Answer]:
    interfaces = [context.referred(block, "network_interface_id") for block in instance.blocks("network_interface")]
    for kind, path in _ELASTIC:
        for target in (instance, *(one for one in interfaces if one is not None)):
            for one in context.companions(target, kind, path):
                yield _judge(True if one.attached else None, path, one.resource)


def _launched(source: Resource, context: Context) -> list[Answer]:
    """What a launch template or configuration says about addresses; nothing where it leaves that to others."""
    own = source.get(_PATH)
    if source.type == _CONFIGURATION and own is not None:
        return [_judge(truth(own, False), _PATH, source)]
    return list(_interfaces(source, context)) or list(_by_groups(source, context))


def _interfaces(template: Resource, context: Context) -> Iterator[Answer]:
    for block in template.blocks("network_interfaces"):
        own = block.get(_PATH)
        if own is not None:
            yield _judge(truth(own, False), _PATH, block)
        elif written(block, "network_interface_id"):
            yield Answer("pass", "an interface that exists is given no public address", "network_interface_id", block)
        elif block.has("subnet_id") is not False:
            yield _judge(_given_by_subnets(block, "subnet_id", context), "subnet_id", block)


def _by_groups(source: Resource, context: Context) -> Iterator[Answer]:
    """What the subnets say of the autoscaling groups that launch from a template or configuration."""
    for path in _LAUNCHED_BY[source.type]:
        for one in context.companions(source, _GROUP, path):
            group = one.resource
            if one.attached and group.has(_GROUP_SUBNETS) is not False:
                yield _judge(_given_by_subnets(group, _GROUP_SUBNETS, context), _GROUP_SUBNETS, group)
            elif one.attached:
                yield Answer("fail", _DEFAULT_VPC, _GROUP_SUBNETS, group)


def _given_by_subnets(body: Block, path: str, context: Context) -> Truth:
    """Whether the subnets at a path hand out public addresses: unknown where they differ or are not all to be seen."""
    exact = context.referred(body, path)
    subnets = [exact] if exact else [one for base in body.references(path) for one in context.instances(base)]
    context.spend(len(subnets))
    if not subnets or any(one.mode != "managed" or one.type not in SUBNETS for one in subnets):
        return None
    given = {hands_out_addresses(one) for one in subnets}
    return given.pop() if len(given) == 1 else None
