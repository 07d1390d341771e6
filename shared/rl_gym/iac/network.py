"""Who can reach a port: ingress openings as ports and address blocks, and whether their union is the world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.context import Context, type_of
from rl_gym.iac.verdicts import Body, Truth, number, text

WORLD_IPV4 = 2**24
"""More public IPv4 addresses than this, a whole /8, are more than any one organisation is known to hold."""

WORLD_IPV6 = 2**112
"""The same for IPv6: more than a /16 of it."""

_PRIVATE_IPV4 = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))
_PRIVATE_IPV6 = tuple(map(IPv6Network, ("fc00::/7", "fe80::/10")))
_LONGEST = 64
"""Characters in an address block: eight groups of IPv6, and a mask."""
_ALL_PROTOCOLS = frozenset({"-1", "all"})
_TCP = frozenset({"tcp", "6"})
_ADDRESSED = frozenset(
    {
        "aws_vpc",
        "aws_default_vpc",
        "aws_subnet",
        "aws_default_subnet",
        "aws_eip",
        "aws_instance",
        "aws_nat_gateway",
        "aws_network_interface",
        "aws_vpc_ipv4_cidr_block_association",
        "aws_vpc_ipv6_cidr_block_association",
    }
)
"""Types whose addresses are at most as wide as a VPC: a value computed from them alone is never the world."""


class Exposure(Enum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Opening:
    """One ingress rule: `low` to `high` over TCP, None where not known, `networks` that may come in.

    `tcp` says whether it lets TCP in at all; `undetermined` that more addresses than `networks` may. `path` names the
    argument with the addresses in `body`.
    """

    body: Body
    path: str
    tcp: Truth
    low: float | None
    high: float | None
    networks: tuple[IPv4Network | IPv6Network, ...]
    undetermined: bool

    def covers(self, port: int) -> Truth:
        if self.tcp is False:
            return False
        if (self.low is not None and port < self.low) or (self.high is not None and port > self.high):
            return False
        return None if self.tcp is None or self.low is None or self.high is None else True


def world(port: int, openings: Sequence[Opening]) -> tuple[Exposure, Opening | None]:
    """Whether a TCP port is open to the world through the openings together, and by which one above all."""
    sure = [opening for opening in openings if opening.covers(port) is True]
    if is_world(net for opening in sure for net in opening.networks):
        return Exposure.YES, max(sure, key=_size)
    maybe = [opening for opening in openings if opening.covers(port) is not False]
    if is_world(net for opening in maybe for net in opening.networks):
        return Exposure.UNKNOWN, max(maybe, key=_size)
    hidden = next((opening for opening in maybe if opening.undetermined), None)
    return (Exposure.UNKNOWN, hidden) if hidden else (Exposure.NO, None)


def is_world(networks: Iterable[IPv4Network | IPv6Network]) -> bool:
    """Whether the union holds more public addresses than any one organisation does."""
    found = tuple(networks)
    four = {net for net in found if isinstance(net, IPv4Network)}
    six = {net for net in found if isinstance(net, IPv6Network)}
    # The sum bounds the union from above, and spares nearly everyone the merging.
    return (
        _public(four, _PRIVATE_IPV4) > WORLD_IPV4 and _public(collapse_addresses(four), _PRIVATE_IPV4) > WORLD_IPV4
    ) or (_public(six, _PRIVATE_IPV6) > WORLD_IPV6 and _public(collapse_addresses(six), _PRIVATE_IPV6) > WORLD_IPV6)


def _public(
    networks: Iterable[IPv4Network] | Iterable[IPv6Network], private: Sequence[IPv4Network] | Sequence[IPv6Network]
) -> int:
    """Addresses in networks, each counted, that are in none of the private ones: CIDR blocks nest or are disjoint."""
    return sum(
        net.num_addresses - sum(min(net.num_addresses, own.num_addresses) for own in private if net.overlaps(own))
        for net in networks
    )


def _size(opening: Opening) -> float:
    widths = [net.num_addresses / 2**net.max_prefixlen for net in opening.networks]
    return max(widths, default=0.0)


def opening(body: Body, context: Context, protocol: str, cidrs: Sequence[str], prefix_lists: Sequence[str]) -> Opening:
    """Read an ingress rule whose protocol, CIDR blocks and prefix lists stand at the given paths."""
    networks: list[IPv4Network | IPv6Network] = []
    undetermined, path = False, ""
    for name in cidrs:
        items = _items(body, name)
        context.spend(len(items))
        for index, value in items:
            path = path or name
            net = parse(value) if isinstance(value, str) else None
            if net:
                networks.append(net)
            elif value is not UNKNOWN or not _within_vpc(body, index):
                undetermined = True
    for name in prefix_lists:
        for index, _ in _items(body, name):
            path = path or name
            nets, known = _entries(context.referred(body, index), context)
            networks += nets
            undetermined |= not known
    tcp, low, high = _ports(body, protocol)
    return Opening(body, path, tcp, low, high, tuple(networks), undetermined)


def parse(cidr: str) -> IPv4Network | IPv6Network | None:
    """A CIDR block in any spelling; host bits are ignored, as AWS does. None where it is no address block."""
    short = cidr.strip()
    return _parsed(short) if len(short) <= _LONGEST else None


@lru_cache(maxsize=4096)
def _parsed(cidr: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(cidr, strict=False)
    except ValueError:
        # An address that nobody else can read, with a mask of nothing, is still meant as the world.
        return IPv4Network("0.0.0.0/0") if cidr.endswith("/0") else None


def _items(body: Body, name: str) -> list[tuple[str, object]]:
    """The values at a path, a list or one value, each with a path of its own."""
    value = body.get(name)
    if value is None:
        return []
    if isinstance(value, list):
        return [(f"{name}.{index}", item) for index, item in enumerate(value) if item is not None]
    return [(name, value)]


def _within_vpc(body: Body, path: str) -> bool:
    bases = body.references(path)
    return bool(bases) and all(type_of(base) in _ADDRESSED for base in bases)


def _entries(source: Resource | None, context: Context) -> tuple[list[IPv4Network | IPv6Network], bool]:
    """The blocks of a prefix list, and whether these are all of them."""
    if source is None:
        return [], False
    if source.mode == "data":
        name = source.get("name") or source.get("prefix_list_id")
        return [], isinstance(name, str) and name.startswith("com.amazonaws.")
    bodies: list[Body] = list(source.blocks("entry"))
    for one in context.companions(source, "aws_ec2_managed_prefix_list_entry", "prefix_list_id"):
        bodies.append(one.resource)
    values = [body.get("cidr") for body in bodies]
    nets = [parse(value) if isinstance(value, str) else None for value in values]
    return [net for net in nets if net], all(nets)


def _ports(body: Body, protocol: str) -> tuple[Truth, float | None, float | None]:
    """Whether TCP is let in, and the lowest and highest port of it (None: not known)."""
    named = body.get(protocol)
    name = (text(named) or "").strip().lower()
    if name in _ALL_PROTOCOLS:
        return True, 0, 65535
    tcp: Truth = None if named is UNKNOWN else name in _TCP
    bounds = [body.get("from_port"), body.get("to_port")]
    low, high = (None if bound is UNKNOWN else number(bound) for bound in bounds)
    absent = all(bound is None for bound in bounds)
    if absent or (low == -1 and high in (-1, None)):
        # Left out, or -1: every port of the protocol.
        return tcp, 0, 65535
    if low is not None and high is not None and low > high:
        low, high = high, low
    return tcp, low, high
