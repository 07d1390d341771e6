"""Which licence a text is, told from its wording: years, holders and layout do not matter, any other word does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib.resources import files

from rl_gym.infra.errors import one_line

__all__ = ["PERMISSIVE", "holder_in", "recognised"]

PERMISSIVE = (
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unlicense",
    "Zlib",
)
"""SPDX names of the licences whose wording is known here: they ask for attribution at most."""

_TITLES = (
    ("gnu affero general public license", "AGPL-3.0"),
    ("gnu lesser general public license version 2.1", "LGPL-2.1"),
    ("gnu lesser general public license version 3", "LGPL-3.0"),
    ("gnu library general public license", "LGPL-2.0"),
    ("gnu general public license version 2", "GPL-2.0"),
    ("gnu general public license version 3", "GPL-3.0"),
    ("mozilla public license version 2.0", "MPL-2.0"),
    ("mozilla public license, version 2.0", "MPL-2.0"),
    ("business source license 1.1", "BUSL-1.1"),
    ("eclipse public license - v 2.0", "EPL-2.0"),
    ("eclipse public license - v 1.0", "EPL-1.0"),
    ("european union public licence v. 1.2", "EUPL-1.2"),
    ("server side public license", "SSPL-1.0"),
    ("elastic license 2.0", "Elastic-2.0"),
    ("attribution-sharealike 4.0 international", "CC-BY-SA-4.0"),
)
"""How other licences begin: what one is called, so that it can be refused, or allowed, by name."""

_ALIKE = 0.95
"""The least share of words, in order, that a text has in common with a licence's."""

_TITLE_WORDS = 5
_HOLDER_WORDS = 16
_OTHER_WORDS = 3
"""The most words that may differ in one place: before and after the wording beside the words of titles, for a holder's
name, and elsewhere."""

_OF_TITLES = frozenset(
    (
        *("0bsd", "2", "3", "apache", "boost", "bsd", "cc0", "clause", "expat", "isc", "license", "licensed", "mit"),
        *("modified", "name", "new", "revised", "simplified", "software", "spdx", "the", "this", "under", "version"),
        *("zero", "zlib", "1", "0", "of", "is", "and", "a", "by", "identifier"),
    )
)

_HOLDER = "holder"
_TURNING = frozenset(
    (
        "academic",
        "additional",
        "agreement",
        "approval",
        "commercial",
        "compete",
        "competing",
        "competitive",
        "condition",
        "conditions",
        "consent",
        "educational",
        "ethical",
        "evil",
        "except",
        "excluding",
        "good",
        "government",
        "internal",
        "may",
        "military",
        "must",
        "never",
        "no",
        "non",
        "noncommercial",
        "not",
        "only",
        "personal",
        "prohibited",
        "prohibits",
        "provided",
        "require",
        "requires",
        "research",
        "restriction",
        "restrictions",
        "royalty",
        "sell",
        "separate",
        "shall",
        "solely",
        "subject",
        "unless",
        "without",
    )
)
"""Words that can turn what a licence allows, so that none of them may come on top."""

_NAMES = frozenset({"academic", "good", "government", "may", "military", "personal", "research", "sell"})
"""Those of them that stand in names of holders too."""

_COPYRIGHT = re.compile(
    r"^[^\w\n]{0,20}(?:[Pp]ortions\s+)?(?:(?:\([cC]\)|©)\s*\d{4}|[Cc]opyright\s*:?\s*(?:\([cC]\)|©|\d{4})"
    r"|(?:Copyright|COPYRIGHT)(?!\W+(?i:and|holders?|interest|laws?|licen[cs]e|notices?|owners?|or|statement)\b))[^\n]*",
    re.MULTILINE,
)
_HELD = re.compile(
    r"(?:copyright|\(c\)|©)[\s:]*(?:\(c\)|©|&copy;)?[\s:]*(?P<years>(?:\d{4}|present|to|now|[-\u2013,\s])*)(?:by\s+)?(?P<name>.*)",
    re.IGNORECASE,
)
_PLACEHOLDERS = re.compile(r"[<\[{](?:yyyy|year|name|full\s?name|owner|holder|copyright)", re.IGNORECASE)
_OPTIONAL = ("all rights reserved", "including the next paragraph")
_END = "END OF TERMS AND CONDITIONS"
_LONGEST_REST = 400
_LARGEST = 64 * 1024


@lru_cache(maxsize=4096)
def recognised(text: str) -> str | None:
    """The SPDX name of the licence that a text is, None where it is none that is known.

    A permissive one is told by its whole wording (Dice coefficient of the words in order at least 0.95, and no word
    anywhere that could turn it); another by its title alone.
    """
    if len(text) > _LARGEST:
        return None
    beginning = " ".join(text[:2000].lower().split())
    title = next((name for phrase, name in _TITLES if phrase in beginning[:400]), None)
    if title:
        return title
    dropped = {word for line in _COPYRIGHT.findall(text) for word in _words(line)}
    if dropped & _TURNING - _NAMES:
        return None
    body, _, rest = text.partition(_END)
    if not _is_appendix(rest):
        return None
    words = _wording(body)
    alike = {name: _likeness(words, known) for name, known in _known().items()}
    best = max(alike, key=lambda name: alike[name])
    return best if alike[best] >= _ALIKE else None


def holder_in(text: str) -> str | None:
    """Whom the first copyright line of a text names, at most 200 characters; None where none does."""
    for line in _COPYRIGHT.findall(text[:_LARGEST]):
        if _PLACEHOLDERS.search(line):
            continue
        match = _HELD.search(one_line(line, 300))
        name = re.sub(r"[ .]{0,3}all rights reserved\.?$", "", match["name"], flags=re.IGNORECASE) if match else ""
        name = name[:200].strip(" .,;*/#-")
        if match and name and (match["years"].strip() or "(c)" in line.lower() or "©" in line or len(name) > 2):
            return name
    return None


@cache
def _known() -> dict[str, tuple[str, ...]]:
    return {name: _wording(_packaged(name).partition(_END)[0]) for name in PERMISSIVE}


@cache
def _appendix() -> tuple[str, ...]:
    return _wording(_packaged("Apache-2.0-appendix"))


def _packaged(name: str) -> str:
    return (files("rl_gym.iac") / "data" / "licences" / f"{name}.txt").read_text(encoding="utf-8")


def _is_appendix(text: str) -> bool:
    """Whether a text says nothing beyond what the appendix of the Apache licence says: that changes no licence."""
    words = _wording(text)
    steps = (
        SequenceMatcher(None, _appendix(), words, autojunk=False).get_opcodes() if len(words) < _LONGEST_REST else ()
    )
    added = [word for kind, _, _, at, to in steps if kind != "equal" for word in words[at:to]]
    return len(words) < _LONGEST_REST and _beside_titles(added) <= _TITLE_WORDS and not _TURNING.intersection(added)


def _beside_titles(words: Sequence[str]) -> int:
    return sum(word not in _OF_TITLES for word in words)


def _wording(text: str) -> tuple[str, ...]:
    """The words that a licence is made of: without copyright lines, and what may be left out."""
    folded = " ".join(_words(_COPYRIGHT.sub("", text)))
    for phrase in _OPTIONAL:
        folded = folded.replace(phrase, "")
    return tuple(folded.split())


def _words(text: str) -> list[str]:
    plain = text.lower().replace("licence", "license").replace("https:", "http:").replace("http://www.", "http://")
    return re.findall(r"[a-z0-9]+", plain)


def _likeness(words: tuple[str, ...], known: tuple[str, ...]) -> float:
    """The Dice coefficient of the words in order, 0 where something stands in the one that changes the other."""
    common = sum((Counter(words) & Counter(known)).values())
    if 2 * common < 0.85 * (len(words) + len(known)):
        return 0.0
    matcher = SequenceMatcher(None, known, words, autojunk=False)
    compared = len(known)
    same = 0
    for kind, start, end, at, to in matcher.get_opcodes():
        if kind == "equal":
            same += end - start
            continue
        missing, added = known[start:end], words[at:to]
        if _TURNING.intersection(added) or not _may_differ(missing, added, start, end, len(known)):
            return 0.0
        compared -= missing.count(_HOLDER)
    return same / compared if compared else 0.0


def _may_differ(missing: tuple[str, ...], added: tuple[str, ...], start: int, end: int, length: int) -> bool:
    if len([word for word in missing if word != _HOLDER]) > _OTHER_WORDS:
        return False
    if (start == 0 and end == 0) or start == length:
        return _beside_titles(added) <= _TITLE_WORDS
    return len(added) <= (_HOLDER_WORDS if _HOLDER in missing else _OTHER_WORDS)
