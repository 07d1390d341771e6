"""Servers, launch templates and volumes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from rl_gym.iac.tasks.demands import Check, Demand, behind, beside, either, equals, keyed, nested, through, with_key
from rl_gym.iac.tasks.hcl_writer import Attr, Block, boolean, quote, tags
from rl_gym.iac.tasks.names import PURPOSES
from rl_gym.iac.tasks.parts import Builder, Part, Stack, Style

_IMAGES = ("ami-1a2b3c4d", "ami-0abc1234", "ami-5f6e7d8c", "ami-9b8a7c6d")
_SIZES = ("t3.micro", "t3.small", "t3.large", "m5.large", "c5.large")
_GROUPS = ("vpc_security_group_ids", "security_groups", "network_interfaces.security_groups")
_ZONES = ("us-east-1a", "us-west-2b", "eu-west-1a", "eu-central-1b")


def _metadata(style: Style) -> Block | None:
    return style.protect(
        "ec2_imdsv2",
        Block("metadata_options", (), [Attr("http_tokens", quote("required"))]),
        Block("metadata_options", (), [Attr("http_tokens", quote("optional"))]),
    )


def _set(path: str, of_template: str, wanted: str) -> Check:
    """An argument of an instance, its own or that of its launch template."""
    template = equals(of_template, wanted)
    return either(equals(path, wanted), *(through(f"launch_template.{name}", template) for name in ("id", "name")))


class Server(Builder):
    kind = "server"
    types = ("aws_instance",)
    others = ("aws_spot_instance_request",)

    def draw(self, project: str, rng: Random) -> Part:
        name = f"{project}-{rng.choice(PURPOSES[self.kind])}"
        return Part(self.kind, name, {"image": rng.choice(_IMAGES), "size": rng.choice(_SIZES)})

    def nouns(self, part: Part) -> Sequence[str]:
        return ("an EC2 instance", "a server", "a virtual machine")

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        size, image = part.params["size"], part.params["image"]
        return (
            Demand(f"size {size}", _set("instance_type", "instance_type", size)),
            Demand(f"from image {image}", _set("ami", "image_id", image)),
            *stack.links(security_group=behind(*_GROUPS)),
        )

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        group = stack.ref("security_group", "aws_security_group", "id")
        yield Block(
            "resource",
            ("aws_instance", stack.project),
            [
                Attr("ami", quote(part.params["image"])),
                Attr("instance_type", quote(part.params["size"])),
                Attr("vpc_security_group_ids", f"[{group}]") if group else None,
                style.protect(
                    "ec2_no_public_ip",
                    *(Attr("associate_public_ip_address", boolean(public)) for public in (False, True)),
                ),
                style.protect("ec2_ebs_optimized", Attr("ebs_optimized", boolean(True))),
                style.protect("tags", tags(Name=part.name)),
                _metadata(style),
                style.protect(
                    "ebs_encrypted",
                    Block("root_block_device", (), [Attr("encrypted", boolean(True))]),
                    Block("root_block_device", (), [Attr("encrypted", boolean(False))]),
                    Block("root_block_device", (), [Attr("volume_size", "20")]),
                ),
            ],
        )


class LaunchTemplate(Builder):
    kind = "template"
    types = ("aws_launch_template",)
    others = ("aws_launch_configuration",)

    def draw(self, project: str, rng: Random) -> Part:
        name = f"{project}-{rng.choice(PURPOSES[self.kind])}"
        disk = rng.choice((20, 30, 50, 100))
        return Part(self.kind, name, {"image": rng.choice(_IMAGES), "size": rng.choice(_SIZES), "disk": disk})

    def nouns(self, part: Part) -> Sequence[str]:
        return ("an EC2 launch template", "a launch template", "a template for new servers")

    def identity(self, part: Part) -> Sequence[Demand]:
        return (Demand(part.name, equals("name", part.name)),)

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        size, disk = part.params["size"], part.params["disk"]
        mapped = nested("block_device_mappings", nested("ebs", equals("volume_size", disk)))
        return (
            Demand(f"size {size}", equals("instance_type", size)),
            Demand(f"{disk} GB disk", either(mapped, equals("root_block_device.volume_size", disk))),
            *stack.links(security_group=behind(*_GROUPS)),
        )

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        group = stack.ref("security_group", "aws_security_group", "id")
        disk = Attr("volume_size", str(part.params["disk"]))
        encrypted = style.protect("ebs_encrypted", Attr("encrypted", boolean(True)), Attr("encrypted", boolean(False)))
        yield Block(
            "resource",
            ("aws_launch_template", stack.project),
            [
                Attr("name", quote(part.name)),
                Attr("image_id", quote(part.params["image"])),
                Attr("instance_type", quote(part.params["size"])),
                Attr("vpc_security_group_ids", f"[{group}]") if group else None,
                style.protect("ec2_ebs_optimized", Attr("ebs_optimized", boolean(True))),
                style.protect("tags", tags(Project=stack.project)),
                _metadata(style),
                Block(
                    "block_device_mappings",
                    (),
                    [Attr("device_name", quote("/dev/xvda")), Block("ebs", (), [disk, encrypted])],
                ),
            ],
        )


class Volume(Builder):
    kind = "volume"
    types = ("aws_ebs_volume",)

    def draw(self, project: str, rng: Random) -> Part:
        name = f"{project}-{rng.choice(PURPOSES[self.kind])}"
        return Part(self.kind, name, {"zone": rng.choice(_ZONES), "size": rng.choice((10, 20, 40, 80, 100, 200))})

    def nouns(self, part: Part) -> Sequence[str]:
        return ("an EBS volume", "a disk", "block storage")

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        size, zone = part.params["size"], part.params["zone"]
        place = stack.links(server=Demand("next to the instance", beside("aws_instance", "availability_zone")))
        return (
            Demand(f"{size} GB", equals("size", size)),
            *(place or [Demand(f"in {zone}", equals("availability_zone", zone))]),
            *stack.links(key=with_key(keyed("kms_key_id"), "ebs_encrypted")),
        )

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        key = stack.ref("key", "aws_kms_key", "arn")
        zone = stack.ref("server", "aws_instance", "availability_zone") or quote(part.params["zone"])
        encrypted = style.protect("ebs_encrypted", Attr("encrypted", boolean(True)), Attr("encrypted", boolean(False)))
        yield Block(
            "resource",
            ("aws_ebs_volume", stack.project),
            [
                Attr("availability_zone", zone),
                Attr("size", str(part.params["size"])),
                encrypted,
                Attr("kms_key_id", key) if key and encrypted else None,
                style.protect("tags", tags(Name=part.name)),
            ],
        )
