"""Resources that are one statement of a policy: a principal, and what binds it, in arguments of their own."""

from __future__ import annotations

from collections.abc import Iterator

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.audience import open_to_everyone
from rl_gym.iac.policy import Condition, Principal, Statement
from rl_gym.iac.verdicts import Answer, Body, text

PERMISSIONS = {
    "aws_cloudwatch_event_permission": {},
    "aws_lambda_layer_version_permission": {"organization_id": "aws:principalorgid"},
    "aws_lambda_permission": {
        "principal_org_id": "aws:principalorgid",
        "source_account": "aws:sourceaccount",
        "source_arn": "aws:sourcearn",
    },
}
"""Their types, and which of their arguments stand for which condition key."""

_COMPUTED = "arn:aws:x:x:111122223333:x"
"""In place of what is made of a resource's attributes: it names something of the account."""


def permission(resource: Resource) -> Answer:
    """Whether such a resource lets in somebody in particular."""
    principal = Principal("AWS", _principal(resource))
    opens = open_to_everyone(
        Statement(
            actions=(),
            not_action=False,
            resources=(),
            not_resource=False,
            principals=(principal,),
            not_principal=False,
            conditions=tuple(_conditions(resource)),
            certain=True,
        )
    )
    if opens is None:
        return Answer("unknown", "who is let in is not known before apply", "principal")
    if opens:
        return Answer("fail", "the permission lets in everyone", "principal")
    return Answer("pass", "its principal is named", "principal")


def _principal(resource: Resource) -> object:
    """Who is named; an attribute of a role or of an account names that one."""
    return _COMPUTED if resource.reference("principal") is not None else resource.get("principal")


def _conditions(resource: Resource) -> Iterator[Condition]:
    for argument, key in PERMISSIONS[resource.type].items():
        if resource.get(argument) is not None:
            yield Condition("arnlike", key, (_value(resource, argument),))
    for block in resource.blocks("condition"):
        operator, key = (text(block.get(name)) or "" for name in ("type", "key"))
        yield Condition(operator.lower(), key.lower(), (_value(block, "value"),))


def _value(body: Body, path: str) -> object:
    value = body.get(path)
    if value is UNKNOWN:
        return _COMPUTED if body.references(path) else UNKNOWN
    return text(value) or UNKNOWN
