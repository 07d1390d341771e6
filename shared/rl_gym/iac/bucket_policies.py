"""What the policy of a bucket says about that bucket: whether it refuses requests that come without TLS."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rl_gym.hcl import UNKNOWN, Partial, Reference, Resource
from rl_gym.iac.actions import cover
from rl_gym.iac.audience import is_star
from rl_gym.iac.context import type_of
from rl_gym.iac.grants import Grant
from rl_gym.iac.policy import Condition, Statement, whole_service
from rl_gym.iac.verdicts import Truth, every, some

_SECURE_TRANSPORT = "aws:securetransport"
_EQUAL = frozenset({"bool", "boolifexists", "stringequals", "stringequalsignorecase", "stringlike"})
_COMPUTED = "\x00"
_COMPUTED_NAME = re.compile(f"^arn:aws:s3:::[^/*?]*{_COMPUTED}[^/*?]*")
_PARTITION = re.compile("^arn:[^:*?]+:")
_NAMELESS = "q7Zk"
"""The name of a bucket that has none yet, and of an object that nobody could have named."""


def refuses_plain_http(grant: Grant, bucket: Resource) -> Truth:
    """Whether statements of a document deny every S3 action on a bucket and its objects to everyone without TLS.

    Each of them is for everyone, all actions, and has that one condition: a further one would let some requests by.
    The bucket and its objects may be named by different statements. An Allow that asks for TLS refuses nothing.
    """
    if grant.denials is None or not grant.is_json:
        return None
    judged = [(denial, _refuses(denial)) for denial in grant.denials]
    sure = [resource for denial, refuses in judged if refuses for resource in denial.resources]
    if _cover(sure, bucket, "-"):
        return True
    maybe = [resource for denial, refuses in judged if refuses is not False for resource in denial.resources]
    return None if _cover(maybe, bucket, "*") else False


def _refuses(denial: Statement) -> Truth:
    if denial.not_principal or denial.not_action or denial.not_resource:
        return False
    return every(
        [
            denial.certain or None,
            some(map(is_star, denial.principals or ())),
            some(map(_is_every_action, denial.actions)),
            None if denial.conditions is None else len(denial.conditions) == 1,
            every(map(_without_tls, denial.conditions or ())),
        ]
    )


def _is_every_action(action: object) -> Truth:
    return action in ("*", "*:*") or whole_service(action) == "s3" if isinstance(action, str) else None


def _without_tls(condition: Condition) -> Truth:
    if condition.operator not in _EQUAL or condition.key != _SECURE_TRANSPORT:
        return False
    return every(None if value is UNKNOWN else value.lower() == "false" for value in condition.values)


def _cover(resources: Iterable[object], bucket: Resource, unknown: str) -> bool:
    """Whether resource patterns hold both a bucket and all of its objects; `unknown` stands for what is not known."""
    name = bucket.get("bucket")
    arn = f"arn:aws:s3:::{name if isinstance(name, str) else _NAMELESS}"
    patterns = [_spelled(resource, bucket, arn, unknown) for resource in resources]
    return cover(patterns, (arn, f"{arn}/{_NAMELESS}/{_NAMELESS}"))


def _spelled(resource: object, bucket: Resource, arn: str, unknown: str) -> str:
    if not isinstance(resource, str):
        return unknown
    pieces = resource.pieces if isinstance(resource, Partial) else (resource,)
    said = _PARTITION.sub("arn:aws:", "".join(_piece(piece, bucket, arn, unknown) for piece in pieces))
    # S3 takes no policy of another bucket: a name with a computed part is the bucket's own.
    return said if isinstance(bucket.get("bucket"), str) else _COMPUTED_NAME.sub(arn, said)


def _piece(piece: str | Reference | None, bucket: Resource, arn: str, unknown: str) -> str:
    if not isinstance(piece, Reference):
        return unknown if piece is None else piece
    if piece.address in (bucket.address, bucket.base_address):
        return arn if piece.attribute == "arn" else arn.rpartition(":")[2]
    if piece.attribute == "partition":
        return "aws"
    return "-" if type_of(piece.address) == bucket.type else _COMPUTED
