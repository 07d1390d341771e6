"""Whom a statement of a policy lets in: whether that is everyone, and which conditions really bound who it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from rl_gym.hcl import UNKNOWN, Partial
from rl_gym.iac.actions import covered
from rl_gym.iac.grants import Grant
from rl_gym.iac.network import is_world, parse
from rl_gym.iac.policy import ARN_PARTS, Condition, Principal, Statement, spelled
from rl_gym.iac.verdicts import Truth, every, some

_WILD = frozenset("*?")
_POSITIVE = frozenset(
    {"stringequals", "stringequalsignorecase", "stringlike", "arnequals", "arnlike", "ipaddress", "bool"}
)
_NEGATIVE = frozenset({"stringnotequals", "stringnotequalsignorecase", "stringnotlike", "arnnotequals", "arnnotlike"})
_NOT_ADDRESS = "notipaddress"
_IF_EXISTS = "ifexists"
_ANY_VALUE = "foranyvalue:"
_MOST_FENCES = 16
_OF_THE_CALLER = re.compile(r"[$&]\{(?!aws:resource)")

NAMES = frozenset(
    {
        "aws:ec2instancesourcevpc",
        "aws:principalaccount",
        "aws:principalorgid",
        "aws:principalorgpaths",
        "aws:principalservicename",
        "aws:sourceaccount",
        "aws:sourceorgid",
        "aws:sourceorgpaths",
        "aws:sourceowner",
        "aws:sourcevpc",
        "aws:sourcevpce",
        "aws:userid",
        "aws:vpceaccount",
        "aws:vpceorgid",
        "aws:vpceorgpaths",
        "kms:calleraccount",
        "s3:dataaccesspointaccount",
    }
)
"""Condition keys that AWS sets and whose value, without a wildcard in what comes first in it, bounds who calls."""

ARNS = frozenset(
    {
        "aws:federatedprovider",
        "aws:principalarn",
        "aws:sourcearn",
        "aws:sourcevpcarn",
        "ec2:sourceinstancearn",
        "elasticfilesystem:accesspointarn",
        "lambda:sourcefunctionarn",
        "s3:dataaccesspointarn",
        "ssm:sourceinstancearn",
    }
)
"""The same for keys whose value is an ARN: it has to name an account, or one resource where it has no account."""

_ADDRESS = "aws:sourceip"
_MOUNT_TARGET = "elasticfilesystem:accessedviamounttarget"

_OF_AN_APPLICATION = frozenset({"aud", "azp", "oaud", "sub", "app_id", "id", "user_id"})
_OF_AN_OWNER = frozenset({"sub", "repository", "repository_id", "repository_owner", "repository_owner_id"})
ISSUERS = {
    "accounts.google.com": _OF_AN_APPLICATION,
    "app.terraform.io": _OF_AN_OWNER,
    "cognito-identity.amazonaws.com": _OF_AN_APPLICATION,
    "gitlab.com": _OF_AN_OWNER,
    "graph.facebook.com": _OF_AN_APPLICATION,
    "token.actions.githubusercontent.com": _OF_AN_OWNER,
    "www.amazon.com": _OF_AN_APPLICATION,
}
"""Providers of identities that give a token to anybody, and the claims of it that say for whom or for what it is."""

_OWNED = re.compile("[^*?]+:[^*?]+[/:]")
"""`repo:acme/*`, `organization:acme:*`: the owner is whole, and what follows is theirs."""


def closed(grant: Grant) -> tuple[Truth, str]:
    """Whether no statement of a document lets in everyone, and what is wrong where one does."""
    allowed = grant.statements or []
    opens = some(map(_opens, allowed, _fences(allowed, grant.denials or ())))
    return None if opens is None else not opens, "the policy lets in everyone" if opens else ""


def open_to_everyone(statement: Statement, denials: Iterable[Statement] = ()) -> Truth:
    """Whether a statement that allows lets in everyone, every AWS account, or everyone with a token of a provider that
    gives them to anybody.

    A condition bounds it by naming who or whence (`NAMES`, `ARNS`, an address block): positively, without a wildcard
    that leaves it open, and without `IfExists`, which holds where there is nothing to compare. So does a denial of the
    same to everyone but those that such a condition names. What callers choose themselves (`aws:Referer`,
    `sts:ExternalId`, `aws:SecureTransport`) bounds nobody. The keys are those by which S3 tells a public policy
    (its user guide, "The meaning of public"), and those that came to IAM since.
    """
    return _opens(statement, *_fences([statement], denials))


def _opens(statement: Statement, fenced: Truth) -> Truth:
    if statement.principals is None:
        return False
    everyone = map(is_everyone, statement.principals)
    anyone = some([*everyone, *(_any_token(one, statement) for one in statement.principals)])
    if anyone is False:
        return False
    bounds = bounded(statement)
    if bounds is not True:
        bounds = some([bounds, fenced])
    if bounds is True:
        return False
    return True if anyone and bounds is False and statement.certain else None


def is_everyone(principal: Principal) -> Truth:
    """Whether a principal is everyone: `*`, or an ARN in any account. Only an AWS principal may turn out to be that."""
    maybe = None if principal.kind.lower() in ("aws", "*") else False
    name = principal.name
    if not isinstance(name, str):
        return maybe
    if isinstance(name, Partial):
        if name.open and _WILD.issuperset(spelled(name, "*")):
            return maybe
        # AWS takes no wildcard inside of an ARN: what is not known of one is a name.
        name = spelled(name, "x")
    parts = name.strip().split(":")
    subject = parts[4] if len(parts) >= ARN_PARTS else name.strip()
    return bool(subject) and (not _WILD.isdisjoint(subject) if len(parts) > 1 else _WILD.issuperset(subject))


def _any_token(principal: Principal, statement: Statement) -> Truth:
    """Whether a principal is a provider that gives tokens to anybody, and no condition says whose it has to be.

    The provider is known by its name, or by the claims that the conditions are about.
    """
    if principal.kind.lower() != "federated" or not isinstance(principal.name, str):
        return False
    host = principal.name.rpartition("oidc-provider/")[2].lower()
    if statement.conditions is None:
        return None if host in ISSUERS else False
    issuers = {host, *(condition.key.rpartition(":")[0] for condition in statement.conditions)} & ISSUERS.keys()
    owned = every(_says_whose(issuer, statement.conditions) for issuer in issuers)
    return None if owned is None else not owned


def _says_whose(issuer: str, conditions: Iterable[Condition]) -> Truth:
    return some(
        every(_sure(value, _is_owned) for value in condition.values)
        for condition in conditions
        if positive(condition.operator) and condition.values
        for name, _, claim in [condition.key.rpartition(":")]
        if name == issuer and claim in ISSUERS[issuer]
    )


def _is_owned(value: str) -> bool:
    return value != "" and (_WILD.isdisjoint(value) or _OWNED.match(value) is not None)


def is_star(principal: Principal) -> Truth:
    """Whether a principal is `*`, which is what a denial to everyone needs."""
    return None if principal.name is UNKNOWN else principal.kind.lower() in ("aws", "*") and principal.name == "*"


def bounded(statement: Statement) -> Truth:
    """Whether the conditions of a statement bound who it is for; all of them hold together, so one is enough."""
    if statement.conditions is None:
        return None
    return some(_names(condition, positive(condition.operator)) for condition in statement.conditions)


def positive(operator: str) -> bool:
    """Whether a test fails for whom it does not name, and for whom there is nothing to compare."""
    return operator.removeprefix(_ANY_VALUE) in _POSITIVE


def _negative(operator: str) -> bool:
    """Whether a test holds for whom it does not name, and for whom there is nothing to compare."""
    plain = operator.removesuffix(_IF_EXISTS)
    return plain in _NEGATIVE or plain == _NOT_ADDRESS


def _names(condition: Condition, applies: bool) -> Truth:
    """Whether a test, by an operator that applies, names somebody in particular by each of its values."""
    if not applies or not condition.values:
        return False
    if condition.key == _ADDRESS:
        return _bounded_addresses(condition.values)
    if condition.key in NAMES:
        return every(_sure(value, _is_name) for value in condition.values)
    if condition.key in ARNS:
        return every(_sure(value, _is_bounded_arn) for value in condition.values)
    if condition.key == _MOUNT_TARGET:
        return every(_sure(value, lambda said: said.lower() == "true") for value in condition.values)
    return False


def _bounded_addresses(values: tuple[object, ...]) -> Truth:
    blocks = [_with_an_address(value) if isinstance(value, Partial) else value for value in values]
    if UNKNOWN in blocks or any(isinstance(block, Partial) for block in blocks):
        return None
    networks = [parse(str(block)) for block in blocks]
    return None not in networks and not is_world(network for network in networks if network)


def _with_an_address(value: Partial) -> str:
    """`${aws_eip.e.public_ip}/32` with some address in its place: the mask alone says how many there are."""
    mask = value.pieces[-1]
    if len(value.pieces) != 2 or not isinstance(mask, str) or not mask.startswith("/"):
        return value
    block = f"203.0.113.1{mask}"
    return block if parse(block) else value


def _sure(value: object, test: Callable[[str], bool]) -> Truth:
    """What a test says of a value whatever its unknown pieces are; an identity that AWS gives is a name."""
    if not isinstance(value, str):
        return None
    if not isinstance(value, Partial):
        # A variable of the caller is as wide as the callers: `${aws:PrincipalOrgID}` is whatever it is compared with.
        return test(value) and not _OF_THE_CALLER.search(value.lower())
    return True if test(spelled(value, "*")) else None if test(spelled(value, "x")) else False


def _is_name(value: str) -> bool:
    """`o-abc`, `o-abc/*`, `AROAEXAMPLE:*`: what comes first is whole, and what follows belongs to it."""
    first = value.strip().partition("/")[0].partition(":")[0]
    return first != "" and _WILD.isdisjoint(first)


def _is_bounded_arn(value: str) -> bool:
    parts = value.strip().split(":", ARN_PARTS - 1)
    if len(parts) < ARN_PARTS:
        return value != "" and _WILD.isdisjoint(value)
    service, account, name = parts[2], parts[4], parts[5]
    # The name of a bucket is nobody else's, whatever stands in place of its account.
    of_a_bucket = service == "s3" and name != "" and "/" not in name
    return _WILD.isdisjoint(account or name) or (of_a_bucket and _WILD.isdisjoint(name))


def _fences(allowed: Sequence[Statement], denials: Iterable[Statement]) -> list[Truth]:
    """Whether denials keep out everyone from what each statement allows but those whom they name.

    More than a few such denials are not read.
    """
    judged = ((denial, _keeps_out(denial)) for denial in denials)
    fences = islice(((denial, keeps) for denial, keeps in judged if keeps is not False), _MOST_FENCES)
    fenced: list[Truth] = [False] * len(allowed)
    for denial, keeps in fences:
        for index, about in enumerate(_about_all_of(allowed, denial)):
            fenced[index] = some([fenced[index], about and keeps])
    return fenced


def _keeps_out(denial: Statement) -> Truth:
    """Whether a denial is to everyone but those whom it names.

    Where several conditions have to hold for it, whoever one of them names is let through, and nobody else.
    """
    if denial.not_principal or denial.not_action or denial.not_resource:
        return False
    named: list[Truth] = [None]
    if denial.conditions is not None:
        named = [_names(condition, _negative(condition.operator)) for condition in denial.conditions]
    return every([bool(named), some(map(is_star, denial.principals or ())), denial.certain or None, *named])


def _about_all_of(allowed: Sequence[Statement], denial: Statement) -> list[bool]:
    """Whether a denial is about all that each of some statements allows."""
    actions = _within([one.actions for one in allowed], denial.actions)
    resources = _within([one.resources for one in allowed], denial.resources)
    return [
        not (one.not_action or one.not_resource or not every(within))
        for one, *within in zip(allowed, actions, resources, strict=True)
    ]


def _within(lists: Sequence[tuple[object, ...]], wide: tuple[object, ...]) -> list[bool]:
    """Whether every pattern in each list is matched by one of the others, letter by letter."""
    known = [one for one in wide if isinstance(one, str) and not _is_open(one)]
    within = covered(known, {one for narrow in lists for one in narrow if isinstance(one, str)})
    return [all(isinstance(one, str) and one.lower() in within for one in narrow) for narrow in lists]


def _is_open(text: str) -> bool:
    return isinstance(text, Partial) and text.open
