"""Short ways to evaluate one expression or one file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rl_gym.hcl import Configuration, Limits, Resource, evaluate, load


def configured(
    text: str | Mapping[str, str], variables: Mapping[str, Any] | None = None, limits: Limits | None = None
) -> Configuration:
    """The configuration of one file, or of several by name."""
    limits = limits or Limits()
    files = {"main.tf": text} if isinstance(text, str) else text
    return evaluate(load(files, limits), variables, limits)


def fold(expression: str, declarations: str = "", limits: Limits | None = None) -> Any:
    """The value of an expression, as plain data."""
    return configured(f"locals {{\n  subject = {expression}\n}}\n{declarations}", limits=limits).locals["subject"]


def resource(text: str, address: str) -> Resource:
    """The resource at an address in the configuration of one file."""
    found = configured(text).resource(address)
    assert found is not None, f"no {address}"
    return found
