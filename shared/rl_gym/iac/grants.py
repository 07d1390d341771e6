"""Where policy documents are written, and what each of them grants."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.policy import Statement, statements
from rl_gym.iac.verdicts import Body

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
"""Where each type carries policy documents."""

_IDENTITY = frozenset(
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
    """A policy document and where it stands; `statements` is None where it is not known.

    A document that is not JSON is refused by AWS, so it never passes, though what it asks for may be plain to see.
    """

    body: Body
    path: str
    statements: list[Statement] | None
    is_json: bool


def grants(resource: Resource, context: Context) -> Iterator[Grant]:
    """The documents that a resource carries; a policy document data source stands for itself where nobody uses it."""
    if resource.mode == "data":
        if resource.base_address not in _used_documents(context):
            yield _grant(resource, "json", context, of_identity=False)
        return
    for path in POLICIES[resource.type]:
        if resource.get(path) not in (None, ""):
            yield _grant(resource, path, context, of_identity=resource.type in _IDENTITY)
    if resource.type == "aws_iam_role":
        for block in resource.blocks("inline_policy"):
            if block.get("policy") not in (None, ""):
                yield _grant(block, "policy", context, of_identity=True)


def _grant(body: Body, path: str, context: Context, *, of_identity: bool) -> Grant:
    written = body.get(path)
    if isinstance(written, str):
        # Instances share their text, and two rules ask for it.
        is_json, found = context.remember(("policy", written), lambda _: _decoded(body, path))
    else:
        is_json, found = _decoded(body, path)
    if found is not None and of_identity:
        found = [replace(statement, principals=None) for statement in found]
    return Grant(body, path, found, is_json)


def _decoded(body: Body, path: str) -> tuple[bool, list[Statement] | None]:
    """Whether a document is JSON, and the statements in it."""
    document = body.policy(path, open_leaves=True)
    if document is None:
        return False, _without_trailing_commas(body.get(path))
    return True, statements(document)


def _without_trailing_commas(value: object) -> list[Statement] | None:
    """What a text that is not JSON would grant without its trailing commas; None where it is beyond reading."""
    try:
        return statements(json.loads(re.sub(r",(\s*[\]}])", r"\1", str(value))))
    except (ValueError, RecursionError):
        return None


def _used_documents(context: Context) -> frozenset[str]:
    """Base addresses of the policy documents that some judged policy, or another document in use, is made of."""
    return context.remember("iam.used_documents", _find_used_documents)


def _find_used_documents(context: Context) -> frozenset[str]:
    paths = {**POLICIES, _ORGANIZATION: ("content",)}
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
