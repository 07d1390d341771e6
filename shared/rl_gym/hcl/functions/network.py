"""Functions on CIDR blocks."""

from __future__ import annotations

import ipaddress
import re
from typing import TypeAlias

from rl_gym.hcl.budget import Budget, NoValueError
from rl_gym.hcl.conversion import NUMBER, STRING
from rl_gym.hcl.functions.registry import function, whole
from rl_gym.hcl.values import List, Value

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_LEADING_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")


def network_of(text: str) -> Network:
    """The block that CIDR text names, host bits dropped; raises NoValueError."""
    address, slash, length = text.partition("/")
    if not slash or not length.isdigit() or not length.isascii() or "%" in address:
        raise NoValueError(f'"{text[:60]}" is not a valid CIDR block')
    if ":" not in address:
        address = _LEADING_ZEROS.sub("", address)
    try:
        return ipaddress.ip_network(f"{address}/{int(length[:4])}", strict=False)
    except ValueError:
        raise NoValueError(f'"{text[:60]}" is not a valid CIDR block') from None


def _subnet(network: Network, bits: int, number: int) -> Network:
    length = network.prefixlen + bits
    if length > network.max_prefixlen:
        raise NoValueError(f"not enough bits left to extend a prefix of {network.prefixlen} by {bits}")
    if number < 0 or number >> bits:
        raise NoValueError(f"a prefix extended by {bits} bits has no network number {number}")
    first = int(network.network_address) + (number << (network.max_prefixlen - length))
    return type(network)((first, length))


@function("cidrsubnet", STRING, NUMBER, NUMBER)
def cidrsubnet(block: str, bits: Value, number: Value) -> str:
    added = whole(bits)
    if added < 0:
        raise NoValueError("a prefix cannot be extended by a negative number of bits")
    return str(_subnet(network_of(block), added, whole(number)))


@function("cidrsubnets", STRING, variadic=NUMBER, budgeted=True)
def cidrsubnets(budget: Budget, block: str, *bits: Value) -> List:
    network = network_of(block)
    budget.items(len(bits))
    budget.spend(16 * len(bits))
    made: list[str] = []
    following = int(network.network_address)
    last = int(network.broadcast_address)
    for item in bits:
        added = whole(item)
        if not 1 <= added <= 32:
            raise NoValueError("a prefix is extended by 1 to 32 bits")
        length = network.prefixlen + added
        if length > network.max_prefixlen:
            raise NoValueError(f"not enough bits left to extend a prefix of {network.prefixlen} by {added}")
        size = 1 << (network.max_prefixlen - length)
        first = (following + size - 1) // size * size
        if first + size - 1 > last:
            raise NoValueError(f"not enough room left in {network} for a prefix of {length}")
        made.append(str(type(network)((first, length))))
        following = first + size
    return List(made)


@function("cidrhost", STRING, NUMBER)
def cidrhost(block: str, number: Value) -> str:
    network = network_of(block)
    host = whole(number)
    size = network.num_addresses
    if not -size <= host < size:
        raise NoValueError(f"{network} has no host number {host}")
    return str(network.network_address + (host if host >= 0 else size + host))


@function("cidrnetmask", STRING)
def cidrnetmask(block: str) -> str:
    network = network_of(block)
    if network.version == 6:
        raise NoValueError("IPv6 has no netmask notation")
    return str(network.netmask)
