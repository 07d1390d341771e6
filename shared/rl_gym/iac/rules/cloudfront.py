"""CloudFront: distributions."""

from __future__ import annotations

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.companions import Companion
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Truth, answer, every, given, inside, some

_SOURCE = "aws_cloudwatch_log_delivery_source"
_DELIVERY = "aws_cloudwatch_log_delivery"

_DISTRIBUTION = """
        resource "aws_cloudfront_distribution" "site" {
          enabled = true
          origin {
            domain_name = "origin.example.com"
            origin_id   = "origin"
          }
          default_cache_behavior {
            allowed_methods        = ["GET", "HEAD"]
            cached_methods         = ["GET", "HEAD"]
            target_origin_id       = "origin"
            viewer_protocol_policy = "https-only"
          }
          restrictions {
            geo_restriction {
              restriction_type = "none"
            }
          }
          viewer_certificate {
            cloudfront_default_certificate = true
          }
"""


@rule(
    "cloudfront_logging",
    severity="medium",
    types=("aws_cloudfront_distribution",),
    title="Distributions log who asks for what",
    fix="add a block logging_config with bucket = the domain name of an S3 bucket that receives the logs",
    short="logging_config",
    references=("CKV_AWS_86", "FSBP CloudFront.5"),
    passing=f"""{_DISTRIBUTION}
          logging_config {{
            bucket = "access-logs.s3.amazonaws.com"
          }}
        }}
    """,
    failing=f"""{_DISTRIBUTION.rstrip()}
        }}
    """,
)
def cloudfront_logging(resource: Resource, context: Context) -> Answer | None:
    """Access logs go to a bucket, or by way of CloudWatch: a source that names the distribution, and its delivery.

    A source without a delivery sends nothing. Real-time logs are a sample and do not count.
    """
    inline = [inside(block, given(block, "bucket")) for block in resource.blocks("logging_config")]
    sources = context.companions(resource, _SOURCE, "resource_arn")
    holds = some([*inline, *(_delivers(one, context) for one in sources)])
    at = next((one.resource for one in sources if _delivers(one, context) is False), None)
    bad = "the logs of the source are not delivered" if at else "no access log is written"
    return answer(holds, "access logs are written", bad, "", at)


def _delivers(source: Companion, context: Context) -> Truth:
    kind = source.resource.get("log_type")
    deliveries = context.companions(source.resource, _DELIVERY, "delivery_source_name")
    return every(
        [
            source.certain or None,
            None if kind is UNKNOWN else kind == "ACCESS_LOGS",
            some(one.certain or None for one in deliveries),
        ]
    )
