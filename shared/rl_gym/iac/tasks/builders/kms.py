"""Customer keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from rl_gym.iac.tasks.demands import Demand, companion, contains, either, equals
from rl_gym.iac.tasks.hcl_writer import Attr, Block, boolean, quote, tags
from rl_gym.iac.tasks.names import PURPOSES
from rl_gym.iac.tasks.parts import Builder, Part, Stack, Style


class Key(Builder):
    kind = "key"
    types = ("aws_kms_key",)

    def draw(self, project: str, rng: Random) -> Part:
        name = f"{project}-{rng.choice(PURPOSES[self.kind])}"
        return Part(self.kind, name, {"window": rng.choice((7, 10, 14, 20, 30))})

    def nouns(self, part: Part) -> Sequence[str]:
        return ("a KMS key", "a customer key", "an encryption key")

    def identity(self, part: Part) -> Sequence[Demand]:
        alias = companion("aws_kms_alias", "target_key_id", contains("name", part.name))
        named = either(contains("description", part.name), equals("tags.Name", part.name), alias)
        return (Demand(part.name, named),)

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        window = part.params["window"]
        return (Demand(f"deletion window {window} days", equals("deletion_window_in_days", window)),)

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        yield Block(
            "resource",
            ("aws_kms_key", stack.project),
            [
                Attr("description", quote(part.name)),
                Attr("deletion_window_in_days", str(part.params["window"])),
                style.protect(
                    "kms_rotation",
                    Attr("enable_key_rotation", boolean(True)),
                    Attr("enable_key_rotation", boolean(False)),
                ),
                style.protect("tags", tags(Project=stack.project)),
            ],
        )
