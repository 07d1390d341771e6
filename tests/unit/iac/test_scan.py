"""The front door: what a report says, what counts, what is refused, and that no text makes it crash."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from rl_gym.iac.report import Finding
from rl_gym.iac.rules import RULESETS, all_rules, get_ruleset
from rl_gym.iac.rules.registry import DRIFT, SEED18, Rule, make_ruleset
from rl_gym.iac.scan import scan
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS, Answer
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError

SAFE_BUCKET = """
resource "aws_s3_bucket" "b" {
  bucket = "data"
  tags   = { Name = "data" }
}
resource "aws_s3_bucket_versioning" "b" {
  bucket = aws_s3_bucket.b.id
  versioning_configuration {
    status = "Enabled"
  }
}
resource "aws_s3_bucket_server_side_encryption_configuration" "b" {
  bucket = aws_s3_bucket.b.id
  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "aws:kms"
    }
  }
}
resource "aws_s3_bucket_public_access_block" "b" {
  bucket                  = aws_s3_bucket.b.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}
resource "aws_s3_bucket_policy" "b" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}
resource "aws_s3_bucket_logging" "b" {
  bucket        = aws_s3_bucket.b.id
  target_bucket = "logs"
  target_prefix = "data/"
}
"""
BARE_BUCKET = 'resource "aws_s3_bucket" "b" {\n  bucket = "data"\n}\n'
SAFE_KEY = 'resource "aws_kms_key" "k" {\n  enable_key_rotation = true\n  tags = { Name = "k" }\n}\n'
PUBLIC_DATABASE = 'resource "aws_db_instance" "d" {\n  engine = "postgres"\n  publicly_accessible = true\n}\n'


def test_a_safe_configuration_is_clean() -> None:
    report = scan(SAFE_BUCKET, required=["aws_s3_bucket"])
    assert report.valid
    assert report.findings == []
    assert report.security == 1.0
    assert report.pass_rate == 1.0
    assert report.gates == {"well_formed": True, "builds_required": True, "no_critical": True}
    assert report.verdict("s3_versioning") == "pass"
    assert report.verdict("rds_public") == "na"


def test_a_finding_names_the_override_file_that_decides() -> None:
    files = {"main.tf": PUBLIC_DATABASE.replace("true", "false"), "override.tf": "\n" + PUBLIC_DATABASE}
    finding = next(one for one in scan(None, files=files).findings if one.rule == "rds_public")
    assert (finding.filename, finding.line) == ("override.tf", 4)


def test_a_finding_says_where_what_and_how() -> None:
    hcl = BARE_BUCKET + PUBLIC_DATABASE
    report = scan(hcl, ruleset="seed18")
    first = report.findings[0]
    assert (first.rule, first.address, first.verdict, first.severity) == (
        "rds_public",
        "aws_db_instance.d",
        "fail",
        "critical",
    )
    assert hcl.splitlines()[first.line - 1].strip() == "publicly_accessible = true"
    assert first.filename == "main.tf"
    assert first.reason == "the database is public"
    assert "publicly_accessible = false" in first.fix


def test_a_finding_points_at_the_companion_that_decides() -> None:
    hcl = SAFE_BUCKET.replace("ignore_public_acls      = true", "ignore_public_acls      = false")
    (finding,) = scan(hcl).findings
    assert hcl.splitlines()[finding.line - 1].split() == ["ignore_public_acls", "=", "false"]


def test_a_finding_names_the_file_of_the_companion() -> None:
    public = 'resource "aws_s3_bucket_acl" "a" {\n  bucket = "data"\n  acl    = "public-read"\n}\n'
    report = scan(None, files={"a.tf": BARE_BUCKET, "b.tf": public})
    finding = next(one for one in report.findings if one.rule == "s3_public_acl")
    assert (finding.address, finding.filename, finding.line) == ("aws_s3_bucket.b", "b.tf", 3)


def test_a_rule_fails_if_one_resource_does() -> None:
    keys = SAFE_KEY + 'variable "v" {}\nresource "aws_kms_key" "l" {\n  enable_key_rotation = %s\n}\n'
    assert scan(keys % "true").verdict("kms_rotation") == "pass"
    assert scan(keys % "var.v").verdict("kms_rotation") == "unknown"
    assert scan(keys % "var.v" + 'resource "aws_kms_key" "m" {}\n').verdict("kms_rotation") == "fail"


def test_a_rule_outside_the_ruleset_has_no_verdict() -> None:
    with pytest.raises(KeyError, match=r"s3_lifecycle.*base"):
        scan(BARE_BUCKET, ruleset="base").verdict("s3_lifecycle")


def test_pass_rate_is_over_rules_that_apply() -> None:
    report = scan(BARE_BUCKET, ruleset="seed18")
    applicable = {rule: verdict for rule, verdict in report.verdicts.items() if verdict != "na"}
    assert applicable == {
        "s3_public_acl": "pass",
        "s3_encryption": "fail",
        "s3_block_public": "fail",
        "s3_versioning": "fail",
        "tags": "fail",
    }
    assert report.pass_rate == 1 / 5


def test_security_is_weighted_over_rules_and_resources() -> None:
    report = scan(BARE_BUCKET, ruleset="seed18")
    weights = SEVERITY_WEIGHTS
    lost = 2 * weights["high"] + weights["medium"] + weights["low"]
    assert report.security == weights["critical"] / (weights["critical"] + lost)


def test_nothing_that_applies_is_no_security() -> None:
    report = scan("locals {\n  x = 1\n}\n")
    assert report.security is None
    assert report.pass_rate == 0.0


def test_unknown_earns_nothing_and_counts() -> None:
    hcl = 'variable "v" {}\nresource "aws_kms_key" "k" {\n  enable_key_rotation = var.v\n  tags = { Name = "k" }\n}\n'
    report = scan(hcl, ruleset="seed18")
    medium, low = SEVERITY_WEIGHTS["medium"], SEVERITY_WEIGHTS["low"]
    assert report.security == low / (medium + low)
    assert [finding.verdict for finding in report.findings] == ["unknown"]


def test_unrelated_safe_resources_do_not_dilute_a_failure() -> None:
    alone = scan(BARE_BUCKET, required=["aws_s3_bucket"])
    crowd = "".join(SAFE_KEY.replace('"k"', f'"k{i}"') for i in range(5))
    assert scan(BARE_BUCKET + crowd, required=["aws_s3_bucket"]).security == alone.security


def test_no_more_resources_count_than_were_asked_for() -> None:
    safe = SAFE_BUCKET.replace('"b"', '"other"').replace("aws_s3_bucket.b", "aws_s3_bucket.other")
    alone = scan(BARE_BUCKET, required=["aws_s3_bucket"])
    beside = scan(BARE_BUCKET + safe, required=["aws_s3_bucket"])
    assert beside.security == alone.security
    assert (beside.lenient_security or 0) > (alone.lenient_security or 0)
    assert (scan(BARE_BUCKET + safe, required=["aws_s3_bucket"] * 2).security or 0) > (alone.security or 0)


def test_a_companion_does_not_make_up_for_a_rule_that_judged_what_was_asked_for() -> None:
    safe = SAFE_BUCKET.replace('"b"', '"other"').replace("aws_s3_bucket.b", "aws_s3_bucket.other")
    log = 'resource "aws_s3_bucket_logging" "own" {{\n  bucket = aws_s3_bucket.b.id\n  target_bucket = {}\n}}\n'
    other, literal = (
        scan(BARE_BUCKET + safe + log.format(target), required=["aws_s3_bucket"]).security
        for target in ("aws_s3_bucket.other.id", '"elsewhere"')
    )
    assert other == literal


@pytest.mark.parametrize("argument", ["depends_on = [aws_kms_key.k]", "tags = { Key = aws_kms_key.k.arn }"])
def test_a_mention_does_not_make_a_companion(argument: str) -> None:
    hcl = BARE_BUCKET.replace("}", f"  {argument}\n}}")
    bare = scan(
        BARE_BUCKET.replace("}", '  tags = { Key = "k" }\n}') if "tags" in argument else BARE_BUCKET,
        required=["aws_s3_bucket"],
    )
    assert scan(hcl + SAFE_KEY, required=["aws_s3_bucket"]).security == bare.security


def test_many_companions_count_for_a_rule_once() -> None:
    group = (
        'resource "aws_security_group" "g" {\n  count = %d\n  name = "g${count.index}"\n  tags = { Name = "g" }\n}\n'
    )
    server = """
resource "aws_instance" "i" {
  ami                    = "a"
  instance_type          = "t3.micro"
  vpc_security_group_ids = aws_security_group.g[*].id
}
"""
    one, many = (scan(server + group % count, required=["aws_instance"]).security for count in (1, 9))
    assert one == many


def test_an_extra_insecure_resource_always_costs() -> None:
    safe = scan(SAFE_BUCKET, required=["aws_s3_bucket"])
    more = scan(SAFE_BUCKET + 'resource "aws_kms_key" "k" {}\n', required=["aws_s3_bucket"])
    assert safe.security is not None
    assert more.security is not None
    assert more.security < safe.security == 1.0


def test_a_companion_counts() -> None:
    encryption = SAFE_BUCKET.replace(
        'sse_algorithm = "aws:kms"', 'sse_algorithm = "aws:kms"\n      kms_master_key_id = aws_kms_key.k.arn'
    )
    bare = encryption.replace('  tags   = { Name = "data" }\n', "")
    without = scan(bare.replace("kms_master_key_id = aws_kms_key.k.arn", ""), required=["aws_s3_bucket"])
    assert without.security is not None
    assert (scan(bare + SAFE_KEY, required=["aws_s3_bucket"]).security or 0) > without.security


def test_without_a_request_every_resource_is_requested() -> None:
    assert scan(SAFE_BUCKET + SAFE_KEY).security == 1.0
    assert (scan(BARE_BUCKET + SAFE_KEY).security or 0) > (scan(BARE_BUCKET).security or 0)


@pytest.mark.parametrize(
    ("name", "hcl"),
    [
        ("no closing brace", 'resource "aws_s3_bucket" "b" {'),
        ("an argument twice", 'resource "aws_s3_bucket" "b" {\n  bucket = "a"\n  bucket = "b"\n}\n'),
        ("two arguments on a line", 'resource "aws_s3_bucket" "b" { bucket = "a" acl = "private" }\n'),
        ("a resource twice", BARE_BUCKET + BARE_BUCKET),
        ("a resource twice, never created", BARE_BUCKET + BARE_BUCKET.replace("{\n", "{\n  count = 0\n")),
        ("a cycle of locals", "locals {\n  a = local.b\n  b = local.a\n}\n"),
        ("a function that fails", 'resource "aws_s3_bucket" "b" {\n  bucket = element([], 0)\n}\n'),
        ("prose", "Here is your bucket.\n"),
        ("too large", "#" * 100_000),
        ("too deep", "locals {\n  a = " + "[" * 5_000 + "]" * 5_000 + "\n}\n"),
        ("a count beyond bounds", BARE_BUCKET.replace("{\n", "{\n  count = 100000\n")),
    ],
)
def test_what_cannot_be_read_is_invalid(name: str, hcl: str) -> None:
    report = scan(hcl, required=["aws_s3_bucket"])
    assert not report.valid
    assert report.errors[0].line >= 1
    assert report.errors[0].message
    assert report.gates == {"well_formed": False, "builds_required": False, "no_critical": True}
    assert set(report.verdicts.values()) == {"unknown"}
    assert (report.security, report.pass_rate) == (0.0, 0.0)


def test_a_missing_final_newline_is_added() -> None:
    assert scan("locals {\n  a = <<EOT\nx\nEOT\n}").valid
    assert scan(BARE_BUCKET.rstrip()).valid


def test_several_files_make_one_module() -> None:
    main, rest = SAFE_BUCKET.split('resource "aws_s3_bucket_versioning"')
    report = scan(main, files={"more.tf": 'resource "aws_s3_bucket_versioning"' + rest})
    assert report.findings == []
    assert scan(None, files={"a.tf": PUBLIC_DATABASE}).findings[0].filename == "a.tf"


def test_variables_decide() -> None:
    hcl = 'variable "public" {}\n' + PUBLIC_DATABASE.replace("= true", "= var.public")
    assert scan(hcl).verdict("rds_public") == "unknown"
    assert scan(hcl, variables={"public": False}).verdict("rds_public") == "pass"
    assert scan(hcl, files={"terraform.tfvars": "public = true\n"}).verdict("rds_public") == "fail"


def test_what_is_asked_for_must_exist() -> None:
    with pytest.raises(NotFoundError, match="seed18, base, base\\+drift"):
        scan(BARE_BUCKET, ruleset="seed19")
    with pytest.raises(UsageError, match="builtin"):
        scan(BARE_BUCKET, engines=["checkhov"])
    with pytest.raises(UsageError, match=r"main\.tf is given twice"):
        scan(BARE_BUCKET, files={"main.tf": BARE_BUCKET})
    with pytest.raises(UsageError, match="nothing to read"):
        scan(None)


def test_a_fault_of_a_rule_is_ours() -> None:
    def broken(resource: object, context: object) -> Answer | None:
        raise ZeroDivisionError

    rule = Rule("broken", "low", ("aws_s3_bucket",), "t", "f", (), 1, broken)
    with pytest.raises(InfrastructureError, match=r"rule broken failed on aws_s3_bucket\.b"):
        scan(BARE_BUCKET, ruleset=make_ruleset("one", [rule]))


def test_rulesets_hold_what_they_are_named_for() -> None:
    names = {name: {rule.id for rule in get_ruleset(name).rules} for name in RULESETS}
    assert names["seed18"] == set(SEED18)
    assert len(SEED18) == 18
    assert names["base"] == set(all_rules()) - set(DRIFT)
    assert names["base+drift"] == set(all_rules())
    assert names["base-train"] | names["base-heldout"] == names["base"]


def test_every_rule_explains_itself() -> None:
    for rule in all_rules().values():
        assert rule.severity in SEVERITY_WEIGHTS
        assert rule.title
        assert rule.fix
        assert rule.check.__doc__
        assert rule.types


def test_a_digest_covers_the_meaning_of_a_rule() -> None:
    rule = all_rules()["rds_public"]
    newer = Rule(
        rule.id, rule.severity, rule.types, rule.title, rule.fix, rule.references, rule.version + 1, rule.check
    )
    milder = Rule(rule.id, "low", rule.types, rule.title, rule.fix, rule.references, rule.version, rule.check)
    digests = {make_ruleset("x", [one]).digest for one in (rule, newer, milder)}
    assert len(digests) == 3


def test_a_report_travels_as_json() -> None:
    found = json.loads(json.dumps(scan(BARE_BUCKET + PUBLIC_DATABASE).to_dict()))
    assert found["valid"] is True
    assert found["ruleset"]["name"] == "base"
    assert found["findings"][0]["rule"] == "rds_public"
    assert set(found["findings"][0]) == set(Finding.__slots__)
    assert json.loads(json.dumps(scan("{").to_dict()))["errors"][0]["line"] == 1


def test_every_file_of_the_corpus_gets_an_answer(data_dir: Path) -> None:
    csv.field_size_limit(sys.maxsize)
    with open(data_dir / "iac_eval.csv", newline="") as stream:
        texts = [row["Reference output"] for row in csv.DictReader(stream)]
    for name in ("checkov_tf.jsonl", "github_tf.jsonl"):
        texts += [hcl for line in (data_dir / name).read_text().splitlines() if (hcl := json.loads(line)["hcl"])]
    reports = [scan(text, ruleset="base+drift") for text in texts]
    assert len(reports) > 1_000
    assert sum(report.valid for report in reports) / len(reports) > 0.95
    silent = [rule for rule in all_rules() if not any(report.verdicts[rule] == "fail" for report in reports)]
    assert silent == []


def test_json_that_is_cut_off_is_told_where_it_ends() -> None:
    (error,) = scan(None, files={"main.tf.json": '{"resource": {'}).errors
    assert (error.filename, error.line, error.column) == ("main.tf.json", 1, 15)


def test_a_rule_is_not_blamed_for_another_of_its_group() -> None:
    rule = 'resource "aws_vpc_security_group_ingress_rule" "{0}" {{\n  security_group_id = "sg-0a1b2c3d"\n'
    rule += '  ip_protocol = "tcp"\n  from_port = {1}\n  to_port = {1}\n  cidr_ipv4 = "0.0.0.0/0"\n}}\n'
    hcl = rule.format("web", 80) + rule.format("ssh", 22)
    found = {name: scan(hcl, ruleset=name).results for name in ("base", "seed18")}
    verdicts = {
        name: {one.address.rpartition(".")[2]: one.verdict for one in results if one.rule == "sg_world_admin"}
        for name, results in found.items()
    }
    assert verdicts["base"] == {"web": "pass", "ssh": "fail"}
    # What stands behind published numbers stays as it was.
    assert verdicts["seed18"] == {"web": "fail", "ssh": "fail"}
