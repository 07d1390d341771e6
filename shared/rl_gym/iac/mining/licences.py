"""Which licence a module is under, and whether it may be used: by its files' headers, the nearest text, or GitHub."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rl_gym.iac.mining.checkout import Repository, is_licence
from rl_gym.iac.mining.github import GitHub
from rl_gym.iac.mining.wordings import holder_in, recognised
from rl_gym.infra.errors import UsageError
from rl_gym.infra.text_files import UnreadableError

__all__ = ["Licence", "allows", "checked_names", "licence_of"]

_LARGEST = 256 * 1024
_HEADER = re.compile(r"SPDX-License-Identifier:[ \t]*([A-Za-z0-9 .+()-]{1,200})")
_HEADER_WITHIN = 4_000
_NAME = re.compile(r"[A-Za-z0-9.-]{1,60}\+?")


@dataclass(frozen=True, slots=True)
class Licence:
    """`name`: an SPDX expression, None where none is known, and then `reason`. `told_by`: "header", a file, "GitHub".

    `holder`: whom the copyright line names, None where there is none.
    """

    name: str | None
    told_by: str = ""
    holder: str | None = None
    reason: str = ""


def checked_names(names: Collection[str]) -> frozenset[str]:
    """The SPDX names that are allowed, as they are compared; UsageError for what cannot be one."""
    wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        raise UsageError(f"{wrong[:80]!r} is no SPDX name of a licence: they look like MPL-2.0")
    return frozenset(map(_compared, names))


def allows(expression: str, allowed: Collection[str]) -> bool:
    """Whether an SPDX expression can be met within what is allowed, of names as `checked_names` gives them.

    Of alternatives one is enough; where `AND` or `WITH` stands in it, every name must be allowed.
    """
    words = expression.replace("(", " ").replace(")", " ").split()
    names = [_compared(word) for word in words if word.upper() not in ("AND", "OR", "WITH")]
    operators = {word.upper() for word in words} & {"AND", "OR", "WITH"}
    met = [name in allowed for name in names]
    return bool(met) and (any(met) if operators == {"OR"} else all(met))


def licence_of(repository: Repository, folder: str, files: Mapping[str, str], github: GitHub | None) -> Licence:
    """The licence of a module of a repository, by its folder there and the text of its files by name.

    Headers go before the text of a licence: where all files bear one, and they agree, it is theirs. Else both must
    hold. Of licences in several folders the nearest counts, of several in one folder all.
    """
    headers = [_header(text) for text in files.values()]
    named = {name for name in headers if name}
    near, texts, notices = _nearest(repository, folder)
    holder = next(filter(None, (holder_in(text) for text in (*texts.values(), *notices))), None)
    if named and None not in headers:
        return Licence(_joined(named), "header", holder)
    told = {name: recognised(text) for name, text in texts.items()}
    if told and None not in told.values():
        place = f"{near}/{min(told)}" if near != "." else min(told)
        return Licence(_joined(named | {name for name in told.values() if name}), place, holder)
    reason = "licence whose wording is not known" if told else "no licence"
    if github is None:
        return Licence(None, reason=reason)
    name, why = github.licence(repository.name, repository.commit)
    return Licence(_joined(named | {name}), "GitHub", holder) if name else Licence(None, reason=f"{reason}; {why}")


def _compared(name: str) -> str:
    return re.sub(r"(-only|-or-later|\+)$", "", name.lower())


def _joined(names: Collection[str]) -> str:
    """One expression of several, all of which hold."""
    several = len(names) > 1
    return " AND ".join(f"({name})" if several and " " in name else name for name in sorted(names))


def _header(text: str) -> str | None:
    match = _HEADER.search(text[:_HEADER_WITHIN])
    return " ".join(match[1].split()).rstrip(".-") or None if match else None


def _nearest(repository: Repository, folder: str) -> tuple[str, dict[str, str], list[str]]:
    """The nearest folder at or above one that has a licence, the texts of its licences, and of its notices."""
    at = folder
    while True:
        names = repository.licences.get(at, ())
        if any(map(is_licence, names)):
            texts = {name: _text(repository, name if at == "." else f"{at}/{name}") for name in names}
            licences = {name: text for name, text in texts.items() if is_licence(name)}
            return at, licences, [text for name, text in texts.items() if not is_licence(name)]
        if at == ".":
            return at, {}, []
        at = at.rpartition("/")[0] or "."


def _text(repository: Repository, path: str) -> str:
    """The text of a licence, empty where it cannot be read: that is the wording of none."""
    try:
        return repository.read(path, _LARGEST)
    except UnreadableError:
        return ""
