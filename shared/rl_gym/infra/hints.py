"""What somebody may have meant by a name that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Collection

__all__ = ["hint"]


def hint(wrong: str, known: Collection[str], otherwise: str) -> str:
    """`did you mean 'NAME'?` by the nearest of the known names; `otherwise` where none is near."""
    near = difflib.get_close_matches(wrong, known, n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise
