"""The layout is `terraform fmt`'s; `test_terraform_validate` asks the binary itself."""

from __future__ import annotations

from rl_gym.iac.tasks.hcl_writer import Attr, Block, array, policy, quote, tags, write


def test_equals_signs_align_within_a_run_and_a_longer_value_breaks_the_run() -> None:
    body: list[Attr | Block | None] = [
        Attr("name", quote("a")),
        Attr("description", quote("b")),
        Attr("policy", "jsonencode({\n  Version = 1\n})"),
        Attr("path", quote("/")),
    ]
    assert write([Block("resource", ("aws_iam_policy", "x"), body)]) == (
        'resource "aws_iam_policy" "x" {\n'
        '  name        = "a"\n'
        '  description = "b"\n'
        "  policy = jsonencode({\n"
        "    Version = 1\n"
        "  })\n"
        '  path = "/"\n'
        "}\n"
    )


def test_nested_blocks_follow_a_blank_line_and_nothing_is_written_for_none() -> None:
    inner = Block("metadata_options", (), [Attr("http_tokens", quote("required"))])
    assert write([Block("a", (), [None, Attr("x", "1"), None, inner])]) == (
        'a {\n  x = 1\n\n  metadata_options {\n    http_tokens = "required"\n  }\n}\n'
    )
    assert write([Block("a", (), [inner])]).startswith("a {\n  metadata_options {\n")


def test_an_empty_block_closes_on_its_line_and_blocks_stand_apart() -> None:
    assert write([Block("filter"), Block("filter")]) == "filter {}\n\nfilter {}\n"


def test_strings_are_escaped() -> None:
    assert quote('a"b\\c') == '"a\\"b\\\\c"'
    assert array(["a", "b"]) == '["a", "b"]'
    assert tags(Env="prod", Team="x") == Attr("tags", '{ Env = "prod", Team = "x" }')


def test_a_policy_holds_a_statement_whose_equals_signs_align() -> None:
    written = policy(Attr("Effect", quote("Deny")), Attr("Principal", quote("*")))
    assert write([Block("a", (), [Attr("bucket", quote("b")), written])]) == (
        "a {\n"
        '  bucket = "b"\n'
        "  policy = jsonencode({\n"
        '    Version = "2012-10-17"\n'
        "    Statement = [{\n"
        '      Effect    = "Deny"\n'
        '      Principal = "*"\n'
        "    }]\n"
        "  })\n"
        "}\n"
    )
