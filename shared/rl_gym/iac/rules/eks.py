"""EKS: the control plane of a cluster, who may reach it and what it logs."""

from __future__ import annotations

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, truth

_CLUSTER = ("aws_eks_cluster",)
_LOG_TYPES = frozenset({"api", "audit", "authenticator", "controllerManager", "scheduler"})


@rule(
    "eks_no_public_endpoint",
    severity="high",
    types=_CLUSTER,
    title="The API of Kubernetes clusters has no public endpoint",
    fix="set endpoint_public_access = false and endpoint_private_access = true in vpc_config",
    short="endpoint_public_access = false",
    references=("CKV_AWS_39", "CIS EKS 5.4.2", "FSBP EKS.1"),
    passing="""
        resource "aws_eks_cluster" "apps" {
          name     = "apps"
          role_arn = "arn:aws:iam::111122223333:role/apps"
          vpc_config {
            subnet_ids              = ["subnet-1", "subnet-2"]
            endpoint_private_access = true
            endpoint_public_access  = false
          }
        }
    """,
    failing="""
        resource "aws_eks_cluster" "apps" {
          name     = "apps"
          role_arn = "arn:aws:iam::111122223333:role/apps"
          vpc_config {
            subnet_ids              = ["subnet-1", "subnet-2"]
            endpoint_private_access = true
            endpoint_public_access  = true
          }
        }
    """,
)
def eks_no_public_endpoint(resource: Resource, context: Context) -> Answer | None:
    """The API server answers inside the VPC alone; absent means that it is public.

    A list in `public_access_cidrs` does not cure it: the endpoint stays on the internet, guarded by that list alone,
    and both the Security Hub control and the CIS benchmark ask for no public endpoint whatever the list says.
    """
    path = "vpc_config.endpoint_public_access"
    public = truth(resource.get(path), True)
    holds = None if public is None else not public
    return answer(holds, "the endpoint is private", "the endpoint is public", path)


@rule(
    "eks_control_plane_logs",
    severity="medium",
    types=_CLUSTER,
    title="Kubernetes clusters log their control plane",
    fix='set enabled_cluster_log_types = ["api", "audit", "authenticator", "controllerManager", "scheduler"]',
    short="all five enabled_cluster_log_types",
    references=("CKV_AWS_37", "CIS EKS 2.1.1", "FSBP EKS.8"),
    passing="""
        resource "aws_eks_cluster" "apps" {
          name                      = "apps"
          role_arn                  = "arn:aws:iam::111122223333:role/apps"
          enabled_cluster_log_types = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
          vpc_config {
            subnet_ids = ["subnet-1", "subnet-2"]
          }
        }
    """,
    failing="""
        resource "aws_eks_cluster" "apps" {
          name                      = "apps"
          role_arn                  = "arn:aws:iam::111122223333:role/apps"
          enabled_cluster_log_types = ["api"]
          vpc_config {
            subnet_ids = ["subnet-1", "subnet-2"]
          }
        }
    """,
)
def eks_control_plane_logs(resource: Resource, context: Context) -> Answer | None:
    """All five kinds of log are sent to CloudWatch: without them nobody can tell who did what to the cluster.

    The audit log tells who asked; the other four tell who let them in and what came of it. AWS sends none unless told.
    """
    path = "enabled_cluster_log_types"
    types = resource.get(path, [])
    if types is UNKNOWN:
        return answer(None, "", "", path)
    listed = types if isinstance(types, list) else []
    missing = sorted(_LOG_TYPES.difference(one for one in listed if isinstance(one, str)))
    open_places = sum(one is UNKNOWN for one in listed)
    holds = False if len(missing) > open_places else None if missing else True
    return answer(holds, "all logs of the control plane are sent", f"no log of {', '.join(missing)} is sent", path)
