"""IAM: what policies grant, wherever they are written: policies, inline policies, attachments, resource policies."""

from __future__ import annotations

from collections.abc import Callable

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.actions import bounded
from rl_gym.iac.context import Context
from rl_gym.iac.grants import POLICIES, Grant, grants
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
    answers = [_answer(grant, check) for grant in found]
    if resource.type == "aws_iam_role":
        # A trust policy grants nothing but the role itself: it counts where it is wrong.
        judged = zip(found, answers, strict=True)
        answers = [one for grant, one in judged if grant.path != "assume_role_policy" or one.verdict == "fail"]
        answers += _managed_arns(resource, context, managed, attached)
    return worst(answers)


def _answer(grant: Grant, check: Callable[[Grant], _Finding]) -> Answer:
    if grant.statements is None:
        reason = "the policy is not known before apply" if grant.is_json else "the policy is not JSON"
        return Answer("unknown", reason, grant.path, grant.body)
    holds, reason = check(grant)
    if holds is None:
        return Answer("unknown", "what the policy grants is not known before apply", grant.path, grant.body)
    if holds and not grant.is_json:
        return Answer("unknown", "the policy is not JSON", grant.path, grant.body)
    return Answer("pass" if holds else "fail", reason or "the policy grants what it names", grant.path, grant.body)


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
    loose = [action for action in statement.actions if bounded(action)]
    if not loose:
        return True, ""
    return (False if anywhere else None), f'"{loose[0]}" is granted on every resource'
