"""What counts as having built what was asked for: other names of one thing, and the arguments that make a thing."""

from __future__ import annotations

from collections.abc import Sequence

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.schema.combinations import AT_LEAST_ONE
from rl_gym.iac.verdicts import written

_SAME = (
    ("aws_lb", "aws_alb"),
    ("aws_lb_listener", "aws_alb_listener"),
    ("aws_lb_listener_certificate", "aws_alb_listener_certificate"),
    ("aws_lb_listener_rule", "aws_alb_listener_rule"),
    ("aws_lb_target_group", "aws_alb_target_group"),
    ("aws_lb_target_group_attachment", "aws_alb_target_group_attachment"),
    ("aws_s3_object", "aws_s3_bucket_object"),
    ("aws_launch_template", "aws_launch_configuration"),
    ("aws_opensearch_domain", "aws_elasticsearch_domain"),
    ("aws_opensearch_domain_policy", "aws_elasticsearch_domain_policy"),
    ("aws_iam_role_policy_attachment", "aws_iam_policy_attachment"),
    ("aws_iam_user_policy_attachment", "aws_iam_policy_attachment"),
    ("aws_iam_group_policy_attachment", "aws_iam_policy_attachment"),
    ("aws_instance", "aws_spot_instance_request"),
    ("aws_route_table_association", "aws_main_route_table_association"),
)
"""Two types for one thing: either may stand where the other was asked for."""

_INSTEAD = {
    "aws_iam_policy": ("aws_iam_role_policy", "aws_iam_user_policy", "aws_iam_group_policy"),
    "aws_security_group_rule": ("aws_vpc_security_group_ingress_rule", "aws_vpc_security_group_egress_rule"),
    "aws_vpc_security_group_egress_rule": ("aws_security_group_rule",),
    "aws_vpc_security_group_ingress_rule": ("aws_security_group_rule",),
}
"""Types that do what another would, in this direction."""

_DIRECTIONS = {"aws_vpc_security_group_egress_rule": "egress", "aws_vpc_security_group_ingress_rule": "ingress"}

_INLINE: dict[str, tuple[tuple[str, str], ...]] = {
    "aws_autoscaling_attachment": (("aws_autoscaling_group", "target_group_arns"),),
    "aws_iam_role_policy": (("aws_iam_role", "inline_policy"),),
    "aws_iam_role_policy_attachment": (("aws_iam_role", "managed_policy_arns"),),
    "aws_kms_key_policy": (("aws_kms_key", "policy"),),
    "aws_network_acl_rule": (("aws_network_acl", "ingress"), ("aws_network_acl", "egress")),
    "aws_route": (("aws_route_table", "route"),),
    "aws_s3_bucket_accelerate_configuration": (("aws_s3_bucket", "acceleration_status"),),
    "aws_s3_bucket_acl": (("aws_s3_bucket", "acl"), ("aws_s3_bucket", "grant")),
    "aws_s3_bucket_cors_configuration": (("aws_s3_bucket", "cors_rule"),),
    "aws_s3_bucket_lifecycle_configuration": (("aws_s3_bucket", "lifecycle_rule"),),
    "aws_s3_bucket_logging": (("aws_s3_bucket", "logging"),),
    "aws_s3_bucket_object_lock_configuration": (("aws_s3_bucket", "object_lock_configuration"),),
    "aws_s3_bucket_policy": (("aws_s3_bucket", "policy"),),
    "aws_s3_bucket_replication_configuration": (("aws_s3_bucket", "replication_configuration"),),
    "aws_s3_bucket_request_payment_configuration": (("aws_s3_bucket", "request_payer"),),
    "aws_s3_bucket_server_side_encryption_configuration": (("aws_s3_bucket", "server_side_encryption_configuration"),),
    "aws_s3_bucket_versioning": (("aws_s3_bucket", "versioning"),),
    "aws_s3_bucket_website_configuration": (("aws_s3_bucket", "website"),),
    "aws_secretsmanager_secret_policy": (("aws_secretsmanager_secret", "policy"),),
    "aws_security_group_rule": (("aws_security_group", "ingress"), ("aws_security_group", "egress")),
    "aws_sns_topic_policy": (("aws_sns_topic", "policy"),),
    "aws_sqs_queue_policy": (("aws_sqs_queue", "policy"),),
    "aws_volume_attachment": (("aws_instance", "ebs_block_device"),),
    "aws_vpc_endpoint_policy": (("aws_vpc_endpoint", "policy"),),
    "aws_vpc_security_group_egress_rule": (("aws_security_group", "egress"),),
    "aws_vpc_security_group_ingress_rule": (("aws_security_group", "ingress"),),
}
"""An argument or nested block of another type that does what the type would do."""

_ATTACHED_POLICY = {
    "aws_iam_role_policy": ("aws_iam_role_policy_attachment", "aws_iam_policy_attachment"),
    "aws_iam_user_policy": ("aws_iam_user_policy_attachment", "aws_iam_policy_attachment"),
    "aws_iam_group_policy": ("aws_iam_group_policy_attachment", "aws_iam_policy_attachment"),
}
"""Inline policies, for which a managed policy may stand where one of these attaches it."""

_POLICY_DOCUMENT = "aws_iam_policy_document"
_DOCUMENT_CARRIERS = ("aws_iam_policy", "aws_iam_role_policy", "aws_iam_user_policy", "aws_iam_group_policy")

_SNAPSHOT = ("snapshot_identifier", "restore_to_point_in_time", "s3_import")
_REPLICA = ("replicate_source_db", *_SNAPSHOT)

_ESSENTIALS: dict[str, tuple[tuple[str, ...], ...]] = {
    "aws_alb": (("subnets", "subnet_mapping"),),
    "aws_alb_listener": (("load_balancer_arn",), ("default_action",)),
    "aws_alb_target_group_attachment": (("target_group_arn",), ("target_id",)),
    "aws_autoscaling_group": (
        ("max_size",),
        ("launch_configuration", "launch_template", "mixed_instances_policy", "instance_id"),
    ),
    "aws_cloudfront_distribution": (("origin",), ("default_cache_behavior",)),
    "aws_cloudtrail": (("s3_bucket_name",),),
    "aws_cloudwatch_metric_alarm": (("comparison_operator",), ("evaluation_periods",)),
    "aws_db_instance": (
        ("instance_class",),
        ("engine", *_REPLICA),
        ("allocated_storage", *_REPLICA),
    ),
    "aws_db_subnet_group": (("subnet_ids",),),
    "aws_dynamodb_table": (("name",), ("hash_key", "restore_source_name", "restore_source_table_arn")),
    "aws_ebs_volume": (("availability_zone",), ("size", "snapshot_id")),
    "aws_ecs_service": (("name",),),
    "aws_ecs_task_definition": (("family",), ("container_definitions",)),
    "aws_eks_cluster": (("role_arn",), ("vpc_config",)),
    "aws_eks_node_group": (("cluster_name",), ("node_role_arn",), ("subnet_ids",)),
    "aws_elastic_beanstalk_configuration_template": (
        ("application",),
        ("name",),
        ("solution_stack_name", "environment_id"),
    ),
    "aws_elastic_beanstalk_environment": (
        ("application",),
        ("name",),
        ("solution_stack_name", "template_name", "platform_arn"),
    ),
    "aws_elasticache_cluster": (("cluster_id",), ("node_type", "replication_group_id")),
    "aws_elasticache_replication_group": (("replication_group_id",),),
    "aws_flow_log": (
        ("vpc_id", "subnet_id", "eni_id", "transit_gateway_id", "transit_gateway_attachment_id"),
        ("log_destination", "log_group_name"),
    ),
    "aws_iam_group_policy": (("policy",), ("group",)),
    "aws_iam_instance_profile": (("role",),),
    "aws_iam_policy": (("policy",),),
    "aws_iam_policy_attachment": (("policy_arn",), ("roles", "users", "groups")),
    "aws_iam_role": (("assume_role_policy",),),
    "aws_iam_role_policy": (("policy",), ("role",)),
    "aws_iam_role_policy_attachment": (("policy_arn",), ("role",)),
    "aws_iam_user_policy": (("policy",), ("user",)),
    "aws_iam_user_policy_attachment": (("policy_arn",), ("user",)),
    "aws_instance": (("ami", "launch_template"), ("instance_type", "launch_template")),
    "aws_internet_gateway": (),
    "aws_kinesis_firehose_delivery_stream": (
        ("name",),
        (
            "elasticsearch_configuration",
            "extended_s3_configuration",
            "http_endpoint_configuration",
            "iceberg_configuration",
            "opensearch_configuration",
            "opensearchserverless_configuration",
            "redshift_configuration",
            "snowflake_configuration",
            "splunk_configuration",
        ),
    ),
    "aws_kinesis_stream": (("name",), ("shard_count", "stream_mode_details")),
    "aws_lambda_function": (
        ("function_name",),
        ("role",),
        ("filename", "s3_bucket", "image_uri"),
    ),
    "aws_lambda_layer_version": (("layer_name",), ("filename", "s3_bucket")),
    "aws_launch_configuration": (("image_id",), ("instance_type",)),
    "aws_lb": (("subnets", "subnet_mapping"),),
    "aws_lb_listener": (("load_balancer_arn",), ("default_action",)),
    "aws_lb_target_group": (("port", "target_type"), ("protocol", "target_type"), ("vpc_id", "target_type")),
    "aws_lb_target_group_attachment": (("target_group_arn",), ("target_id",)),
    "aws_nat_gateway": (("subnet_id", "vpc_id"),),
    "aws_network_acl_rule": (("network_acl_id",), ("rule_number",), ("cidr_block", "ipv6_cidr_block")),
    "aws_rds_cluster": (("engine", "global_cluster_identifier", *_REPLICA),),
    "aws_rds_cluster_instance": (("cluster_identifier",), ("instance_class",)),
    "aws_redshift_cluster": (("cluster_identifier",), ("node_type",)),
    "aws_route": (("route_table_id",),),
    "aws_route53_health_check": (
        ("type",),
        ("fqdn", "ip_address", "child_healthchecks", "cloudwatch_alarm_name", "routing_control_arn"),
    ),
    "aws_route53_record": (("zone_id",), ("name",), ("type",)),
    "aws_route53_zone": (("name",),),
    "aws_route_table": (("vpc_id",),),
    "aws_route_table_association": (("route_table_id",), ("subnet_id", "gateway_id")),
    "aws_s3_bucket_acl": (("bucket",), ("acl", "access_control_policy")),
    "aws_s3_bucket_lifecycle_configuration": (("bucket",), ("rule",)),
    "aws_s3_bucket_logging": (("bucket",), ("target_bucket",)),
    "aws_s3_bucket_notification": (("bucket",), ("topic", "queue", "lambda_function", "eventbridge")),
    "aws_s3_bucket_object_lock_configuration": (("bucket",), ("rule", "object_lock_enabled", "token")),
    "aws_s3_bucket_policy": (("bucket",), ("policy",)),
    "aws_s3_bucket_public_access_block": (("bucket",),),
    "aws_s3_bucket_server_side_encryption_configuration": (("bucket",), ("rule",)),
    "aws_s3_bucket_versioning": (("bucket",), ("versioning_configuration",)),
    "aws_s3_object": (("bucket",), ("key",)),
    "aws_sagemaker_model": (("execution_role_arn",), ("primary_container", "container")),
    "aws_secretsmanager_secret_version": (
        ("secret_id",),
        ("secret_string", "secret_binary", "secret_string_wo"),
    ),
    "aws_security_group_rule": (("security_group_id",), ("type",), ("protocol",)),
    "aws_spot_instance_request": (("ami", "launch_template"), ("instance_type", "launch_template")),
    "aws_subnet": (("vpc_id",), ("cidr_block", "ipv6_cidr_block", "ipv4_ipam_pool_id", "ipv6_ipam_pool_id")),
    "aws_vpc": (("cidr_block", "ipv4_ipam_pool_id"),),
    "aws_vpc_security_group_egress_rule": (("security_group_id",), ("ip_protocol",)),
    "aws_vpc_security_group_ingress_rule": (("security_group_id",), ("ip_protocol",)),
}
"""What a type cannot be made without: of each group at least one argument or block is written.

These are the types that the provider's schema leaves open; where it names required arguments it says enough itself.
"""

_WHOLE_WHEN_EMPTY = frozenset(
    {
        "aws_ebs_encryption_by_default",
        "aws_ec2_transit_gateway",
        "aws_eip",
        "aws_guardduty_detector",
        "aws_inspector2_enabler",
        "aws_macie2_account",
        "aws_route53_delegation_set",
        "aws_securityhub_account",
        "aws_vpn_gateway",
        "random_pet",
        "random_uuid",
    }
)
"""Types that do all they can with no argument written."""

_LOOKED_UP = frozenset(
    {
        "archive_file",
        "aws_ami",
        "aws_ami_ids",
        "aws_availability_zone",
        "aws_availability_zones",
        "aws_billing_service_account",
        "aws_caller_identity",
        "aws_canonical_user_id",
        "aws_cloudfront_log_delivery_canonical_user_id",
        "aws_default_tags",
        "aws_ec2_instance_type",
        "aws_ec2_instance_type_offerings",
        "aws_ecr_authorization_token",
        "aws_ecr_image",
        "aws_eks_cluster_auth",
        "aws_elb_hosted_zone_id",
        "aws_elb_service_account",
        "aws_iam_policy_document",
        "aws_iam_session_context",
        "aws_ip_ranges",
        "aws_partition",
        "aws_rds_engine_version",
        "aws_rds_orderable_db_instance",
        "aws_redshift_service_account",
        "aws_region",
        "aws_regions",
        "aws_sagemaker_prebuilt_ecr_image",
        "aws_secretsmanager_random_password",
        "aws_service",
        "aws_service_principal",
        "aws_subnets",
        "aws_vpcs",
        "external",
        "http",
        "template_file",
        "tls_certificate",
    }
)
"""Types that are asked for as data sources; for any other type a data source builds nothing."""

_NO_CONFIGURATION = frozenset(
    {"tags", "tags_all", "count", "for_each", "provider", "depends_on", "lifecycle", "timeouts"}
)


def stand_ins(kind: str) -> frozenset[str]:
    """The resource types that may build what `kind` would, itself included."""
    inline = {owner for owner, _ in _INLINE.get(kind, ())}
    managed = {"aws_iam_policy"} if kind in _ATTACHED_POLICY else set()
    carriers = set(_DOCUMENT_CARRIERS) if kind == _POLICY_DOCUMENT else set()
    return _names(kind) | inline | managed | carriers


def _names(kind: str) -> frozenset[str]:
    """The types that are `kind` by another name, itself included."""
    same = (other for pair in _SAME if kind in pair for other in pair)
    return frozenset({kind, *same, *_INSTEAD.get(kind, ())})


def built(kind: str, context: Context) -> int:
    """How many things of a requested type the configuration surely creates, with what it takes to be one."""
    count = sum(configured(one) and _directed(one, kind) for name in _names(kind) for one in _created(name, context))
    for owner, path in _INLINE.get(kind, ()):
        for one in _created(owner, context):
            blocks = sum(block.created is True and bool(block.attributes()) for block in one.blocks(path))
            count += blocks or (written(one, path) is not False)
    for attachment in _ATTACHED_POLICY.get(kind, ()):
        count += sum(_attaches_own(one, context) for one in _created(attachment, context))
    if kind == _POLICY_DOCUMENT:
        count += sum(_carries_document(one) for carrier in _DOCUMENT_CARRIERS for one in _created(carrier, context))
    return count


def _carries_document(resource: Resource) -> bool:
    document = resource.policy("policy")
    return isinstance(document, dict) and "Statement" in document


def _directed(resource: Resource, kind: str) -> bool:
    """Whether a rule of a security group points the way that was asked for."""
    direction = _DIRECTIONS.get(kind)
    return direction is None or resource.type == kind or resource.get("type") == direction


def _created(kind: str, context: Context) -> list[Resource]:
    kinds = (kind, f"data.{kind}") if kind in _LOOKED_UP else (kind,)
    return [one for one in context.of_type(*kinds) if one.created is True]


def _attaches_own(attachment: Resource, context: Context) -> bool:
    policy = context.referred(attachment, "policy_arn")
    return policy is not None and policy.type == "aws_iam_policy" and configured(policy)


def essentials(kind: str) -> Sequence[Sequence[str]]:
    """Groups of arguments and blocks: one of each makes a resource of this type what it is."""
    return _ESSENTIALS.get(kind, AT_LEAST_ONE.get(kind, ()))


def configured(resource: Resource) -> bool:
    """Whether a resource says what makes it one: an empty body, or one with tags alone, does not."""
    if resource.mode == "data" or resource.type in _WHOLE_WHEN_EMPTY:
        return True
    groups = essentials(resource.type)
    if not all(any(_given(resource, path) for path in group) for group in groups):
        return False
    return bool(groups) or any(
        name not in _NO_CONFIGURATION and _given(resource, name) for name in resource.attributes()
    )


def _given(resource: Resource, path: str) -> bool:
    """Whether an argument or block is there: an unknown value is, an empty one is not."""
    return bool(resource.blocks(path)) or written(resource, path) is not False
