"""What fixing a configuration does as a whole: what it leaves, what it never breaks, and what it says of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rl_gym.hcl import HclError, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.fixes import FixResult, fix, fixing
from rl_gym.iac.rules import Ruleset, all_rules
from rl_gym.iac.rules.registry import collecting, make_ruleset, rule
from rl_gym.iac.scan import scan
from rl_gym.iac.tasks.parametric import SPLITS, floor, make_episode, render
from rl_gym.iac.verdicts import Answer

BUCKET = 'resource "aws_s3_bucket" "b" {\n  bucket = "data"\n}\n'
KEY = 'resource "aws_kms_key" "k" {\n  description = "k"\n}\n'


def fixed(text: str | Mapping[str, str], *only: str) -> FixResult:
    files = {"main.tf": text} if isinstance(text, str) else text
    return fix(files, ruleset="base+drift", only=only or None)


def reasons(result: FixResult) -> list[str]:
    return [one.reason for one in result.left]


def test_findings_are_fixed_where_they_are() -> None:
    result = fixed(f"# keys\n{KEY}", "kms_rotation")
    assert result.files["main.tf"] == (
        '# keys\nresource "aws_kms_key" "k" {\n  description         = "k"\n  enable_key_rotation = true\n}\n'
    )
    assert [(one.rule, one.address, one.line) for one in result.applied] == [("kms_rotation", "aws_kms_key.k", 2)]
    assert result.changed == ["main.tf"]
    assert result.before.verdict("kms_rotation") == "fail"
    assert result.after.verdict("kms_rotation") == "pass"


def test_a_bucket_gets_its_companions_the_most_severe_first() -> None:
    result = fixed(BUCKET + KEY, "s3_block_public", "s3_versioning", "s3_encryption")
    kinds = [line.split('"')[1] for line in result.files["main.tf"].splitlines() if line.startswith("resource")]
    assert kinds == [
        "aws_s3_bucket",
        "aws_s3_bucket_public_access_block",
        "aws_s3_bucket_server_side_encryption_configuration",
        "aws_s3_bucket_versioning",
        "aws_kms_key",
    ]
    assert result.left == []


def test_a_companion_that_is_wrong_is_mended_in_its_place() -> None:
    block = (
        'resource "aws_s3_bucket_public_access_block" "b" {\n'
        "  bucket              = aws_s3_bucket.b.id\n"
        "  block_public_acls   = true\n"
        "  block_public_policy = false # for now\n"
        "}\n"
    )
    result = fixed(f"{BUCKET}\n{block}", "s3_block_public")
    assert result.files["main.tf"] == f"{BUCKET}\n" + (
        'resource "aws_s3_bucket_public_access_block" "b" {\n'
        "  bucket                  = aws_s3_bucket.b.id\n"
        "  block_public_acls       = true\n"
        "  block_public_policy     = true # for now\n"
        "  ignore_public_acls      = true\n"
        "  restrict_public_buckets = true\n"
        "}\n"
    )


@pytest.mark.parametrize(
    ("meta", "companion"),
    [
        ("count = 2", "  count  = length(aws_s3_bucket.b)\n  bucket = aws_s3_bucket.b[count.index].id\n"),
        ('for_each = toset(["a"])', "  for_each = aws_s3_bucket.b\n  bucket   = each.value.id\n"),
        ("provider = aws.west", "  provider = aws.west\n  bucket   = aws_s3_bucket.b.id\n"),
    ],
)
def test_there_are_as_many_companions_as_resources(meta: str, companion: str) -> None:
    provider = 'provider "aws" {\n  alias = "west"\n}\n\n'
    result = fixed(f'{provider}resource "aws_s3_bucket" "b" {{\n  {meta}\n}}\n', "s3_versioning")
    assert result.after.verdict("s3_versioning") == "pass"
    assert companion in result.files["main.tf"]


def test_what_may_not_be_created_is_fixed_too() -> None:
    text = 'variable "on" {}\n\nresource "aws_s3_bucket" "b" {\n  count = var.on ? 1 : 0\n}\n'
    result = fixed(text, "s3_versioning")
    assert result.before.verdict("s3_versioning") == "fail"
    assert result.after.verdict("s3_versioning") == "unknown"
    assert "count  = length(aws_s3_bucket.b)" in result.files["main.tf"]


def test_a_companion_takes_a_name_that_is_free_in_its_module() -> None:
    other = 'resource "aws_s3_bucket_versioning" "b" {\n  bucket = "another"\n}\n'
    result = fixed({"main.tf": BUCKET, "other.tf": other}, "s3_versioning")
    assert 'resource "aws_s3_bucket_versioning" "b_2" {' in result.files["main.tf"]
    assert result.files["other.tf"] == other
    elsewhere = {"main.tf": 'module "m" {\n  source = "./m"\n}\n', "m/main.tf": BUCKET, "m/other.tf": other}
    assert '"b_2"' in fixed(elsewhere, "s3_versioning").files["m/main.tf"]


@pytest.mark.parametrize(
    "value", ["var.p", "local.p", "!false", "(true)", "var.p ? true : false", '"${var.p}"', "each.value"]
)
def test_a_computed_value_is_left_to_a_person(value: str) -> None:
    text = (
        'variable "p" {\n  default = true\n}\n\nlocals {\n  p = true\n}\n\n'
        f'resource "aws_db_instance" "d" {{\n  for_each = {{ a = true }}\n\n  publicly_accessible = {value}\n}}\n'
    )
    result = fixed(text, "rds_public")
    assert result.changed == []
    assert reasons(result) == [f"publicly_accessible is computed: {value}"]


def test_json_syntax_is_left_to_a_person() -> None:
    result = fixed(
        {"a.tf.json": '{"resource": {"aws_kms_key": {"k": {}}}}', "b.tf": KEY.replace('"k"', '"l"')}, "kms_rotation"
    )
    assert result.changed == ["b.tf"]
    assert reasons(result) == ["a.tf.json is in JSON syntax, which is not edited"]


def test_the_content_of_a_dynamic_block_is_fixed() -> None:
    text = (
        'resource "aws_dynamodb_table" "t" {\n  dynamic "server_side_encryption" {\n    for_each = [1]\n'
        "    content {\n      enabled = false\n    }\n  }\n}\n"
    )
    assert fixed(text, "ddb_encryption").files["main.tf"] == text.replace("false", "true")
    over_nothing = text.replace("[1]", "[]")
    assert fixed(over_nothing, "ddb_encryption").changed == []


def test_what_has_no_fixer_is_left_with_the_hint_of_its_rule() -> None:
    result = fixed(KEY)
    assert [(one.finding.rule, one.reason) for one in result.left] == [
        ("tags", f"a person has to decide: {all_rules()['tags'].fix}")
    ]


def test_line_ends_byte_order_mark_and_a_missing_last_newline_are_kept() -> None:
    text = "\ufeff" + (KEY + BUCKET).rstrip("\n").replace("\n", "\r\n")
    result = fixed(text, "kms_rotation", "s3_versioning").files["main.tf"]
    assert result.startswith("\ufeffresource")
    assert result.endswith("}")
    assert result.count("\n") == result.count("\r\n") > text.count("\r\n")


def test_instances_and_calls_of_one_block_are_fixed_by_one_edit() -> None:
    calls = "".join(f'module "{name}" {{\n  source = "./m"\n}}\n' for name in "ab")
    child = 'resource "aws_kms_key" "k" {\n  count = 2\n}\n'
    result = fixed({"main.tf": calls, "m/main.tf": child}, "kms_rotation")
    assert len(result.applied) == 4
    assert result.files["m/main.tf"].count("enable_key_rotation") == 1


def test_only_what_is_wanted_is_fixed() -> None:
    files = {"a.tf": KEY, "b.tf": KEY.replace('"k"', '"l"')}
    assert fix(files, wanted=lambda finding: finding.filename == "b.tf").changed == ["b.tf"]
    assert fix(files, only=["rds_public"]).changed == []
    kept = fix(files, only=["kms_rotation"], keep={"a.tf": "it is somebody else's"})
    assert kept.changed == ["b.tf"]
    assert reasons(kept) == ["it is somebody else's"]


PUBLIC_ACL = '\nresource "aws_s3_bucket_acl" "a" {\n  bucket = aws_s3_bucket.b.id\n  acl    = "public-read"\n}\n'
PUBLIC_POLICY = """
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Statement = [{ Effect = "Allow", Principal = "*", Action = "s3:GetObject", Resource = "*" }]
  })
}
"""


@pytest.mark.parametrize(
    ("opening", "rule"),
    [
        (BUCKET.replace("}", '  acl = "public-read"\n}'), "s3_public_acl"),
        (BUCKET + PUBLIC_ACL, "s3_public_acl"),
        (BUCKET + PUBLIC_POLICY, "s3_policy_public"),
    ],
    ids=["inline", "acl", "policy"],
)
def test_a_bucket_that_is_meant_to_be_public_is_not_closed(opening: str, rule: str) -> None:
    other = BUCKET.replace('"b"', '"c"')
    files = {"main.tf": opening + other}
    result = fix(files, only=["s3_block_public"], excused=lambda finding: finding.rule == rule)
    assert [one.address for one in result.applied] == ["aws_s3_bucket.c"]
    (reason,) = reasons(result)
    assert reason.startswith(f"{rule} of aws_s3_bucket")
    assert "is excused" in reason


def test_a_volume_of_a_launch_template_is_fixed_there() -> None:
    text = (
        'resource "aws_launch_template" "t" {\n  block_device_mappings {\n    device_name = "/dev/xvda"\n'
        "    ebs {\n      volume_size = 10\n    }\n  }\n}\n\n"
        'resource "aws_instance" "i" {\n  launch_template {\n    id = aws_launch_template.t.id\n  }\n}\n'
    )
    result = fixed(text, "ebs_encrypted", "ec2_imdsv2")
    assert result.left == []
    assert (
        result.files["main.tf"].partition('resource "aws_instance"')[2] == text.partition('resource "aws_instance"')[2]
    )


def test_old_instances_are_not_told_to_be_optimised() -> None:
    text = 'resource "aws_instance" "i" {\n  instance_type = "TYPE"\n}\n'
    assert reasons(fixed(text.replace("TYPE", "t2.micro"), "ec2_ebs_optimized")) == [
        "its type of instance may not offer it"
    ]
    assert fixed(text.replace("TYPE", "t3.micro"), "ec2_ebs_optimized").left == []


def test_a_topic_that_services_publish_to_is_left_to_a_person() -> None:
    topic = 'resource "aws_sns_topic" "t" {\n  name = "t"\n}\n'
    alarm = 'resource "aws_cloudwatch_metric_alarm" "a" {\n  alarm_actions = [aws_sns_topic.t.arn]\n}\n'
    assert fixed(topic, "sns_encrypted").left == []
    assert fixed(topic + alarm, "sns_encrypted").changed == []


def test_a_bucket_with_a_policy_gets_no_second_one() -> None:
    policy = (
        'resource "aws_s3_bucket_policy" "p" {\n  bucket = aws_s3_bucket.b.id\n  policy = "{\\"Statement\\": []}"\n}\n'
    )
    assert fixed(BUCKET, "s3_enforce_tls").left == []
    assert reasons(fixed(BUCKET + policy, "s3_enforce_tls")) == [
        "the bucket has a policy, which a person has to extend"
    ]


DATABASE = 'resource "aws_db_instance" "d" {\n  publicly_accessible = true\n}\n'


def ruleset_with(name: str, kind: str, fails: Callable[[Resource, Context], bool]) -> Ruleset:
    """Rules that fixers mend, and one that fails after an edit of theirs."""
    with collecting() as found:

        @rule(name, severity="low", types=(kind,), title="t", fix="f")
        def odd(resource: Resource, context: Context) -> Answer | None:
            """Against what a fixer does."""
            return Answer("fail" if fails(resource, context) else "pass", "odd")

    return make_ruleset("odd", [all_rules()["kms_rotation"], all_rules()["rds_public"], *found.values()])


def private_database(resource: Resource, context: Context) -> bool:
    """Whether any database is not public."""
    return any(one.type == "aws_db_instance" and not one.get("publicly_accessible") for one in context.all())


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many resources there are in each scan of a fix."""
    found: list[int] = []
    judge = fixing.judge

    def counted(context: Context, ruleset: Ruleset) -> object:
        found.append(len(list(context.all())))
        return judge(context, ruleset)

    monkeypatch.setattr(fixing, "judge", counted)
    return found


def test_an_edit_that_would_raise_another_finding_is_dropped_and_the_others_kept() -> None:
    ruleset = ruleset_with("no_rotation", "aws_kms_key", lambda key, _: bool(key.get("enable_key_rotation")))
    result = fix({"main.tf": KEY + DATABASE}, ruleset=ruleset)
    assert [one.rule for one in result.applied] == ["rds_public"]
    assert reasons(result) == ["the edit would make no_rotation fail for aws_kms_key.k"]
    assert result.files["main.tf"] == KEY + DATABASE.replace("true", "false")


def test_an_edit_is_not_refused_for_the_harm_that_another_does_to_its_resource() -> None:
    ruleset = ruleset_with("no_private_database", "aws_kms_key", private_database)
    result = fix({"main.tf": KEY + DATABASE}, ruleset=ruleset)
    assert [one.rule for one in result.applied] == ["kms_rotation"]
    assert reasons(result) == ["the edit would make no_private_database fail for aws_kms_key.k"]


def test_all_companions_of_a_bucket_are_tried_at_once(scans: list[int]) -> None:
    other = BUCKET.replace('"b"', '"c"').replace("data", "more")
    result = fixed(BUCKET + other + KEY, "s3_block_public", "s3_versioning", "s3_encryption", "s3_lifecycle")
    assert len(result.applied) == 8
    assert scans == [3, 11]


def test_many_edits_that_do_harm_take_few_scans(scans: list[int]) -> None:
    bucket = '\nresource "aws_s3_bucket" "b{}" {{\n  count = var.on ? 1 : 0\n}}\n'
    text = 'variable "on" {}\n' + "".join(bucket.format(number) for number in range(30))
    result = fixed(text, "s3_block_public", "s3_enforce_tls", "s3_versioning")
    # Whether a policy that may not be there grants too much cannot be told: that would be another finding.
    assert {one.finding.rule for one in result.left} == {"s3_enforce_tls"}
    assert len(result.applied) == 60
    assert len(scans) < 10


def test_edits_that_do_harm_unnoticed_are_looked_for_within_a_bound(scans: list[int]) -> None:
    ruleset = ruleset_with("no_private_database", "aws_vpc", private_database)
    databases = "".join(DATABASE.replace('"d"', f'"d{number}"') for number in range(80))
    result = fix({"main.tf": f'{databases}resource "aws_vpc" "v" {{}}\n'}, ruleset=ruleset)
    assert result.changed == []
    assert set(reasons(result)) == {
        "the edit would make no_private_database fail for aws_vpc.v",
        "too many other edits had to be tried one by one",
    }
    assert len(scans) == 1 + fixing._MOST_TRIALS


@pytest.mark.parametrize("odd", ['\\"' * 20_000, "<<E\n#" * 5_000, "(" * 20_000, "a = 1 " * 5_000], ids=len)
def test_comments_of_any_kind_are_no_hindrance(odd: str) -> None:
    text = f'resource "aws_kms_key" "k" {{\n  /*\n{odd}\n*/\n  # {odd}\n}}\n'
    result = fixed(text, "kms_rotation")
    assert result.files["main.tf"] == text.replace("{\n", "{\n  enable_key_rotation = true\n", 1)


def test_many_edits_in_vain_do_not_hinder_the_others() -> None:
    trail = 'resource "aws_cloudtrail" "t{}" {{\n  enable_logging = false\n}}\n'
    text = KEY + "".join(trail.format(number) for number in range(50))
    result = fixed(text, "kms_rotation", "cloudtrail_multi_region")
    assert [one.rule for one in result.applied] == ["kms_rotation"]
    assert set(reasons(result)) == {"an edit of what is written there would not make it pass"}


def test_an_edit_that_waited_for_one_in_vain_is_tried() -> None:
    bucket = 'variable "on" {}\n\nresource "aws_s3_bucket" "b" {\n  count = var.on ? 1 : 0\n}\n'
    result = fixed(bucket, "s3_block_public", "s3_enforce_tls")
    # Whether a policy that may not be there grants too much cannot be told: that would be another finding.
    assert [one.finding.rule for one in result.left] == ["s3_enforce_tls"]
    assert [one.rule for one in result.applied] == ["s3_block_public"]


def test_unreadable_text_raises() -> None:
    with pytest.raises(HclError):
        fix({"main.tf": "resource {"})


def test_the_result_names_its_author() -> None:
    result = fixed({"main.tf": KEY, "same.tf": BUCKET}, "kms_rotation")
    said = result.to_dict()
    assert said["author"] == "fixer"
    assert list(said["files"]) == ["main.tf"]
    assert [one["rule"] for one in said["applied"]] == ["kms_rotation"]
    assert said["left"] == []


def test_the_diff_is_one_that_patch_takes() -> None:
    result = fixed({"m/main.tf": KEY.rstrip("\n")}, "kms_rotation")
    assert result.diff(lambda name: f"/tree/{name}") == (
        "--- a/tree/m/main.tf\n+++ b/tree/m/main.tf\n@@ -1,3 +1,4 @@\n"
        ' resource "aws_kms_key" "k" {\n-  description = "k"\n+  description         = "k"\n'
        "+  enable_key_rotation = true\n }\n\\ No newline at end of file\n"
    )
    assert fixed(BUCKET, "kms_rotation").diff() == ""


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(SPLITS)), st.sampled_from([None, 0.0, 0.3, 0.7]))
def test_fixing_never_lowers_security_nor_breaks_the_layout(
    terraform: str, seed: int, split: str, secure: float | None
) -> None:
    episode = make_episode(seed, split)
    every = frozenset(all_rules())
    text = floor(episode) if secure is None else render(episode, secure, Random(seed), every)
    result = fix({"main.tf": text})
    for required in ((), tuple(episode.data["required"])):
        before, after = (scan(one, required=required) for one in (text, result.files["main.tf"]))
        assert (after.security or 0.0) >= (before.security or 0.0)
        assert all(after.gates[name] >= holds for name, holds in before.gates.items())
    done = subprocess.run(
        [terraform, "fmt", "-"], input=result.files["main.tf"], capture_output=True, text=True, check=True
    )
    assert done.stdout == result.files["main.tf"]
    assert fix(result.files).changed == []


def test_what_an_override_file_may_change_is_left() -> None:
    files = {"main.tf": 'resource "aws_ebs_volume" "v" {\n  size = 1\n}\n', "override.tf": "locals {\n}\n"}
    result = fix(files, only=("ebs_encrypted",))
    assert not result.changed
    assert [left.reason for left in result.left] == ["override files may change what is written here"]
