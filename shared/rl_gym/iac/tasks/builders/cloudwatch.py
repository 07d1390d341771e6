"""Log groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from rl_gym.iac.tasks.demands import Demand, equals
from rl_gym.iac.tasks.hcl_writer import Attr, Block, quote, tags
from rl_gym.iac.tasks.names import PURPOSES
from rl_gym.iac.tasks.parts import Builder, Part, Stack, Style

_ORG_KEY = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"


class LogGroup(Builder):
    kind = "logs"
    types = ("aws_cloudwatch_log_group",)

    def draw(self, project: str, rng: Random) -> Part:
        prefix = rng.choice(("", "/app/", "/ecs/", "/aws/lambda/"))
        name = f"{prefix}{project}-{rng.choice(PURPOSES[self.kind])}"
        return Part(self.kind, name, {"days": rng.choice((30, 60, 90, 180, 365))})

    def nouns(self, part: Part) -> Sequence[str]:
        return ("a CloudWatch log group", "a log group", "somewhere for logs")

    def identity(self, part: Part) -> Sequence[Demand]:
        return (Demand(part.name, equals("name", part.name)),)

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        days = part.params["days"]
        return (Demand(f"keep {days} days", equals("retention_in_days", days), rule="cw_retention"),)

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        key = stack.ref("key", "aws_kms_key", "arn")
        yield Block(
            "resource",
            ("aws_cloudwatch_log_group", stack.project),
            [
                Attr("name", quote(part.name)),
                style.protect(
                    "cw_retention",
                    Attr("retention_in_days", str(part.params["days"])),
                    Attr("retention_in_days", "0"),
                ),
                style.protect("cw_log_kms", Attr("kms_key_id", key or quote(_ORG_KEY))),
                style.protect("tags", tags(Project=stack.project)),
            ],
        )
