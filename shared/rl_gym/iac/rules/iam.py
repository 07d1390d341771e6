"""IAM: what policies grant, wherever they are written: policies, inline policies, attachments, resource policies."""

from __future__ import annotations

from collections.abc import Callable

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.actions import bounded
from rl_gym.iac.audience import closed
from rl_gym.iac.context import Context
from rl_gym.iac.escalation import harmless, passes_any_role, passes_roles
from rl_gym.iac.grants import IDENTITY_POLICIES, MORE_POLICIES, POLICIES, Grant, grants, judged
from rl_gym.iac.permissions import PERMISSIONS, permission
from rl_gym.iac.policy import Statement, everything, reach, spans_services, whole_services
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Truth, text, worst

_DOCUMENT = "data.aws_iam_policy_document"
_ATTACHMENTS = {
    "aws_iam_role_policy_attachment": "policy_arn",
    "aws_iam_user_policy_attachment": "policy_arn",
    "aws_iam_group_policy_attachment": "policy_arn",
    "aws_iam_policy_attachment": "policy_arn",
    "aws_ssoadmin_managed_policy_attachment": "managed_policy_arn",
}
_TYPES = (*POLICIES, *_ATTACHMENTS, _DOCUMENT)
_HOLDERS = (*sorted(IDENTITY_POLICIES - {"aws_iot_policy"}), "aws_iam_role", _DOCUMENT)
"""Where the policies of an identity stand that may call IAM."""

_NOT_OPEN_BY_POLICY = ("aws_s3_", "aws_s3control_", "aws_vpc_endpoint")
"""Buckets and their access points have a rule of their own; a VPC endpoint is for its VPC, whatever its policy says."""

_CARRIERS = tuple(
    kind
    for kind in (*POLICIES, *MORE_POLICIES)
    if kind not in IDENTITY_POLICIES and not kind.startswith(_NOT_OPEN_BY_POLICY)
)
_ADMINISTRATORS = frozenset({"AdministratorAccess", "PowerUserAccess", "IAMFullAccess"})
_MANY_SERVICES = 3

_POLICY = """
    resource "aws_iam_policy" "p" {{
      policy = jsonencode({{
        Version = "2012-10-17"
        Statement = [{{
          Effect   = "Allow"
          Action   = "{}"
          Resource = "{}"
        }}]
      }})
    }}
"""
_TOPIC = """
    resource "aws_sns_topic" "t" {{
      policy = jsonencode({{
        Version = "2012-10-17"
        Statement = [{{
          Effect    = "Allow"
          Principal = {{ AWS = "{}" }}
          Action    = "sns:Publish"
          Resource  = "*"
        }}]
      }})
    }}
"""


@rule(
    "iam_wildcard",
    severity="critical",
    types=_TYPES,
    title="No policy grants every action, or all but a list",
    fix="name the actions and the ARNs that are needed, and never use NotAction or NotResource with Allow",
    short='no action "*"',
    references=("CKV_AWS_62", "CKV_AWS_63", "CKV_AWS_49", "CIS AWS 1.16", "FSBP IAM.1"),
    of_policies=True,
    passing=_POLICY.format("s3:GetObject", "arn:aws:s3:::data/*"),
    failing=_POLICY.format("*", "*"),
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
    short='no "service:*"',
    references=("CKV_AWS_355", "CKV_AWS_356", "CKV_AWS_290", "FSBP IAM.21"),
    of_policies=True,
    passing=_POLICY.format("s3:GetObject", "arn:aws:s3:::data/*"),
    failing=_POLICY.format("s3:*", "arn:aws:s3:::data/*"),
)
def iam_svc_wildcard(resource: Resource, context: Context) -> Answer | None:
    """No statement allows `s3:*` or patterns that add up to it, nor on `*` an action that could name its resources.

    An action without resource-level permissions may stand on `*`, as may listing, tagging, making a new resource and
    writing to a log stream (see `rl_gym.iac.actions`). AWS-managed policies named FullAccess grant whole services.
    """
    return _judge(resource, context, _service, _full_access, "a managed policy grants a whole service")


@rule(
    "iam_privilege_escalation",
    severity="high",
    types=(*_HOLDERS, *_ATTACHMENTS),
    title="No policy lets its holder raise their own rights",
    fix="bind IAM actions to the ARNs of single users, roles and policies, and iam:PassRole to the roles to be passed",
    short="IAM actions by ARN",
    references=("CKV_AWS_286", "CKV_AWS_110", "CIS AWS 1.16", "FSBP IAM.1"),
    of_policies=True,
    passing=_POLICY.format("iam:AttachRolePolicy", "arn:aws:iam::111122223333:role/app"),
    failing=_POLICY.format("iam:AttachRolePolicy", "*"),
)
def iam_privilege_escalation(resource: Resource, context: Context) -> Answer | None:
    """No policy opens a way from the rights that it grants to more: writing policies, keys or trust of others, passing
    any role to something that the holder runs, assuming any role.

    The ways are listed in `rl_gym.iac.escalation`. Actions count by name and by pattern, on every resource of their
    kind (`*`, `role/*`), put together over the statements of a document. A condition takes nothing back, as with every
    wildcard; a denial without a condition does.
    """
    return _judge(resource, context, harmless, _ADMINISTRATORS.__contains__, "an administrator policy is attached")


@rule(
    "iam_passrole_wildcard",
    severity="high",
    types=_HOLDERS,
    title="No policy lets its holder pass any role to a service",
    fix="name in Resource the ARNs of the roles that may be passed",
    short="iam:PassRole for named roles",
    references=("CKV_AWS_289", "CKV_AWS_109", "AWS IAM user guide: Grant a user permissions to pass a role"),
    of_policies=True,
    passing=_POLICY.format("iam:PassRole", "arn:aws:iam::111122223333:role/app"),
    failing=_POLICY.format("iam:PassRole", "*"),
)
def iam_passrole_wildcard(resource: Resource, context: Context) -> Answer | None:
    """`iam:PassRole`, also by a pattern such as `iam:Pass*`, names the roles: with every role comes the strongest one.

    Every role of one account is every role. `iam:PassedToService` says which service gets the role, not which role: it
    cures nothing. A policy that passes no role is not asked.
    """
    passing = [one for one in grants(resource, context) if one.path != "assume_role_policy"]
    return worst(
        judged(one, _names_roles, "the roles to be passed are named")
        for one in passing
        if one.statements is None or passes_roles(one) is not False
    )


def _names_roles(grant: Grant) -> _Finding:
    passes = passes_any_role(grant)
    return None if passes is None else not passes, "iam:PassRole is granted on every role" if passes else ""


@rule(
    "iam_wildcard_principal",
    severity="high",
    types=(*_CARRIERS, *PERMISSIONS, _DOCUMENT),
    title="No trust or resource policy lets in everyone",
    fix="name the principals, or add a condition such as aws:PrincipalOrgID, aws:SourceArn or aws:SourceAccount",
    short='no principal "*"',
    references=(
        "CKV_AWS_60",
        "CKV_AWS_283",
        "CKV_AWS_168",
        "CKV_AWS_169",
        "CKV_AWS_301",
        "CKV_AWS_358",
        "FSBP SNS.4",
        "FSBP SQS.3",
        "FSBP Lambda.1",
    ),
    of_policies=True,
    passing=_TOPIC.format("arn:aws:iam::111122223333:role/app"),
    failing=_TOPIC.format("*"),
)
def iam_wildcard_principal(resource: Resource, context: Context) -> Answer | None:
    """Who may take a role, send to a queue or call a function is somebody in particular, not everyone with an account.

    `*`, `arn:aws:iam::*:root`, Allow with NotPrincipal and a provider that gives tokens to anybody are everyone, unless
    a condition (or a denial to all but those that it names) really bounds who or whence it is: see
    `rl_gym.iac.audience`. Bucket policies are the matter of s3_policy_public; the policy of a VPC endpoint only narrows
    what callers from its VPC may do.
    """
    if resource.type in PERMISSIONS:
        return permission(resource)
    documents = grants(resource, context, more=True)
    return worst(
        judged(one, closed, "its principals are named")
        for one in documents
        if resource.type != "aws_iam_role" or one.path == "assume_role_policy"
    )


def _full_access(name: str) -> bool:
    return "FullAccess" in name or name.startswith("AdministratorAccess") or name in _ADMINISTRATORS


_Finding = tuple[Truth, str]
"""Whether a grant is harmless, and what is wrong where it is not."""


def _judge(
    resource: Resource,
    context: Context,
    check: Callable[[Grant], _Finding],
    managed: Callable[[str], bool],
    attached: str,
) -> Answer | None:
    if resource.type in _ATTACHMENTS:
        path = _ATTACHMENTS[resource.type]
        return _attachment(resource, resource.get(path), path, context, managed, attached)
    found = list(grants(resource, context))
    answers = [judged(grant, check, "the policy grants what it names") for grant in found]
    if resource.type == "aws_iam_role":
        # A trust policy grants nothing but the role itself: it counts where it is wrong.
        each = zip(found, answers, strict=True)
        answers = [one for grant, one in each if grant.path != "assume_role_policy" or one.verdict == "fail"]
        answers += _managed_arns(resource, context, managed, attached)
    return worst(answers)


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


def _admin(grant: Grant) -> _Finding:
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


def _service(grant: Grant) -> _Finding:
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
    loose = next((action for action in statement.actions if bounded(action)), None)
    if loose is None:
        return True, ""
    return (False if anywhere else None), f'"{loose}" is granted on every resource'
