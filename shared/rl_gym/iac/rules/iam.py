"""IAM: what policies grant, wherever they are written: policies, inline policies, attachments, resource policies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.actions import bounded
from rl_gym.iac.context import Context
from rl_gym.iac.policy import Statement, everything, reach, spans_services, statements, whole_services
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Body, Truth, text, worst

_DOCUMENT = "data.aws_iam_policy_document"
_POLICIES = {
    # Policies of an identity.
    "aws_iam_policy": ("policy",),
    "aws_iam_role_policy": ("policy",),
    "aws_iam_user_policy": ("policy",),
    "aws_iam_group_policy": ("policy",),
    "aws_iot_policy": ("policy",),
    "aws_ssoadmin_permission_set_inline_policy": ("inline_policy",),
    # Policies of a resource.
    "aws_iam_role": ("assume_role_policy",),
    "aws_api_gateway_rest_api": ("policy",),
    "aws_api_gateway_rest_api_policy": ("policy",),
    "aws_backup_vault_policy": ("policy",),
    "aws_cloudwatch_event_bus_policy": ("policy",),
    "aws_cloudwatch_log_resource_policy": ("policy_document",),
    "aws_codeartifact_domain_permissions_policy": ("policy_document",),
    "aws_codeartifact_repository_permissions_policy": ("policy_document",),
    "aws_ecr_registry_policy": ("policy",),
    "aws_ecr_repository_policy": ("policy",),
    "aws_efs_file_system_policy": ("policy",),
    "aws_elasticsearch_domain": ("access_policies",),
    "aws_elasticsearch_domain_policy": ("access_policies",),
    "aws_glacier_vault": ("access_policy",),
    "aws_glue_resource_policy": ("policy",),
    "aws_kms_external_key": ("policy",),
    "aws_kms_key": ("policy",),
    "aws_kms_key_policy": ("policy",),
    "aws_kms_replica_key": ("policy",),
    "aws_media_store_container_policy": ("policy",),
    "aws_opensearch_domain": ("access_policies",),
    "aws_opensearch_domain_policy": ("access_policies",),
    "aws_s3_access_point": ("policy",),
    "aws_s3_bucket": ("policy",),
    "aws_s3_bucket_policy": ("policy",),
    "aws_secretsmanager_secret": ("policy",),
    "aws_secretsmanager_secret_policy": ("policy",),
    "aws_ses_identity_policy": ("policy",),
    "aws_sns_topic": ("policy",),
    "aws_sns_topic_policy": ("policy",),
    "aws_sqs_queue": ("policy",),
    "aws_sqs_queue_policy": ("policy",),
    "aws_vpc_endpoint": ("policy",),
    "aws_vpc_endpoint_policy": ("policy",),
}
"""Where each type carries policy documents."""

_ATTACHMENTS = {
    "aws_iam_role_policy_attachment": "policy_arn",
    "aws_iam_user_policy_attachment": "policy_arn",
    "aws_iam_group_policy_attachment": "policy_arn",
    "aws_iam_policy_attachment": "policy_arn",
    "aws_ssoadmin_managed_policy_attachment": "managed_policy_arn",
}
_ORGANIZATION = "aws_organizations_policy"
"""A guard rail of an organisation grants nothing by itself, so its documents are judged nowhere."""

_TYPES = (*_POLICIES, *_ATTACHMENTS, _DOCUMENT)
_ADMINISTRATORS = frozenset({"AdministratorAccess", "PowerUserAccess", "IAMFullAccess"})
_MANY_SERVICES = 3


@rule(
    "iam_wildcard",
    severity="critical",
    types=_TYPES,
    title="No policy grants every action, or all but a list",
    fix="name the actions and the ARNs that are needed, and never use NotAction or NotResource with Allow",
    references=("CKV_AWS_62", "CKV_AWS_63", "CKV_AWS_49", "CIS AWS 1.16"),
)
def iam_wildcard(resource: Resource, context: Context) -> Answer | None:
    """No statement allows `*`, `*:*`, a wildcard that spans services, NotAction, NotResource, or what amounts to it.

    Amounts to it: `iam:*` on everything (who may write policies has every permission), three or more whole services on
    everything, an AWS-managed administrator policy. Deny grants nothing; a condition takes nothing back; in a resource
    policy the root of an account is a delegation to that account's IAM and the form that AWS recommends.
    """
    return _judge(resource, context, _admin, _ADMINISTRATORS.__contains__, "an administrator policy is attached")


@rule(
    "iam_svc_wildcard",
    severity="high",
    types=_TYPES,
    title="No policy grants a whole service, or what can be bounded on every resource",
    fix='list the actions that are needed in place of "service:*", and name ARNs in place of "*"',
    references=("CKV_AWS_355", "CKV_AWS_356", "CKV_AWS_290"),
)
def iam_svc_wildcard(resource: Resource, context: Context) -> Answer | None:
    """No statement allows `s3:*` or patterns that add up to it, nor on `*` an action that could name its resources.

    An action without resource-level permissions may stand on `*`, as may listing, tagging, making a new resource and
    writing to a log stream (see `rl_gym.iac.actions`). AWS-managed policies named FullAccess grant whole services.
    """
    return _judge(resource, context, _service, _full_access, "a managed policy grants a whole service")


def _full_access(name: str) -> bool:
    return "FullAccess" in name or name.startswith("AdministratorAccess") or name in _ADMINISTRATORS


class _Grant(NamedTuple):
    """A policy document and where it stands; `statements` is None where it is not known.

    A document that is not JSON is refused by AWS, so it never passes, though what it asks for may be plain to see.
    """

    body: Body
    path: str
    statements: list[Statement] | None
    is_json: bool = True


_Finding = tuple[Truth, str]
"""Whether a grant is harmless, and what is wrong where it is not."""


def _judge(
    resource: Resource,
    context: Context,
    check: Callable[[_Grant], _Finding],
    managed: Callable[[str], bool],
    attached: str,
) -> Answer | None:
    if resource.type in _ATTACHMENTS:
        path = _ATTACHMENTS[resource.type]
        return _attachment(resource, resource.get(path), path, context, managed, attached)
    grants = list(_grants(resource, context))
    answers = [_answer(grant, check) for grant in grants]
    if resource.type == "aws_iam_role":
        # A trust policy grants nothing but the role itself: it counts where it is wrong.
        judged = zip(grants, answers, strict=True)
        answers = [one for grant, one in judged if grant.path != "assume_role_policy" or one.verdict == "fail"]
        answers += _managed_arns(resource, context, managed, attached)
    return worst(answers)


def _answer(grant: _Grant, check: Callable[[_Grant], _Finding]) -> Answer:
    if grant.statements is None:
        reason = "the policy is not known before apply" if grant.is_json else "the policy is not JSON"
        return Answer("unknown", reason, grant.path, grant.body)
    holds, reason = check(grant)
    if holds is None:
        return Answer("unknown", "what the policy grants is not known before apply", grant.path, grant.body)
    if holds and not grant.is_json:
        return Answer("unknown", "the policy is not JSON", grant.path, grant.body)
    return Answer("pass" if holds else "fail", reason or "the policy grants what it names", grant.path, grant.body)


def _grants(resource: Resource, context: Context) -> Iterable[_Grant]:
    """The documents that a resource carries; a policy document data source stands for itself where nobody uses it."""
    if resource.mode == "data":
        if resource.base_address not in _used_documents(context):
            yield _grant(resource, "json")
        return
    for path in _POLICIES[resource.type]:
        if resource.get(path) not in (None, ""):
            yield _grant(resource, path)
    if resource.type == "aws_iam_role":
        for block in resource.blocks("inline_policy"):
            if block.get("policy") not in (None, ""):
                yield _grant(block, "policy")


def _grant(body: Body, path: str) -> _Grant:
    document = body.policy(path, open_leaves=True)
    if document is None:
        return _Grant(body, path, _without_trailing_commas(body.get(path)), is_json=False)
    return _Grant(body, path, statements(document))


def _without_trailing_commas(value: object) -> list[Statement] | None:
    """What a text that is not JSON would grant without its trailing commas; None where it is beyond reading."""
    try:
        return statements(json.loads(re.sub(r",(\s*[\]}])", r"\1", str(value))))
    except (ValueError, RecursionError):
        return None


def _used_documents(context: Context) -> frozenset[str]:
    """Base addresses of the policy documents that some judged policy, or another document in use, is made of."""
    return context.remember("iam.used_documents", _find_used_documents)


def _find_used_documents(context: Context) -> frozenset[str]:
    paths = {**_POLICIES, _ORGANIZATION: ("content",)}
    used: set[str] = set()
    for kind, names in paths.items():
        for resource in context.of_type(kind):
            for name in names:
                used |= resource.references(name)
            for block in resource.blocks("inline_policy"):
                used |= block.references("policy")
    pending = list(used)
    while pending:
        for resource in context.instances(pending.pop()):
            if resource.mode == "data":
                new = resource.references() - used
                used |= new
                pending.extend(new)
    return frozenset(used)


def _attachment(
    resource: Resource, arn: object, path: str, context: Context, managed: Callable[[str], bool], bad: str
) -> Answer | None:
    """A policy of AWS is judged by its name; one of the configuration where it is written."""
    policy = context.referred(resource, path)
    if policy is not None and policy.mode == "managed":
        return None
    if policy is not None and policy.type == "aws_iam_policy":
        arn = policy.get("arn") or policy.get("name") or UNKNOWN
    known = text(arn)
    if known is None:
        # Often only the partition is looked up: "arn:${local.partition}:iam::aws:policy/NAME".
        known = next((piece for piece in context.texts(resource, path) if ":policy/" in piece), None)
    if known is None:
        return Answer("unknown", "the policy is not known before apply", path)
    name = known.rpartition("/")[2]
    return Answer("fail", f"{bad}: {name}", path) if managed(name) else Answer("pass", f"{name} is attached", path)


def _managed_arns(role: Resource, context: Context, managed: Callable[[str], bool], bad: str) -> list[Answer]:
    arns = role.get("managed_policy_arns")
    if arns is None:
        return []
    if not isinstance(arns, list):
        return [Answer("unknown", "the policies are not known before apply", "managed_policy_arns")]
    answers = [
        _attachment(role, arn, f"managed_policy_arns.{index}", context, managed, bad) for index, arn in enumerate(arns)
    ]
    return [one for one in answers if one is not None]


def _admin(grant: _Grant) -> _Finding:
    """Whether no statement grants everything, or what amounts to it."""
    holds: Truth = True
    wide: list[object] = []
    for statement in grant.statements or ():
        if statement.delegates and not statement.not_action:
            continue
        reason = _unbounded(statement)
        if reason:
            if statement.certain:
                return False, reason
            holds = None
        elif UNKNOWN in statement.actions:
            holds = None
        elif statement.principals is None and any(map(everything, statement.resources)):
            wide.extend(statement.actions)
    services = whole_services(wide)
    if "iam" in services:
        return False, '"iam:*" on every resource lets its holder grant themselves everything'
    if len(services) >= _MANY_SERVICES:
        return False, f"{', '.join(services)} are granted whole on every resource"
    return holds, ""


def _unbounded(statement: Statement) -> str:
    """Why the actions of a statement have no bound; empty where they have one."""
    if statement.not_action:
        return "Allow with NotAction grants everything but a list"
    if statement.not_resource:
        return "Allow with NotResource reaches everything but a list"
    spanning = [action for action in statement.actions if isinstance(action, str) and spans_services(action)]
    return f'action "{spanning[0]}" is granted for every service' if spanning else ""


def _service(grant: _Grant) -> _Finding:
    """Whether no statement grants a whole service, or what could be bounded on every resource."""
    holds: Truth = True
    together: list[object] = []
    for statement in grant.statements or ():
        if statement.delegates and not statement.not_action:
            continue
        found, reason = _statement_service(statement)
        if found is False and statement.certain:
            return False, reason
        if found is not True:
            holds = None
        together.extend(statement.actions)
    services = whole_services(together)
    if services:
        return False, f"{', '.join(services)} is granted nearly whole by patterns that add up"
    return holds, ""


def _statement_service(statement: Statement) -> _Finding:
    reason = _unbounded(statement)
    if reason:
        return False, reason
    services = whole_services(statement.actions)
    if services:
        return False, f"every action of {', '.join(services)} is granted"
    if UNKNOWN in statement.actions:
        return None, ""
    if statement.principals is not None:
        return True, ""
    anywhere = reach(statement)
    if anywhere is False:
        return True, ""
    loose = [action for action in statement.actions if bounded(action)]
    if not loose:
        return True, ""
    return (False if anywhere else None), f'"{loose[0]}" is granted on every resource'
