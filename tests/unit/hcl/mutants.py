"""Broken and odd HCL made from real files and from a grammar, always the same for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_WORD = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_][\w-]*|[0-9][0-9.eE]*|[ \t]+|\r?\n|#[^\n]*|<<-?[A-Za-z]+\n'
    r"|&&|\|\||[=!<>]=|=>|\.\.\.|.",
    re.DOTALL,
)
_ODDITIES = [
    "{", "}", "[", "]", "(", ")", '"', "${", "%{", "~}", "~", "$", "%", "\\", "\\n", "\\u00e9", "\\x", "$${", "%%{",
    "=", "==", "=>", ":", "::", "?", ",", ".", "..", "...", "*", ".*", "[*]", "[0]", ".0", "-", "!", "&&", "||", "<",
    "<=", "+", "/", "//", "/*", "*/", "/* x */", "#", "# x", "\n", "\r\n", "\r", "\t", " ", "\x00", "\u00a0",
    "\ufeff", "é", "日本", "e\u0301", "\u0301", "‐", "ａ", "'", "`", ";", "&", "|", "^", "@", "for", "in", "if", "else",
    "endif", "endfor", "true", "null", "1", "1.5", "1e3", "0x1", "a", "a.b", "a.b.c[0]", "f(", "f()", "a::b()",
    "<<EOT\n", "<<-EOT\n", "<<EOT\nx\nEOT\n", "<<-E\n  ${a}\n  E\n", "EOT", "EOT\n", '"x"', '"${a}"',
    '"%{ if a }b%{ endif }"', "{}", "[]", "a = 1", "a = 1\n", "a {}\n", "b {\n}\n", "[for x in y : x]",
    "{for k, v in y : k => v}", "x ? y : z", "(1 +\n2)",
]  # fmt: skip

_OPERATORS = ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||")

Edit = Callable[[random.Random, list[str], Sequence[str]], list[str]]


def _delete(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    at = rng.randrange(len(words))
    return words[:at] + words[at + rng.choice((1, 1, 1, 2, 3)) :]


def _duplicate(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    at = rng.randrange(len(words))
    end = at + rng.choice((1, 1, 2, 5))
    return words[:end] + words[at:]


def _swap(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    one, two = rng.randrange(len(words)), rng.randrange(len(words))
    if rng.random() < 0.7:
        two = min(one + rng.choice((1, 2, 2, 3)), len(words) - 1)
    words = list(words)
    words[one], words[two] = words[two], words[one]
    return words


def _insert(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    at = rng.randrange(len(words) + 1)
    return [*words[:at], rng.choice(_ODDITIES), *words[at:]]


def _replace(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    at = rng.randrange(len(words))
    return [*words[:at], rng.choice(_ODDITIES), *words[at + 1 :]]


def _newline(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    ends = [index for index, word in enumerate(words) if word.endswith("\n")]
    if ends and rng.random() < 0.5:
        at = rng.choice(ends)
        return [*words[:at], rng.choice(("", " ", ",", "\r\n", "\n\n")), *words[at + 1 :]]
    at = rng.randrange(len(words) + 1)
    return [*words[:at], rng.choice(("\n", "\n", "\r\n", " # c\n", " // c\n", "/* \n */")), *words[at:]]


def _bracket(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    places = [index for index, word in enumerate(words) if word in "{}[]()=:," and word]
    if not places:
        return _insert(rng, words, ())
    at = rng.choice(places)
    return [*words[:at], rng.choice(("", "{", "}", "[", "]", "(", ")", "=", ":", ",", words[at] * 2)), *words[at + 1 :]]


def _character(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    text = "".join(words)
    at = rng.randrange(len(text))
    kind = rng.randrange(4)
    if kind == 0:
        return [text[:at] + text[at + 1 :]]
    if kind == 1:
        return [text[:at] + chr(rng.choice((rng.randrange(128), rng.randrange(0x3000)))) + text[at:]]
    if kind == 2:
        return [text[:at] + rng.choice('{}[]()"$%\\~=:,.\n\r') + text[at + 1 :]]
    return [text[:at]]


def _inside_string(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    places = [index for index, word in enumerate(words) if word.startswith('"') and len(word) > 1]
    if not places:
        return _insert(rng, words, ())
    at = rng.choice(places)
    cut = rng.randrange(1, len(words[at]))
    extra = (
        rng.choice(_ODDITIES)
        if rng.random() < 0.5
        else "${" + Grammar(rng, 0.0).expression(2) + rng.choice(("}", "}", "~}", ""))
    )
    return [*words[:at], words[at][:cut] + extra + words[at][cut:], *words[at + 1 :]]


def _value(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    places = [index for index, word in enumerate(words) if word == "="]
    if not places:
        return _insert(rng, words, ())
    at = rng.choice(places)
    end = at
    while end < len(words) and not words[end].endswith("\n"):
        end += 1
    return [*words[: at + 1], " ", Grammar(rng, 0.0).expression(3), *words[end:]]


def _gap(rng: random.Random, words: list[str], _: Sequence[str]) -> list[str]:
    at = rng.randrange(len(words) + 1)
    return [*words[:at], Grammar(rng, 0.0).gap(free=False) or " ", *words[at:]]


def _splice(rng: random.Random, words: list[str], donors: Sequence[str]) -> list[str]:
    donor = split(rng.choice(donors))
    start = rng.randrange(len(donor))
    at = rng.randrange(len(words))
    return words[:at] + donor[start : start + rng.randrange(1, 30)] + words[at + rng.randrange(10) :]


_EDITS: list[Edit] = [
    _delete, _duplicate, _swap, _insert, _replace, _newline, _bracket, _character, _inside_string, _inside_string,
    _value, _value, _value, _splice, _gap,
]  # fmt: skip


def split(text: str) -> list[str]:
    """The words of a text; joined they give it back."""
    return _WORD.findall(text)


def mutant(rng: random.Random, donors: Sequence[str]) -> str:
    """A real file with one to three edits."""
    words = split(rng.choice(donors))
    if len(words) > 120 and rng.random() < 0.8:
        # The head of a file is as good a place for mistakes as the whole of it, and much faster to judge.
        words = words[: rng.randrange(20, 120)]
        if rng.random() < 0.7:
            words.append("\n" + "}" * ("".join(words).count("{") - "".join(words).count("}")))
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        words = split("".join(rng.choice(_EDITS)(rng, words, donors))) or ["\n"]
    return "".join(words)


class Grammar:
    """Makes HCL by its grammar; each choice is a mistake with the probability `slip`."""

    def __init__(self, rng: random.Random, slip: float) -> None:
        self.rng = rng
        self.slip = slip

    def pick(self, right: Sequence[str], wrong: Sequence[str] = ()) -> str:
        return self.rng.choice(wrong if wrong and self.rng.random() < self.slip else right)

    def name(self) -> str:
        return self.pick(
            ("a", "b", "var", "each", "x-y", "_", "é", "if", "in", "true", "null", "ａ１", "a1", "e\u0301"),
            ("for", "1a", "-a", "\u0301e", "a\u00a0", "a‐b"),
        )

    def gap(self, free: bool) -> str:
        """What may stand between two words: newlines too where they are ignored."""
        line = ("", "", "", "", " ", "\t", "/* c */", " /* * **/ ")
        lines = ("\n", " # c\n", "\r\n", "// c\n", "/* \n */\n")
        return self.pick(line + lines if free else line, lines)

    def expression(self, depth: int, free: bool = False) -> str:
        rng = self.rng
        if depth <= 0:
            return self.leaf()
        kind = rng.randrange(20)
        if kind < 2:
            left, right = self.around(depth, free), self.around(depth, free)
            return left + self.pick(_OPERATORS, ("&", "|", "=", "=>", "!", "::")) + right
        if kind == 2:
            question, colon = self.pick("?", ("", "??")), self.pick(":", ("", "::", "="))
            return self.around(depth, free) + question + self.around(depth, free) + colon + self.around(depth, free)
        if kind == 3:
            return f"({self.around(depth, True)}{self.pick(')', ('', ',)', ']'))}"
        if kind == 4:
            return self.pick("-!", "~+") + self.around(depth, free)
        if kind == 5:
            items = [self.around(depth, True) for _ in range(rng.randrange(4))]
            return (
                "["
                + self.pick(",", ("", ",,", "\n", ";")).join(items)
                + self.pick(("]", ",]") if items else "]", (",]", "", "}"))
            )
        if kind in (6, 7):
            return self.object(depth)
        if kind == 8:
            return self.call(depth, free)
        if kind in (9, 10):
            return self.for_expression(depth, braces=kind == 10)
        if kind in (11, 12, 13):
            return self.expression(depth - 1, free) + "".join(
                self.step(depth, free) for _ in range(rng.randrange(1, 4))
            )
        if kind < 18 or not free:
            return '"' + self.template(depth) + self.pick('"', ("", "\n", '" "'))
        return self.heredoc(depth)

    def leaf(self) -> str:
        if self.rng.random() < 0.4:
            return self.name() if self.rng.random() < 0.6 else f"{self.name()}.{self.name()}"
        return self.pick(
            ("1", "1.5", "1e5", "0", '"s"', '"a\\n\\u00e9"', '""', "true", "null", "[]", "{}", '"$${a}"', '"é"'),
            ("1.", ".5", "1e", "0x1", "1.2.3", '"\\q"', '"\\u12"', "'s'", '"\\ud800"', "1..2", "1.e", "1_0"),
        )

    def around(self, depth: int, free: bool) -> str:
        return self.gap(free) + self.expression(depth - 1, free) + self.gap(free)

    def call(self, depth: int, free: bool) -> str:
        items = [self.around(depth, True) for _ in range(self.rng.randrange(4))]
        called = self.pick(("f", "a::b", "a::b::c", "true", self.name()), ("a::", "a:b", "a.b", "1"))
        endings = ("", "", ",", "...", "...\n") if items else ("",)
        ending = self.pick(endings, (",,", "...,", ",...", ".."))
        return f"{called}{self.gap(free)}({','.join(items)}{ending}{self.pick(')', ('', ']'))}"

    def for_expression(self, depth: int, *, braces: bool) -> str:
        rng = self.rng
        names = self.pick(("x", "k, v", "k ,v", "in", "é"), ("k v", '"x"', "x,", "", "a.b", "1"))
        head = f"for {names} {self.pick(('in',), ('of', ':', 'IN'))} {self.around(depth, True)}:"
        arrow = f"=>{self.around(depth, True)}" if braces != (rng.random() < self.slip) else ""
        group = "..." if (braces and rng.random() < 0.3) != (rng.random() < self.slip) else ""
        condition = f" if {self.around(depth, True)}" if rng.random() < 0.4 else ""
        opening, closing = "{}" if braces else "[]"
        closing = self.pick(closing, ("," + closing, ""))
        return f"{opening}{self.gap(True)}{head}{self.around(depth, True)}{arrow}{group}{condition}{closing}"

    def step(self, depth: int, free: bool) -> str:
        return self.pick(
            (
                f".{self.name()}",
                f"{self.gap(free)}.{self.gap(free)}{self.name()}",
                f"[{self.gap(True)}{self.expression(depth - 1, True)}{self.gap(True)}]",
                "[*]",
                f"[{self.gap(free)}*{self.gap(free)}]",
                ".*",
                ".0",
                "[0]",
            ),
            (".", ".0.1", "[]", "[1, 2]", ".*.*", "[**]", "..", ".-a", '."a"'),
        )

    def object(self, depth: int) -> str:
        if self.rng.random() < 0.2:
            return "{}"
        entries = []
        for _ in range(self.rng.randrange(1, 4)):
            key = self.rng.choice((self.name(), self.name(), '"k"', f"({self.expression(depth - 1, True)})", '"${a}"'))
            if self.rng.random() < 0.1:
                key = self.expression(depth - 1)
            sign = self.pick("=:", ("", "==", "=>", "::"))
            ending = self.pick(("\n", "\n", ",", ",\n", " # c\n", ", # c\n", "\r\n", ",\n\n"), (" ", "\n,", ",,", ";"))
            entries.append(
                f"{key}{self.gap(False)}{sign}{self.gap(False)}{self.expression(depth - 1)}{self.gap(False)}{ending}"
            )
        return "{" + self.rng.choice(("", "\n", " ", " # c\n")) + "".join(entries) + self.pick("}", ("", "]", ",}"))

    def template(self, depth: int, *, heredoc: bool = False) -> str:
        parts = []
        for _ in range(self.rng.randrange(5)):
            kind = self.rng.randrange(8)
            if kind < 3:
                text = (
                    "a",
                    "  ",
                    "$",
                    "%",
                    "$$",
                    "%%",
                    "$${",
                    "%%{",
                    "\\n",
                    '\\"',
                    "é",
                    "}",
                    " {",
                    "~",
                    "#",
                    "//",
                    "/*",
                )
                parts.append(self.pick(text, ("\\", "\\x", '"', "${", "%{", "{", "\n", "\r")))
            elif kind < 6:
                parts.append(self.sequence("$", self.expression(depth - 1, True)))
            elif kind == 6:
                other = self.rng.choice(("", self.sequence("%", "else") + self.template(depth - 2, heredoc=heredoc)))
                condition = self.pick(("if ", "if\n"), ("if", "unless ", "if if ")) + self.expression(depth - 1, True)
                inner = self.template(depth - 2, heredoc=heredoc)
                end = self.pick(("endif",), ("endfor", "end", "endif 1", "else"))
                parts.append(self.sequence("%", condition) + inner + other + self.sequence("%", end))
            else:
                names = self.pick(("x", "k, v"), ("x,", "k v", "1"))
                head = f"for {names} in {self.expression(depth - 1, True)}"
                inner = self.template(depth - 2, heredoc=heredoc)
                parts.append(
                    self.sequence("%", head) + inner + self.sequence("%", self.pick(("endfor",), ("endif", "")))
                )
            if heredoc and self.rng.random() < 0.4:
                parts.append(self.pick(("\n", "\n  ", "\r\n", "\n\n", "\n\t", "\nE E"), ("\r", "\nE\n")))
        return "".join(parts)

    def sequence(self, sign: str, inner: str) -> str:
        opening = self.pick(("{", "{", "{~", "{ "), ("{{", "{ ~", "{~~"))
        closing = self.pick(("}", "}", "~}"), (" ~ }", "}}", "", "~"))
        return f"{sign}{opening}{self.gap(True)}{inner}{self.gap(True)}{closing}"

    def heredoc(self, depth: int) -> str:
        marker = self.rng.choice(("E", "EOT", "É", "a-b"))
        opening = self.pick(
            (f"<<{marker}", f"<<-{marker}"), (f"<< {marker}", f"<<--{marker}", f"<<{marker} ", "<<", "<")
        )
        closing = self.pick(
            (marker, f"  {marker}", f"{marker} ", f"{marker}\t", f"\t{marker}"), (f"{marker}x", "", f"${marker}")
        )
        end = self.pick(("\n", "\r\n"))
        lines = self.template(depth, heredoc=True)
        return f"{opening}{end}{lines}{end if lines else ''}{closing}{end}"

    def body(self, depth: int) -> str:
        """A few arguments and blocks."""
        rng = self.rng
        items = []
        for index in range(rng.randrange(1, 4)):
            item = self.name() + self.pick((str(index),), ("",))
            if depth > 0 and rng.random() < 0.3:
                labels = [
                    self.pick((' "l"', " l", ' "l\\n"', ' "$${"', ' ""', ' "é"'), (' "${a}"', " 1", ' "'))
                    for _ in range(rng.randrange(3))
                ]
                items.append(f"{item}{self.gap(False)}{''.join(labels)}{self.gap(False)}{{{self.inside(depth)}}}")
            else:
                if rng.random() < 0.1:
                    items.append(f"{item}{self.gap(False)}={self.gap(False)}{self.heredoc(2)}")
                    continue
                value = self.expression(rng.choice((1, 2, 2, 3)))
                items.append(f"{item}{self.gap(False)}={self.gap(False)}{value}{self.gap(False)}")
            items.append(self.pick(("\n", "\n", "\n\n", " # c\n", "/* c */\n", "\r\n"), ("", ", ", ";\n", " \\\n")))
        return "".join(items)

    def inside(self, depth: int) -> str:
        if self.rng.random() < 0.3:
            one = f"{self.gap(False)}a = {self.expression(1)}{self.gap(False)}"
            return self.pick(("", " ", one), ("a {}", "a = 1, ", "a = 1\n", "a = 1 b = 2", " # c"))
        return self.pick(("\n", " # c\n", "\r\n", "/* c */\n")) + self.body(depth - 1)


def mutants(seed: int, count: int, donors: Sequence[str]) -> list[str]:
    """`count` texts: half real files with edits, half made from the grammar, with ever more mistakes."""
    rng = random.Random(seed)
    return [
        mutant(rng, donors) if index % 2 else Grammar(rng, rng.choice((0.0, 0.005, 0.02, 0.05))).body(2)
        for index in range(count)
    ]
