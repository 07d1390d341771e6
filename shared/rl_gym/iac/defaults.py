"""What judges where nobody says otherwise. It imports nothing: a message or a flag can have it for its default."""

from __future__ import annotations

__all__ = ["DEFAULT_PROFILE", "DEFAULT_RULESET"]

DEFAULT_RULESET = "base"

DEFAULT_PROFILE = "default"
"""A reward profile, in its newest version."""
