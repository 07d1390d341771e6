"""What GitHub says a repository's licence is, asked where the files themselves do not tell."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from urllib.parse import quote

from rl_gym.infra.errors import UsageError
from rl_gym.infra.fetching import Answer, UnreachableError, fetch

__all__ = ["GITHUB_URL", "GitHub"]

GITHUB_URL = "https://api.github.com"
_HOST = "github.com/"
_MOST_BYTES = 1 << 20
_SECONDS = 15.0
_TRIES = 3
_LONGEST_WAIT = 60.0
_MOST_WAITING = 300.0
_MOST_QUESTIONS = 5_000
_LIMIT = "the limit on questions to GitHub is reached"


class GitHub:
    """Asks each repository of github.com once, through the API at `url`; `token` is shown to that address alone.

    Waits for a rate limit 60 s at a time and 300 s in all, and then asks no more; `sleep` waits.
    """

    def __init__(self, url: str = GITHUB_URL, token: str = "", *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Accept": "application/vnd.github+json", "User-Agent": "rl-gym"}
        if token:
            if not (token.isascii() and token.isprintable()) or " " in token:
                raise UsageError("the token for GitHub is not one: it holds a blank or another character that none has")
            self._headers["Authorization"] = f"Bearer {token}"
        self._sleep = sleep
        self._patience = _MOST_WAITING
        self._limited = False
        self._told: dict[str, tuple[str | None, str]] = {}

    def licence(self, repository: str, commit: str | None) -> tuple[str | None, str]:
        """The SPDX name of `github.com/owner/name` at a commit, or None and why there is none to be had."""
        if not repository.startswith(_HOST) or repository.count("/") != 2:
            return None, "not a repository of GitHub"
        if repository not in self._told:
            if self._limited or len(self._told) >= _MOST_QUESTIONS:
                return None, _LIMIT
            self._told[repository] = self._ask(repository.removeprefix(_HOST), commit)
        return self._told[repository]

    def _ask(self, path: str, commit: str | None) -> tuple[str | None, str]:
        address = f"{self._url}/repos/{quote(path)}/license" + (f"?ref={commit}" if commit else "")
        reason = ""
        for _ in range(_TRIES):
            try:
                answer = fetch(address, most_bytes=_MOST_BYTES, seconds=_SECONDS, headers=self._headers, follow=False)
            except UnreachableError as error:
                reason = f"GitHub does not answer: {error}"
                continue
            if answer.status == 200:
                return _told(answer)
            if answer.status == 404:
                return None, "GitHub knows no licence of it"
            reason = f"GitHub answers {answer.status}"
            if answer.status in (403, 429) and not self._wait(answer):
                return None, _LIMIT
            if answer.status in (301, 302, 307, 308):
                address = self._moved(answer) or address
            if answer.status == 401:
                raise UsageError("GitHub does not take the token that RL_GYM_GITHUB_TOKEN or GITHUB_TOKEN holds")
        return None, reason

    def _moved(self, answer: Answer) -> str | None:
        """Where a renamed repository is told of: at the same address of the API, or nowhere that is asked."""
        place = answer.headers.get("location", "")
        return place if place.startswith(f"{self._url}/") else None

    def _wait(self, answer: Answer) -> bool:
        """Wait as long as GitHub asks for, within bounds; False where it asks for more."""
        asked = answer.headers.get("retry-after", "")
        seconds = float(asked) if asked.isdigit() else _LONGEST_WAIT + 1
        if seconds > min(_LONGEST_WAIT, self._patience):
            self._limited = True
            return False
        self._patience -= seconds
        self._sleep(seconds)
        return True


def _told(answer: Answer) -> tuple[str | None, str]:
    try:
        name = json.loads(answer.body)["license"]["spdx_id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, "GitHub answers something else than a licence"
    known = isinstance(name, str) and len(name) <= 60 and name not in ("", "NOASSERTION", "OTHER")
    return (name, "") if known else (None, "GitHub knows no name for its licence")
