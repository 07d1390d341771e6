"""The right name nearest to a wrong one."""

from __future__ import annotations

from collections.abc import Collection

_MOST_CHARACTERS = 64
"""Characters in a name that is still worth a search."""
_MANY = 300
"""Beyond so many names (a provider's types) only those of the same service are compared."""

_NEAR, _NEAR_AMONG_MANY = 0.7, 0.8
"""How alike two names are, between 0 and 1."""


def nearest(wrong: str, names: Collection[str]) -> str:
    """The name that somebody who wrote `wrong` may have meant; empty where none is near."""
    from difflib import get_close_matches  # only a mistake pays for loading it

    if len(wrong) > _MOST_CHARACTERS:
        return ""
    near = _NEAR
    if len(names) > _MANY:
        near = _NEAR_AMONG_MANY
        provider, _, rest = wrong.partition("_")
        service = f"{provider}_{rest[:3]}"
        names = [name for name in names if name.startswith(service)]
    found = get_close_matches(wrong, names, n=1, cutoff=near)
    return found[0] if found else ""
