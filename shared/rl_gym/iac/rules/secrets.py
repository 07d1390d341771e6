"""Secrets written into the configuration, where everyone who may read the repository or the state may read them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from rl_gym.hcl import UNKNOWN, Partial, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.literals import alternatives, arguments, is_plain, texts
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.secret_names import names_secret
from rl_gym.iac.verdicts import Answer

_CARRIERS = (
    "aws_appsync_datasource",
    "aws_cognito_identity_provider",
    "aws_db_instance",
    "aws_directory_service_directory",
    "aws_dms_endpoint",
    "aws_docdb_cluster",
    "aws_elasticache_replication_group",
    "aws_elasticache_user",
    "aws_lightsail_database",
    "aws_memorydb_user",
    "aws_mq_broker",
    "aws_rds_cluster",
    "aws_redshift_cluster",
    "aws_redshiftserverless_namespace",
    "aws_secretsmanager_secret_version",
)
"""Types with an argument that holds a secret: they pass where none is written, other types only ever fail."""

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
    r"|\b[a-z][a-z0-9+]{2,}://[^/\s:@$]+:[^/\s:@$]+@"
)
"""Credentials that are known by their form: AWS, PEM, GitHub, GitLab, Slack, Stripe, Google, a URL with a password."""
_TOKEN_SIGNS = ("AKIA", "ASIA", "PRIVATE KEY", "gh", "glpat-", "xox", "sk_live_", "AIza", "://")
"""One of these is in every credential; most text holds none, and need not be searched further."""

_ASSIGNMENT = re.compile(
    r"(?i)(?:password|passwd|secret|secret_access_key|access_key_id|token|api_key)\"?\s*[=:]\s*[\"']?([^\s\"'$`<({]{4,})"
)
"""`DB_PASSWORD=hunter2` in a start-up script; a value that the shell computes is not a literal."""

_TAGS = frozenset({"tags", "tags_all"})
_SCRIPTS = frozenset({"user_data", "user_data_base64"})
_DOCUMENTS = ("secret_string", "container_definitions")
_LARGEST_SCRIPT = 64 * 1024


@rule(
    "hardcoded_secret",
    severity="critical",
    types=("*",),
    title="No secret is written into the configuration",
    fix="use manage_master_user_password, random_password, a data source, or a sensitive variable without default",
    references=("CKV_AWS_41", "CKV_AWS_45", "CKV_AWS_46", "CKV_SECRET_6", "CWE-798"),
)
def hardcoded_secret(resource: Resource, context: Context) -> Answer | None:
    """An argument that holds a secret must not be known from the text: by literal, local, template or variable default.

    A placeholder counts, as does an empty string: it is what the resource is made with. Credentials that are known by
    their form count anywhere. Environment variables of functions have a rule of their own.
    """
    for path, reason in chain(_written(resource, context), _fallbacks(resource, context)):
        return Answer("fail", reason, path)
    if (resource.type in _CARRIERS and resource.mode == "managed") or _is_secure_parameter(resource):
        return Answer("pass", "no secret is written out")
    return None


def _written(resource: Resource, context: Context) -> Iterator[tuple[str, str]]:
    """Every place where a secret is written out: its path and what is wrong."""
    attributes = resource.attributes()
    if _is_secure_parameter(resource) and _literal(attributes.get("value")):
        yield "value", "the value of a SecureString is written out"
    for name, value in attributes.items():
        document = resource.policy(name) if name in _DOCUMENTS else None
        whole = document if isinstance(document, dict | list) else value
        named = not (name in _TAGS or (resource.type == "aws_lambda_function" and name == "environment"))
        context.spend(_leaves(whole))
        found = list(_in_value(name, "" if whole is document else name, whole, named))
        if not found and name == "secret_string" and _known(whole):
            found = [(name, "secret_string is written out")]
        yield from found


def _leaves(value: Any) -> int:
    """How many values there are to look at: long text counts by its length."""
    if isinstance(value, dict):
        return 1 + sum(map(_leaves, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(_leaves, value))
    return 1 + len(value) // 1_000 if isinstance(value, str) else 1


def _is_secure_parameter(resource: Resource) -> bool:
    return resource.type == "aws_ssm_parameter" and resource.get("type") == "SecureString"


def _fallbacks(resource: Resource, context: Context) -> Iterator[tuple[str, str]]:
    """Secrets in expressions whose value is not known: `coalesce(var.password, "hunter2")`, a key in a template."""
    sources = context.sources()
    block, names = sources.of(resource) if sources else (None, {})
    for argument in arguments(block.body) if block else ():
        if is_plain(argument.expression):
            continue
        if names_secret(argument.name) and any(map(_secret, alternatives(argument.expression, names))):
            yield argument.name, f"{argument.name} falls back on what is written out"
        for text in texts(argument.expression, names):
            yield from _in_text(argument.name, argument.name, text)


def _is_secret_pair(value: Mapping[Any, Any]) -> bool:
    """`{ name = "DB_PASSWORD", value = "hunter2" }`, as in the environment of a container."""
    name = value.get("name", value.get("Name"))
    named = isinstance(name, str) and names_secret(name) and value.get("type") not in _POINTING_TYPES
    return named and _secret(value.get("value", value.get("Value")))


def _secret(value: Any) -> bool:
    return _literal(value) and value != ""


def _in_value(path: str, name: str, value: Any, named: bool) -> Iterator[tuple[str, str]]:
    """Secrets within a value, by the name that it has and by its own form; `named` says whether names count here.

    `name` is the argument or key that the value belongs to; list items keep that of their list.
    """
    if isinstance(value, dict):
        if named and _is_secret_pair(value):
            yield path, f"the value of {value.get('name', value.get('Name'))} is written out"
        for key, item in value.items():
            yield from _in_value(f"{path}.{key}", str(key), item, named)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _in_value(f"{path}.{index}", name, item, named)
    elif named and names_secret(name) and _literal(value):
        yield path, f"{name} is written out"
    elif isinstance(value, str):
        yield from _in_text(path, name, value)


def _in_text(path: str, name: str, value: str) -> Iterator[tuple[str, str]]:
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


def _literal(value: Any) -> bool:
    """Whether a value is a known scalar that is a secret itself, not the name of one."""
    if isinstance(value, bool | Partial) or value is None or value is UNKNOWN:
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and _POINTER.fullmatch(value) is None)


def _known(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(map(_known, value.values()))
    if isinstance(value, list):
        return all(map(_known, value))
    return value is not UNKNOWN and not isinstance(value, Partial)
