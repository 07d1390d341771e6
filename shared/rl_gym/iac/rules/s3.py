"""S3: who may read a bucket, and what happens to what is in it.

Since version 4 of the provider most settings of a bucket are resources of their own that name it; the older nested
blocks are read as well.
"""

from __future__ import annotations

from collections.abc import Callable

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Body, Truth, answer, every, inside, some, truth, worst, written

_BUCKET = ("aws_s3_bucket",)
_PUBLIC_ACLS = frozenset({"public-read", "public-read-write", "authenticated-read"})
_PUBLIC_GROUPS = ("/groups/global/allusers", "/groups/global/authenticatedusers")
_SSE_ALGORITHMS = frozenset({"AES256", "aws:kms", "aws:kms:dsse"})
_ACCESS_BLOCKS = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")
_LIFECYCLE_ACTIONS = (
    "expiration",
    "transition",
    "noncurrent_version_expiration",
    "noncurrent_version_transition",
    "abort_incomplete_multipart_upload",
)


@rule(
    "s3_public_acl",
    severity="critical",
    types=("aws_s3_bucket", "aws_s3_bucket_acl", "aws_s3_object", "aws_s3_bucket_object"),
    title="No bucket or object is readable or writable by everyone through an ACL",
    fix='set acl = "private" or remove the ACL, and grant nothing to AllUsers or AuthenticatedUsers',
    references=("CKV_AWS_20", "CKV_AWS_57", "CIS AWS 2.1.4"),
)
def s3_public_acl(resource: Resource, context: Context) -> Answer | None:
    """A canned public ACL, or a grant to a group that anyone belongs to, opens the data to the internet.

    An `aws_s3_bucket_acl` is judged with the bucket that it names. "authenticated-read" is public: anyone can have an
    AWS account.
    """
    if resource.type == "aws_s3_bucket":
        acls = context.companions(resource, "aws_s3_bucket_acl", "bucket")
        return worst([_acl(resource), *(_acl(acl.resource) for acl in acls if acl.attached)])
    if resource.type == "aws_s3_bucket_acl" and not context.orphan(resource, "bucket", _BUCKET):
        return None
    if resource.type in ("aws_s3_object", "aws_s3_bucket_object") and resource.get("acl") is None:
        return None
    return _acl(resource)


def _acl(body: Resource) -> Answer:
    canned = body.get("acl")
    if isinstance(canned, str) and canned.strip().lower() in _PUBLIC_ACLS:
        return Answer("fail", f'acl = "{canned}" lets everyone in', "acl", body)
    grants: list[tuple[Body, str]] = [(block, "uri") for block in body.blocks("grant")]
    for policy in body.blocks("access_control_policy"):
        grants += [(block, "grantee.uri") for block in policy.blocks("grant")]
    groups = [
        answer(_private_group(block.get(path)), "", "a grant goes to everyone", path, block) for block, path in grants
    ]
    found = worst(groups)
    if found and found.verdict != "pass":
        return found
    return answer(canned is not UNKNOWN or None, "no ACL opens it to everyone", "", "acl", body)


def _private_group(uri: object) -> Truth:
    if uri is UNKNOWN:
        return None
    return not (isinstance(uri, str) and uri.strip().lower().endswith(_PUBLIC_GROUPS))


@rule(
    "s3_encryption",
    severity="high",
    types=_BUCKET,
    title="Buckets state how they are encrypted at rest",
    fix='add aws_s3_bucket_server_side_encryption_configuration for the bucket with sse_algorithm "aws:kms"',
    references=("CKV_AWS_19", "CIS AWS 2.1.1"),
)
def s3_encryption(resource: Resource, context: Context) -> Answer | None:
    """Default encryption is written down, inline or by a companion.

    AWS encrypts new buckets with SSE-S3 by itself since 2023; the rule asks for the explicit statement, which pins the
    algorithm and the key.
    """
    kind = "aws_s3_bucket_server_side_encryption_configuration"
    return _configured(
        resource,
        context,
        kind,
        [inside(block, _encrypted(block)) for block in resource.blocks("server_side_encryption_configuration")],
        _encrypted,
        ("default encryption is set", "no default encryption is set for the bucket"),
    )


def _encrypted(body: Body) -> Truth:
    return some(
        inside(rule, inside(default, _algorithm(default.get("sse_algorithm"))))
        for rule in body.blocks("rule")
        for default in rule.blocks("apply_server_side_encryption_by_default")
    )


def _algorithm(name: object) -> Truth:
    return None if name is UNKNOWN else isinstance(name, str) and name in _SSE_ALGORITHMS


@rule(
    "s3_block_public",
    severity="high",
    types=_BUCKET,
    title="Buckets block public access",
    fix="add aws_s3_bucket_public_access_block for the bucket with all four settings true",
    references=("CKV2_AWS_6", "CKV_AWS_53", "CKV_AWS_54", "CKV_AWS_55", "CKV_AWS_56", "CIS AWS 2.1.4"),
)
def s3_block_public(resource: Resource, context: Context) -> Answer | None:
    """All four settings hold for the bucket, by its own access block or by the account's.

    S3 applies the stricter of the two levels, setting by setting.
    """
    blocks = context.companions(resource, "aws_s3_bucket_public_access_block", "bucket")
    account = context.remember("s3.account", _account_wide)
    missing: list[str] = []
    holds: list[Truth] = []
    for name in _ACCESS_BLOCKS:
        own = every(truth(block.resource.get(name), False) for block in blocks if block.certain)
        maybe = some(truth(block.resource.get(name), False) for block in blocks if not block.certain)
        levels = [own if any(block.certain for block in blocks) else False, None if maybe is not False else False]
        holds.append(some([*levels, account[name]]))
        if holds[-1] is False:
            missing.append(name)
    at = next((block.resource for block in blocks if block.certain), None)
    bad = f"the access block leaves {', '.join(missing)} off" if at else "no public access block is for this bucket"
    return answer(every(holds), "public access is blocked", bad, missing[0] if missing and at else "", at)


def _account_wide(context: Context) -> dict[str, Truth]:
    """Whether each setting holds for the whole account; unknown where it may be another account that is named."""
    found: dict[str, Truth] = dict.fromkeys(_ACCESS_BLOCKS, False)
    for account in context.of_type("aws_s3_account_public_access_block"):
        certain = account.created is True and not isinstance(account.get("account_id"), str)
        for name in _ACCESS_BLOCKS:
            holds = truth(account.get(name), False)
            found[name] = some([found[name], None if holds and not certain else holds])
    return found


@rule(
    "s3_versioning",
    severity="medium",
    types=_BUCKET,
    title="Buckets keep versions of their objects",
    fix='add aws_s3_bucket_versioning for the bucket with status = "Enabled"',
    references=("CKV_AWS_21",),
)
def s3_versioning(resource: Resource, context: Context) -> Answer | None:
    """Versioning lets an overwritten or deleted object be recovered; suspended versioning does not."""
    return _configured(
        resource,
        context,
        "aws_s3_bucket_versioning",
        [inside(block, truth(block.get("enabled"), False)) for block in resource.blocks("versioning")],
        lambda body: _equals(body.get("versioning_configuration.status"), "Enabled"),
        ("versioning is enabled", "versioning is not enabled for the bucket"),
    )


@rule(
    "s3_lifecycle",
    severity="medium",
    types=_BUCKET,
    title="Buckets have a lifecycle rule",
    fix="add aws_s3_bucket_lifecycle_configuration for the bucket with an enabled rule that acts",
    references=("CKV2_AWS_61",),
)
def s3_lifecycle(resource: Resource, context: Context) -> Answer | None:
    """At least one enabled rule that moves or expires something: data is not kept for longer than it is needed."""
    inline = [
        inside(block, every([truth(block.get("enabled"), False), _acts(block)]))
        for block in resource.blocks("lifecycle_rule")
    ]
    return _configured(
        resource,
        context,
        "aws_s3_bucket_lifecycle_configuration",
        [some(inline)] if inline else [],
        lambda body: some(
            inside(b, every([_equals(b.get("status"), "Enabled"), _acts(b)])) for b in body.blocks("rule")
        ),
        ("a lifecycle rule is enabled", "no enabled lifecycle rule is for the bucket"),
    )


def _acts(body: Body) -> Truth:
    inline = truth(written(body, "abort_incomplete_multipart_upload_days"), False)
    return True if inline else any(body.blocks(name) for name in _LIFECYCLE_ACTIONS)


def _equals(value: object, wanted: str) -> Truth:
    return None if value is UNKNOWN else value == wanted


def _configured(
    bucket: Resource,
    context: Context,
    kind: str,
    inline: list[Truth],
    check: Callable[[Resource], Truth],
    reasons: tuple[str, str],
) -> Answer:
    """What the nested blocks and the companions of type `kind` say together: each one that is there must hold."""
    companions = context.companions(bucket, kind, "bucket")
    sure = [(one.resource, check(one.resource)) for one in companions if one.certain]
    at = next((resource for resource, holds in sure if holds is not True), None)
    said = [*inline, *(holds for _, holds in sure)]
    if said:
        return answer(every(said), *reasons, "", at)
    maybe = some(check(one.resource) for one in companions)
    return answer(None if maybe is not False else False, *reasons)
