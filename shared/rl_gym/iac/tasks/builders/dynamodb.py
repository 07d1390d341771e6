"""DynamoDB tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

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

    def details(self, part: Part, stack: Stack) -> Sequence[str]:
        return (f"hash key {part.params['hash_key']}", *stack.links(key="encrypted with the project key"))

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
            ],
        )
