"""Which of many names a pattern matches, against a regular expression for each."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from rl_gym.iac.actions import cover, covers
from rl_gym.iac.wildcards import Names

_NAME = st.text("ab:", max_size=6)
_PATTERN = st.text("ab:*?", max_size=7)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(_NAME, max_size=6, unique=True), _PATTERN)
@example([], "*")
@example([""], "**")
@example(["", "a"], "?")
@example(["aab", "ab"], "*a?")
def test_a_pattern_matches_what_its_regular_expression_does(names: list[str], pattern: str) -> None:
    expression = re.compile(pattern.replace("*", ".*").replace("?", "."))
    row = Names(names)
    found = row.matched(pattern)
    wanted = {name for name in names if expression.fullmatch(name)}
    assert set(row.listed(found)) == wanted
    assert found == row.among(wanted)
    assert (found == row.every) == (len(wanted) == len(names))


def test_letters_count_as_they_are_written() -> None:
    row = Names(["a.b", "aXb", "a\0b"])
    assert list(row.listed(row.matched("a.b"))) == ["a.b"]
    assert list(row.listed(row.matched("a\0b"))) == ["a\0b"]
    assert not row.matched("[a]*")


def test_a_name_that_is_a_pattern_is_matched_where_all_are_that_it_matches() -> None:
    assert covers("a*", "ab*")
    assert covers("a*c", "a*b?c")
    assert not covers("ab*", "a*")
    assert not covers("a?", "a*")


def test_patterns_cover_texts_together() -> None:
    assert cover(["s3:Get*", "s3:Put*"], ["S3:PUTOBJECT", "s3:GetObject"])
    assert not cover(["s3:Get*"], ["s3:PutObject", "s3:GetObject"])
    assert cover([], [])
    assert not cover([], ["s3:GetObject"])


def test_long_texts_are_compared_as_they_stand() -> None:
    long = "a" * 600
    assert cover([long], [long])
    assert not cover(["a*"], [long])
