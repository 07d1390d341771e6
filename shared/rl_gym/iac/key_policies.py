"""To whom the policy of a KMS key gives the key: its own account, or everyone, or all of another account."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rl_gym.hcl import UNKNOWN
from rl_gym.iac.actions import matching
from rl_gym.iac.audience import bounded, closed, positive
from rl_gym.iac.grants import Grant
from rl_gym.iac.policy import ARN_PARTS, Condition, Statement, is_account_root, whole_service
from rl_gym.iac.verdicts import Truth, every, some

_POWERS = (
    "kms:creategrant",
    "kms:decrypt",
    "kms:deleteimportedkeymaterial",
    "kms:derivesharedsecret",
    "kms:disablekey",
    "kms:generatedatakey",
    "kms:generatemac",
    "kms:putkeypolicy",
    "kms:reencryptfrom",
    "kms:replicatekey",
    "kms:schedulekeydeletion",
    "kms:sign",
)
"""Actions that read what the key protects, speak in its name, or decide over it: power over a key."""

_WHOLE_ACCOUNT = frozenset({"aws:principalaccount", "aws:principalorgid", "aws:principalorgpaths", "kms:calleraccount"})
"""Keys of conditions that every principal of an account meets alike."""
_NARROWING = ("kms:viaservice", "kms:encryptioncontext:", "kms:grantisforawsresource")


def kept(grant: Grant) -> tuple[Truth, str]:
    """Whether a key policy gives the key neither to everyone nor power over it to all of another account, and why not.

    The root of the key's own account is the form that AWS recommends: that account's IAM decides. Its own account is
    the one that is looked up, else that of the first principal to whom the whole of KMS is granted. The root of another
    account hands the decision to people elsewhere, unless a condition narrows it to a principal, a network, a service.
    """
    to_nobody_else, _ = closed(grant)
    if to_nobody_else is False:
        return False, "the key is given to everyone"
    statements = grant.statements or []
    own = _own_account(statements)
    to_another = some(every([_to_another_account(one, own), _power(one), one.certain or None]) for one in statements)
    if to_another:
        return False, "the key is given to all of another account"
    return every([to_nobody_else, None if to_another is None else True]), ""


def _power(statement: Statement) -> Truth:
    if statement.not_action:
        return True
    return some(bool(matching(action, _POWERS)) if isinstance(action, str) else None for action in statement.actions)


def _to_another_account(statement: Statement, own: str | None) -> Truth:
    roots = [one.name for one in statement.principals or () if is_account_root(one.name)]
    if all(_account(root) == own for root in roots):
        return False
    narrowed = _narrowed(statement)
    return None if narrowed is None else not narrowed


def _narrowed(statement: Statement) -> Truth:
    if statement.conditions is None:
        return None
    others = tuple(one for one in statement.conditions if one.key not in _WHOLE_ACCOUNT)
    return some([bounded(replace(statement, conditions=others)), *map(_narrows, others)])


def _narrows(condition: Condition) -> Truth:
    if not positive(condition.operator) or not condition.key.startswith(_NARROWING) or not condition.values:
        return False
    return every(None if value is UNKNOWN else value not in ("", "*", "false") for value in condition.values)


def _own_account(statements: Sequence[Statement]) -> str | None:
    named = list(_accounts(statements))
    looked_up = [account for account in named if "aws_caller_identity" in account]
    whole = [one for one in statements if one.not_action or any(map(_whole, one.actions))]
    return next(iter([*looked_up, *_accounts(whole), *named]), None)


def _whole(action: object) -> bool:
    return isinstance(action, str) and (whole_service(action) == "kms" or action == "*")


def _accounts(statements: Sequence[Statement]) -> Iterator[str]:
    for statement in statements:
        for principal in statement.principals or ():
            account = _account(principal.name)
            if account is not None:
                yield account


def _account(principal: object) -> str | None:
    """The account of an ARN, or the account that is named by itself, as it is written."""
    if not isinstance(principal, str):
        return None
    parts = principal.split(":")
    if len(parts) >= ARN_PARTS:
        return parts[4]
    return str(principal) if is_account_root(principal) else None
