"""S3: who may read a bucket, and what happens to what is in it.

Since version 4 of the provider most settings of a bucket are resources of their own that name it; the older nested
blocks are read as well.
"""

from __future__ import annotations

from collections.abc import Callable

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.audience import closed
from rl_gym.iac.bucket_policies import refuses_plain_http
from rl_gym.iac.context import Context
from rl_gym.iac.grants import grant, grants, judged
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Body, Truth, answer, every, inside, some, truth, worst, written

_BUCKET = ("aws_s3_bucket",)
PUBLIC_ACLS = frozenset({"public-read", "public-read-write", "authenticated-read"})
_PUBLIC_GROUPS = ("/groups/global/allusers", "/groups/global/authenticatedusers")
_SSE_ALGORITHMS = frozenset({"AES256", "aws:kms", "aws:kms:dsse"})
_ACCESS_BLOCKS = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")
_LOG_SOURCES = (
    ("aws_s3_bucket_logging", "target_bucket"),
    ("aws_s3_bucket", "logging.target_bucket"),
    ("aws_lb", "access_logs.bucket"),
    ("aws_alb", "access_logs.bucket"),
    ("aws_elb", "access_logs.bucket"),
    ("aws_cloudfront_distribution", "logging_config.bucket"),
)
"""What writes access logs, and the argument that names the bucket for them."""

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
    short="no public ACL",
    references=("CKV_AWS_20", "CKV_AWS_57", "CIS AWS 2.1.4", "FSBP S3.2", "FSBP S3.3"),
    passing="""
        resource "aws_s3_bucket_acl" "a" {
          bucket = "data"
          acl    = "private"
        }
    """,
    failing="""
        resource "aws_s3_bucket_acl" "a" {
          bucket = "data"
          acl    = "public-read"
        }
    """,
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
    if isinstance(canned, str) and canned.strip().lower() in PUBLIC_ACLS:
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
    "s3_policy_public",
    severity="critical",
    types=(
        "aws_s3_bucket",
        "aws_s3_bucket_policy",
        "aws_s3_access_point",
        "aws_s3control_access_point_policy",
        "aws_s3control_bucket_policy",
        "aws_s3control_multi_region_access_point_policy",
        "aws_s3control_object_lambda_access_point_policy",
    ),
    title="No policy of a bucket or access point lets everyone in",
    fix="name the principals, or add a condition such as aws:SourceVpce, aws:PrincipalOrgID or aws:SourceArn",
    short="no policy for everyone",
    references=("CKV_AWS_70", "FSBP S3.2", "FSBP S3.3", "CIS AWS 2.1.4"),
    of_policies=True,
    passing="""
        resource "aws_s3_bucket_policy" "p" {
          bucket = "data"
          policy = jsonencode({
            Version = "2012-10-17"
            Statement = [{
              Effect    = "Allow"
              Principal = { AWS = "arn:aws:iam::111122223333:role/app" }
              Action    = "s3:GetObject"
              Resource  = "arn:aws:s3:::data/*"
            }]
          })
        }
    """,
    failing="""
        resource "aws_s3_bucket_policy" "p" {
          bucket = "data"
          policy = jsonencode({
            Version = "2012-10-17"
            Statement = [{
              Effect    = "Allow"
              Principal = { AWS = "*" }
              Action    = "s3:GetObject"
              Resource  = "arn:aws:s3:::data/*"
            }]
          })
        }
    """,
)
def s3_policy_public(resource: Resource, context: Context) -> Answer | None:
    """A statement that allows `*`, `arn:aws:iam::*:root` or all but some (NotPrincipal) opens the data to the internet.

    Only a condition that really bounds who or whence it is cures that, or a denial to all but those that it names: see
    `rl_gym.iac.audience`. A public access block may stop such a policy, yet the policy says what it says, and is open
    on the day that somebody lifts the block.
    """
    return worst(judged(one, closed, "the policy names whom it lets in") for one in grants(resource, context))


@rule(
    "s3_encryption",
    severity="high",
    types=_BUCKET,
    title="Buckets state how they are encrypted at rest",
    fix='add aws_s3_bucket_server_side_encryption_configuration for the bucket with sse_algorithm "aws:kms"',
    short='encryption by "aws:kms"',
    references=("CKV_AWS_19", "CIS AWS 2.1.1"),
    passing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
        resource "aws_s3_bucket_server_side_encryption_configuration" "e" {
          bucket = aws_s3_bucket.b.id
          rule {
            apply_server_side_encryption_by_default {
              sse_algorithm = "aws:kms"
            }
          }
        }
    """,
    failing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
    """,
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
    short="aws_s3_bucket_public_access_block, all true",
    references=("CKV2_AWS_6", "CKV_AWS_53", "CKV_AWS_54", "CKV_AWS_55", "CKV_AWS_56", "CIS AWS 2.1.4", "FSBP S3.8"),
    passing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
        resource "aws_s3_bucket_public_access_block" "p" {
          bucket                  = aws_s3_bucket.b.id
          block_public_acls       = true
          block_public_policy     = true
          ignore_public_acls      = true
          restrict_public_buckets = true
        }
    """,
    failing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
        resource "aws_s3_bucket_public_access_block" "p" {
          bucket                  = aws_s3_bucket.b.id
          block_public_acls       = true
          block_public_policy     = false
          ignore_public_acls      = true
          restrict_public_buckets = true
        }
    """,
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
    short="versioning enabled",
    references=("CKV_AWS_21", "FSBP S3.14"),
    passing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
        resource "aws_s3_bucket_versioning" "v" {
          bucket = aws_s3_bucket.b.id
          versioning_configuration {
            status = "Enabled"
          }
        }
    """,
    failing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
        resource "aws_s3_bucket_versioning" "v" {
          bucket = aws_s3_bucket.b.id
          versioning_configuration {
            status = "Suspended"
          }
        }
    """,
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
    "s3_enforce_tls",
    severity="medium",
    types=_BUCKET,
    title="Buckets refuse requests without TLS",
    fix="deny s3:* to * on the bucket and its objects where aws:SecureTransport is false, in an aws_s3_bucket_policy",
    short="deny where aws:SecureTransport is false",
    references=("CKV_AWS_379", "FSBP S3.5", "CIS AWS 2.1.1"),
    passing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
        resource "aws_s3_bucket_policy" "p" {
          bucket = aws_s3_bucket.b.id
          policy = jsonencode({
            Version = "2012-10-17"
            Statement = [{
              Effect    = "Deny"
              Principal = "*"
              Action    = "s3:*"
              Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
              Condition = { Bool = { "aws:SecureTransport" = "false" } }
            }]
          })
        }
    """,
    failing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
    """,
)
def s3_enforce_tls(resource: Resource, context: Context) -> Answer | None:
    """S3 answers over plain HTTP unless the bucket's policy denies it, to everyone, every action, bucket and objects.

    The policy is the bucket's own, inline or in an aws_s3_bucket_policy for it.
    """
    inline = resource.get("policy") not in (None, "")
    return _configured(
        resource,
        context,
        "aws_s3_bucket_policy",
        [refuses_plain_http(grant(resource, "policy", context), resource)] if inline else [],
        lambda body: refuses_plain_http(grant(body, "policy", context), resource),
        ("requests without TLS are denied", "no policy of the bucket denies requests without TLS"),
    )


@rule(
    "s3_access_logging",
    severity="medium",
    types=_BUCKET,
    title="Buckets log who accesses them",
    fix="add aws_s3_bucket_logging for the bucket with a target_bucket",
    short="aws_s3_bucket_logging",
    references=("CKV_AWS_18", "FSBP S3.9", "CIS AWS 3.4"),
    passing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
        resource "aws_s3_bucket_logging" "l" {
          bucket        = aws_s3_bucket.b.id
          target_bucket = "logs"
          target_prefix = "data/"
        }
    """,
    failing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
    """,
)
def s3_access_logging(resource: Resource, context: Context) -> Answer | None:
    """Server access logs, inline or by a companion, tell afterwards who read and wrote what.

    A bucket that receives the access logs of other buckets here, of load balancers or distributions is not asked: its
    own would never end.
    """
    found = _configured(
        resource,
        context,
        "aws_s3_bucket_logging",
        [inside(block, written(block, "target_bucket")) for block in resource.blocks("logging")],
        lambda body: written(body, "target_bucket"),
        ("access is logged", "access to the bucket is not logged"),
    )
    if found.verdict == "pass":
        return found
    receives = _receives_access_logs(resource, context)
    if receives is None:
        return Answer("unknown", "whether it receives access logs itself is not known before apply")
    return None if receives else found


def _receives_access_logs(bucket: Resource, context: Context) -> Truth:
    return some(
        True if source.certain else None
        for kind, path in _LOG_SOURCES
        if context.of_type(kind)
        for source in context.companions(bucket, kind, path)
        if source.resource.address != bucket.address and not _logs_for_nobody(source.resource, context)
    )


def _logs_for_nobody(source: Resource, context: Context) -> bool:
    """Whether it sets up the logs of a bucket that is not here: nothing shows that there is one."""
    return source.type == "aws_s3_bucket_logging" and context.orphan(source, "bucket", _BUCKET)


@rule(
    "s3_lifecycle",
    severity="medium",
    types=_BUCKET,
    title="Buckets have a lifecycle rule",
    fix="add aws_s3_bucket_lifecycle_configuration for the bucket with an enabled rule that acts",
    short="a lifecycle rule",
    references=("CKV2_AWS_61", "FSBP S3.13"),
    passing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
        resource "aws_s3_bucket_lifecycle_configuration" "l" {
          bucket = aws_s3_bucket.b.id
          rule {
            id     = "old"
            status = "Enabled"
            filter {}
            expiration {
              days = 365
            }
          }
        }
    """,
    failing="""
        resource "aws_s3_bucket" "b" {
          bucket = "data"
        }
    """,
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
