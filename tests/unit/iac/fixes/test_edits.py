"""Edits at places of a syntax tree, and the text that they leave."""

from __future__ import annotations

import pytest

from rl_gym.hcl import parse
from rl_gym.hcl.ast import Block
from rl_gym.iac.fixes.edits import Edit, add_after, add_arguments, add_block, apply, clash, ended, replace
from rl_gym.iac.tasks import hcl_writer as hcl

NESTED = hcl.Block("n", (), [hcl.Attr("x", "1"), hcl.Attr("long", "2")])


def first(text: str) -> Block:
    return parse(text).body.blocks[0]


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("b {}\n", "b {\n  new = true\n}\n"),
        ("b {}", "b {\n  new = true\n}"),
        ("b {} # c\n", "b {\n  new = true\n} # c\n"),
        ("b { a = 1 }\n", "b {\n  a   = 1\n  new = true\n}\n"),
        ("b {\n}\n", "b {\n  new = true\n}\n"),
        ("b { # c\n}\n", "b { # c\n  new = true\n}\n"),
        ("b {\n  a = 1 # c\n}\n", "b {\n  a   = 1 # c\n  new = true\n}\n"),
        ("b {\n  a  = 1\n}\n", "b {\n  a  = 1\n  new = true\n}\n"),
        ("b {\n  name = 1\n\n  n {}\n}\n", "b {\n  name = 1\n  new  = true\n\n  n {}\n}\n"),
        ("b {\n  n {}\n  a = 1\n}\n", "b {\n  new = true\n\n  n {}\n  a = 1\n}\n"),
        (
            "b {\n  a = 1\n  tags = {\n    k = 1\n  }\n}\n",
            "b {\n  a   = 1\n  new = true\n  tags = {\n    k = 1\n  }\n}\n",
        ),
        ("b {\n  tags = {}\n}\n", "b {\n  new = true\n\n  tags = {}\n}\n"),
        ("b {\n  count = 2\n\n  n {}\n}\n", "b {\n  count = 2\n\n  new = true\n\n  n {}\n}\n"),
        ("b {\n  p = <<E\nx\nE\n}\n", "b {\n  p   = <<E\nx\nE\n  new = true\n}\n"),
        ("b {\n  l = [\n    1\n  ]\n}\n", "b {\n  l = [\n    1\n  ]\n  new = true\n}\n"),
        ("b {\r\n  a = 1\r\n}\r\n", "b {\r\n  a   = 1\r\n  new = true\r\n}\r\n"),
        ("\ufeffb {}\n", "\ufeffb {\n  new = true\n}\n"),
        ("b {\n\ta = 1\n}\n", "b {\n\ta   = 1\n\tnew = true\n}\n"),
    ],
)
def test_an_argument_is_added_where_people_would_write_it(text: str, fixed: str) -> None:
    assert apply(text, [add_arguments(first(text), {"new": "true"})]) == fixed


def test_nothing_is_torn_by_line_ends_of_both_kinds_or_by_odd_characters() -> None:
    mixed = "b {\r\n  a = 1 # c\n  bc = 2\r\n}\r\n"
    assert apply(mixed, [add_arguments(first(mixed), {"new": "true"})]).replace("  new = true\r\n", "") == mixed
    odd = 'b { a = "x\u2028y\x0bz" }\n'
    assert apply(odd, [add_arguments(first(odd), {"n": "1"})]) == 'b {\n  a = "x\u2028y\x0bz"\n  n = 1\n}\n'


def test_several_arguments_stand_in_one_column() -> None:
    text = "b {\n  a = 1\n}\n"
    fixed = "b {\n  a   = 1\n  new = 2\n  n   = 3\n}\n"
    assert apply(text, [add_arguments(first(text), {"new": "2", "n": "3"})]) == fixed


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("b {}\n", "b {\n  n {\n    x    = 1\n    long = 2\n  }\n}\n"),
        ("b { a = 1 }\n", "b {\n  a = 1\n\n  n {\n    x    = 1\n    long = 2\n  }\n}\n"),
        ("b {\n}\n", "b {\n  n {\n    x    = 1\n    long = 2\n  }\n}\n"),
        ("b {\n  a = 1\n  # end\n}\n", "b {\n  a = 1\n  # end\n\n  n {\n    x    = 1\n    long = 2\n  }\n}\n"),
    ],
)
def test_a_block_is_added_below_all_else(text: str, fixed: str) -> None:
    assert apply(text, [add_block(first(text), NESTED)]) == fixed


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("b {}\n", "b {}\n\nn {\n  x    = 1\n  long = 2\n}\n"),
        ("b {} # c\n\nd {}\n", "b {} # c\n\nn {\n  x    = 1\n  long = 2\n}\n\nd {}\n"),
        ("b {}\nd {}\n", "b {}\n\nn {\n  x    = 1\n  long = 2\n}\n\nd {}\n"),
        ("b {}\r\n", "b {}\r\n\r\nn {\r\n  x    = 1\r\n  long = 2\r\n}\r\n"),
    ],
)
def test_a_companion_stands_apart_from_both_neighbours(text: str, fixed: str) -> None:
    assert apply(text, [add_after(first(text), NESTED)]) == fixed


@pytest.mark.parametrize(("rest", "gap"), [("", ""), ("d {}\n", "\n"), ("\nd {}\n", "")])
def test_of_companions_at_one_place_the_last_stands_first(rest: str, gap: str) -> None:
    text = f"b {{}}\n{rest}"
    one, other = (add_after(first(text), hcl.Block(name)) for name in ("one", "other"))
    assert not clash(one, other)
    assert apply(text, [one, other, one]) == f"b {{}}\n\nother {{}}\n\none {{}}\n{gap}{rest}"


def test_a_value_is_replaced_and_its_neighbours_keep_their_column() -> None:
    text = "b {\n  a   = false # one\n  bcd = 12345 # two\n}\n"
    edit = replace(first(text).body.attributes["bcd"], "1")
    assert apply(text, [edit]) == "b {\n  a   = false # one\n  bcd = 1     # two\n}\n"
    ragged = text.replace("12345", "1")
    assert apply(ragged, [replace(first(ragged).body.attributes["bcd"], "22")]) == ragged.replace("1 #", "22 #")


def test_edits_of_one_text_are_applied_together() -> None:
    text = "b {\n  a = 1\n}\n\nc {\n  a = 1\n}\n"
    blocks = parse(text).body.blocks
    edits = [
        add_arguments(blocks[1], {"cc": "3"}),
        replace(blocks[0].body.attributes["a"], "{\n  }"),
        add_block(blocks[0], NESTED),
    ]
    assert apply(text, edits) == (
        "b {\n  a = {\n  }\n\n  n {\n    x    = 1\n    long = 2\n  }\n}\n\nc {\n  a  = 1\n  cc = 3\n}\n"
    )
    assert apply(text, []) == text


def test_edits_at_one_place_clash() -> None:
    one = Edit("f", 3, 5, "x")
    assert clash(one, Edit("f", 5, 5, "y"))
    assert clash(Edit("f", 0, 9, "y"), one)
    assert not clash(one, Edit("f", 6, 6, "y"))
    assert not clash(one, Edit("g", 3, 5, "y"))
    assert clash(one, Edit("f", 5, 5, "y", below=True))


def test_a_text_ends_as_its_other_lines_do() -> None:
    assert ended("a") == "a\n"
    assert ended("a\r\nb") == "a\r\nb\r\n"
    assert ended("a\n") == "a\n"
