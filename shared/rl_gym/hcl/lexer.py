"""The words of HCL as tables of regular expressions, one for each place of the grammar.

A file is read without a separate pass of tokens: the parser stands at an offset and asks the table of its place what
comes next, so that the modes of HCL (newlines that end a line or are ignored, text inside quotes and heredocs) are
simply different tables. The common shapes (`name = "text"`, a block header, a dotted path) are one match each and hold
ASCII alone; anything else falls through to the general tables, where names and strings are looked at more closely.

Every repetition is possessive: no table can backtrack, so that reading stays linear whatever the text.
"""

from __future__ import annotations

import re

_BLANK = r"[ \t]*+"
_BLOCK_COMMENT = r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/"
_LINE_COMMENT = r"(?:\#|//)[^\n]*+"
_GAP = rf"{_BLANK}(?:{_BLOCK_COMMENT}{_BLANK})*+"
"""What may stand between two words of one line."""
_SPACE = rf"[ \t\n]*+(?:(?:\r\n|{_BLOCK_COMMENT}|{_LINE_COMMENT})[ \t\n]*+)*+"
"""What may stand between two words where newlines are ignored."""
_EOL = rf"{_GAP}(?:{_LINE_COMMENT})?+(?:\r?\n|\Z)"

_NAME = r"[A-Za-z_][A-Za-z0-9_-]*+(?![^\x00-\x7f])"
# A class is written as what it leaves out of ASCII: one with a range up to U+10FFFF takes milliseconds to compile.
_NAME_CHARACTER = r"[^\x00-,./:-@\[-\^`{-\x7f]"
_ANY_NAME = rf"[^\x00-@\[-\^`{{-\x7f]{_NAME_CHARACTER}*+"
"""A name, or something that looks like one: `identifiers.bad_character` decides about what is beyond ASCII."""
_NUMBER = r"[0-9]++(?:\.*+(?:[eE][+-]?)?[0-9]++)*+"
"""A number, or something that HCL takes for one word with it, such as `1.2.3`."""
_PLAIN = r"[\x00-\t\v\f\x0e-!\x23&-\[\]-\x7f]*+"
"""ASCII in a string without a quote, a backslash, a dollar, a percent sign or the end of a line."""
_NOT_A_NAME = rf"(?!{_NAME_CHARACTER})"

# `$${` is an escape and so is `$$${`: a sequence starts only where a lone dollar (or percent) stands before the brace.
_DOLLARS = r"\$(?:\$++\{?+|(?!\{))|%(?:%++\{?+|(?!\{))"
_OPENING = r"\$\{~?+|%\{~?+"


def _table(pattern: str) -> re.Pattern[str]:
    """A pattern written with blanks and comments between its pieces; the pieces above hold neither."""
    return re.compile(pattern, re.VERBOSE)


# ---- structure -------------------------------------------------------------------------------------------------------

ITEM_NAME, ITEM_TEXT, ITEM_ROOT, ITEM_PATH, ITEM_VALUE, ITEM_BLOCK, ITEM_LINES, ITEM_CLOSE, ITEM_END = range(1, 10)
ITEM = _table(rf"""
    {_SPACE}
    (?: ({_NAME}) {_BLANK}                                          # 1 name
        (?: = {_BLANK}
            (?: "({_PLAIN})" {_EOL}                                 # 2 text: the argument is complete
              | ({_NAME}) ((?:\.{_NAME})*+) {_EOL}                  # 3 root, 4 path: complete
              | () )                                                # 5 any other value is to follow
          | ((?:(?: "{_PLAIN}" | {_NAME} ) {_BLANK})*+) \{{         # 6 the labels of a block
            (?: {_BLANK} \n () )?+ )                                # 7 its items are to follow
      | (\}}) {_EOL}                                                # 8 the end of a block
      | (\Z) )                                                      # 9 the end of the file
    """).match
"""One item of a body, or its end; the last group that matched tells which. Nothing matches for items of an uncommon
shape, and for mistakes."""

LABEL = re.compile(rf'"[^"]*+"|{_NAME}').findall
OPENED_EMPTY, OPENED_LINES = 1, 2
OPENED = _table(rf"{_GAP} (?: (\}}) {_EOL} | (?:{_LINE_COMMENT})?+ (?:\r?\n | \Z) () | () )").match
"""What follows a block's opening brace: its end, a line's end, or an argument on the same line."""

EOL = _table(_EOL).match
HEADER_NAME = _table(rf"{_SPACE} ({_ANY_NAME})").match
HEADER_EQUALS, HEADER_BRACE, HEADER_QUOTE, HEADER_LABEL = range(1, 5)
HEADER_NEXT = _table(rf"{_GAP} (?: (=) | (\{{) | (\") | ({_ANY_NAME}) )").match
CLOSE_LINE = _table(rf"{_GAP} (\}})").match

# ---- expressions -----------------------------------------------------------------------------------------------------

TERM_TEXT, TERM_ROOT, TERM_PATH, TERM_NUMBER, TERM_OPENER, TERM_NAME = range(1, 7)
_TERM = rf"""
    (?: "({_PLAIN})" {_BLANK}                           # 1 text
      | ({_NAME}) ((?:\.{_NAME})*+) {_BLANK}            # 2 root, 3 path
      | ({_NUMBER}) {_BLANK}                            # 4 number
      | ([\[{{(!"-] | <<)                               # 5 what opens a term of any other kind
      | ({_ANY_NAME}) {_BLANK} )                        # 6 a name with characters beyond ASCII
    """
_FOLLOW = r"(\|\| | && | [=!]= | [<>]=?+ | [-+*%?\[] | /(?!/) | \.(?!\.))"
STEP_NAME, STEP_NUMBER, STEP_STAR = range(1, 4)
_STEP = rf"(?: ({_ANY_NAME}) | ({_NUMBER}) | (\*) )"


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


LINE = Mode(_GAP, " \t/")
"""A newline ends the expression."""
FREE = Mode(_SPACE, " \t/\n\r#")
"""Newlines are ignored: inside brackets, parentheses and interpolations."""

FOR = _table(rf"{_SPACE} for {_NOT_A_NAME}").match
FOR_NAMES = _table(rf"{_SPACE} ({_ANY_NAME}) {_SPACE} (?: , {_SPACE} ({_ANY_NAME}) {_SPACE} )?+ in {_NOT_A_NAME}").match
IF = _table(rf"{_SPACE} if {_NOT_A_NAME}").match
COLON = _table(rf"{_SPACE} :(?!:)").match
ARROW = _table(rf"{_SPACE} =>").match
ELLIPSIS = _table(rf"{_SPACE} \.\.\.").match

NEXT, END = 1, 2
TUPLE_NEXT = _table(rf"{_SPACE} (?:(,){_SPACE})?+ (\])?+").match
CALL_NEXT = _table(rf"{_SPACE} (?:(,){_SPACE})?+ (\))?+").match
"""After an item: a comma, the end, both, or neither, which is a mistake."""

KEY = _table(rf"""(?: ({_NAME}) | "({_PLAIN})" ) {_GAP} (?: =(?![=>]) | :(?!:) )""").match
KEY_END = _table(rf"{_GAP} (?: =(?![=>]) | :(?!:) )").match
OBJECT_NEXT = _table(rf"{_GAP} (?: (?: , | (?:{_LINE_COMMENT})?+ \r?\n ) {_SPACE} () )?+ (\}})?+").match
"""After an object's entry: a comma or newline, the end, both, or neither, which is a mistake."""

# ---- templates -------------------------------------------------------------------------------------------------------

TEXT, ENDING = 1, 2
QUOTED = _table(rf"""((?: [^"\\$%\n\r]++ | \\[^\n\r] | {_DOLLARS} )*+) ("|{_OPENING})?+""").match
"""Text between quotes, up to the closing quote or a sequence; no ending where a line ends too early."""
HEREDOC_TEXT = _table(rf"""
    ((?: [^$%\n\r]++ | \r(?=\n) | (?<![$%])[$%]\r(?=\r\n) | {_DOLLARS} )*+) (\n|{_OPENING})?+""").match
"""Text in a heredoc, up to the end of the line or a sequence. A carriage return belongs to a newline, except that HCL's
scanner lets another one pass after a lone dollar or percent sign."""
BARE_TEXT = _table(rf"((?: [^$%\n]++ | {_DOLLARS} )*+ \n?+) ({_OPENING})?+").match
"""Text without delimiters, up to the end of the line or a sequence: a `~` trims no further than that."""
ESCAPE = _table(r"""\\(?: ([nrt"\\]) | u([0-9a-fA-F]{4}) | U([0-9a-fA-F]{8}) | ) | \$(\$++\{) | %(%++\{)""")
DOLLAR_ESCAPE = _table(r"\$(\$++\{) | %(%++\{)")
SEQUENCE_END = _table(rf"{_SPACE} (~?+)\}}").match
DIRECTIVE = _table(rf"{_SPACE} ({_ANY_NAME})").match

FLUSH, MARKER, PLAIN_TEXT = range(1, 4)
HEREDOC = _table(rf"<<(-?)({_ANY_NAME})\r?\n").match
_ASCII_SPACE = r"[ \t\v\f]*+"
PLAIN_HEREDOC = _table(rf"""
    <<(-?)({_NAME})\n
    ((?: (?! {_ASCII_SPACE} \2 {_ASCII_SPACE} \n ) [\x00-\t\v\f\x0e-\x23&-\x7f]*+ \n )*+)
    {_ASCII_SPACE} \2 {_ASCII_SPACE} (?=\n)""").match
"""A whole heredoc of ASCII without a dollar or percent sign."""

WHITESPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What HCL trims as space; Python's own idea holds four control characters more."""
