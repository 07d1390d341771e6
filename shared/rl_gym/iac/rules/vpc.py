"""VPC: what is logged, and which ports a security group opens to the world."""

from __future__ import annotations

from collections.abc import Hashable

from rl_gym.hcl import Resource
from rl_gym.iac.companions import Companion
from rl_gym.iac.context import Context
from rl_gym.iac.network import Exposure, Opening, opening, world
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Body, Truth, answer, every, some, text, worst, written

ADMIN_PORTS = (22, 3389)
"""SSH and RDP, the ports of CIS AWS 5.2 and 5.3."""

_GROUPS = ("aws_security_group", "aws_default_security_group")
_INGRESS = "aws_vpc_security_group_ingress_rule"
_EGRESS = "aws_vpc_security_group_egress_rule"
_RULE = "aws_security_group_rule"


@rule(
    "vpc_flow_logs",
    severity="medium",
    types=("aws_vpc", "aws_default_vpc"),
    title="VPCs log their traffic",
    fix="add aws_flow_log with vpc_id of the VPC, a traffic_type and a log destination",
    references=("CKV2_AWS_11", "CIS AWS 3.7"),
)
def vpc_flow_logs(resource: Resource, context: Context) -> Answer | None:
    """A flow log of this very VPC that has somewhere to write to."""
    logs = context.companions(resource, "aws_flow_log", "vpc_id")
    written_to = [
        (log, some(written(log.resource, path) for path in ("log_destination", "log_group_name"))) for log in logs
    ]
    holds = some(delivers if log.certain or delivers is False else None for log, delivers in written_to)
    at = next((log.resource for log, delivers in written_to if delivers is False), None)
    bad = "the flow log has no destination" if at else "no flow log is for this VPC"
    return answer(holds, "a flow log records its traffic", bad, "", at)


@rule(
    "sg_world_admin",
    severity="critical",
    types=(*_GROUPS, _RULE, _INGRESS),
    title="No security group opens SSH or RDP to the world",
    fix="allow ports 22 and 3389 from known CIDR blocks only, or use SSM Session Manager instead",
    references=("CKV_AWS_24", "CKV_AWS_25", "CIS AWS 5.2", "CIS AWS 5.3"),
)
def sg_world_admin(resource: Resource, context: Context) -> Answer | None:
    """No admin port is reachable over TCP from (most of) the internet.

    The openings of a group are taken together, inline and standalone: two halves of the world, in one rule or in two,
    are the world. A standalone rule is judged with the group that it names; one whose group is not in the configuration
    is judged with the other rules of that group.
    """
    if resource.type in _GROUPS:
        return _exposure(_group_openings(resource, context))
    if resource.type == _RULE and resource.get("type") != "ingress":
        return None
    if not context.orphan(resource, "security_group_id", _GROUPS):
        return None
    key = _group_key(resource)
    return context.remember(("vpc.exposure", key), lambda _: _exposure(_orphan_openings(context)[key]))


def _exposure(openings: list[Opening]) -> Answer | None:
    return worst(_reach(port, openings) for port in ADMIN_PORTS)


def _reach(port: int, openings: list[Opening]) -> Answer:
    exposure, widest = world(port, openings)
    if exposure is Exposure.NO or widest is None:
        return Answer("pass", "no admin port is open to the world")
    if exposure is Exposure.YES:
        return Answer("fail", f"port {port} is open to the world", widest.path, widest.body)
    return Answer("unknown", f"who may reach port {port} is not known before apply", widest.path, widest.body)


def _group_openings(group: Resource, context: Context) -> list[Opening]:
    inline = [_opening(block, context) for block in group.blocks("ingress")]
    return inline + [_opening(one.resource, context) for one in _standalone(group, context)]


def _orphan_openings(context: Context) -> dict[Hashable, list[Opening]]:
    """The openings of standalone ingress rules by the group that they name."""
    return context.remember("vpc.orphans", _find_orphan_openings)


def _find_orphan_openings(context: Context) -> dict[Hashable, list[Opening]]:
    found: dict[Hashable, list[Opening]] = {}
    for one in context.of_type(_RULE, _INGRESS):
        if one.type == _INGRESS or one.get("type") == "ingress":
            found.setdefault(_group_key(one), []).append(_opening(one, context))
    return found


def _group_key(rule: Resource) -> Hashable:
    """The group that a standalone rule names, by reference or by text."""
    return rule.reference("security_group_id") or text(rule.get("security_group_id"))


def _standalone(group: Resource, context: Context) -> list[Companion]:
    rules = context.companions(group, _INGRESS, "security_group_id")
    rules += [r for r in context.companions(group, _RULE, "security_group_id") if r.resource.get("type") == "ingress"]
    return [one for one in rules if one.attached]


def _opening(body: Body, context: Context) -> Opening:
    if isinstance(body, Resource) and body.type == _INGRESS:
        return opening(body, context, "ip_protocol", ("cidr_ipv4", "cidr_ipv6"), ("prefix_list_id",))
    return opening(body, context, "protocol", ("cidr_blocks", "ipv6_cidr_blocks"), ("prefix_list_ids",))


@rule(
    "sg_description",
    severity="low",
    types=(*_GROUPS, _RULE, _INGRESS, _EGRESS),
    title="Security groups and their rules say what they are for",
    fix="add a description to the group and to each of its rules",
    references=("CKV_AWS_23",),
)
def sg_description(resource: Resource, context: Context) -> Answer | None:
    """A rule that nobody can explain is never removed. The provider's own "Managed by Terraform" explains nothing."""
    bodies: list[Body] = [resource, *resource.blocks("ingress"), *resource.blocks("egress")]
    if resource.type == "aws_default_security_group":
        bodies = bodies[1:]
    bare = next((body for body in bodies if _described(body) is not True), None)
    return answer(every(map(_described, bodies)), "described", "there is no description", "description", bare)


def _described(body: Body) -> Truth:
    return body.get("description") != "Managed by Terraform" and written(body, "description")
