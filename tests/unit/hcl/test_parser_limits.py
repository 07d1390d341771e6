"""Every bound on parsing, with a text that is made to exceed it, and texts that are made to be slow."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest

from rl_gym.hcl import HclLimitError, HclSyntaxError, Limits, parse
from rl_gym.hcl.ast import height
from rl_gym.hcl.limits import DEFAULT, FILES
from tests.unit.hcl import hostile

FAR_TOO_LONG = 2.0
"""Seconds of processor time. A text that is not read in linear time takes minutes."""


def test_bytes_are_counted_not_characters() -> None:
    limits = Limits(max_bytes=16)
    parse("# " + "é" * 7, limits=limits)
    with pytest.raises(HclLimitError, match="18 bytes are more than the 16 that are read"):
        parse("# " + "é" * 8, limits=limits)
    with pytest.raises(HclLimitError, match="65537 bytes"):
        parse(" " * (DEFAULT.max_bytes + 1))
    parse(" " * (DEFAULT.max_bytes + 1), limits=FILES)


NESTS: dict[str, Callable[[int], str]] = {
    "lists": lambda n: "a = " + "[" * n + "]" * n,
    "parentheses": lambda n: "a = " + "(" * n + "1" + ")" * n,
    "objects": lambda n: "a = " + "{ a = " * n + "1" + " }" * n,
    "calls": lambda n: "a = " + "f(" * n + "1" + ")" * n,
    "indexes": lambda n: "a = " + "a[" * n + "0" + "]" * n,
    "interpolations": lambda n: 'a = "' + '${"' * n + "x" + '"}' * n + '"',
    "heredocs": lambda n: "a = " + "<<E\n${" * n + "1" + "}\nE\n" * n,
    "directives": lambda n: 'a = "' + "%{ if a }" * n + "%{ endif }" * n + '"',
    "for": lambda n: "a = " + "[for x in " * n + "y" + " : x]" * n,
    "not": lambda n: "a = " + "!" * n + "b",
    "minus": lambda n: "a = " + "-" * n + "b",
    "conditionals": lambda n: "a = " + "b ? c : " * n + "d",
    "splats": lambda n: "a = b" + "[*]" * n,
    "blocks": lambda n: "a {\n" * n + "}\n" * n,
    "namespaces": lambda n: "a = b" + "::b" * n + "()",
    "precedence": lambda n: "a = " + "1||1&&1==1<1+1*(" * n + "1" + ")" * n,
}


@pytest.mark.parametrize("nest", NESTS.values(), ids=list(NESTS))
def test_depth_is_bounded(nest: Callable[[int], str]) -> None:
    parse(nest(15) + "\n")
    with pytest.raises(HclLimitError, match="nested more than 128 levels deep"):
        parse(nest(200) + "\n")


CHAINS = {
    "operators": "a = 1" + " + 1" * 300,
    "names": "a = b" + ".c" * 300,
    "names of a term": "a = f()" + ".c" * 300,
    "indexes": "a = b" + "[0]" * 300,
    "old indexes": "a = b" + ".c.0" * 200,
    "attribute splats": "a = b" + ".*[0]" * 300,
    "parentheses in chains": "a = " + "(" * 30 + "1" + (" + 1" * 20 + ")") * 30,
}


@pytest.mark.parametrize("text", CHAINS.values(), ids=list(CHAINS))
def test_a_chain_makes_no_tall_tree(text: str) -> None:
    with pytest.raises(HclLimitError, match=r"links long|nested more than"):
        parse(text)


def test_a_wide_expression_is_not_a_tall_one() -> None:
    body = parse("a = [" + "b.c + 1, " * 400 + "]").body
    assert height(body.attributes["a"].expression) == 4


CROWDS = {
    "arguments": "".join(f"a{index}=1\n" for index in range(60)),
    "blocks": "a{}\n" * 60,
    "items": "a=[" + "1," * 60 + "]",
    "entries": "a={" + "a=1," * 60 + "}",
    "links": "a=[" + "1+1," * 30 + "]",
    "interpolations": 'a="' + "${a}" * 60 + '"',
    "closing directives": 'a="' + "%{endif}" * 60 + '"',
    "heredoc lines": "a=<<E\n" + "x\n" * 60 + "E\n",
    "heredoc lines with sequences": "a=<<E\n${a}\n" + "x\n" * 60 + "E\n",
}


@pytest.mark.parametrize("text", CROWDS.values(), ids=list(CROWDS))
def test_nodes_are_bounded(text: str) -> None:
    with pytest.raises(HclLimitError, match="more than 50 expressions, arguments and blocks"):
        parse(text, limits=Limits(max_nodes=50))


@pytest.mark.parametrize("number", ["9" * 301, "1e301", "1e-301", "1e999999999", "1e" + "9" * 60, "1." + "0" * 300])
def test_numbers_are_bounded(number: str) -> None:
    with pytest.raises(HclLimitError, match="a number of more than 300 digits"):
        parse(f"a = {number}")


def test_a_bound_knows_its_place() -> None:
    with pytest.raises(HclLimitError) as caught:
        parse("a = 1\nb = " + "[" * 200, "x.tf")
    assert (caught.value.filename, caught.value.line, caught.value.column) == ("x.tf", 2, 132)


SLOW = hostile.texts(DEFAULT.max_bytes)


@pytest.mark.parametrize("text", SLOW.values(), ids=list(SLOW))
def test_any_text_is_answered(text: str) -> None:
    assert len(text.encode()) <= DEFAULT.max_bytes
    start = time.process_time()
    with contextlib.suppress(HclSyntaxError, HclLimitError):
        parse(text)
    assert time.process_time() - start < FAR_TOO_LONG
