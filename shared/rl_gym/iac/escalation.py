"""Ways from permissions to more permissions: which actions, on which resources, let a holder raise their own rights.

The ways are those that Rhino Security Labs described ("AWS IAM Privilege Escalation - Methods and Mitigation") and
cloudsplaining looks for, the few of their kind that came with newer services, lifting the boundary of permissions that
the IAM user guide warns of, and assuming any role.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from rl_gym.hcl import UNKNOWN, Partial
from rl_gym.iac.actions import covers, matching
from rl_gym.iac.grants import Grant
from rl_gym.iac.policy import ARN_PARTS, Statement, spelled
from rl_gym.iac.verdicts import Truth, every, some

PASSING = "iam:passrole"

ALONE = {
    "iam:addusertogroup": "iam::{account}:group/{name}",
    "iam:attachgrouppolicy": "iam::{account}:group/{name}",
    "iam:attachrolepolicy": "iam::{account}:role/{name}",
    "iam:attachuserpolicy": "iam::{account}:user/{name}",
    "iam:createaccesskey": "iam::{account}:user/{name}",
    "iam:createloginprofile": "iam::{account}:user/{name}",
    "iam:createpolicyversion": "iam::{account}:policy/{name}",
    "iam:deleterolepermissionsboundary": "iam::{account}:role/{name}",
    "iam:deleteuserpermissionsboundary": "iam::{account}:user/{name}",
    "iam:putgrouppolicy": "iam::{account}:group/{name}",
    "iam:putrolepermissionsboundary": "iam::{account}:role/{name}",
    "iam:putrolepolicy": "iam::{account}:role/{name}",
    "iam:putuserpermissionsboundary": "iam::{account}:user/{name}",
    "iam:putuserpolicy": "iam::{account}:user/{name}",
    "iam:setdefaultpolicyversion": "iam::{account}:policy/{name}",
    "iam:updateassumerolepolicy": "iam::{account}:role/{name}",
    "iam:updateloginprofile": "iam::{account}:user/{name}",
    "glue:updatedevendpoint": "glue:{region}:{account}:devEndpoint/{name}",
    "lambda:updatefunctioncode": "lambda:{region}:{account}:function:{name}",
    "sts:assumerole": "iam::{account}:role/{name}",
}
"""Actions that are enough by themselves on any resource of their kind, and the ARN of one, without `arn:aws:`."""

WITH_A_ROLE = (
    ("cloudformation:createstack",),
    ("codebuild:createproject", "codebuild:startbuild"),
    ("datapipeline:createpipeline", "datapipeline:putpipelinedefinition"),
    ("ec2:associateiaminstanceprofile",),
    ("ec2:replaceiaminstanceprofileassociation",),
    ("ec2:runinstances",),
    ("ecs:registertaskdefinition", "ecs:createservice"),
    ("ecs:registertaskdefinition", "ecs:runtask"),
    ("ecs:registertaskdefinition", "ecs:starttask"),
    ("glue:createdevendpoint",),
    ("glue:createjob", "glue:createtrigger"),
    ("glue:createjob", "glue:startjobrun"),
    ("lambda:createfunction", "lambda:addpermission"),
    ("lambda:createfunction", "lambda:createeventsourcemapping"),
    ("lambda:createfunction", "lambda:invokefunction"),
    ("sagemaker:createnotebookinstance", "sagemaker:createpresignednotebookinstanceurl"),
    ("sagemaker:createprocessingjob",),
    ("sagemaker:createtrainingjob",),
    ("states:createstatemachine", "states:startexecution"),
)
"""Actions that start something of the holder's making; with `iam:PassRole` on every role it runs as any of them."""

_ON_ONESELF = frozenset(
    {
        "iam:attachuserpolicy",
        "iam:deleteuserpermissionsboundary",
        "iam:putuserpermissionsboundary",
        "iam:putuserpolicy",
    }
)
"""Those that are enough on the holder's own user."""

_OWN_USER = re.compile(r":user/.*[$&]\{aws:username\}", re.IGNORECASE)
"""How policies, and documents, call the holder's own user."""

_ROLE = ALONE["sts:assumerole"]
_WATCHED = (*ALONE, PASSING, *dict.fromkeys(action for way in WITH_A_ROLE for action in way))
_ACCOUNT, _REGION, _NAME = "111122223333", "eu-west-1", "q7Zk"


def harmless(grant: Grant) -> tuple[Truth, str]:
    """Whether a document opens no way to more rights, and which way where it does.

    What an action is granted on has to be every resource of its kind in an account (nobody passes the role that they
    need by a name), or the holder's own user where that is enough. A denial without condition takes back what it names;
    a condition takes nothing back.
    """
    granted = {action: _granted(grant, action, ALONE.get(action)) for action in _mentioned(grant)}
    passes = passes_any_role(grant)
    ways = [(action, granted[action]) for action in ALONE if action in granted]
    for way in WITH_A_ROLE:
        taken = every([passes, *(granted.get(action, False) for action in way)])
        ways.append((" and ".join((PASSING, *way)), taken))
    sure = next((way for way, taken in ways if taken), None)
    if sure:
        return False, f"{sure} on every resource lets its holder raise their own rights"
    return (None, "") if any(taken is None for _, taken in ways) else (True, "")


def passes_any_role(grant: Grant) -> Truth:
    """Whether a document grants `iam:PassRole`, by name or by pattern, on every role."""
    return _granted(grant, PASSING, _ROLE)


def passes_roles(grant: Grant) -> Truth:
    """Whether a document grants `iam:PassRole` on any role at all."""
    return _granted(grant, PASSING, None)


def _mentioned(grant: Grant) -> Iterable[str]:
    """The watched actions that a document may grant."""
    patterns: set[object] = set()
    for statement in grant.statements or ():
        if statement.not_action:
            return _WATCHED
        patterns.update(statement.actions)
    if UNKNOWN in patterns:
        return _WATCHED
    return dict.fromkeys(action for pattern in patterns for action in _watched(str(pattern)))


@lru_cache(maxsize=4096)
def _watched(pattern: str) -> frozenset[str]:
    return matching(pattern, _WATCHED)


def _granted(grant: Grant, action: str, kind: str | None) -> Truth:
    """Whether a document grants an action, on every resource of a kind where one is given."""
    if any(_denies(denial, action, kind) for denial in grant.denials or ()):
        return False
    return some(
        every(
            [_names(statement, action), kind is None or _stands_on(statement, action, kind), statement.certain or None]
        )
        for statement in grant.statements or ()
        if statement.principals is None
    )


def _denies(denial: Statement, action: str, kind: str | None) -> bool:
    if not denial.certain or denial.conditions != ():
        return False
    return _names(denial, action) is True and _reaches(denial, kind or _ROLE) is True


def _names(statement: Statement, action: str) -> Truth:
    """Whether a statement is about an action."""
    named = some(None if pattern is UNKNOWN else action in _watched(pattern) for pattern in statement.actions)
    return named if not statement.not_action or named is None else not named


def _stands_on(statement: Statement, action: str, kind: str) -> Truth:
    """Whether a statement is about every resource of a kind, or about the holder where that is enough for an action."""
    own = action in _ON_ONESELF and any(isinstance(one, str) and _OWN_USER.search(one) for one in statement.resources)
    return True if own and not statement.not_resource else _reaches(statement, kind)


def _reaches(statement: Statement, kind: str) -> Truth:
    """Whether a statement is about every resource of a kind in some account: about one that nobody could have named."""
    named = some(_matches(resource, kind) for resource in statement.resources)
    return named if not statement.not_resource or named is None else not named


def _matches(resource: object, kind: str) -> Truth:
    if not isinstance(resource, str):
        return None
    if not isinstance(resource, Partial):
        return covers(resource, _one(resource, kind))
    least, most = spelled(resource, "x"), spelled(resource, "*")
    return True if covers(least, _one(least, kind)) else None if covers(most, _one(most, kind)) else False


def _one(pattern: str, kind: str) -> str:
    """The ARN of a resource of a kind where the pattern says that it is: in its partition, region and account."""
    parts = pattern.split(":", ARN_PARTS - 1)
    said = parts if len(parts) == ARN_PARTS else ["arn", "aws", "", "", "", ""]
    partition, region, account = (
        default if part == "" or "*" in part or "?" in part else part
        for part, default in ((said[1], "aws"), (said[3], _REGION), (said[4], _ACCOUNT))
    )
    return f"arn:{partition}:{kind.format(region=region, account=account, name=_NAME)}"
