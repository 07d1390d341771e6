"""Permissions: managed policies and the inline policies of a role. A third of the requests invite a wildcard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from rl_gym.iac.tasks.hcl_writer import Attr, Block, array, quote, tags
from rl_gym.iac.tasks.names import PURPOSES
from rl_gym.iac.tasks.parts import Builder, Part, Stack, Style


@dataclass(frozen=True, slots=True)
class _Service:
    """What a policy can be about: how people call it, the narrow actions, an ARN pattern and its part in a stack."""

    title: str
    things: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    arn: str
    kind: str | None = None
    resource_type: str = ""
    suffix: str = ""


_SERVICES = {
    "s3": _Service(
        "S3", "bucket", ("s3:GetObject",), ("s3:PutObject", "s3:DeleteObject"), "arn:aws:s3:::{}/*",
        "bucket", "aws_s3_bucket", "/*",
    ),
    "dynamodb": _Service(
        "DynamoDB", "table", ("dynamodb:GetItem", "dynamodb:Query"), ("dynamodb:PutItem", "dynamodb:UpdateItem"),
        "arn:aws:dynamodb:us-east-1:123456789012:table/{}", "table", "aws_dynamodb_table",
    ),
    "sqs": _Service(
        "SQS", "queue", ("sqs:ReceiveMessage", "sqs:DeleteMessage"), ("sqs:SendMessage",),
        "arn:aws:sqs:us-east-1:123456789012:{}",
    ),
    "sns": _Service(
        "SNS", "topic", ("sns:GetTopicAttributes",), ("sns:Publish",),
        "arn:aws:sns:us-east-1:123456789012:{}",
    ),
    "kms": _Service(
        "KMS", "key alias", ("kms:Decrypt",), ("kms:Encrypt", "kms:GenerateDataKey"),
        "arn:aws:kms:us-east-1:123456789012:alias/{}",
    ),
}  # fmt: skip


def _draw(project: str, rng: Random) -> dict[str, object]:
    service = rng.choice(sorted(_SERVICES))
    target = f"{project}-{rng.choice(('data', 'inbox', 'feed', 'store'))}"
    verb = rng.choice(("read", "write"))
    return {"service": service, "target": target, "verb": verb, "invite": rng.randrange(3) == 0}


def _details(part: Part) -> Sequence[str]:
    p, service = part.params, _SERVICES[part.params["service"]]
    need = f"to {p['verb']} {service.things} {p['target']}"
    if not p["invite"]:
        return (need,)
    return (f"{need}, just give it full access to everything in {service.title}",)


def _document(part: Part, stack: Stack, style: Style) -> Attr:
    p, service = part.params, _SERVICES[part.params["service"]]
    actions = service.reads if p["verb"] == "read" else service.writes
    arn = stack.ref(service.kind, service.resource_type, "arn") if service.kind else None
    resource = quote(service.arn.format(p["target"]))
    if arn:
        resource = f'"${{{arn}}}{service.suffix}"' if service.suffix else arn
    narrow, broad = array(actions), quote(f"{p['service']}:*")
    granted = style.pick("iam_wildcard", None, (quote("*"), quote("*"))) or style.pick(
        "iam_svc_wildcard", (narrow, resource), (broad, resource), (broad, quote("*"))
    )
    action, where = granted or (narrow, resource)
    return Attr(
        "policy",
        "\n".join(
            (
                "jsonencode({",
                '  Version = "2012-10-17"',
                "  Statement = [{",
                '    Effect   = "Allow"',
                f"    Action   = {action}",
                f"    Resource = {where}",
                "  }]",
                "})",
            )
        ),
    )


class Policy(Builder):
    kind = "policy"
    types = ("aws_iam_policy",)

    def draw(self, project: str, rng: Random) -> Part:
        return Part(self.kind, f"{project}-{rng.choice(PURPOSES[self.kind])}", _draw(project, rng))

    def nouns(self, part: Part) -> Sequence[str]:
        return ("an IAM policy", "a managed policy", "permissions")

    def details(self, part: Part) -> Sequence[str]:
        return _details(part)

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        yield Block(
            "resource",
            ("aws_iam_policy", stack.project),
            [
                Attr("name", quote(part.name)),
                style.pick("tags", tags(Project=stack.project)),
                _document(part, stack, style),
            ],
        )


class RolePolicy(Builder):
    kind = "role_policy"
    types = ("aws_iam_role_policy",)

    def draw(self, project: str, rng: Random) -> Part:
        role = f"{project}-{rng.choice(('task', 'lambda', 'ci', 'node'))}"
        return Part(self.kind, f"{project}-{rng.choice(PURPOSES[self.kind])}", {"role": role, **_draw(project, rng)})

    def nouns(self, part: Part) -> Sequence[str]:
        role = part.params["role"]
        return (
            f"an IAM role policy for role {role}",
            f"an inline policy on role {role}",
            f"permissions for role {role}",
        )

    def details(self, part: Part) -> Sequence[str]:
        return _details(part)

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        yield Block(
            "resource",
            ("aws_iam_role_policy", stack.project),
            [
                Attr("name", quote(part.name)),
                Attr("role", quote(part.params["role"])),
                _document(part, stack, style),
            ],
        )
