"""Secrets written into the configuration, where everyone who may read the repository or the state may read them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from rl_gym.hcl import UNKNOWN, Partial, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.literals import alternatives, arguments, is_plain, texts
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.secret_names import names_secret
from rl_gym.iac.secret_values import credentials, is_literal, is_secret, leaves, written_out
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

_TAGS = frozenset({"tags", "tags_all"})
_DOCUMENTS = ("secret_string", "container_definitions")
_UNITS = frozenset({"token_validity_units"})
"""Blocks whose arguments bear the name of a secret and say how long it lives."""


def _hardcoded_secret_1(resource: Resource, context: Context) -> Answer | None:
    found = chain(_written(resource, context), _fallbacks(resource, context, unwrap=False))
    return _judge(resource, found, is_parameter=_is_secure_parameter(resource))


@rule(
    "hardcoded_secret",
    severity="critical",
    types=("*",),
    title="No secret is written into the configuration",
    fix="use manage_master_user_password, random_password, a data source, or a sensitive variable without default",
    short="no secret in plain text",
    references=("CKV_AWS_41", "CKV_AWS_45", "CKV_AWS_46", "CKV_SECRET_6", "CWE-798"),
    version=2,
    first=_hardcoded_secret_1,
    passing="""
        resource "aws_db_instance" "app" {
          engine                      = "postgres"
          instance_class              = "db.t4g.small"
          allocated_storage           = 20
          username                    = "app"
          manage_master_user_password = true
        }
    """,
    failing="""
        resource "aws_db_instance" "app" {
          engine            = "postgres"
          instance_class    = "db.t4g.small"
          allocated_storage = 20
          username          = "app"
          password          = "correct-horse"
        }
    """,
)
def hardcoded_secret(resource: Resource, context: Context) -> Answer | None:
    """An argument that holds a secret must not be known from the text: by literal, local, template or variable default.

    A placeholder counts, as does an empty string: it is what the resource is made with. Credentials that are known by
    their form count anywhere. A parameter whose name says secret holds one, whatever its type. Environment variables of
    functions have a rule of their own.
    """
    written = (one for one in _written(resource, context) if one[0].partition(".")[0] not in _UNITS)
    found = chain(written, _kept(resource), _fallbacks(resource, context, unwrap=True))
    return _judge(resource, found, is_parameter=_is_secure_parameter(resource) or _is_named_secret(resource))


def _judge(resource: Resource, found: Iterator[tuple[str, str]], *, is_parameter: bool) -> Answer | None:
    for path, reason in found:
        return Answer("fail", reason, path)
    if (resource.type in _CARRIERS and resource.mode == "managed") or is_parameter:
        return Answer("pass", "no secret is written out")
    return None


def _kept(resource: Resource) -> Iterator[tuple[str, str]]:
    """Secrets in arguments whose name does not tell: the value of a key, or of a parameter that is named for one."""
    if resource.mode == "managed" and (resource.type == "aws_api_gateway_api_key" or _is_named_secret(resource)):
        for argument in ("value", "insecure_value"):
            if is_secret(resource.get(argument)):
                yield argument, f"{argument} is a secret that is written out"


def _is_named_secret(resource: Resource) -> bool:
    """Whether this is a parameter `/app/db_password`."""
    name = resource.get("name")
    named = isinstance(name, str) and names_secret(name.rpartition("/")[2])
    return resource.type == "aws_ssm_parameter" and resource.mode == "managed" and named


def _written(resource: Resource, context: Context) -> Iterator[tuple[str, str]]:
    """Every place where a secret is written out: its path and what is wrong."""
    attributes = resource.attributes()
    if _is_secure_parameter(resource) and is_literal(attributes.get("value")):
        yield "value", "the value of a SecureString is written out"
    for name, value in attributes.items():
        document = resource.policy(name) if name in _DOCUMENTS else None
        whole = document if isinstance(document, dict | list) else value
        named = not (name in _TAGS or (resource.type == "aws_lambda_function" and name == "environment"))
        context.spend(leaves(whole))
        found = list(written_out(name, "" if whole is document else name, whole, named))
        if not found and name == "secret_string" and _known(whole):
            found = [(name, "secret_string is written out")]
        yield from found


def _is_secure_parameter(resource: Resource) -> bool:
    return resource.type == "aws_ssm_parameter" and resource.get("type") == "SecureString"


def _fallbacks(resource: Resource, context: Context, *, unwrap: bool) -> Iterator[tuple[str, str]]:
    """Secrets in expressions whose value is not known: `coalesce(var.password, "hunter2")`, a key in a template."""
    sources = context.sources()
    block, names = sources.of(resource) if sources else (None, {})
    for argument in arguments(block.body) if block else ():
        if is_plain(argument.expression):
            continue
        written = alternatives(argument.expression, names, unwrap=unwrap) if names_secret(argument.name) else ()
        if any(map(is_secret, written)):
            yield argument.name, f"{argument.name} falls back on what is written out"
        for text in texts(argument.expression, names):
            yield from credentials(argument.name, argument.name, text)


def _known(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(map(_known, value.values()))
    if isinstance(value, list):
        return all(map(_known, value))
    return value is not UNKNOWN and not isinstance(value, Partial)
