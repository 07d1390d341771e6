"""Which characters beyond ASCII may stand in a name."""

from __future__ import annotations


def bad_character(name: str) -> int | None:
    """The offset of the first character that may not stand in this name, None when all may."""
    if name.isascii():
        return None
    for offset, character in enumerate(name):
        if not character.isascii() and not (character if offset == 0 else "a" + character).isidentifier():
            return offset
    return None
