"""Which resource types there are."""

from __future__ import annotations

from rl_gym.iac.schema.bundled import versions
from rl_gym.infra.hints import hint

__all__ = ["unknown_type"]

_COMPANIONS = ("archive", "cloudinit", "http", "local", "null", "random", "terraform", "time", "tls")
"""Providers that configurations for AWS use beside its own; their types are not looked up."""


def unknown_type(name: str) -> str:
    """Why there is no resource of a type, with the nearest that there is; empty where there is one."""
    known: list[str] = []
    for version in versions():
        if version.find("resource", name) is not None:
            return ""
        known += version.names("resource")
    if name.partition("_")[0] in _COMPANIONS:
        return ""
    return f"there is no resource type {name!r}: {hint(name, known, 'the AWS provider has none like it')}"
