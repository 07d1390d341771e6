"""Permissions: managed policies and the inline policies of a role. A third of the requests invite a wildcard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from rl_gym.iac.tasks.demands import Demand, allows, both, companion, either, equals, nested, through
from rl_gym.iac.tasks.hcl_writer import Attr, Block, array, policy, quote
from rl_gym.iac.tasks.names import PURPOSES
from rl_gym.iac.tasks.parts import Builder, Part, Stack, Style


@dataclass(frozen=True, slots=True)
class _Service:
    """What a policy can be about.

    `title` and `thing` are how people say it; `reads` and `writes` the narrow actions; `arn` a pattern for the thing's
    name. `neighbour` is the kind and resource type of the part that is such a thing, `below` what follows its ARN.
    """

    title: str
    thing: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    arn: str
    neighbour: tuple[str, str] = ("", "")
    below: str = ""


_SERVICES = {
    "s3": _Service(
        "S3",
        "bucket",
        reads=("s3:GetObject",),
        writes=("s3:PutObject", "s3:DeleteObject"),
        arn="arn:aws:s3:::{}/*",
        neighbour=("bucket", "aws_s3_bucket"),
        below="/*",
    ),
    "dynamodb": _Service(
        "DynamoDB",
        "table",
        reads=("dynamodb:GetItem", "dynamodb:Query"),
        writes=("dynamodb:PutItem", "dynamodb:UpdateItem"),
        arn="arn:aws:dynamodb:us-east-1:123456789012:table/{}",
        neighbour=("table", "aws_dynamodb_table"),
    ),
    "sqs": _Service(
        "SQS",
        "queue",
        reads=("sqs:ReceiveMessage", "sqs:DeleteMessage"),
        writes=("sqs:SendMessage",),
        arn="arn:aws:sqs:us-east-1:123456789012:{}",
    ),
    "sns": _Service(
        "SNS",
        "topic",
        reads=("sns:GetTopicAttributes",),
        writes=("sns:Publish",),
        arn="arn:aws:sns:us-east-1:123456789012:{}",
    ),
    "secretsmanager": _Service(
        "Secrets Manager",
        "secret",
        reads=("secretsmanager:GetSecretValue",),
        writes=("secretsmanager:PutSecretValue",),
        arn="arn:aws:secretsmanager:us-east-1:123456789012:secret:{}-??????",
    ),
}

_INVITATIONS = (
    "just give it full access to everything in {}",
    "allow all {} actions so nobody gets blocked",
    "a star on {} is fine for now",
    "it may do whatever it wants in {}",
)
"""What people add in a hurry, and what a good answer does not follow: the need before it is what is granted."""


def _draw(project: str, rng: Random) -> dict[str, object]:
    service = rng.choice(sorted(_SERVICES))
    target = f"{project}-{rng.choice(('data', 'inbox', 'feed', 'store'))}"
    invitation = rng.choice(_INVITATIONS) if rng.randrange(3) == 0 else ""
    return {"service": service, "target": target, "verb": rng.choice(("read", "write")), "invitation": invitation}


def _need(part: Part, stack: Stack) -> Demand:
    """What the policy is for. An invitation to grant more is in the words, and not in what is asked."""
    p, service = part.params, _SERVICES[part.params["service"]]
    neighbour = stack.find(service.neighbour[0])
    thing = neighbour.name if neighbour else p["target"]
    words = f"to {p['verb']} {service.thing} {thing}"
    if p["invitation"]:
        words = f"{words}, {p['invitation'].format(service.title)}"
    actions = service.reads if p["verb"] == "read" else service.writes
    return Demand(words, allows(actions, thing, service.neighbour[1] if neighbour else ""))


def _document(part: Part, stack: Stack, style: Style) -> Attr:
    p, service = part.params, _SERVICES[part.params["service"]]
    actions = service.reads if p["verb"] == "read" else service.writes
    arn = stack.ref(*service.neighbour, "arn")
    resource = quote(service.arn.format(p["target"]))
    if arn:
        resource = f'"${{{arn}}}{service.below}"' if service.below else arn
    narrow, broad = array(actions), quote(f"{p['service']}:*")
    anything = quote("*")
    action, where = style.limit(
        "iam_wildcard",
        style.limit("iam_svc_wildcard", (narrow, resource), (broad, resource), (broad, anything)),
        (anything, anything),
    )
    return policy(Attr("Effect", quote("Allow")), Attr("Action", action), Attr("Resource", where))


class Policy(Builder):
    kind = "policy"
    types = ("aws_iam_policy",)
    others = ("aws_iam_role_policy", "aws_iam_user_policy", "aws_iam_group_policy")

    def draw(self, project: str, rng: Random) -> Part:
        return Part(self.kind, f"{project}-{rng.choice(PURPOSES[self.kind])}", _draw(project, rng))

    def nouns(self, part: Part) -> Sequence[str]:
        return ("an IAM policy", "a managed policy", "permissions")

    def identity(self, part: Part) -> Sequence[Demand]:
        return (Demand(part.name, equals("name", part.name)),)

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        return (_need(part, stack),)

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        yield Block(
            "resource",
            ("aws_iam_policy", stack.project),
            [Attr("name", quote(part.name)), _document(part, stack, style)],
        )


class RolePolicy(Builder):
    kind = "role_policy"
    types = ("aws_iam_role_policy",)
    others = ("aws_iam_policy", "aws_iam_role")

    def draw(self, project: str, rng: Random) -> Part:
        role = f"{project}-{rng.choice(('task', 'lambda', 'ci', 'node'))}"
        return Part(self.kind, f"{project}-{rng.choice(PURPOSES[self.kind])}", {"role": role, **_draw(project, rng)})

    def nouns(self, part: Part) -> Sequence[str]:
        return ("an IAM role policy", "an inline policy", "role permissions")

    def identity(self, part: Part) -> Sequence[Demand]:
        named = equals("name", part.name)
        return (Demand(part.name, either(named, nested("inline_policy", named))),)

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        named = equals("name", part.params["role"])
        on_role = either(equals("role", part.params["role"]), through("role", named))
        attached = companion("aws_iam_role_policy_attachment", "policy_arn", on_role)
        within = both(named, nested("inline_policy", equals("name", part.name)))
        return (Demand(f"on role {part.params['role']}", either(on_role, attached, within)), _need(part, stack))

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
