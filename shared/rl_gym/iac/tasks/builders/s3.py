"""Buckets, with the companions that make one private, encrypted and recoverable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from rl_gym.iac.tasks.demands import Check, Demand, both, companion, either, equals, keyed, nested, with_key
from rl_gym.iac.tasks.hcl_writer import Attr, Block, boolean, policy, quote, tags
from rl_gym.iac.tasks.names import PURPOSES
from rl_gym.iac.tasks.parts import Builder, Part, Stack, Style

_LOG_BUCKET = "org-access-logs"
_BLOCKED = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")


def _encrypts_with_key() -> Check:
    default = nested("apply_server_side_encryption_by_default", keyed("kms_master_key_id"))
    rule = nested("rule", default)
    inline = nested("server_side_encryption_configuration", rule)
    return either(inline, companion("aws_s3_bucket_server_side_encryption_configuration", "bucket", rule))


def _expires(days: int) -> Check:
    """Objects are deleted after so many days."""
    expiration = nested("expiration", equals("days", days))
    inline = nested("lifecycle_rule", both(equals("enabled", True), expiration))
    rule = nested("rule", both(equals("status", "Enabled"), expiration))
    return either(inline, companion("aws_s3_bucket_lifecycle_configuration", "bucket", rule))


class Bucket(Builder):
    kind = "bucket"
    types = ("aws_s3_bucket",)

    def draw(self, project: str, rng: Random) -> Part:
        return Part(self.kind, f"{project}-{rng.choice(PURPOSES[self.kind])}", {"days": rng.choice((30, 60, 90, 180))})

    def nouns(self, part: Part) -> Sequence[str]:
        return ("an S3 bucket", "a bucket", "object storage")

    def identity(self, part: Part) -> Sequence[Demand]:
        return (Demand(part.name, equals("bucket", part.name)),)

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        days = part.params["days"]
        return (
            Demand(f"objects kept {days} days", _expires(days), rule="s3_lifecycle"),
            *stack.links(key=with_key(_encrypts_with_key(), "s3_encryption")),
        )

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        yield Block(
            "resource",
            ("aws_s3_bucket", stack.project),
            [
                Attr("bucket", quote(part.name)),
                style.limit("s3_public_acl", None, Attr("acl", quote("public-read"))),
                style.protect("tags", tags(Project=stack.project)),
            ],
        )
        bucket = Attr("bucket", f"aws_s3_bucket.{stack.project}.id")

        def companion(resource_type: str, *body: Attr | Block) -> Block:
            return Block("resource", (resource_type, stack.project), [bucket, *body])

        blocked = [Attr(name, boolean(True)) for name in _BLOCKED]
        opened = [Attr(name, boolean(False)) for name in _BLOCKED]
        companions = [
            style.protect(
                "s3_block_public",
                companion("aws_s3_bucket_public_access_block", *blocked),
                companion("aws_s3_bucket_public_access_block", *opened),
                companion("aws_s3_bucket_public_access_block", *blocked[:2]),
            ),
            style.protect(
                "s3_versioning",
                *(
                    companion(
                        "aws_s3_bucket_versioning",
                        Block("versioning_configuration", (), [Attr("status", quote(status))]),
                    )
                    for status in ("Enabled", "Suspended")
                ),
            ),
            style.protect(
                "s3_encryption", companion("aws_s3_bucket_server_side_encryption_configuration", _sse(stack))
            ),
            style.protect(
                "s3_lifecycle",
                companion("aws_s3_bucket_lifecycle_configuration", _expiry(int(part.params["days"]))),
            ),
            style.protect(
                "s3_enforce_tls",
                *(companion("aws_s3_bucket_policy", _denial(stack, secure)) for secure in ("false", "true")),
            ),
            style.protect(
                "s3_access_logging",
                companion(
                    "aws_s3_bucket_logging",
                    Attr("target_bucket", quote(_LOG_BUCKET)),
                    Attr("target_prefix", quote(f"{part.name}/")),
                ),
            ),
        ]
        yield from (block for block in companions if block)


def _sse(stack: Stack) -> Block:
    key = stack.ref("key", "aws_kms_key", "arn")
    default: list[Attr | Block | None] = [Attr("sse_algorithm", quote("aws:kms" if key else "AES256"))]
    if key:
        default.append(Attr("kms_master_key_id", key))
    return Block("rule", (), [Block("apply_server_side_encryption_by_default", (), default)])


def _expiry(days: int) -> Block:
    return Block(
        "rule",
        (),
        [
            Attr("id", quote("expire")),
            Attr("status", quote("Enabled")),
            Block("filter"),
            Block("expiration", (), [Attr("days", str(days))]),
        ],
    )


def _denial(stack: Stack, secure: str) -> Attr:
    """A policy that denies every request whose transport is as `secure` says."""
    bucket = f"aws_s3_bucket.{stack.project}.arn"
    return policy(
        Attr("Effect", quote("Deny")),
        Attr("Principal", quote("*")),
        Attr("Action", quote("s3:*")),
        Attr("Resource", f'[{bucket}, "${{{bucket}}}/*"]'),
        Attr("Condition", f'{{ Bool = {{ "aws:SecureTransport" = {quote(secure)} }} }}'),
    )
