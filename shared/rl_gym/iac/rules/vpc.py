"""VPC: what is logged, and which ports a security group opens to the world."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from rl_gym.hcl import Resource
from rl_gym.iac.companions import Companion
from rl_gym.iac.context import Context
from rl_gym.iac.network import Exposure, Opening, Port, opening, opens
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Body, Truth, answer, every, given, some, text, worst, written

ADMIN_PORTS = (Port(22), Port(3389))
"""SSH and RDP, the ports of CIS AWS 5.2 and 5.3."""

_DATABASES = {
    1433: "SQL Server",
    1434: "SQL Server",
    1521: "Oracle",
    2379: "etcd",
    2382: "SQL Server Analysis Services",
    2383: "SQL Server Analysis Services",
    2483: "Oracle",
    2484: "Oracle",
    3050: "Firebird",
    3306: "MySQL",
    4333: "mSQL",
    5432: "PostgreSQL",
    5439: "Redshift",
    5601: "Kibana",
    5984: "CouchDB",
    6379: "Redis",
    7000: "Cassandra",
    7001: "Cassandra",
    7199: "Cassandra",
    7474: "Neo4j",
    7687: "Neo4j",
    8086: "InfluxDB",
    8111: "DynamoDB Accelerator",
    8182: "Neptune",
    8529: "ArangoDB",
    9042: "Cassandra",
    9142: "Keyspaces",
    9160: "Cassandra",
    9200: "OpenSearch",
    9300: "OpenSearch",
    11211: "Memcached",
    26257: "CockroachDB",
    27017: "MongoDB",
    27018: "MongoDB",
    27019: "MongoDB",
    28015: "RethinkDB",
    50000: "Db2",
}
DATABASE_PORTS = (*map(Port, _DATABASES), Port(1434, udp=True), Port(11211, udp=True))
"""The databases, caches and search engines among the high-risk ports of FSBP EC2.19, and the default ports of those
that AWS runs (RDS, Redshift, ElastiCache, DocumentDB, Neptune, Keyspaces, DAX, OpenSearch, Timestream) or that are
widespread; over UDP the SQL Server Browser and Memcached."""

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
    short="aws_flow_log",
    references=("CKV2_AWS_11", "CIS AWS 3.7", "FSBP EC2.6"),
    passing="""
        resource "aws_vpc" "v" {
          cidr_block = "10.0.0.0/16"
        }
        resource "aws_flow_log" "f" {
          vpc_id               = aws_vpc.v.id
          traffic_type         = "ALL"
          log_destination      = "arn:aws:s3:::logs"
          log_destination_type = "s3"
        }
    """,
    failing="""
        resource "aws_vpc" "v" {
          cidr_block = "10.0.0.0/16"
        }
    """,
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


def _sg_world_admin_1(resource: Resource, context: Context) -> Answer | None:
    return _judge(resource, context, ADMIN_PORTS, str)


@rule(
    "sg_world_admin",
    severity="critical",
    types=(*_GROUPS, _RULE, _INGRESS),
    title="No security group opens SSH or RDP to the world",
    fix="allow ports 22 and 3389 from known CIDR blocks only, or use SSM Session Manager instead",
    short="no SSH or RDP open to the world",
    references=("CKV_AWS_24", "CKV_AWS_25", "CIS AWS 5.2", "CIS AWS 5.3", "FSBP EC2.13", "FSBP EC2.14"),
    version=2,
    first=_sg_world_admin_1,
    passing="""
        resource "aws_security_group" "s" {
          description = "servers"
          ingress {
            description = "administration"
            from_port   = 22
            to_port     = 22
            protocol    = "tcp"
            cidr_blocks = ["10.0.0.0/16"]
          }
        }
    """,
    failing="""
        resource "aws_security_group" "s" {
          description = "servers"
          ingress {
            description = "administration"
            from_port   = 22
            to_port     = 22
            protocol    = "tcp"
            cidr_blocks = ["0.0.0.0/0"]
          }
        }
    """,
)
def sg_world_admin(resource: Resource, context: Context) -> Answer | None:
    """No admin port is reachable over TCP from (most of) the internet.

    The openings of a group are taken together, inline and standalone: two halves of the world, in one rule or in two,
    are the world. A standalone rule is judged with the group that it names; one whose group is not in the configuration
    is judged with the other rules of that group, for the ports that it covers itself.
    """
    return _judge(resource, context, _own(resource, context, ADMIN_PORTS), str)


@rule(
    "sg_open_database_ports",
    severity="critical",
    types=(*_GROUPS, _RULE, _INGRESS),
    title="No security group opens a database, cache or search engine to the world",
    fix="allow the port from the security groups of the clients, or from known CIDR blocks only",
    short="no database port open to the world",
    references=("FSBP EC2.19", "AWS Config restricted-common-ports"),
    passing="""
        resource "aws_security_group" "db" {
          description = "database"
          ingress {
            description = "clients"
            from_port   = 5432
            to_port     = 5432
            protocol    = "tcp"
            cidr_blocks = ["10.0.0.0/16"]
          }
        }
    """,
    failing="""
        resource "aws_security_group" "db" {
          description = "database"
          ingress {
            description = "clients"
            from_port   = 5432
            to_port     = 5432
            protocol    = "tcp"
            cidr_blocks = ["0.0.0.0/0"]
          }
        }
    """,
)
def sg_open_database_ports(resource: Resource, context: Context) -> Answer | None:
    """No port on which a database, a cache or a search engine listens is reachable from (most of) the internet.

    The ports are DATABASE_PORTS; reach is judged as by sg_world_admin. These engines are the ones that are scanned for,
    and many of them let in whoever reaches them.
    """
    ports = _own(resource, context, DATABASE_PORTS)
    return _judge(resource, context, ports, lambda port: f"{port} ({_DATABASES[port.number]})")


def _judge(
    resource: Resource, context: Context, ports: tuple[Port, ...], shown: Callable[[Port], str]
) -> Answer | None:
    """Whether a group, or the standalone rules of one from elsewhere, opens any of the ports to the world."""
    openings = _openings(resource, context)
    if openings is None:
        return None
    found = worst(_reached(shown(port), how, by) for port, how, by in opens(ports, openings))
    return found or Answer("pass", "no such port is open to the world")


def _own(resource: Resource, context: Context, ports: tuple[Port, ...]) -> tuple[Port, ...]:
    """The ports that a standalone rule covers, or may cover; all of them for a group."""
    if resource.type in _GROUPS:
        return ports
    own = next((one for one in _openings(resource, context) or () if one.body is resource), None)
    return ports if own is None else tuple(port for port in ports if own.covers(port) is not False)


def _reached(port: str, exposure: Exposure, widest: Opening) -> Answer:
    if exposure is Exposure.YES:
        return Answer("fail", f"{port} is open to the world", widest.path, widest.body)
    return Answer("unknown", f"who may reach {port} is not known before apply", widest.path, widest.body)


def _openings(resource: Resource, context: Context) -> list[Opening] | None:
    """What a group lets in, or all standalone rules of one from elsewhere do; None where its group answers for it."""
    if resource.type in _GROUPS:
        return context.remember(("vpc.openings", resource.address), lambda _: _group_openings(resource, context))
    if resource.type == _RULE and resource.get("type") != "ingress":
        return None
    if not context.orphan(resource, "security_group_id", _GROUPS):
        return None
    return _orphan_openings(context)[_group_key(resource)]


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
    short="a description on groups and rules",
    references=("CKV_AWS_23",),
    passing="""
        resource "aws_security_group" "s" {
          description = "what the load balancer lets in"
        }
    """,
    failing="""
        resource "aws_security_group" "s" {
          name = "s"
        }
    """,
)
def sg_description(resource: Resource, context: Context) -> Answer | None:
    """A rule that nobody can explain is never removed. The provider's own "Managed by Terraform" explains nothing."""
    bodies: list[Body] = [resource, *resource.blocks("ingress"), *resource.blocks("egress")]
    if resource.type == "aws_default_security_group":
        bodies = bodies[1:]
    bare = next((body for body in bodies if _described(body) is not True), None)
    return answer(every(map(_described, bodies)), "described", "there is no description", "description", bare)


def _described(body: Body) -> Truth:
    return body.get("description") != "Managed by Terraform" and given(body, "description")
