"""Whether address blocks together are the world, however they are cut and spelled."""

from __future__ import annotations

import random
from ipaddress import ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rl_gym.iac.network import is_world, parse


@pytest.mark.parametrize(
    "cidrs",
    [
        ["0.0.0.0/0"],
        ["0.0.0.0/1", "128.0.0.0/1"],
        ["8.0.0.0/7"],
        ["3.0.0.0/8", "52.0.0.0/8"],
        ["1.2.3.4/0"],
        ["0.0.0.0/0.0.0.0"],
        [" 0.0.0.0/0 "],
        ["00.00.00.00/0"],
        ["::/0"],
        ["::/1", "8000::/1"],
        ["0:0:0:0:0:0:0:0/0"],
        ["10.0.0.0/8", "::/0"],
    ],
)
def test_the_world(cidrs: list[str]) -> None:
    assert is_world(net for cidr in cidrs if (net := parse(cidr)))


@pytest.mark.parametrize(
    "cidrs",
    [
        [],
        ["203.0.113.7/32"],
        ["17.0.0.0/8"],
        ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"],
        ["fc00::/7", "fe80::/10"],
        ["2001:db8::/32"],
    ],
)
def test_less_than_the_world(cidrs: list[str]) -> None:
    assert not is_world(net for cidr in cidrs if (net := parse(cidr)))


@pytest.mark.parametrize("text", ["", "office", "sg-1", "10.0.0.0/33", "::/200"])
def test_no_address_block(text: str) -> None:
    assert parse(text) is None


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from(["0.0.0.0/0", "::/0"]), st.integers(0, 8), st.randoms(use_true_random=False))
def test_a_cut_world_is_the_world(whole: str, bits: int, order: random.Random) -> None:
    parts = list(ip_network(whole).subnets(prefixlen_diff=bits))
    order.shuffle(parts)
    assert is_world(parts)
