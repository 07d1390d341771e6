"""Lambda: the environment of functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rl_gym.hcl import UNKNOWN, Block, Resource, ast
from rl_gym.iac.context import Context, type_of
from rl_gym.iac.literals import Locals, alternatives, arguments, entries, texts
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.secret_names import names_secret_variable
from rl_gym.iac.secret_values import is_secret, leaves, written_out
from rl_gym.iac.verdicts import Answer, worst

_PATH = "variables"
_KEEPERS = frozenset({"aws_secretsmanager_secret", "aws_ssm_parameter"})
_HANDLES = frozenset({"id", "name"})
"""Attributes of a keeper of secrets that say where the secret is; any ARN does."""
_SWITCHES = frozenset({"", "true", "false"})
"""Values that hold no secret, whatever their name says."""

_PASSED = re.compile(
    r"(?i)(?:password|passwd|pwd|secret|token|api_?key|accountkey)(?:[\"']\s*:\s*|\s*=\s*|:\s+)[\"']?[^\s\"'$`<({;&]{4,}"
    r"|\bhooks\.slack\.com/services/T\w+/B\w+/\w{20}"
)
"""`password=hunter2` in the address of a database, `password: hunter2` in a document, an address that lets post."""


@rule(
    "lambda_plaintext_secrets",
    severity="high",
    types=("aws_lambda_function",),
    title="No secret is in the environment of a function",
    fix="set the variable to the ARN of an aws_secretsmanager_secret or aws_ssm_parameter, and read that at run time",
    short="secrets by ARN",
    references=("CKV_AWS_45", "CWE-526"),
    passing="""
        resource "aws_lambda_function" "orders" {
          function_name = "orders"
          role          = "arn:aws:iam::111122223333:role/orders"
          filename      = "orders.zip"
          handler       = "main.handler"
          runtime       = "python3.13"
          environment {
            variables = {
              DB_PASSWORD_ARN = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:orders-a1b2c3"
            }
          }
        }
    """,
    failing="""
        resource "aws_lambda_function" "orders" {
          function_name = "orders"
          role          = "arn:aws:iam::111122223333:role/orders"
          filename      = "orders.zip"
          handler       = "main.handler"
          runtime       = "python3.13"
          environment {
            variables = {
              DB_PASSWORD = "correct-horse"
            }
          }
        }
    """,
)
def lambda_plaintext_secrets(resource: Resource, context: Context) -> Answer | None:
    """Variables are shown to everyone who may look at the function, and written into every dump of its process.

    A variable whose name says that it is a secret must not be known from the text, by literal, local, template,
    variable default, fallback or within a JSON document; nor may any hold a credential that is known by its form. One
    that is computed or handed in is unknown. Where it names the place of a secret, by ARN or by the name of a secret or
    parameter, it is none.
    """
    found = [one for block in resource.blocks("environment") for one in _environment(block, resource, context)]
    return worst(found) or Answer("pass", "no variable holds a secret", "environment")


def _environment(block: Block, resource: Resource, context: Context) -> Iterator[Answer]:
    """Secrets, and what may be one, among the environment variables of a function."""
    for path, reason in _fallbacks(resource, context):
        yield Answer("fail", reason, path, block)
    values = block.get(_PATH)
    if values is UNKNOWN:
        yield Answer("unknown", "the environment is not known before apply", _PATH, block)
    for name, value in values.items() if isinstance(values, dict) else ():
        at = f"{_PATH}.{name}"
        if _is_handle(block, at):
            continue
        document = block.policy(at)
        whole = document if isinstance(document, dict | list) else value
        context.spend(leaves(whole))
        for reason in _secrets(name, whole):
            yield Answer("fail", reason, at, block)
        if value is UNKNOWN and names_secret_variable(name):
            yield Answer("unknown", f"{name} is not known before apply and may be a secret", at, block)


def _secrets(name: str, value: Any) -> Iterator[str]:
    """What is wrong with a variable of this name and value."""
    if isinstance(value, str) and value.strip().lower() in _SWITCHES:
        return
    if names_secret_variable(name) and is_secret(value):
        yield f"{name} is written out"
    elif isinstance(value, str) and _PASSED.search(value):
        yield f"{name} passes a secret on"
    else:
        yield from (reason for _, reason in written_out(name, name, value, named=True))


def _fallbacks(resource: Resource, context: Context) -> Iterator[tuple[str, str]]:
    """Secrets in expressions, with their paths: `coalesce(var.password, "hunter2")`, a credential in a template."""
    sources = context.sources()
    block, names = sources.of(resource) if sources else (None, {})
    for variables in _maps(block.body, names) if block else ():
        for name, expression in entries(variables, names):
            spelled = [one for one in alternatives(expression, names) if str(one).lower() not in _SWITCHES]
            if names_secret_variable(name) and any(map(is_secret, spelled)):
                yield f"{_PATH}.{name}", f"{name} is written out"
        for text in texts(variables, names):
            yield from ((_PATH, reason) for reason in _secrets("a variable", text))


def _maps(body: ast.Body, names: Locals) -> Iterator[ast.Expression]:
    """The expressions for maps of environment variables; in JSON syntax the block around them is one as well."""
    for argument in arguments(body):
        if argument.name == "variables":
            yield argument.expression
        elif argument.name == "environment":
            block = argument.expression
            for item in block.items if isinstance(block, ast.Tuple) else [block]:
                yield from (inner for name, inner in entries(item, names) if name == "variables")


def _is_handle(block: Block, path: str) -> bool:
    """Whether a value says where a secret is kept."""
    reference = block.reference(path)
    if reference is None:
        return False
    attribute = reference.attribute.rpartition(".")[2]
    return attribute.endswith("arn") or (attribute in _HANDLES and type_of(reference.address) in _KEEPERS)
