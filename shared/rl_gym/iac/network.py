"""Who can reach a port: ingress openings as ports and address blocks, and whether their union is the world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import NamedTuple, TypeAlias

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.context import Context, type_of
from rl_gym.iac.verdicts import Body, Truth, number, text

WORLD_IPV4 = 2**24
"""More public IPv4 addresses than this, a whole /8, are more than any one organisation is known to hold."""

WORLD_IPV6 = 2**112
"""The same for IPv6: more than a /16 of it."""

_Span: TypeAlias = tuple[int, int]
"""The first address, and the one past the last, as numbers."""

_PRIVATE_IPV4 = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))
_PRIVATE_IPV6 = tuple(map(IPv6Network, ("fc00::/7", "fe80::/10")))
_LONGEST = 64
"""Characters in an address block: eight groups of IPv6, and a mask."""
_ALL_PROTOCOLS = frozenset({"-1", "all"})
_TCP = frozenset({"tcp", "6"})
_UDP = frozenset({"udp", "17"})
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


class Port(NamedTuple):
    """A port over TCP, or over UDP."""

    number: int
    udp: bool = False

    def __str__(self) -> str:
        return f"port {self.number}" + " over UDP" * self.udp


@dataclass(frozen=True, slots=True)
class Opening:
    """One ingress rule: `low` to `high` over TCP or UDP, None where not known, `networks` that may come in.

    `tcp` and `udp` say whether it lets these in at all; `undetermined` that more addresses than `networks` may. `path`
    names the argument with the addresses in `body`.
    """

    body: Body
    path: str
    tcp: Truth
    udp: Truth
    low: float | None
    high: float | None
    networks: tuple[IPv4Network | IPv6Network, ...]
    undetermined: bool

    def covers(self, port: Port) -> Truth:
        let_in = self.udp if port.udp else self.tcp
        if let_in is False:
            return False
        if (self.low is not None and port.number < self.low) or (self.high is not None and port.number > self.high):
            return False
        return None if let_in is None or self.low is None or self.high is None else True


def opens(ports: Iterable[Port], openings: Sequence[Opening]) -> Iterator[tuple[Port, Exposure, Opening]]:
    """The ports that are, or may be, open to the world through the openings together, with the widest of these."""
    # Nearly every group lets in few, and then no port of it is worth a look.
    if not any(one.undetermined for one in openings) and not is_world(net for one in openings for net in one.networks):
        return
    judged: dict[tuple[Truth, ...], tuple[Exposure, Opening | None]] = {}
    for port in ports:
        covering = tuple(one.covers(port) for one in openings)
        if covering not in judged:
            judged[covering] = _world(openings, covering)
        exposure, widest = judged[covering]
        if widest is not None:
            yield port, exposure, widest


def _world(openings: Sequence[Opening], covering: Sequence[Truth]) -> tuple[Exposure, Opening | None]:
    """Whether the openings that cover a port open it to the world together, and which one does above all."""
    sure = [one for one, covers in zip(openings, covering, strict=True) if covers is True]
    if is_world(net for one in sure for net in one.networks):
        return Exposure.YES, max(sure, key=_size)
    maybe = [one for one, covers in zip(openings, covering, strict=True) if covers is not False]
    if is_world(net for one in maybe for net in one.networks):
        return Exposure.UNKNOWN, max(maybe, key=_size)
    hidden = next((one for one in maybe if one.undetermined), None)
    return (Exposure.UNKNOWN if hidden else Exposure.NO), hidden


def is_world(networks: Iterable[IPv4Network | IPv6Network]) -> bool:
    """Whether the union holds more public addresses than any one organisation does."""
    found = tuple(networks)
    four = [_span(net) for net in found if isinstance(net, IPv4Network)]
    six = [_span(net) for net in found if isinstance(net, IPv6Network)]
    return _is_wide(four, _PRIVATE_IPV4, WORLD_IPV4) or _is_wide(six, _PRIVATE_IPV6, WORLD_IPV6)


def _is_wide(spans: list[_Span], private: Iterable[IPv4Network | IPv6Network], most: int) -> bool:
    """Whether the union of spans holds more than `most` addresses that are in none of the private networks."""
    if _together(spans) <= most:
        return False
    own = list(map(_span, private))
    return _together([*spans, *own]) - _together(own) > most


def _span(net: IPv4Network | IPv6Network) -> _Span:
    first = int(net.network_address)
    return first, first + 2 ** (net.max_prefixlen - net.prefixlen)


def _together(spans: Iterable[_Span]) -> int:
    """Addresses in the union of spans."""
    total = end = 0
    for first, past in sorted(spans):
        if past > end:
            total += past - max(first, end)
            end = past
    return total


def _size(opening: Opening) -> float:
    return max((2.0**-net.prefixlen for net in opening.networks), default=0.0)


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
    named = _protocol(body.get(protocol))
    low, high = (0, 65535) if named in _ALL_PROTOCOLS else _range(body)
    tcp, udp = (None if named is None else named in kinds or named in _ALL_PROTOCOLS for kinds in (_TCP, _UDP))
    return Opening(body, path, tcp, udp, low, high, tuple(networks), undetermined)


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


def _protocol(named: object) -> str | None:
    """A protocol by name or number; None where it is not known."""
    return None if named is UNKNOWN else (text(named) or "").strip().lower()


def _range(body: Body) -> tuple[float | None, float | None]:
    """The lowest and highest port (None: not known)."""
    bounds = [body.get("from_port"), body.get("to_port")]
    low, high = (None if bound is UNKNOWN else number(bound) for bound in bounds)
    absent = all(bound is None for bound in bounds)
    if absent or (low == -1 and high in (-1, None)):
        # Left out, or -1: every port of the protocol.
        return 0, 65535
    if low is not None and high is not None and low > high:
        low, high = high, low
    return low, high
