"""Tags: whose is it, and what is it for."""

from __future__ import annotations

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Truth, answer, inside, some

TAGGABLE = (
    "aws_alb",
    "aws_ami",
    "aws_api_gateway_rest_api",
    "aws_api_gateway_stage",
    "aws_apigatewayv2_api",
    "aws_athena_workgroup",
    "aws_autoscaling_group",
    "aws_backup_plan",
    "aws_backup_vault",
    "aws_batch_compute_environment",
    "aws_batch_job_queue",
    "aws_cloudfront_distribution",
    "aws_cloudtrail",
    "aws_cloudwatch_log_group",
    "aws_cloudwatch_metric_alarm",
    "aws_codebuild_project",
    "aws_codepipeline",
    "aws_cognito_user_pool",
    "aws_db_instance",
    "aws_db_subnet_group",
    "aws_docdb_cluster",
    "aws_dynamodb_table",
    "aws_ebs_volume",
    "aws_ecr_repository",
    "aws_ecs_cluster",
    "aws_ecs_service",
    "aws_ecs_task_definition",
    "aws_efs_file_system",
    "aws_eip",
    "aws_eks_cluster",
    "aws_eks_node_group",
    "aws_elasticache_cluster",
    "aws_elasticache_replication_group",
    "aws_elasticsearch_domain",
    "aws_elb",
    "aws_emr_cluster",
    "aws_glue_job",
    "aws_iam_role",
    "aws_iam_user",
    "aws_instance",
    "aws_internet_gateway",
    "aws_kinesis_firehose_delivery_stream",
    "aws_kinesis_stream",
    "aws_kms_key",
    "aws_lambda_function",
    "aws_launch_template",
    "aws_lb",
    "aws_lb_target_group",
    "aws_mq_broker",
    "aws_msk_cluster",
    "aws_nat_gateway",
    "aws_neptune_cluster",
    "aws_opensearch_domain",
    "aws_rds_cluster",
    "aws_rds_cluster_instance",
    "aws_redshift_cluster",
    "aws_route53_zone",
    "aws_route_table",
    "aws_s3_bucket",
    "aws_sagemaker_notebook_instance",
    "aws_secretsmanager_secret",
    "aws_security_group",
    "aws_sfn_state_machine",
    "aws_sns_topic",
    "aws_sqs_queue",
    "aws_ssm_parameter",
    "aws_subnet",
    "aws_vpc",
    "aws_vpc_endpoint",
    "aws_wafv2_web_acl",
)
"""The types that bills and inventories are read by. Small parts (rules, attachments, policies) are left out."""


def _tags_1(resource: Resource, context: Context) -> Answer | None:
    return _judge(resource, context.default_tags())


@rule(
    "tags",
    severity="low",
    types=TAGGABLE,
    title="Resources carry tags",
    fix='add tags, for example { Name = "...", Environment = "..." }, or default_tags to the provider',
    short="tags",
    references=("AWS Resource Tagging Standard",),
    version=2,
    first=_tags_1,
    passing="""
        resource "aws_vpc" "main" {
          cidr_block = "10.0.0.0/16"
          tags       = { Name = "main" }
        }
    """,
    failing="""
        resource "aws_vpc" "main" {
          cidr_block = "10.0.0.0/16"
          tags       = {}
        }
    """,
)
def tags(resource: Resource, context: Context) -> Answer | None:
    """At least one tag with a value, on the resource or from the default_tags of the provider that makes it.

    Without tags nobody can tell whose a resource is, what it costs whom, or whether it may be deleted.
    """
    alias = (context.provider_of(resource) or "").partition(".")[2]
    return _judge(resource, context.default_tags(alias or None))


def _judge(resource: Resource, default_tags: object) -> Answer:
    if resource.type == "aws_autoscaling_group":
        own = some(inside(block, True) for block in resource.blocks("tag"))
    else:
        own = _tagged(resource.get("tags"))
    holds = own if own else some([own, _tagged(default_tags)])
    return answer(holds, "it carries tags", "it carries no tags", "tags")


def _tagged(value: object) -> Truth:
    if value is UNKNOWN:
        return None
    return isinstance(value, dict) and any(item is not None for item in value.values())
