"""Text from a configuration made harmless: one line, and nothing that a terminal or a parser would act on."""

from __future__ import annotations

__all__ = ["visible"]


def visible(text: str) -> str:
    """The text with everything unprintable (controls, line breaks, direction marks, lone surrogates) as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
