"""Which argument and variable names say that their value is a secret."""

from __future__ import annotations

import re
from functools import lru_cache

_SECRET = re.compile(
    r"(?:^|_)(?:password|passwords|passwd|passphrase|pwd|secret|secret_key|secret_string|secret_binary|secret_access_key"
    r"|access_key|token|api_key|apikey|private_key)(?:_wo)?$"
)
_HANDLE = re.compile(r"(?:creation|client|request|idempotency|next|continuation|pagination)_token$")
"""Tokens that tell one request from another and open nothing."""
_SECRET_VARIABLE = re.compile(
    r"(?:passw(?:or)?d|passphrase|(?:^|_)(?:pass|credentials?|secrets)"
    r"|(?:encryption|signing|jwt|hmac|master|account)_key|secret_key_base)$"
)
"""Further names that people give to secrets in the environment of a process: `PGPASSWORD`, `JWT_KEY`."""
_TAIL = re.compile(r"(?:_?\d+|_(?:value|plain|plaintext|prod|production|staging|dev|test))+$")
"""What may follow the name of a secret without making it another thing: `DB_PASSWORD_PROD`, `API_KEY_2`."""
_LONGEST = 64
"""Characters at the end of a name that are looked at."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def names_secret(name: str) -> bool:
    """Whether a name (`db_password`, `DB_PASSWORD`, `dbPassword`, `db-password`) is that of a secret."""
    return _names_secret(name[-_LONGEST:])


@lru_cache(maxsize=8192)
def names_secret_variable(name: str) -> bool:
    """Whether an environment variable of this name holds a secret."""
    snake = _TAIL.sub("", _snake(name[-_LONGEST:]))
    return names_secret(snake) or _SECRET_VARIABLE.search(snake) is not None


@lru_cache(maxsize=8192)
def _names_secret(name: str) -> bool:
    snake = _snake(name)
    return _SECRET.search(snake) is not None and _HANDLE.search(snake) is None


def _snake(name: str) -> str:
    return _HUMP.sub("_", name).replace("-", "_").lower()
