"""EC2: instances, launch templates and volumes."""

from __future__ import annotations

from rl_gym.hcl import UNKNOWN, Block, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Body, Truth, answer, inside, some, truth, worst

_INSTANCES = ("aws_instance", "aws_spot_instance_request")
_LAUNCHES = ("aws_launch_template", "aws_launch_configuration")
_TEMPLATE = "aws_launch_template"


@rule(
    "ebs_encrypted",
    severity="high",
    types=("aws_ebs_volume", *_INSTANCES, *_LAUNCHES),
    title="Volumes are encrypted",
    fix="set encrypted = true on the volume, on root_block_device and on every ebs block",
    references=("CKV_AWS_3", "CKV_AWS_8", "CIS AWS 2.2.1"),
)
def ebs_encrypted(resource: Resource, context: Context) -> Answer | None:
    """Every volume that the resource makes, the root volume included, which is plain unless told otherwise.

    An instance takes the devices of the launch template that it names. Where the configuration turns encryption by
    default on for the account, an absent argument means encrypted.
    """
    default = _encrypted_by_default(context)
    if resource.type == "aws_ebs_volume":
        if resource.get("encrypted") is None and resource.has("snapshot_id") is not False and default is not True:
            return Answer("unknown", "the volume is encrypted if its snapshot is", "snapshot_id")
        return _volume(resource, "encrypted", default)
    devices = _devices(resource)
    template = _template(resource, context)
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


def _encrypted_by_default(context: Context) -> Truth:
    return context.remember("ec2.encrypted_by_default", _find_encrypted_by_default)


def _find_encrypted_by_default(context: Context) -> Truth:
    settings = context.of_type("aws_ebs_encryption_by_default")
    return some(truth(one.get("enabled"), True) for one in settings if one.created is True)


def _template(resource: Resource, context: Context) -> Resource | None:
    """The launch template in this configuration that an instance is made from."""
    for path in ("launch_template.id", "launch_template.name"):
        found = context.referred(resource, path)
        if found is not None and found.type == _TEMPLATE:
            return found
    return None


@rule(
    "ec2_imdsv2",
    severity="high",
    types=(*_INSTANCES, *_LAUNCHES),
    title="Instances answer metadata requests with a session token only",
    fix='add metadata_options { http_endpoint = "enabled" and http_tokens = "required" }, each on a line of its own',
    references=("CKV_AWS_79", "CIS AWS 5.6"),
)
def ec2_imdsv2(resource: Resource, context: Context) -> Answer | None:
    """Version 1 of the metadata service hands the role's credentials to anyone who can make the instance send a GET.

    An instance without the block takes that of the launch template that it names, else the account's default where the
    configuration sets one.
    """
    bodies = [resource, _template(resource, context), *context.of_type("aws_ec2_instance_metadata_defaults")]
    for body in bodies:
        if body is not None and _speaks_of_metadata(body):
            at, prefix = (
                (body, "") if body.type == "aws_ec2_instance_metadata_defaults" else (body, "metadata_options.")
            )
            holds = _token_required(at.get(f"{prefix}http_tokens"), at.get(f"{prefix}http_endpoint"))
            if holds and body.created is not True and body is not resource:
                holds = None
            return answer(holds, "session tokens are required", "version 1 is allowed", f"{prefix}http_tokens", at)
    return Answer("fail", "version 1 of the metadata service is allowed", "metadata_options")


def _speaks_of_metadata(body: Resource) -> bool:
    return body.type == "aws_ec2_instance_metadata_defaults" or bool(body.blocks("metadata_options"))


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
)
def ec2_ebs_optimized(resource: Resource, context: Context) -> Answer | None:
    """Storage traffic does not compete with the network. Asked for explicitly, though newer instance types imply it."""
    return answer(truth(resource.get("ebs_optimized"), False), "EBS-optimised", "not EBS-optimised", "ebs_optimized")
