"""A module as what an episode is made of: its text in one, its types, and a reason where it is neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_gym.iac.mining.checkout import find_repositories
from rl_gym.iac.mining.modules import UnfitError, files_of, module_of
from tests.unit.iac.mining.clones import clone, resource

BUCKET = resource("aws_s3_bucket")
TYPES = ("aws_s3_bucket", "aws_vpc", "aws_kms_key", "aws_sns_topic", "aws_sqs_queue", "aws_ebs_volume")


def refused(files: dict[str, str]) -> UnfitError:
    with pytest.raises(UnfitError) as caught:
        module_of(files)
    return caught.value


def test_its_files_are_one_text_main_first(tmp_path: Path) -> None:
    texts = {"a.tf": "\ufeff# a\r\n" + resource("aws_vpc"), "main.tf": BUCKET, "variables.tf": 'variable "x" {}\n'}
    clone(tmp_path, None, texts)
    (repository,) = find_repositories([tmp_path])
    files = files_of(repository, ".")
    assert list(files) == ["main.tf", "a.tf", "variables.tf"]
    module = module_of(files)
    assert module.types == ("aws_s3_bucket", "aws_vpc")
    assert module.text == f"{BUCKET}\n# a\n{resource('aws_vpc')}\n{texts['variables.tf']}"
    assert module.no_reference == ""
    assert len(module.prints) == 4


def test_other_providers_that_go_with_aws_are_not_asked_for() -> None:
    module = module_of({"main.tf": resource("random_id", byte_length="8") + BUCKET})
    assert module.types == ("aws_s3_bucket",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "builds no resource of AWS"),
        ('data "aws_ami" "a" {}\n', "builds no resource of AWS"),
        (resource("google_storage_bucket"), "builds no resource of AWS"),
        (BUCKET + resource("google_storage_bucket"), "resource types that the AWS provider lacks"),
        (resource("aws_bucket_of_water"), "resource types that the AWS provider lacks"),
        ("".join(map(resource, TYPES)), "more than 5 types"),
        ('resource "aws_s3_bucket" "b" {', "not well formed"),
        ("\x00", "not well formed"),
        ("[" * 50_000, "not well formed"),
        (BUCKET + BUCKET, "does not evaluate"),
        (resource("aws_s3_bucket", bucket='"${local.a}"') + "locals {\n  a = local.a\n}\n", "does not evaluate"),
        (resource("aws_s3_bucket", x='"AKIAABCDEFGHIJKLMNOP"'), "holds a credential"),
    ],
)
def test_what_makes_no_episode_says_why(text: str, reason: str) -> None:
    assert str(refused({"main.tf": text})) == reason


def test_a_mistake_is_told_by_file_and_line() -> None:
    error = refused({"main.tf": BUCKET, "other.tf": "\n\nresource {{\n"})
    assert error.detail.startswith("other.tf:3: ")


def test_five_types_are_not_too_many() -> None:
    assert module_of({"main.tf": "".join(map(resource, TYPES[:5]))}).types == TYPES[:5]


def test_a_long_module_has_no_reference() -> None:
    text = "".join(resource("aws_s3_bucket", f"b{index}") for index in range(10))
    assert module_of({"main.tf": text}, longest=len(text)).no_reference == ""
    assert module_of({"main.tf": text}, longest=len(text) - 1).no_reference == "too long"


def test_what_is_built_in_another_folder_is_no_reference() -> None:
    call = 'module "a" {\n  source = "../a"\n}\n'
    assert module_of({"main.tf": BUCKET + call}).no_reference == "calls a module of its repository"
    assert module_of({"main.tf": BUCKET + call.replace("../a", "ada/a/aws")}).no_reference == ""


def test_a_module_that_needs_what_is_elsewhere_is_not_whole() -> None:
    assert module_of({"main.tf": BUCKET}).whole
    for other in ('"${var.elsewhere}"', '"${aws_vpc.elsewhere.id}"'):
        assert not module_of({"main.tf": resource("aws_s3_bucket", bucket=other)}).whole
    assert not module_of({"main.tf": resource("aws_s3_bucket", colour='"red"')}).whole


def test_names_do_not_change_the_content() -> None:
    one = module_of({"main.tf": resource("aws_ebs_volume", "one", size="8", encrypted="true")})
    other = module_of({"main.tf": "# other\n" + resource("aws_ebs_volume", "other", encrypted="true", size="8")})
    third = module_of({"main.tf": resource("aws_ebs_volume", "other", encrypted="false", size="8")})
    assert one.canonical == other.canonical != third.canonical


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("main.tf.json", "{}", "written in JSON"),
        ("main_override.tf", BUCKET, "override files"),
        ("large.tf", "#" * 600_000, "unreadable file"),
    ],
)
def test_files_that_are_not_joined_say_why(tmp_path: Path, name: str, text: str, reason: str) -> None:
    clone(tmp_path, None, {"a/main.tf": BUCKET, f"a/{name}": text})
    (repository,) = find_repositories([tmp_path])
    with pytest.raises(UnfitError, match=reason):
        files_of(repository, "a")
