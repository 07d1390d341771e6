"""Which values are secrets: by the name that they have, or by their own form, as credentials of well-known makers."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rl_gym.hcl import UNKNOWN, Partial
from rl_gym.iac.secret_names import names_secret

_POINTER = re.compile(r"arn:aws[a-z-]*:(?:secretsmanager|ssm|kms):[a-z0-9-]*:\d{12}:\S+")
"""A value that says where a secret is kept, not what it is."""
_POINTING_TYPES = ("SECRETS_MANAGER", "PARAMETER_STORE")
"""Types of a build's environment variable whose value is the name of a secret."""

_TOKEN = re.compile(
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"
    r"|\bgh[pousr]_[A-Za-z0-9]{36}"
    r"|\bgithub_pat_[A-Za-z0-9_]{40}"
    r"|\bglpat-[A-Za-z0-9_-]{20}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10}"
    r"|\bsk_live_[A-Za-z0-9]{20}"
    r"|\bAIza[A-Za-z0-9_-]{35}"
    r"|\b[a-z][a-z0-9+]{2,30}://[^/\s:@$]+:[^/\s:@$]+@"
)
"""Credentials that are known by their form: AWS, PEM, GitHub, GitLab, Slack, Stripe, Google, a URL with a password."""
_TOKEN_SIGNS = ("AKIA", "ASIA", "PRIVATE KEY", "gh", "glpat-", "xox", "sk_live_", "AIza", "://")
"""One of these is in every credential; most text holds none, and need not be searched further."""

_ASSIGNMENT = re.compile(
    r"(?i)(?:password|passwd|secret|secret_access_key|access_key_id|token|api_key)\"?\s*[=:]\s*[\"']?([^\s\"'$`<({]{4,})"
)
"""`DB_PASSWORD=hunter2` in a start-up script; a value that the shell computes is not a literal."""

_SCRIPTS = frozenset({"user_data", "user_data_base64"})
_LARGEST_SCRIPT = 64 * 1024


def leaves(value: Any) -> int:
    """How many values there are to look at: long text counts by its length."""
    if isinstance(value, dict):
        return 1 + sum(map(leaves, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(leaves, value))
    return 1 + len(value) // 1_000 if isinstance(value, str) else 1


def _is_secret_pair(value: Mapping[Any, Any]) -> bool:
    """`{ name = "DB_PASSWORD", value = "hunter2" }`, as in the environment of a container."""
    name = value.get("name", value.get("Name"))
    named = isinstance(name, str) and names_secret(name) and value.get("type") not in _POINTING_TYPES
    return named and is_secret(value.get("value", value.get("Value")))


def is_secret(value: Any) -> bool:
    """Whether a value is a secret that opens something: an empty string does not."""
    return is_literal(value) and value != ""


def written_out(path: str, name: str, value: Any, named: bool) -> Iterator[tuple[str, str]]:
    """Secrets within a value, by the name that it has and by its own form; `named` says whether names count here.

    `name` is the argument or key that the value belongs to; list items keep that of their list.
    """
    if isinstance(value, dict):
        if named and _is_secret_pair(value):
            yield path, f"the value of {value.get('name', value.get('Name'))} is written out"
        for key, item in value.items():
            yield from written_out(f"{path}.{key}", str(key), item, named)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from written_out(f"{path}.{index}", name, item, named)
    elif named and names_secret(name) and is_literal(value):
        yield path, f"{name} is written out"
    elif isinstance(value, str):
        yield from credentials(path, name, value)


def credentials(path: str, name: str, value: str) -> Iterator[tuple[str, str]]:
    """Credentials in text that are known by their form; in a start-up script also what it sets a secret to."""
    for text in (value, _decoded(value)) if name in _SCRIPTS else (value,):
        if any(sign in text for sign in _TOKEN_SIGNS) and _TOKEN.search(text):
            yield path, f"{name} holds a credential"
        elif name in _SCRIPTS and _ASSIGNMENT.search(text[:_LARGEST_SCRIPT]):
            yield path, f"{name} sets a secret"


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def is_literal(value: Any) -> bool:
    """Whether a value is a known scalar that is a secret itself, not the name of one."""
    if isinstance(value, bool | Partial) or value is None or value is UNKNOWN:
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and _POINTER.fullmatch(value) is None)
