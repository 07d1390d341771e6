"""EC2: instances, launch templates and volumes.

Which of them are on the internet is in `public_address.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from rl_gym.hcl import UNKNOWN, Block, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Body, Truth, answer, inside, some, truth, worst

INSTANCES = ("aws_instance", "aws_spot_instance_request")
_LAUNCHES = ("aws_launch_template", "aws_launch_configuration")
_TEMPLATE = "aws_launch_template"
_BY_DEFAULT = "aws_ebs_encryption_by_default"
_METADATA_DEFAULTS = "aws_ec2_instance_metadata_defaults"


def _ebs_encrypted_1(resource: Resource, context: Context) -> Answer | None:
    return _volumes(resource, context, _on(context.of_type(_BY_DEFAULT)))


@rule(
    "ebs_encrypted",
    severity="high",
    types=("aws_ebs_volume", *INSTANCES, *_LAUNCHES),
    title="Volumes are encrypted",
    fix="set encrypted = true on the volume, on root_block_device and on every ebs block",
    short="encrypted = true on every volume",
    references=("CKV_AWS_3", "CKV_AWS_8", "CIS AWS 2.2.1", "FSBP EC2.3", "FSBP EC2.7"),
    version=2,
    first=_ebs_encrypted_1,
    passing="""
        resource "aws_ebs_volume" "data" {
          availability_zone = "eu-west-1a"
          size              = 10
          encrypted         = true
        }
    """,
    failing="""
        resource "aws_ebs_volume" "data" {
          availability_zone = "eu-west-1a"
          size              = 10
          encrypted         = false
        }
    """,
)
def ebs_encrypted(resource: Resource, context: Context) -> Answer | None:
    """Every volume that the resource makes, the root volume included, which is plain unless told otherwise.

    An instance takes the devices of the launch template that it names. Where the configuration turns encryption by
    default on, by the same provider and so for the same account and region, an absent argument means encrypted.
    """
    return _volumes(resource, context, _on(_by_same_provider(resource, context, _BY_DEFAULT)))


def _volumes(resource: Resource, context: Context, default: Truth) -> Answer | None:
    """Whether all volumes of a resource are encrypted, where `default` says what an absent argument means."""
    if resource.type == "aws_ebs_volume":
        if resource.get("encrypted") is None and resource.has("snapshot_id") is not False and default is not True:
            return Answer("unknown", "the volume is encrypted if its snapshot is", "snapshot_id")
        return _volume(resource, "encrypted", default)
    devices = _devices(resource)
    template = launch_template(resource, context)
    if template is not None and not resource.blocks("root_block_device"):
        devices += _devices(template)
        if not _devices(template):
            devices.append((template, "block_device_mappings"))
    elif resource.type != _TEMPLATE and not resource.blocks("root_block_device"):
        devices.append((resource, "root_block_device.encrypted"))
    elif not devices:
        devices.append((resource, "block_device_mappings.ebs.encrypted"))
    return worst(_volume(body, path, default) for body, path in devices)


def _volume(body: Body, path: str, default: Truth) -> Answer:
    value = body.get(path)
    holds = inside(body, default if value is None else truth(value, False))
    return answer(holds, "volumes are encrypted", "a volume is not encrypted", path, body)


def _devices(resource: Resource) -> list[tuple[Body, str]]:
    """Where each volume that the resource describes says whether it is encrypted."""
    if resource.type == _TEMPLATE:
        mappings = [block for block in resource.blocks("block_device_mappings") if _makes_volume(block)]
        return [(block, "ebs.encrypted") for block in mappings]
    blocks = resource.blocks("root_block_device")
    blocks += [block for block in resource.blocks("ebs_block_device") if _makes_volume(block)]
    return [(block, "encrypted") for block in blocks]


def _makes_volume(block: Block) -> bool:
    return not block.has("no_device") and not block.has("virtual_name")


def _by_same_provider(resource: Resource, context: Context, kind: str) -> list[Resource]:
    """The settings of an account and region that hold where a resource is made."""
    settings = context.of_type(kind)
    return [one for one in settings if context.provider_of(one) == context.provider_of(resource)] if settings else []


def _on(settings: Iterable[Resource]) -> Truth:
    return some(truth(one.get("enabled"), True) for one in settings if one.created is True)


def launch_template(resource: Resource, context: Context) -> Resource | None:
    """The launch template in this configuration that an instance is made from."""
    for path in ("launch_template.id", "launch_template.name"):
        found = context.referred(resource, path)
        if found is not None and found.type == _TEMPLATE:
            return found
    return None


def _ec2_imdsv2_1(resource: Resource, context: Context) -> Answer | None:
    return _metadata(resource, context, context.of_type(_METADATA_DEFAULTS))


@rule(
    "ec2_imdsv2",
    severity="high",
    types=(*INSTANCES, *_LAUNCHES),
    title="Instances answer metadata requests with a session token only",
    fix='add metadata_options { http_endpoint = "enabled" and http_tokens = "required" }, each on a line of its own',
    short='metadata_options http_tokens = "required"',
    references=("CKV_AWS_79", "CIS AWS 5.6", "FSBP EC2.8", "FSBP EC2.170"),
    version=2,
    first=_ec2_imdsv2_1,
    passing="""
        resource "aws_instance" "app" {
          ami           = "ami-0a1b2c3d"
          instance_type = "t3.micro"
          metadata_options {
            http_endpoint = "enabled"
            http_tokens   = "required"
          }
        }
    """,
    failing="""
        resource "aws_instance" "app" {
          ami           = "ami-0a1b2c3d"
          instance_type = "t3.micro"
          metadata_options {
            http_endpoint = "enabled"
            http_tokens   = "optional"
          }
        }
    """,
)
def ec2_imdsv2(resource: Resource, context: Context) -> Answer | None:
    """Version 1 of the metadata service hands the role's credentials to anyone who can make the instance send a GET.

    An instance without the block takes that of the launch template that it names, else the default of its account and
    region where the configuration sets one, by the same provider.
    """
    return _metadata(resource, context, _by_same_provider(resource, context, _METADATA_DEFAULTS))


def _metadata(resource: Resource, context: Context, defaults: Iterable[Resource]) -> Answer | None:
    """Whether a resource, its launch template or the first of the `defaults` asks for session tokens."""
    for body in (resource, launch_template(resource, context), *defaults):
        if body is not None and _speaks_of_metadata(body):
            at, prefix = (body, "") if body.type == _METADATA_DEFAULTS else (body, "metadata_options.")
            holds = _token_required(at.get(f"{prefix}http_tokens"), at.get(f"{prefix}http_endpoint"))
            if holds and body.created is not True and body is not resource:
                holds = None
            return answer(holds, "session tokens are required", "version 1 is allowed", f"{prefix}http_tokens", at)
    return Answer("fail", "version 1 of the metadata service is allowed", "metadata_options")


def _speaks_of_metadata(body: Resource) -> bool:
    return body.type == _METADATA_DEFAULTS or bool(body.blocks("metadata_options"))


def _token_required(tokens: object, endpoint: object) -> Truth:
    if tokens == "required" or endpoint == "disabled":
        return True
    return None if UNKNOWN in (tokens, endpoint) else False


@rule(
    "ec2_ebs_optimized",
    severity="low",
    types=("aws_instance",),
    title="Instances have bandwidth of their own to their volumes",
    fix="set ebs_optimized = true",
    references=("CKV_AWS_135",),
    passing="""
        resource "aws_instance" "app" {
          ami           = "ami-0a1b2c3d"
          instance_type = "t3.micro"
          ebs_optimized = true
        }
    """,
    failing="""
        resource "aws_instance" "app" {
          ami           = "ami-0a1b2c3d"
          instance_type = "t3.micro"
          ebs_optimized = false
        }
    """,
)
def ec2_ebs_optimized(resource: Resource, context: Context) -> Answer | None:
    """Storage traffic does not compete with the network. Asked for explicitly, though newer instance types imply it."""
    return answer(truth(resource.get("ebs_optimized"), False), "EBS-optimised", "not EBS-optimised", "ebs_optimized")
