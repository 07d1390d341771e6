"""DynamoDB tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from rl_gym.iac.tasks.demands import Demand, both, equals, keyed, nested, with_key
from rl_gym.iac.tasks.hcl_writer import Attr, Block, boolean, quote, tags
from rl_gym.iac.tasks.names import PURPOSES
from rl_gym.iac.tasks.parts import Builder, Part, Stack, Style


class Table(Builder):
    kind = "table"
    types = ("aws_dynamodb_table",)

    def draw(self, project: str, rng: Random) -> Part:
        name = f"{project}-{rng.choice(PURPOSES[self.kind])}"
        return Part(self.kind, name, {"hash_key": rng.choice(("id", "pk", "uid", "user_id", "order_id"))})

    def nouns(self, part: Part) -> Sequence[str]:
        return ("a DynamoDB table", "a key-value table", "a NoSQL table")

    def identity(self, part: Part) -> Sequence[Demand]:
        return (Demand(part.name, equals("name", part.name)),)

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        hash_key = part.params["hash_key"]
        key = nested("server_side_encryption", both(equals("enabled", True), keyed("kms_key_arn")))
        return (
            Demand(f"hash key {hash_key}", equals("hash_key", hash_key)),
            *stack.links(key=with_key(key, "ddb_encryption")),
        )

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        key = stack.ref("key", "aws_kms_key", "arn")
        yield Block(
            "resource",
            ("aws_dynamodb_table", stack.project),
            [
                Attr("name", quote(part.name)),
                Attr("billing_mode", quote("PAY_PER_REQUEST")),
                Attr("hash_key", quote(part.params["hash_key"])),
                style.protect("tags", tags(Project=stack.project)),
                Block("attribute", (), [Attr("name", quote(part.params["hash_key"])), Attr("type", quote("S"))]),
                style.protect(
                    "ddb_encryption",
                    Block(
                        "server_side_encryption",
                        (),
                        [Attr("enabled", boolean(True)), Attr("kms_key_arn", key) if key else None],
                    ),
                    Block("server_side_encryption", (), [Attr("enabled", boolean(False))]),
                ),
                style.protect(
                    "dynamodb_pitr",
                    *(Block("point_in_time_recovery", (), [Attr("enabled", boolean(on))]) for on in (True, False)),
                ),
            ],
        )
