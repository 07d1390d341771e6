"""Texts made to be slow to read: deep, crowded, unfinished, or simply long."""

from __future__ import annotations

import random
from collections.abc import Iterable

_ANYWHERE = [
    "[", "{", "(", '"', "}", "\n", "\r", "\r\n", "\0", "#", " ", "a=1\n", "a{\n", "a{}\n", "a{b=1}\n", 'a "b" {\n}\n',
    'a="x\n', "a=<<A\n", "/*", "/**/", "#\n", "a=[\n", 'a "b" ', 'a "\\n" ', "<<A\n", "é", "${", "a b", "x=y.z\n",
]  # fmt: skip
_VALUES = [
    "[", "(", "{a=", '"${', "!", "-", "f(", "f(a,", "[for x in ", "a[", "<<A\n${", "a.", "1+", "a&&", "a?b:", "1.",
    "1e", "a::", "\u0301", "9", "/**/", '"%{if ', "1||1&&1==1<1+1*(", ".", "/",
]  # fmt: skip
_ITEMS = [
    "1,", "1.5,", "a,", "é,", '"",', "[],", "{},", "{a=1},", "f(),", "a.b,", "a[0],", "a[*],", "a.*,", "-1,", "1+1,",
    "(1),", "a?b:c,", '"${a}",', '"\\n",', '"%",', "<<A\nA\n,", "[for x in y:x],", ",",
]  # fmt: skip
_ENTRIES = ["a=1,", "a=1\n", '"a":1,', "(a)=1,", '"${a}"=1,', "a=a.b\n", "é=1\n"]
_TEXT = ["x", "$", "$${", "%%{", "\\\\", "${a}", "x${a}", "${~a~} ", "%{if a}", "%{if a}%{endif}", "é"]
_LINES = ["x\n", "\n", " x\n", "${a}\n", "x\n${~a~}\n", "$\n", "E", " ", "%{if a}\n%{endif}\n"]


def _fill(size: int, units: Iterable[str], start: str = "", end: str = "") -> dict[str, str]:
    room = size - len((start + end).encode())
    return {f"{start!r} + {unit!r}...": start + unit * (room // len(unit.encode())) + end for unit in units}


def texts(size: int) -> dict[str, str]:
    """Hostile texts by a name that tells how each is made, every one at most `size` bytes long."""
    rng = random.Random(1)
    many = {
        "different markers": "a=[" + ",".join(f"<<A{index}\nA{index}\n" for index in range(size // 16)) + "]",
        "different arguments": "".join(f"a{index}=1\n" for index in range(size // 9)),
        "deep but allowed": "".join(f"a{index}={'[' * 100}{']' * 100}\n" for index in range(size // 210)),
        "chains but allowed": "".join(f"a{index}=1{'+1' * 100}\n" for index in range(size // 210)),
        "a bad escape at the end": 'a="' + "\\n" * (size // 2 - 10) + '\\q"',
        "noise": "".join(rng.choice('[]{}()"$%~\\ \n=:,.ab1<-#/*') for _ in range(size)),
    }
    return {
        **_fill(size, _ANYWHERE),
        **_fill(size, _VALUES, "a="),
        **_fill(size, [".0", "[0]", "[*]", ".*", ".b", "::b"], "a=b"),
        **_fill(size, _ITEMS, "a=[", "]"),
        **_fill(size, _ENTRIES, "a={", "}"),
        **_fill(size, _TEXT, 'a="', '"'),
        **_fill(size, _LINES, "a=<<-E\n", "\nE\n"),
        **_fill(size, _LINES, "a=<<E\n"),
        **_fill(size, ["*"], "/*"),
        **_fill(size, ["x", "${"], 'a="'),
        **many,
    }
