"""Which rules have a remedy that is mechanical, and what it is.

There is none where a person has to choose: who may reach a port, which key encrypts, which bucket takes the logs, what
a policy should allow, what a thing is for.
"""

from __future__ import annotations

from collections.abc import Mapping

from rl_gym.iac.fixes.conditions import (
    addressed_by_interface,
    cannot_be_optimised,
    devices_of_template,
    has_lifecycle,
    has_policy,
    heard_by_services,
    lists_no_device,
    logs_nowhere,
    metadata_of_template,
    restored_or_replica,
)
from rl_gym.iac.fixes.fixers import (
    Fixer,
    add_companion,
    by_type,
    change_value,
    each_block,
    leave,
    set_argument,
    set_arguments,
    set_in_block,
    together,
    unless,
    with_companions,
)
from rl_gym.iac.rules.s3 import PUBLIC_ACLS
from rl_gym.iac.tasks.hcl_writer import Attr, Block, array, boolean, quote

__all__ = ["CLOSING", "FIXERS"]

CLOSING = frozenset({"s3_block_public", "s3_enforce_tls"})
"""The rules whose fix shuts people out of a bucket, even those whom it is meant to let in."""

_YES, _NO = boolean(True), boolean(False)
_LOG_TYPES = array(["api", "audit", "authenticator", "controllerManager", "scheduler"])
_ACCESS_BLOCKS = {
    "block_public_acls": _YES,
    "block_public_policy": _YES,
    "ignore_public_acls": _YES,
    "restrict_public_buckets": _YES,
}
_NO_VOLUME = ("no_device", "virtual_name")
_POLICY = "the bucket has a policy, which a person has to extend"
_LIFECYCLE = "what its lifecycle rule is to do is not known"


def _refusing_plain_http(bucket: str) -> Attr:
    """A policy for a bucket that allows nothing, and denies what comes without TLS."""
    return Attr(
        "policy",
        f"""jsonencode({{
  Version = "2012-10-17"
  Statement = [
    {{
      Sid       = "DenyPlainHttp"
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [{bucket}.arn, "${{{bucket}.arn}}/*"]
      Condition = {{ Bool = {{ "aws:SecureTransport" = "false" }} }}
    }}
  ]
}})""",
    )


_TEMPLATED = "it takes this from its launch template"
_ENCRYPTION = ("rule", "apply_server_side_encryption_by_default")

_PRIVATE_ACL = change_value("acl", quote("private"), wrong=PUBLIC_ACLS)
_ROOT_VOLUME = unless(devices_of_template, _TEMPLATED, set_in_block("root_block_device", encrypted=_YES))
_VOLUMES = together(_ROOT_VOLUME, each_block("ebs_block_device", besides=_NO_VOLUME, encrypted=_YES))
_TEMPLATE_VOLUMES = unless(
    lists_no_device,
    "a person has to say by which name its image has the root volume",
    each_block("block_device_mappings", "ebs", besides=_NO_VOLUME, encrypted=_YES),
)
_NO_ADDRESS = unless(
    addressed_by_interface, "its network interface decides", set_argument("associate_public_ip_address", _NO)
)

FIXERS: Mapping[str, Fixer] = {
    "cloudtrail_log_validation": set_argument("enable_log_file_validation", _YES),
    "cloudtrail_multi_region": set_argument("is_multi_region_trail", _YES),
    "cw_retention": set_argument("retention_in_days", "365", wrong=(0, "0", None)),
    "ddb_encryption": set_in_block("server_side_encryption", enabled=_YES),
    "dynamodb_pitr": by_type(
        aws_dynamodb_table=together(
            set_in_block("point_in_time_recovery", enabled=_YES), each_block("replica", point_in_time_recovery=_YES)
        ),
        aws_dynamodb_table_replica=set_argument("point_in_time_recovery", _YES),
    ),
    "ebs_encrypted": by_type(
        aws_ebs_volume=set_argument("encrypted", _YES),
        aws_instance=_VOLUMES,
        aws_spot_instance_request=_VOLUMES,
        aws_launch_configuration=_VOLUMES,
        aws_launch_template=_TEMPLATE_VOLUMES,
    ),
    "ec2_ebs_optimized": unless(
        cannot_be_optimised, "its type of instance may not offer it", set_argument("ebs_optimized", _YES)
    ),
    "ec2_imdsv2": unless(
        metadata_of_template,
        _TEMPLATED,
        set_in_block("metadata_options", new={"http_endpoint": quote("enabled")}, http_tokens=quote("required")),
    ),
    "ec2_no_public_ip": by_type(
        aws_instance=_NO_ADDRESS,
        aws_spot_instance_request=_NO_ADDRESS,
        aws_launch_configuration=_NO_ADDRESS,
        aws_launch_template=each_block("network_interfaces", associate_public_ip_address=_NO),
    ),
    "efs_encrypted": set_argument("encrypted", _YES),
    "eks_control_plane_logs": set_argument("enabled_cluster_log_types", _LOG_TYPES),
    "eks_no_public_endpoint": each_block("vpc_config", endpoint_private_access=_YES, endpoint_public_access=_NO),
    "elb_access_logs": unless(
        logs_nowhere, "a person has to say which bucket takes the logs", each_block("access_logs", enabled=_YES)
    ),
    "kms_rotation": set_argument("enable_key_rotation", _YES),
    "rds_backup": set_argument("backup_retention_period", "7", wrong=(0, "0", None)),
    "rds_deletion_protection": set_argument("deletion_protection", _YES),
    "rds_encrypted": unless(
        restored_or_replica, "it is encrypted as its source is", set_argument("storage_encrypted", _YES)
    ),
    "rds_iam_auth": set_argument("iam_database_authentication_enabled", _YES),
    "rds_multi_az": set_argument("multi_az", _YES),
    "rds_public": set_argument("publicly_accessible", _NO),
    "redshift_encrypted": set_argument("encrypted", _YES),
    "redshift_public": set_argument("publicly_accessible", _NO),
    "s3_block_public": with_companions(
        "aws_s3_bucket_public_access_block",
        mend=set_arguments(_ACCESS_BLOCKS),
        add=add_companion(
            "aws_s3_bucket_public_access_block", *(Attr(name, value) for name, value in _ACCESS_BLOCKS.items())
        ),
    ),
    "s3_encryption": with_companions(
        "aws_s3_bucket_server_side_encryption_configuration",
        # Keys of S3 suit every bucket: with a key of KMS it could take no logs of a load balancer or of another bucket.
        mend=set_in_block(*_ENCRYPTION, sse_algorithm=quote("AES256")),
        inline=each_block("server_side_encryption_configuration", *_ENCRYPTION, sse_algorithm=quote("AES256")),
        add=add_companion(
            "aws_s3_bucket_server_side_encryption_configuration",
            Block("rule", (), [Block(_ENCRYPTION[1], (), [Attr("sse_algorithm", quote("AES256"))])]),
        ),
    ),
    "s3_enforce_tls": unless(
        has_policy,
        _POLICY,
        with_companions(
            "aws_s3_bucket_policy", mend=leave(_POLICY), add=add_companion("aws_s3_bucket_policy", _refusing_plain_http)
        ),
    ),
    "s3_lifecycle": unless(
        has_lifecycle,
        _LIFECYCLE,
        with_companions(
            "aws_s3_bucket_lifecycle_configuration",
            mend=leave(_LIFECYCLE),
            # Nothing that anybody has stored is deleted or moved: that would be for a person to decide.
            add=add_companion(
                "aws_s3_bucket_lifecycle_configuration",
                Block(
                    "rule",
                    (),
                    [
                        Attr("id", quote("abort-incomplete-uploads")),
                        Attr("status", quote("Enabled")),
                        Block("filter"),
                        Block("abort_incomplete_multipart_upload", (), [Attr("days_after_initiation", "7")]),
                    ],
                ),
            ),
        ),
    ),
    "s3_public_acl": by_type(
        aws_s3_bucket=with_companions("aws_s3_bucket_acl", mend=_PRIVATE_ACL, inline=_PRIVATE_ACL),
        aws_s3_bucket_acl=_PRIVATE_ACL,
        aws_s3_bucket_object=_PRIVATE_ACL,
        aws_s3_object=_PRIVATE_ACL,
    ),
    "s3_versioning": with_companions(
        "aws_s3_bucket_versioning",
        mend=set_in_block("versioning_configuration", status=quote("Enabled")),
        inline=each_block("versioning", enabled=_YES),
        add=add_companion(
            "aws_s3_bucket_versioning",
            Block("versioning_configuration", (), [Attr("status", quote("Enabled"))]),
        ),
    ),
    "sns_encrypted": unless(
        heard_by_services,
        "services that publish to it need a key whose policy lets them",
        set_argument("kms_master_key_id", quote("alias/aws/sns")),
    ),
    "sqs_encrypted": set_argument("sqs_managed_sse_enabled", _YES),
    "subnet_no_public_ip": set_argument("map_public_ip_on_launch", _NO),
}
"""The fixer of each rule that has one, by the id of the rule."""
