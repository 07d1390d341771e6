"""Arguments of which the AWS provider asks for at least one, though its schema calls each of them optional.

This is what version 5.100 answered, under `terraform validate`, to a resource of each type that holds its required
arguments and blocks alone, for the 407 types that the public corpora hold. Version 6 asks for the same.
"""

from __future__ import annotations

from collections.abc import Mapping

AT_LEAST_ONE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    kind: tuple(tuple(group.split()) for group in groups)
    for kind, groups in {
        "aws_acm_certificate": ("domain_name private_key",),
        "aws_alb": ("subnets subnet_mapping",),
        "aws_ami_launch_permission": ("account_id group organization_arn organizational_unit_arn",),
        "aws_autoscaling_group": ("launch_configuration launch_template mixed_instances_policy",),
        "aws_cloudfront_response_headers_policy": (
            "cors_config custom_headers_config remove_headers_config security_headers_config "
            "server_timing_headers_config",
        ),
        "aws_cloudwatch_event_rule": ("event_pattern schedule_expression",),
        "aws_config_conformance_pack": ("template_body template_s3_uri",),
        "aws_connect_instance": ("directory_id instance_alias",),
        "aws_docdb_global_cluster": ("engine source_db_cluster_identifier",),
        "aws_ebs_volume": ("size snapshot_id",),
        "aws_eip_association": ("instance_id network_interface_id",),
        "aws_elasticache_cluster": ("engine replication_group_id",),
        # Version 6 has one target more, the last.
        "aws_flow_log": (
            "vpc_id subnet_id eni_id transit_gateway_id transit_gateway_attachment_id regional_nat_gateway_id",
        ),
        "aws_fsx_ontap_file_system": ("throughput_capacity throughput_capacity_per_ha_pair",),
        "aws_glue_crawler": (
            "catalog_target delta_target dynamodb_target hudi_target iceberg_target jdbc_target mongodb_target "
            "s3_target",
        ),
        "aws_guardduty_organization_configuration": ("auto_enable auto_enable_organization_members",),
        "aws_iam_policy_attachment": ("roles users groups",),
        "aws_imagebuilder_component": ("data uri",),
        "aws_instance": ("ami launch_template", "instance_type launch_template"),
        "aws_lambda_event_source_mapping": ("event_source_arn self_managed_event_source",),
        "aws_lambda_function": ("filename s3_bucket image_uri",),
        "aws_lb": ("subnets subnet_mapping",),
        "aws_network_acl_rule": ("cidr_block ipv6_cidr_block",),
        "aws_route": (
            "destination_cidr_block destination_ipv6_cidr_block destination_prefix_list_id",
            "carrier_gateway_id core_network_arn egress_only_gateway_id gateway_id local_gateway_id nat_gateway_id "
            "network_interface_id transit_gateway_id vpc_endpoint_id vpc_peering_connection_id",
        ),
        "aws_route53_record": ("records alias",),
        "aws_route_table_association": ("subnet_id gateway_id",),
        "aws_s3_bucket_acl": ("acl access_control_policy",),
        "aws_sagemaker_app": ("space_name user_profile_name",),
        "aws_sagemaker_pipeline": ("pipeline_definition pipeline_definition_s3_location",),
        "aws_security_group_rule": ("cidr_blocks ipv6_cidr_blocks prefix_list_ids self source_security_group_id",),
        "aws_ssm_parameter": ("value insecure_value value_wo",),
        "aws_storagegateway_gateway": ("activation_key gateway_ip_address",),
        "aws_vpc_dhcp_options": (
            "domain_name domain_name_servers ipv6_address_preferred_lease_time netbios_name_servers netbios_node_type "
            "ntp_servers",
        ),
        "aws_vpc_security_group_egress_rule": ("cidr_ipv4 cidr_ipv6 prefix_list_id referenced_security_group_id",),
        "aws_vpc_security_group_ingress_rule": ("cidr_ipv4 cidr_ipv6 prefix_list_id referenced_security_group_id",),
        "aws_vpclattice_listener": ("service_arn service_identifier",),
    }.items()
}
"""By resource type: of each group one argument or block must be written."""
