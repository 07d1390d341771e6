"""Which argument and variable names say that their value is a secret."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"(?:^|_)(?:password|passwords|passwd|passphrase|pwd|secret|secret_key|secret_string|secret_binary|secret_access_key"
    r"|access_key|auth_token|access_token|api_token|oauth_token|token|api_key|apikey|private_key)(?:_wo)?$"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def names_secret(name: str) -> bool:
    """Whether a name (`db_password`, `DB_PASSWORD`, `dbPassword`, `db-password`) is that of a secret."""
    return _SECRET.search(_HUMP.sub("_", name).replace("-", "_").lower()) is not None
