"""The words of HCL as tables of regular expressions, one for each place of the grammar.

A file is read without a separate pass of tokens: the parser stands at an offset and asks the table of its place what
comes next, so that the modes of HCL (newlines that end a line or are ignored, text inside quotes and heredocs) are
simply different tables. The common shapes (`name = "text"`, a block header, a dotted path) are one match each and hold
ASCII alone; anything else falls through to the general tables, where names and strings are looked at more closely.

Every repetition is possessive: no table can backtrack, so that reading stays linear whatever the text.
"""

from __future__ import annotations

import re

BLANK = r"[ \t]*+"
_BLOCK_COMMENT = r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/"
_LINE_COMMENT = r"(?:\#|//)[^\n]*+"
GAP = rf"{BLANK}(?:{_BLOCK_COMMENT}{BLANK})*+"
"""What may stand between two words of one line."""
SPACE = rf"[ \t\n]*+(?:(?:\r\n|{_BLOCK_COMMENT}|{_LINE_COMMENT})[ \t\n]*+)*+"
"""What may stand between two words where newlines are ignored."""
_EOL = rf"{GAP}(?:{_LINE_COMMENT})?+(?:\r?\n|\Z)"

NAME = r"[A-Za-z_][A-Za-z0-9_-]*+(?![^\x00-\x7f])"
# A class is written as what it leaves out of ASCII: one with a range up to U+10FFFF takes milliseconds to compile.
_NAME_CHARACTER = r"[^\x00-,./:-@\[-\^`{-\x7f]"
ANY_NAME = rf"[^\x00-@\[-\^`{{-\x7f]{_NAME_CHARACTER}*+"
"""A name, or something that starts like one: `identifiers.check` decides about the characters beyond ASCII."""
NUMBER = r"[0-9]++(?:\.*+(?:[eE][+-]?)?[0-9]++)*+"
"""A number, or something that HCL takes for one word with it, such as `1.2.3`."""
_PLAIN = r"[\x00-\t\v\f\x0e-!\x23&-\[\]-\x7f]*+"
"""ASCII in a string without a quote, a backslash, a dollar, a percent sign or the end of a line."""
_NOT_A_NAME = rf"(?!{_NAME_CHARACTER})"

# `$${` is an escape and so is `$$${`: a sequence starts only where a lone dollar (or percent) stands before the brace.
_DOLLARS = r"\$(?:\$++\{?+|(?!\{))|%(?:%++\{?+|(?!\{))"
_OPENING = r"\$\{~?+|%\{~?+"


def _table(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE)


# Verbose patterns drop blanks outside character classes, which none of the pieces above needs.

# ---- structure -------------------------------------------------------------------------------------------------------

ITEM_TEXT, ITEM_PATH, ITEM_ATTRIBUTE, ITEM_BLOCK, ITEM_LINES, ITEM_CLOSE, ITEM_END = 2, 4, 5, 6, 7, 8, 9
ITEM = _table(rf"""
    {SPACE}
    (?: ({NAME}) {BLANK}
        (?: = {BLANK} (?: "({_PLAIN})" {_EOL} | ({NAME}) ((?:\.{NAME})*+) {_EOL} | () )
          | ((?:(?: "{_PLAIN}" | {NAME} ) {BLANK})*+) \{{ (?: {BLANK} \n () )?+ )
      | (\}}) {_EOL}
      | (\Z) )""").match
"""One item of a body: an argument (complete if its value is plain, else up to the value), a block's header, the
closing brace with the rest of its line, or the end of the file."""

LABEL = re.compile(rf'"[^"]*+"|{NAME}').findall
OPENED_EMPTY, OPENED_LINES, OPENED_LINE = 1, 2, 3
OPENED = _table(rf"{GAP} (?: (\}}) {_EOL} | (?:{_LINE_COMMENT})?+ (?:\r?\n | \Z) () | () )").match
"""What follows a block's opening brace."""

EOL = _table(_EOL).match
HEADER_NAME = _table(rf"{SPACE} ({ANY_NAME})").match
HEADER_NEXT = _table(rf"{GAP} (?: (=) | (\{{) | (\") | ({ANY_NAME}) )").match
CLOSE_LINE = _table(rf"{GAP} (\}})").match

# ---- expressions -----------------------------------------------------------------------------------------------------

TERM_TEXT, TERM_PATH, TERM_NUMBER, TERM_OPENER, TERM_NAME = 1, 3, 4, 5, 6
_TERM = rf"""
    (?: "({_PLAIN})" {BLANK}
      | ({NAME}) ((?:\.{NAME})*+) {BLANK}
      | ({NUMBER}) {BLANK}
      | ([\[{{(!"-] | <<)
      | ({ANY_NAME}) {BLANK} )"""
_FOLLOW = r"""(\|\| | && | [=!]= | [<>]=?+ | [-+*%?\[] | /(?!/) | \.(?!\.))"""
_STEP = rf"(?: ({ANY_NAME}) | ({NUMBER}) | (\*) )"


class Mode:
    """The tables of an expression, for one way of treating newlines."""

    __slots__ = ("_gap", "follow", "followers", "star", "step", "term")

    def __init__(self, gap: str, gap_starts: str) -> None:
        self.term = _table(gap + _TERM).match
        self.follow = _table(gap + _FOLLOW).match
        self.followers = frozenset("|&=!<>-+*/%?[." + gap_starts)
        self.step = _table(gap + _STEP).match
        self.star = _table(rf"{gap} \* {gap} \]").match
        self._gap = _table(gap).match

    def skip(self, text: str, pos: int) -> int:
        """The offset of the next word."""
        match = self._gap(text, pos)
        return match.end() if match is not None else pos


LINE = Mode(GAP, " \t/")
"""A newline ends the expression."""
FREE = Mode(SPACE, " \t/\n\r#")
"""Newlines are ignored: inside brackets, parentheses and interpolations."""

FOR = _table(rf"{SPACE} for {_NOT_A_NAME}").match
FOR_NAMES = _table(rf"{SPACE} ({ANY_NAME}) {SPACE} (?: , {SPACE} ({ANY_NAME}) {SPACE} )?+ in {_NOT_A_NAME}").match
IF = _table(rf"{SPACE} if {_NOT_A_NAME}").match
COLON = _table(rf"{SPACE} :(?!:)").match
ARROW = _table(rf"{SPACE} =>").match
ELLIPSIS = _table(rf"{SPACE} \.\.\.").match

SEPARATED_NEXT, SEPARATED_END = 1, 2
TUPLE_NEXT = _table(rf"{SPACE} (?:(,){SPACE})?+ (\])?+").match
CALL_NEXT = _table(rf"{SPACE} (?:(,){SPACE})?+ (\))?+").match
"""After an item: a comma, the end, both, or neither, which is a mistake."""

KEY = _table(rf"""(?: ({NAME}) | "({_PLAIN})" ) {GAP} (?: =(?![=>]) | :(?!:) )""").match
KEY_END = _table(rf"{GAP} (?: =(?![=>]) | :(?!:) )").match
ENTRY_NEXT, ENTRY_END = 1, 2
OBJECT_NEXT = _table(rf"{GAP} (?: (?: , | (?:{_LINE_COMMENT})?+ \r?\n ) {SPACE} () )?+ (\}})?+").match
"""After an object's entry: a comma or newline, the end, both, or neither, which is a mistake."""

# ---- templates -------------------------------------------------------------------------------------------------------

QUOTED = _table(rf"""((?: [^"\\$%\n\r]++ | \\[^\n\r] | {_DOLLARS} )*+) ("|{_OPENING})?+""").match
"""Text between quotes up to the closing quote or a sequence; no second group where a line ends too early."""
HEREDOC = _table(rf"<<(-?)({ANY_NAME})\r?\n").match
_ASCII_SPACE = r"[ \t\v\f]*+"
PLAIN_HEREDOC = _table(rf"""
    <<(-?)({NAME})\n
    ((?: (?! {_ASCII_SPACE} \2 {_ASCII_SPACE} \n ) [\x00-\t\v\f\x0e-\x23&-\x7f]*+ \n )*+)
    {_ASCII_SPACE} \2 {_ASCII_SPACE} (?=\n)""").match
HEREDOC_TEXT = _table(rf"""((?: [^$%\n\r]++ | \r(?=\n) | {_DOLLARS} )*+) (\n|{_OPENING})?+""").match
BARE_TEXT = _table(rf"((?: [^$%]++ | {_DOLLARS} )*+) ({_OPENING})?+").match
SEQUENCE_END = _table(rf"{SPACE} (~?+)\}}").match
DIRECTIVE = _table(rf"{SPACE} ({ANY_NAME})").match
ESCAPE = _table(r"""\\(?: ([nrt"\\]) | u([0-9a-fA-F]{4}) | U([0-9a-fA-F]{8}) | ) | \$(\$++\{) | %(%++\{)""")
DOLLAR_ESCAPE = _table(r"\$(\$++\{) | %(%++\{)")

WHITESPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What HCL trims as space; Python's own idea holds four control characters more."""
