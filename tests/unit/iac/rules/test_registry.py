"""Rules by name and severity, the rulesets made of them, and rules that come from elsewhere."""

from __future__ import annotations

from collections import Counter

import pytest

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules import RULESETS, Ruleset, all_rules, get_ruleset, rule
from rl_gym.iac.rules.registry import collecting, make_ruleset
from rl_gym.iac.scan import scan
from rl_gym.iac.verdicts import Answer
from rl_gym.infra.errors import NotFoundError

BASE = {
    "critical": """
        s3_public_acl s3_policy_public sg_world_admin sg_open_database_ports rds_public hardcoded_secret iam_wildcard
    """,
    "high": """
        iam_svc_wildcard iam_privilege_escalation s3_encryption rds_encrypted ebs_encrypted s3_block_public ec2_imdsv2
        ddb_encryption redshift_public redshift_encrypted eks_no_public_endpoint efs_encrypted cloudtrail_encrypted
        elb_https_only kms_key_policy iam_passrole_wildcard iam_wildcard_principal lambda_plaintext_secrets
    """,
    "medium": """
        s3_versioning rds_backup rds_deletion_protection kms_rotation vpc_flow_logs ec2_no_public_ip subnet_no_public_ip
        sns_encrypted sqs_encrypted cloudtrail_multi_region cloudtrail_log_validation dynamodb_pitr s3_enforce_tls
        s3_access_logging eks_control_plane_logs elb_access_logs cloudfront_logging
    """,
    "low": "cw_retention tags rds_iam_auth",
}
DRIFT = {"low": "sg_description ec2_ebs_optimized", "medium": "s3_lifecycle rds_multi_az cw_log_kms"}


def severities(*tables: dict[str, str]) -> dict[str, str]:
    return {name: severity for table in tables for severity, names in table.items() for name in names.split()}


def test_every_published_rule_is_there_with_its_severity() -> None:
    base, drift = (get_ruleset(name).rules for name in ("base", "base+drift"))
    assert {one.id: one.severity for one in base}.items() >= severities(BASE).items()
    assert {one.id: one.severity for one in set(drift) - set(base)} == severities(DRIFT)


def test_the_halves_for_the_audit_split_every_family() -> None:
    base, train, heldout = (get_ruleset(name) for name in ("base", "base-train", "base-heldout"))
    assert {one.id for one in train.rules} | {one.id for one in heldout.rules} == {one.id for one in base.rules}
    assert not {one.id for one in train.rules} & {one.id for one in heldout.rules}
    families = [Counter(one.family for one in half.rules) for half in (train, heldout)]
    for family, size in Counter(one.family for one in base.rules).items():
        sizes = sorted(half[family] for half in families)
        assert sizes == [size // 2, size - size // 2]
    assert abs(len(train.rules) - len(heldout.rules)) <= len(families[0])


def test_the_digests_of_rulesets_differ() -> None:
    assert len({get_ruleset(name).digest for name in RULESETS}) == len(RULESETS)


def test_rules_from_elsewhere_stay_apart_from_those_of_rl_gym() -> None:
    with collecting() as found:

        @rule("own_names", severity="low", types=("aws_s3_bucket",), title="Ours begin with acme", fix="rename it")
        def own_names(resource: Resource, context: Context) -> Answer | None:
            """Names tell whose a bucket is."""
            good = str(resource.get("bucket")).startswith("acme-")
            return Answer("pass" if good else "fail", "by its name", "bucket")

    assert list(found) == ["own_names"]
    assert "own_names" not in all_rules()
    ruleset = make_ruleset("base+own", [*get_ruleset("base").rules, *found.values()])
    assert scan('resource "aws_s3_bucket" "b" {\n  bucket = "x"\n}\n', ruleset=ruleset).verdict("own_names") == "fail"
    assert found["own_names"].why == "Names tell whose a bucket is."


def test_a_rule_is_defined_once() -> None:
    def check(resource: Resource, context: Context) -> Answer | None:
        return None

    with collecting():
        define = rule("twice", severity="low", types=("*",), title="t", fix="f")
        define(check)
        with pytest.raises(ValueError, match="'twice' is defined twice"):
            define(check)


def test_a_source_is_asked_for_what_is_not_built_in() -> None:
    class Bundles:
        def ruleset(self, name: str) -> Ruleset:
            if name != "base+bundle:0123456789ab":
                raise NotFoundError(f"there is no bundle {name!r}")
            return make_ruleset(name, get_ruleset("base").rules[:2])

    assert len(get_ruleset("base+bundle:0123456789ab", Bundles()).rules) == 2
    assert get_ruleset("base", Bundles()) is get_ruleset("base")
    with pytest.raises(NotFoundError, match="there is no bundle"):
        get_ruleset("base+bundle:ff", Bundles())
    with pytest.raises(NotFoundError, match="choose one of seed18, base"):
        get_ruleset("base+bundle:ff")
