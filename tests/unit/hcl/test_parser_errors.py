"""What a mistake is told: the line, the column, and what was expected."""

from __future__ import annotations

import re

import pytest

from rl_gym.hcl import HclError, HclSyntaxError, parse

MISTAKES = [
    # structure
    ("a = 1\nb", 2, 2, '"=" and a value, or "{" and a block, after this name'),
    ("a = 1 2", 1, 7, 'expected a newline after this argument, found "2"'),
    ("a = 1, b = 2", 1, 6, 'a newline after this argument, found ","'),
    ("a = 1\na = 2", 2, 1, "the argument a is set twice; it was set on line 1"),
    ("x {\n  a = 1\n\n  a = 2\n}", 4, 3, "set twice; it was set on line 2"),
    ('"a" = 1', 1, 1, "a name stands without quotes"),
    ("1 = a", 1, 1, 'expected the name of an argument or block, found "1"'),
    ("a {", 1, 4, '"}" to close the block opened on line 1, found the end of the file'),
    ("a {\n  b = 1\n", 3, 1, '"}" to close the block opened on line 1'),
    ("}", 1, 1, '"}" closes nothing'),
    ("a {}\n}\n", 2, 1, '"}" closes nothing'),
    ("a {\n} b = 1", 2, 3, 'expected a newline after this block, found "b"'),
    ("a {} b {}", 1, 6, "expected a newline after this block"),
    ("a { b = 1 c = 2 }", 1, 11, "a block on one line holds one argument"),
    ("a { b {} }", 1, 7, "holds one argument and no block"),
    ("a { 1 }", 1, 5, 'an argument and "}" on the same line'),
    ("a { b = 1\n}", 1, 10, 'expected "}": a block on one line holds one argument, found the end of the line'),
    ("a\n{\n}", 1, 2, "found the end of the line"),
    ('a "b" = 1', 1, 7, '"{" after the labels of this block, found "="'),
    ('a "b\n" {}', 1, 5, "this label is not closed"),
    ('a "${b}" {}', 1, 4, "a label cannot hold a template"),
    ('a "\\q" {}', 1, 4, 'there is no escape sequence "\\q"'),
    # expressions
    ("a = ", 1, 5, "expected an expression, found the end of the file"),
    ("a =\n1", 1, 4, "expected an expression, found the end of the line"),
    ("a = 1 +", 1, 8, "expected an expression, found the end of the file"),
    ("a = 'x'", 1, 5, 'expected an expression, found "\'"'),
    ("a = b &c", 1, 7, 'expected a newline after this argument, found "&"'),
    ("a = [1 2]", 1, 8, '"," or "]" in the list opened on line 1, found "2"'),
    ("a = [\n1,\n2\nb = 3", 4, 1, '"," or "]" in the list opened on line 1, found "b"'),
    ("a = {\n b = 1 c = 2\n}", 2, 8, 'a newline, "," or "}" after this entry of the object opened on line 1'),
    ("a = { b }", 1, 9, '"=" and a value after this key, found "}"'),
    ("a = (1", 1, 7, '")" to close the parenthesis opened on line 1'),
    ("a = b[0", 1, 8, '"]" to close the index opened on line 1'),
    ("a = f(1 2)", 1, 9, '"," or ")" in the arguments of f opened on line 1, found "2"'),
    ("a = f(b..., c)", 1, 11, '")" to close the arguments of f'),
    ("a = b.", 1, 7, "expected the name of an attribute"),
    ("a = b.*.*", 1, 9, 'expected the name of an attribute, found "*"'),
    ("a = b.0.1", 1, 7, "write it as [0][1]"),
    ("a = 1.2.3", 1, 5, "this is not a number"),
    ("a = b ? c", 1, 10, '":" and the value for when the condition is false'),
    ("a = b::c", 1, 9, '"(" and the arguments of the function'),
    ("a = b::(1)", 1, 8, 'the name of a function after "::"'),
    ("a = [for x y : x]", 1, 10, 'the names of this "for"'),
    ("a = [for x in y x]", 1, 17, '":" after the collection of this "for"'),
    ("a = [for x in y : x => x]", 1, 21, '"=>" belongs to a "for" in braces'),
    ("a = [for x in y : x...]", 1, 20, '"..." groups the values of a "for" in braces'),
    ("a = {for x in y : x}", 1, 20, 'expected "=>" and the value of this key'),
    ("a = [for x in y : x, z]", 1, 20, '"]" to close the "for" expression'),
    ("a\u00a0= 1", 1, 2, "cannot stand in a name"),
    ("a = b.c\u2010d", 1, 8, "cannot stand in a name"),
    ("a = 1\n\u0301b = 2", 2, 1, "cannot stand in a name"),
    ("a = \x00", 1, 5, "found the character U+0000"),
    # templates
    ('a = "b', 1, 7, "this string is not closed"),
    ('a = "b\nc"', 1, 7, "expected a quote before the end of the line"),
    ('a = "b ${c', 1, 11, '"}" to close the sequence opened on line 1, found the end of the file'),
    ('a = "b ${c d}"', 1, 12, '"}" to close the sequence opened on line 1, found "d"'),
    ('a = "${}"', 1, 8, 'expected an expression, found "}"'),
    ('a = "x\\q"', 1, 7, 'write "\\\\" for a backslash'),
    ('a = "x${y}z\\u12"', 1, 12, "\\u must be followed by four hexadecimal digits"),
    ('a = "\\U0000d83"', 1, 6, "\\U must be followed by eight hexadecimal digits"),
    ('a = "\\ud83d"', 1, 6, "\\ud83d is not a character"),
    ('a = "%{ unless }"', 1, 9, "expected if, else, endif, for or endfor"),
    ('a = "%{ if b }"', 1, 6, "this %{ if } is never closed: expected %{ endif }"),
    ('a = "x%{ endif }"', 1, 7, "%{ endif } without %{ if } before it"),
    ('a = "%{ for x in y }%{ endif }"', 1, 21, "%{ endif } without %{ if } before it"),
    ('a = "%{ if b }%{ else }%{ else }%{ endif }"', 1, 24, "a second %{ else }"),
    ("a = <<E\nb\nE", 1, 5, "this heredoc is not closed: expected E alone on a line of its own"),
    ("a = <<E \nb\nE\n", 1, 5, 'a name and a newline right after "<<"'),
    ("a = <<E\nb\rc\nE\n", 2, 2, "a carriage return in a heredoc must be followed by a newline"),
    ("a = <<E\n${b}\n\n${c d}\nE\n", 4, 5, '"}" to close the sequence opened on line 4'),
    ("a = 1\r\nb = \r\n", 2, 5, "found the end of the line"),
    ("# é\na = é é", 2, 7, 'a newline after this argument, found "é"'),
    ("a = 1 # \ud800", 1, 9, "half a surrogate pair is not a character"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), MISTAKES, ids=[repr(m[0]) for m in MISTAKES])
def test_a_mistake_is_told_with_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(HclSyntaxError, match=re.escape(message)) as caught:
        parse(text, "dir/x.tf")
    error = caught.value
    assert (error.filename, error.line, error.column) == ("dir/x.tf", line, column)
    assert str(error) == f"dir/x.tf:{line}:{column}: {error.message}"
    assert "\n" not in error.message
    assert isinstance(error, HclError)
