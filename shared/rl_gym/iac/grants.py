"""Where policy documents are written, and what each of them grants."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.policy import Statement, denials, statements
from rl_gym.iac.verdicts import Answer, Body, Truth

POLICIES = {
    # Policies of an identity.
    "aws_iam_policy": ("policy",),
    "aws_iam_role_policy": ("policy",),
    "aws_iam_user_policy": ("policy",),
    "aws_iam_group_policy": ("policy",),
    "aws_iot_policy": ("policy",),
    "aws_ssoadmin_permission_set_inline_policy": ("inline_policy",),
    # Policies of a resource.
    "aws_iam_role": ("assume_role_policy",),
    "aws_api_gateway_rest_api": ("policy",),
    "aws_api_gateway_rest_api_policy": ("policy",),
    "aws_backup_vault_policy": ("policy",),
    "aws_cloudwatch_event_bus_policy": ("policy",),
    "aws_cloudwatch_log_resource_policy": ("policy_document",),
    "aws_codeartifact_domain_permissions_policy": ("policy_document",),
    "aws_codeartifact_repository_permissions_policy": ("policy_document",),
    "aws_ecr_registry_policy": ("policy",),
    "aws_ecr_repository_policy": ("policy",),
    "aws_efs_file_system_policy": ("policy",),
    "aws_elasticsearch_domain": ("access_policies",),
    "aws_elasticsearch_domain_policy": ("access_policies",),
    "aws_glacier_vault": ("access_policy",),
    "aws_glue_resource_policy": ("policy",),
    "aws_kms_external_key": ("policy",),
    "aws_kms_key": ("policy",),
    "aws_kms_key_policy": ("policy",),
    "aws_kms_replica_key": ("policy",),
    "aws_media_store_container_policy": ("policy",),
    "aws_opensearch_domain": ("access_policies",),
    "aws_opensearch_domain_policy": ("access_policies",),
    "aws_s3_access_point": ("policy",),
    "aws_s3_bucket": ("policy",),
    "aws_s3_bucket_policy": ("policy",),
    "aws_secretsmanager_secret": ("policy",),
    "aws_secretsmanager_secret_policy": ("policy",),
    "aws_ses_identity_policy": ("policy",),
    "aws_sns_topic": ("policy",),
    "aws_sns_topic_policy": ("policy",),
    "aws_sqs_queue": ("policy",),
    "aws_sqs_queue_policy": ("policy",),
    "aws_vpc_endpoint": ("policy",),
    "aws_vpc_endpoint_policy": ("policy",),
}
"""Where each type carries policy documents, as far as it matters which actions these grant."""

MORE_POLICIES = {
    "aws_acmpca_policy": ("policy",),
    "aws_api_gateway_domain_name": ("policy",),
    "aws_cloudsearch_domain_service_access_policy": ("access_policy",),
    "aws_cloudwatch_log_delivery_destination_policy": ("delivery_destination_policy",),
    "aws_cloudwatch_log_destination_policy": ("access_policy",),
    "aws_codebuild_resource_policy": ("policy",),
    "aws_dynamodb_resource_policy": ("policy",),
    "aws_ecr_repository_creation_template": ("repository_policy",),
    "aws_glacier_vault_lock": ("policy",),
    "aws_kinesis_resource_policy": ("policy",),
    "aws_kms_replica_external_key": ("policy",),
    "aws_msk_cluster_policy": ("policy",),
    "aws_networkfirewall_resource_policy": ("policy",),
    "aws_oam_sink_policy": ("policy",),
    "aws_redshift_resource_policy": ("policy",),
    "aws_redshiftserverless_resource_policy": ("policy",),
    "aws_s3control_access_grants_instance_resource_policy": ("policy",),
    "aws_s3control_access_point_policy": ("policy",),
    "aws_s3control_bucket_policy": ("policy",),
    "aws_s3control_multi_region_access_point_policy": ("details.policy",),
    "aws_s3control_object_lambda_access_point_policy": ("policy",),
    "aws_s3tables_table_bucket_policy": ("resource_policy",),
    "aws_s3tables_table_policy": ("resource_policy",),
    "aws_sagemaker_model_package_group_policy": ("resource_policy",),
    "aws_schemas_registry_policy": ("policy",),
    "aws_sesv2_email_identity_policy": ("policy",),
    "aws_vpclattice_resource_policy": ("policy",),
    "aws_xray_resource_policy": ("policy_document",),
}
"""Where further types carry the policy of a resource, which matters for whom it lets in."""

IDENTITY_POLICIES = frozenset(
    {
        "aws_iam_policy",
        "aws_iam_role_policy",
        "aws_iam_user_policy",
        "aws_iam_group_policy",
        "aws_iot_policy",
        "aws_ssoadmin_permission_set_inline_policy",
    }
)
"""Types whose policies belong to an identity: a principal written in one means nothing."""

_ORGANIZATION = "aws_organizations_policy"
"""A guard rail of an organisation grants nothing by itself, so its documents are judged nowhere."""


class Grant(NamedTuple):
    """A policy document and where it stands; `statements` allow, `denials` deny, both are None where not known.

    A document that is not JSON is refused by AWS, so it never passes, though what it asks for may be plain to see.
    """

    body: Body
    path: str
    statements: list[Statement] | None
    denials: list[Statement] | None
    is_json: bool


def grants(resource: Resource, context: Context, *, more: bool = False) -> Iterator[Grant]:
    """The documents that a resource carries; a policy document data source stands for itself where nobody uses it.

    With `more` the types of MORE_POLICIES are users too.
    """
    if resource.mode == "data":
        if resource.base_address not in _used_documents(context, more):
            yield grant(resource, "json", context)
        return
    of_identity = resource.type in IDENTITY_POLICIES
    for path in POLICIES.get(resource.type) or MORE_POLICIES[resource.type]:
        if resource.get(path) not in (None, ""):
            yield grant(resource, path, context, of_identity=of_identity)
    if resource.type == "aws_iam_role":
        for block in resource.blocks("inline_policy"):
            if block.get("policy") not in (None, ""):
                yield grant(block, "policy", context, of_identity=True)


def grant(body: Body, path: str, context: Context, *, of_identity: bool = False) -> Grant:
    """The document at a path; a principal written in the policy of an identity means nothing."""
    written = body.get(path)
    # Several rules ask for it, and instances share their text.
    key = written if isinstance(written, str) else (body.address, path) if isinstance(body, Resource) else None
    if key is None:
        is_json, allowed, denied = _decoded(body, path)
    else:
        is_json, allowed, denied = context.remember(("policy", key), lambda _: _decoded(body, path))
    if allowed is not None and of_identity:
        allowed = [replace(statement, principals=None) for statement in allowed]
    return Grant(body, path, allowed, denied, is_json)


def judged(grant: Grant, check: Callable[[Grant], tuple[Truth, str]], good: str) -> Answer:
    """What a check says of a document: whether it is harmless, and what is wrong where it is not."""
    if grant.statements is None:
        reason = "the policy is not known before apply" if grant.is_json else "the policy is not JSON"
        return Answer("unknown", reason, grant.path, grant.body)
    holds, reason = check(grant)
    if holds is None:
        return Answer("unknown", "what the policy grants is not known before apply", grant.path, grant.body)
    if holds and not grant.is_json:
        return Answer("unknown", "the policy is not JSON", grant.path, grant.body)
    return Answer("pass" if holds else "fail", reason or good, grant.path, grant.body)


_Decoded = tuple[bool, list[Statement] | None, list[Statement] | None]


def _decoded(body: Body, path: str) -> _Decoded:
    """Whether a document is JSON, and the statements in it that allow and that deny."""
    document = body.policy(path, open_leaves=True)
    is_json = document is not None
    if not is_json:
        document = _without_trailing_commas(body.get(path))
    return is_json, statements(document), denials(document)


def _without_trailing_commas(value: object) -> object:
    """The document in a text that would be JSON but for its trailing commas; None where it is beyond reading."""
    try:
        return json.loads(re.sub(r",(\s*[\]}])", r"\1", str(value)))
    except (ValueError, RecursionError):
        return None


def _used_documents(context: Context, more: bool) -> frozenset[str]:
    """Base addresses of the policy documents that some judged policy, or another document in use, is made of."""
    return context.remember(("iam.used_documents", more), lambda _: _find_used_documents(context, more))


def _find_used_documents(context: Context, more: bool) -> frozenset[str]:
    paths = {**POLICIES, **(MORE_POLICIES if more else {}), _ORGANIZATION: ("content",)}
    used: set[str] = set()
    for kind, names in paths.items():
        for resource in context.of_type(kind):
            for name in names:
                used |= resource.references(name)
            for block in resource.blocks("inline_policy"):
                used |= block.references("policy")
    pending = list(used)
    while pending:
        for resource in context.instances(pending.pop()):
            if resource.mode == "data":
                new = resource.references() - used
                used |= new
                pending.extend(new)
    return frozenset(used)
