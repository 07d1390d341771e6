"""What a request asks for, in words and as a check of the resource that answers it.

A check is three-valued: what the configuration does not tell does not hold. It judges what a value means, however it is
written: a number in a variable, an address block in another spelling, a key by reference or by its alias.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, collapse_addresses

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.actions import covers
from rl_gym.iac.context import Context
from rl_gym.iac.grants import grants
from rl_gym.iac.network import Opening, Port, opening, parse
from rl_gym.iac.policy import Statement
from rl_gym.iac.verdicts import Body, Truth, every, inside, number, some, text, truth

__all__ = [
    "Check",
    "Demand",
    "admits",
    "allows",
    "behind",
    "beside",
    "both",
    "companion",
    "contains",
    "either",
    "equals",
    "keyed",
    "nested",
    "network",
    "refers",
    "through",
    "with_key",
]

Check = Callable[[Body, Context], Truth]
"""Whether a resource, or a block of it, does what is asked."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One thing that a request may ask for: the words that ask for it, and whether a resource does it.

    `rule` names the protection that a builder writes to fulfil it, where it is one: an answer without that protection
    does not do what was asked.
    """

    words: str
    holds: Check
    rule: str = ""


def with_key(check: Check, rule: str) -> Demand:
    """The key of the same stack encrypts it."""
    return Demand("encrypted with the project key", check, rule)


def behind(*paths: str) -> Demand:
    """The security group of the same stack guards it, named at one of the paths."""
    return Demand("behind the project firewall", refers("aws_security_group", *paths))


# ---- ways to combine -------------------------------------------------------------------------------------------------


def both(*checks: Check) -> Check:
    return lambda body, context: every(check(body, context) for check in checks)


def either(*checks: Check) -> Check:
    return lambda body, context: some(check(body, context) for check in checks)


def nested(name: str, check: Check) -> Check:
    """Some block of this name does it."""
    return lambda body, context: some(inside(block, check(block, context)) for block in body.blocks(name))


def through(path: str, check: Check) -> Check:
    """The resource that the value at a path is an attribute of does it."""

    def holds(body: Body, context: Context) -> Truth:
        found = context.referred(body, path)
        return found is not None and found.created is True and check(found, context)

    return holds


def companion(kind: str, path: str, check: Check) -> Check:
    """Some resource of this type that is surely for the resource, by its argument `path`, does it."""

    def holds(body: Body, context: Context) -> Truth:
        found = context.companions(body, kind, path) if isinstance(body, Resource) else ()
        return some(check(one.resource, context) if one.certain else None for one in found)

    return holds


# ---- values ----------------------------------------------------------------------------------------------------------


def equals(path: str, wanted: str | int | bool) -> Check:
    """The value at a path is `wanted`, or converts to it."""

    def holds(body: Body, context: Context) -> Truth:
        value = body.get(path)
        if value is UNKNOWN:
            return None
        if isinstance(wanted, bool):
            return truth(value, False) is wanted
        return number(value) == wanted if isinstance(wanted, int) else text(value) == wanted

    return holds


def contains(path: str, wanted: str) -> Check:
    """The text at a path has `wanted` in it."""

    def holds(body: Body, context: Context) -> Truth:
        value = body.get(path)
        return None if value is UNKNOWN else isinstance(value, str) and wanted in value

    return holds


def network(path: str, wanted: str) -> Check:
    """The address block at a path is `wanted`."""

    def holds(body: Body, context: Context) -> Truth:
        value = body.get(path)
        return None if value is UNKNOWN else isinstance(value, str) and parse(value) == parse(wanted)

    return holds


def refers(kind: str, *paths: str) -> Check:
    """A value at one of the paths is an attribute of a resource of this type that is surely created."""

    def holds(body: Body, context: Context) -> Truth:
        targets = [one for one in context.of_type(kind) if one.created is True]
        context.spend(len(targets) * len(paths))
        return any(body.get(path) is not None and body.refers_to(one, path) for one in targets for path in paths)

    return holds


def beside(kind: str, path: str) -> Check:
    """The value at a path is that of a resource of this type, by reference or by being equal."""

    def holds(body: Body, context: Context) -> Truth:
        value = body.get(path)
        targets = [one for one in context.of_type(kind) if one.created is True]
        equal = value is not None and value is not UNKNOWN and any(one.get(path) == value for one in targets)
        return equal or refers(kind, path)(body, context)

    return holds


# ---- keys ------------------------------------------------------------------------------------------------------------

_KEY_IDENTITIES = frozenset({"arn", "id", "key_id"})
_ALIAS_IDENTITIES = frozenset({"arn", "id", "name", "target_key_arn", "target_key_id"})


def keyed(path: str) -> Check:
    """The value at a path names a customer key of the configuration: by its ARN or id, or by an alias of it."""

    def holds(body: Body, context: Context) -> Truth:
        reference = body.reference(path)
        if reference is not None:
            target = context.find(reference.address)
            return target is not None and _is_key(target, reference.attribute, context)
        value = body.get(path)
        if value is UNKNOWN:
            return None
        aliases = (one for one in context.of_type("aws_kms_alias") if one.get("name") == value)
        return isinstance(value, str) and any(_is_key(alias, "name", context) for alias in aliases)

    return holds


def _is_key(target: Resource, attribute: str, context: Context) -> bool:
    if target.created is not True:
        return False
    if target.type == "aws_kms_alias":
        key = context.referred(target, "target_key_id")
        return attribute in _ALIAS_IDENTITIES and key is not None and key.type == "aws_kms_key" and key.created is True
    return target.type == "aws_kms_key" and attribute in _KEY_IDENTITIES


# ---- traffic ---------------------------------------------------------------------------------------------------------


def admits(port: int, cidr: str) -> Check:
    """A security group lets in TCP traffic to a port from exactly this address block, whole or in parts."""

    def holds(body: Body, context: Context) -> Truth:
        sure = [one for one in _openings(body, context) if one.body.created is True and one.covers(Port(port)) is True]
        blocks = [net for one in sure for net in one.networks if isinstance(net, IPv4Network)]
        context.spend(len(blocks))
        return parse(cidr) in set(collapse_addresses(blocks))

    return holds


def _openings(group: Body, context: Context) -> Iterator[Opening]:
    for block in group.blocks("ingress"):
        yield opening(block, context, "protocol", ("cidr_blocks",), ())
    if isinstance(group, Resource):
        for one in context.companions(group, "aws_security_group_rule", "security_group_id"):
            if one.certain and one.resource.get("type") == "ingress":
                yield opening(one.resource, context, "protocol", ("cidr_blocks",), ())
        for one in context.companions(group, "aws_vpc_security_group_ingress_rule", "security_group_id"):
            if one.certain:
                yield opening(one.resource, context, "ip_protocol", ("cidr_ipv4",), ())


# ---- permissions -----------------------------------------------------------------------------------------------------


def allows(actions: Sequence[str], thing: str, neighbour: str = "") -> Check:
    """A policy grants one of the actions on a thing: by its name in an ARN or, of type `neighbour`, by reference."""

    def holds(body: Body, context: Context) -> Truth:
        if not isinstance(body, Resource):
            return False
        found = [one for grant in grants(body, context) if grant.is_json for one in grant.statements or ()]
        return any(_grants(one, actions) and _stands_on(one, thing, neighbour) for one in found)

    return holds


def _grants(statement: Statement, actions: Iterable[str]) -> bool:
    patterns = [one.lower() for one in statement.actions if isinstance(one, str)]
    named = any(covers(pattern, action.lower()) for pattern in patterns for action in actions)
    return statement.certain and not statement.not_action and named


def _stands_on(statement: Statement, thing: str, neighbour: str) -> bool:
    named = [str(one) for one in statement.resources if isinstance(one, str)]
    spelled = [f"${{{neighbour}."] if neighbour else []
    return not statement.not_resource and any(
        one == "*" or thing in one or any(start in one for start in spelled) for one in named
    )
