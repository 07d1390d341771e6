"""Networks with their flow logs, and security groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from rl_gym.iac.tasks.demands import Demand, admits, companion, equals, network, refers
from rl_gym.iac.tasks.hcl_writer import Attr, Block, array, quote, tags
from rl_gym.iac.tasks.names import PURPOSES
from rl_gym.iac.tasks.parts import Builder, Part, Stack, Style

_ARCHIVE = "arn:aws:s3:::org-flow-logs"
_DELIVERY_ROLE = "arn:aws:iam::123456789012:role/flow-logs"
_OPEN_PORTS = (80, 443)
_GUARDED = {
    22: "sg_world_admin",
    3389: "sg_world_admin",
    3306: "sg_open_database_ports",
    5432: "sg_open_database_ports",
    6379: "sg_open_database_ports",
}
"""Ports that must not face the world, with the rule that says so."""


class Network(Builder):
    kind = "network"
    types = ("aws_vpc",)

    def draw(self, project: str, rng: Random) -> Part:
        name = f"{project}-{rng.choice(PURPOSES[self.kind])}"
        return Part(self.kind, name, {"cidr": f"10.{rng.randrange(1, 250)}.0.0/16"})

    def nouns(self, part: Part) -> Sequence[str]:
        return ("a VPC", "a network", "a private network")

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        cidr = part.params["cidr"]
        logged = companion(
            "aws_flow_log", "vpc_id", refers("aws_cloudwatch_log_group", "log_destination", "log_group_name")
        )
        return (
            Demand(f"range {cidr}", network("cidr_block", cidr)),
            *stack.links(logs=Demand("flow logs go to the log group", logged, rule="vpc_flow_logs")),
        )

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        yield Block(
            "resource",
            ("aws_vpc", stack.project),
            [Attr("cidr_block", quote(part.params["cidr"])), style.protect("tags", tags(Name=part.name))],
        )
        flow_log = style.protect("vpc_flow_logs", _flow_log(stack))
        if flow_log:
            yield flow_log


def _flow_log(stack: Stack) -> Block:
    """To the stack's own log group where it has one, else to the organisation's archive."""
    group = stack.ref("logs", "aws_cloudwatch_log_group", "arn")
    if group:
        target = [Attr("log_destination", group), Attr("iam_role_arn", quote(_DELIVERY_ROLE))]
    else:
        target = [Attr("log_destination_type", quote("s3")), Attr("log_destination", quote(_ARCHIVE))]
    subject = [Attr("vpc_id", f"aws_vpc.{stack.project}.id"), Attr("traffic_type", quote("ALL"))]
    return Block("resource", ("aws_flow_log", stack.project), [*subject, *target])


class SecurityGroup(Builder):
    kind = "security_group"
    types = ("aws_security_group",)
    floor_tagged = False

    def draw(self, project: str, rng: Random) -> Part:
        name = f"{project}-{rng.choice(PURPOSES[self.kind])}"
        port = rng.choice((*_OPEN_PORTS, *_GUARDED, 8080))
        world = port in _OPEN_PORTS and rng.random() < 0.5
        cidr = "0.0.0.0/0" if world else f"10.{rng.randrange(1, 250)}.0.0/16"
        return Part(self.kind, name, {"port": port, "cidr": cidr, "egress": rng.random() < 0.3})

    def nouns(self, part: Part) -> Sequence[str]:
        return ("a security group", "a firewall", "firewall rules")

    def identity(self, part: Part) -> Sequence[Demand]:
        return (Demand(part.name, equals("name", part.name)),)

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        port, cidr = part.params["port"], part.params["cidr"]
        origin = "anywhere" if cidr == "0.0.0.0/0" else cidr
        return (
            Demand(f"port {port} from {origin}", admits(port, cidr)),
            *stack.links(network=Demand("in the VPC", refers("aws_vpc", "vpc_id"))),
        )

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        port, cidr, network = part.params["port"], part.params["cidr"], stack.ref("network", "aws_vpc", "id")
        if port in _GUARDED:
            cidr = style.limit(_GUARDED[port], cidr, "0.0.0.0/0")
        yield Block(
            "resource",
            ("aws_security_group", stack.project),
            [
                Attr("name", quote(part.name)),
                Attr("vpc_id", network) if network else None,
                style.protect("sg_description", Attr("description", quote(f"{stack.project} traffic"))),
                style.protect("tags", tags(Project=stack.project)),
                _traffic("ingress", port, "tcp", cidr, style),
                _traffic("egress", 0, "-1", "0.0.0.0/0", style) if part.params["egress"] else None,
            ],
        )


def _traffic(direction: str, port: int, protocol: str, cidr: str, style: Style) -> Block:
    return Block(
        direction,
        (),
        [
            style.protect("sg_description", Attr("description", quote(f"{direction} {port}"))),
            Attr("from_port", str(port)),
            Attr("to_port", str(port)),
            Attr("protocol", quote(protocol)),
            Attr("cidr_blocks", array([cidr])),
        ],
    )
