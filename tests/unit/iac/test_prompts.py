"""The prompt, and every way in which an answer is written around its Terraform."""

from __future__ import annotations

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from rl_gym.iac.prompts import parse_completion, prompt, repair_prompt

BUCKET = 'resource "aws_s3_bucket" "a" {\n  bucket = "a"\n}\n'
LOOKUP = 'data "aws_ami" "a" {\n  owners = ["self"]\n}\n'
KEY = 'resource "aws_kms_key" "k" {\n  description = "k"\n}\n'


def test_the_prompt_holds_request_and_types_and_nothing_that_changes() -> None:
    text = prompt(" a bucket, please ", ["aws_s3_bucket", "aws_kms_key"])
    assert "Request: a bucket, please\n" in text
    assert "Required: aws_s3_bucket, aws_kms_key\n" in text
    assert text == prompt("a bucket, please", ("aws_s3_bucket", "aws_kms_key"))
    assert "Required" not in prompt("a bucket, please")


@pytest.mark.parametrize(
    ("name", "completion", "expected"),
    [
        ("bare", BUCKET, BUCKET),
        ("no newline at the end", BUCKET.rstrip("\n"), BUCKET),
        ("hcl fence", f"```hcl\n{BUCKET}```\n", BUCKET),
        ("terraform fence with prose", f"Sure:\n\n```terraform\n{BUCKET}```\nIt is private.", BUCKET),
        ("upper-case tag with a title", f'```HCL title="main.tf"\n{BUCKET}```', BUCKET),
        ("tilde fence", f"~~~tf\n{BUCKET}~~~\n", BUCKET),
        ("long fence", f"````hcl\n{BUCKET}````\n", BUCKET),
        ("untagged fence", f"```\n{BUCKET}```", BUCKET),
        ("carriage returns", f"```hcl\r\n{BUCKET}```\r\n".replace("\n", "\r\n"), BUCKET),
        ("two files", f"main.tf:\n```hcl\n{BUCKET}```\nkeys.tf:\n```hcl\n{KEY}```\n", f"{BUCKET}\n{KEY}"),
        ("a shell block between", f"```hcl\n{BUCKET}```\n```bash\nterraform apply\n```\n", BUCKET),
        ("an untagged shell block", f"```hcl\n{BUCKET}```\n```\nterraform apply\n```\n", BUCKET),
        ("bare, prose before", f"Here is what you asked for:\n\n{BUCKET}", BUCKET),
        ("bare, prose after", f"{BUCKET}\nThis bucket is private. Enjoy!\n", BUCKET),
        ("a data source alone", LOOKUP, LOOKUP),
    ],
)  # fmt: skip
def test_hcl_is_found_and_prose_dropped(name: str, completion: str, expected: str) -> None:
    assert parse_completion(completion) == expected, name


@pytest.mark.parametrize(
    "completion",
    [
        "",
        " \n\n",
        "I would rather not.",
        "```\n```",
        "```hcl\n\n```",
        "```bash\nterraform init\n```",
        "a resource block",
    ],
)
def test_no_hcl_at_all_is_none(completion: str) -> None:
    assert parse_completion(completion) is None


@pytest.mark.parametrize(
    "completion",
    [
        pytest.param(BUCKET + KEY[:-2], id="brace left open"),
        pytest.param(f"```hcl\n{BUCKET}", id="fence left open"),
        pytest.param(f"```hcl\n{BUCKET}```\n```hcl\n{KEY}", id="second fence left open"),
        pytest.param(f"```\n{BUCKET}", id="untagged fence left open"),
        pytest.param(f'{BUCKET}\nresource "aws_kms_key', id="cut off in a label"),
        pytest.param(f"{BUCKET}\nlocals {{", id="cut off after a brace"),
        pytest.param(f'{BUCKET}\nvariable "x"', id="cut off before a brace"),
    ],
)
def test_what_was_cut_off_does_not_pass_for_whole(completion: str) -> None:
    found = parse_completion(completion)
    assert found is not None
    whole = [BUCKET, KEY, f"{BUCKET}\n{KEY}"]
    assert found not in whole


def test_a_tagged_fence_goes_before_untagged_ones() -> None:
    assert parse_completion(f"```\n{KEY}```\n```hcl\n{BUCKET}```") == BUCKET


def test_text_that_could_be_hcl_is_never_dropped() -> None:
    hidden = 'x = 1\n# resource\nresource "aws_s3_bucket_acl" "a" {\n  acl = "public-read"\n}\n'
    assert parse_completion(f"{BUCKET}{hidden}") == f"{BUCKET}{hidden}"
    assert parse_completion(f"x = {{}}\n{BUCKET}") == f"x = {{}}\n{BUCKET}"


@seed(1)
@settings(max_examples=300, deadline=None, database=None)
@given(st.text(alphabet=st.sampled_from('`~{}\n "=abcrésource\\#\r\t'), max_size=200))
def test_any_text_is_answered(text: str) -> None:
    found = parse_completion(text)
    assert found is None or found.endswith("\n")


def test_long_lines_of_fence_marks_do_not_hang() -> None:
    assert parse_completion("`" * 60_000) is None
    assert parse_completion("```\n" * 20_000) is None


def test_a_repair_prompt_keeps_the_answer_whole_and_cuts_the_problems() -> None:
    answer = BUCKET * 500
    problems = [f"rule_{number}: something is wrong here" for number in range(500)]
    text = repair_prompt("a bucket", ["aws_s3_bucket"], answer, problems, most_characters=400)
    assert answer in text
    assert "rule_0:" in text
    assert "rule_400:" not in text
    shown = text.count("something is wrong")
    assert f"- and {500 - shown} more\n" in text
    assert len(text) < len(answer) + 400 + 400


def test_a_repair_prompt_shows_one_problem_however_long() -> None:
    text = repair_prompt("a bucket", [], BUCKET, ["x" * 5000], most_characters=100)
    assert f"- {'x' * 98}\n" in text
    assert "more" not in text.rpartition("Problems:")[2]
