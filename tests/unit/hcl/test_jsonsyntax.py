"""The JSON syntax gives the same tree as the native one, with places, and refuses what Terraform refuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from rl_gym.hcl import HclLimitError, HclSyntaxError, Limits, parse
from rl_gym.hcl.ast import Template
from tests.unit.hcl.trees import outline, show


def lines(text: str, filename: str = "main.tf.json") -> list[str]:
    return outline(parse(text, filename).body)


def test_the_same_tree_as_the_native_syntax() -> None:
    native = parse(
        """
        variable "size" {
          default = 3
          type    = list(string)
        }
        locals {
          name = "x-${var.size}"
          half = 0.5
        }
        resource "aws_instance" "a" {
          count      = 2
          ami        = local.name
          tags       = { Name = "a", (local.name) = null }
          depends_on = [aws_vpc.b]
          provider   = aws.west
          lifecycle {
            ignore_changes = [tags]
            precondition {
              condition = true
            }
          }
          dynamic "disk" {
            for_each = var.size
            iterator = d
            content {
              size = d.value
            }
          }
        }
        """
    )
    text = json.dumps(
        {
            "variable": {"size": {"default": 3, "type": "list(string)"}},
            "locals": {"name": "x-${var.size}", "half": 0.5},
            "resource": {
                "aws_instance": {
                    "a": {
                        "count": 2,
                        "ami": "${local.name}",
                        "tags": {"Name": "a", "${local.name}": None},
                        "depends_on": ["aws_vpc.b"],
                        "provider": "aws.west",
                        "lifecycle": {"ignore_changes": ["tags"], "precondition": {"condition": True}},
                        "dynamic": {
                            "disk": {"for_each": "${var.size}", "iterator": "d", "content": {"size": "${d.value}"}}
                        },
                    }
                }
            },
        },
        indent=2,
    )
    # A template that is one interpolation alone stands for the expression itself; brackets keep it apart here.
    unwrapped = [re.sub(r"<([^ <>]+)>", r"\1", line) for line in lines(text)]
    assert unwrapped == [line.replace("(parens local.name)", "local.name") for line in outline(native.body)]


def test_labels_and_lists_make_blocks() -> None:
    assert lines(
        '{"output": {"a": {"value": 1}, "b": [{"value": 2}, {"value": 3}]}, "locals": [{"c": 4}, {"d": 5}]}'
    ) == [
        "output 'a'",
        "  value = 1",
        "output 'b'",
        "  value = 2",
        "output 'b'",
        "  value = 3",
        "locals",
        "  c = 4",
        "locals",
        "  d = 5",
    ]
    assert lines('[{"resource": [{"a": {"b": {}}}, {"a": {"c": {}}}]}, {"resource": {"a": {"d": null}}}]') == [
        "resource 'a' 'b'",
        "resource 'a' 'c'",
    ]


def test_blocks_of_a_provider_stay_arguments() -> None:
    text = '{"resource": {"aws_x": {"y": {"//": "why", "rule": [{"a": "${b}"}, {"a": 1}], "name": "n"}}}}'
    assert lines(text) == ["resource 'aws_x' 'y'", "  rule = [{'a'=<b>} {'a'=1}]", "  name = 'n'"]


def test_strings_are_templates_where_terraform_takes_them_for_one() -> None:
    text = r'{"locals": {"a": "$${x} \" \\ \u0041 é %{ if b }c%{ endif }", "d": "a\\n", "e": "a\nb"}}'
    assert lines(text) == [
        "locals",
        '  a = <|${x} " \\ A é | (%if b <|c|> <>)>',
        "  d = 'a\\\\n'",
        "  e = 'a\\nb'",
    ]
    trimmed = r'{"locals": {"a": "x ${b ~}\n   y\n   ${~ c}", "d": "${b ~}  \n\n  z"}}'
    # A `~` trims no further than the line, as `terraform console` shows.
    assert lines(trimmed) == ["locals", "  a = <|x | b |   y\n| c>", "  d = <b |\n  z|>"]
    verbatim = '{"variable": {"a": {"default": {"${k}": "${v}"}, "description": "${d}"}}}'
    assert lines(verbatim) == ["variable 'a'", "  default = {'${k}'='${v}'}", "  description = '${d}'"]


def test_a_file_of_variable_values() -> None:
    text = '{"region": "${not a template}", "sizes": [1, 2.5, -3, -0.5, 1e2, true, null]}'
    assert lines(text, "x.auto.tfvars.json") == [
        "region = '${not a template}'",
        "sizes = [1 2.5 -3 -0.5 100 True None]",
    ]


def test_where_things_stand() -> None:
    text = '{\n  "locals": {\n    "a": "x ${b +\\u0020c}",\n    "d": ["${e}", {"f": "g${h}"}]\n  }\n}\n'
    file = parse(text, "x.tf.json")
    block = file.body.blocks[0]
    assert (block.line, block.column) == (2, 3)
    assert text[block.end - 1] == "}"
    first, second = block.body.attributes.values()
    assert (first.line, first.column, text[first.start : first.end]) == (3, 5, '"a": "x ${b +\\u0020c}"')
    assert isinstance(first.expression, Template)
    # The string has an escape, so all of it stands where it begins.
    assert [part.column for part in first.expression.parts if not isinstance(part, str)] == [10]
    assert show(second.expression) == "[<e> {'f'=<|g| h>}]"
    assert (second.line, second.expression.column) == (4, 10)
    items = second.expression.items  # type: ignore[union-attr]
    assert (items[0].line, items[0].column, items[0].parts[0].column) == (4, 12, 14)


MISTAKES = [
    ("", 1, 1, "expected a JSON value, found the end of the file"),
    ("{\n", 2, 1, "expected a name in double quotes, found the end of the file"),
    ('{"locals": {"a": 1,}}', 1, 20, "expected a name in double quotes"),
    ('{"locals": {"a" 1}}', 1, 17, 'expected ":" after this name, found "1"'),
    ('{"locals": {"a": 1 "b": 2}}', 1, 20, '"," or "}" in the object opened on line 1'),
    ('{"locals": {"a": [1 2]}}', 1, 21, '"," or "]" in the list opened on line 1, found "2"'),
    ('{"locals": {"a": 01}}', 1, 18, "expected a JSON value"),
    ('{"locals": {"a": tru}}', 1, 18, 'expected a JSON value, found "tru"'),
    ('{"locals": {"a": "x\ny"}}', 1, 18, "this string is not closed, or holds an escape or character"),
    ('{"locals": {"a": "\\x"}}', 1, 18, "this string is not closed, or holds an escape or character"),
    ('{"locals": {"a": 1, "a": 2}}', 1, 21, "the argument a is set twice; it was set on line 1"),
    ('{"locals": {"a": {"b": 1, "b": 2}}}', 1, 27, 'the name "b" stands twice in this object'),
    ('{"locals": {\n"a": "x ${b c}"}}', 2, 13, '"}" to close the sequence opened on line 2, found "c"'),
    ('{"locals": {"a": "\\n${b c}"}}', 1, 18, "to close the sequence"),
    ('{"output": {"a": {"value": 1, "depends_on": ["b c"]}}}', 1, 49, "expected the end of the expression"),
    ('{"locals": 1}', 1, 12, "expected an object, found"),
    ('{"bucket": {}}', 1, 2, 'expected one of check, data, ephemeral'),
    ("{} {}", 1, 4, "expected the end of the file after the value"),
    ("\ufeff{}", 1, 1, "found the character U+FEFF"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "message"), MISTAKES, ids=[repr(m[0]) for m in MISTAKES])
def test_a_mistake_is_told_with_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(HclSyntaxError, match=re.escape(message)) as caught:
        parse(text, "dir/x.tf.json")
    assert (caught.value.filename, caught.value.line, caught.value.column) == ("dir/x.tf.json", line, column)


BOUNDS = {
    "size": '{"locals": {"a": "' + "x" * 70_000 + '"}}',
    "lists": '{"locals": {"a": ' + "[" * 200,
    "objects": '{"a":' * 200,
    "values": '{"locals": {"a": [' + "1," * 10_000,
    "interpolations": '{"locals": {"a": "' + "${b}" * 10_000 + '"}}',
    "interpolations of many strings": '{"locals": {"a": [' + '"${b + 1 + 1 + 1}",' * 3_000 + "1]}}",
    "a nest in a string": '{"locals": {"a": "${' + "[" * 200 + '"}}',
    "a chain in a string": '{"locals": {"a": "${b' + " + 1" * 300 + '}"}}',
    "a chain in an expression": '{"output": {"a": {"depends_on": ["b' + ".c" * 300 + '"]}}}',
    "a number": '{"locals": {"a": 1e999}}',
}


@pytest.mark.parametrize("text", BOUNDS.values(), ids=list(BOUNDS))
def test_bounds(text: str) -> None:
    with pytest.raises(HclLimitError):
        parse(text, "x.tf.json")


def test_a_chain_is_counted_for_each_string_alone() -> None:
    text = '{"locals": {"a": [' + ", ".join(['"${b + 1}"'] * 200) + "]}}"
    assert len(parse(text, "x.tf.json", Limits(max_depth=8)).body.blocks) == 1


ACCEPTED = [
    "{}", "[]", '[{"locals": {"a": 1}}, {"output": {"x": {"value": "${local.a}"}}}]', '{"locals": null}',
    '{"locals": {"a": 1}, "locals": {"b": 2}}', '{"//": "c", "locals": {"//": "x", "a": 1}}',
    '{"locals": {"a": -1.5e3}}', '{"locals": {"a": "\\ud83d\\ude00 \\ud83d \\/ \\b"}}', '{"output": {"x": null}}',
    '{"output": [{"x": [{"value": 1}]}]}', '{"variable": {"x": {"default": "${y}", "type": "string"}}}',
    '{"locals": {"a": {"(x)": 2, "${1 + 1}": 3}}}',
    '{"resource": {"terraform_data": {"b": {"input": "$${x}", "lifecycle": {"ignore_changes": ["input"]}}}}}',
]  # fmt: skip
REFUSED = [
    "", "null", "1", '"x"', "{} {}", "{}x", "\ufeff{}", "\x00{}", '{"foo": {}}', '{"locals": {"a": 1, "a": 2}}',
    '{"locals": {"a": "${"}}', '{"locals": {"a": "%{ if true }x"}}', '{"locals": {"a": {"b": 1, "b": 2}}}',
    '{"locals": {"a": 01}}', '{"locals": {"a": 1.}}', '{"locals": {"a": +1}}', '{"locals": {"a": "\\x"}}',
    '{"locals": {"a": "x\ty"}}', '{"locals": {"a": [1,]}}', '{"locals": {"a": 1,}}', '{"locals": {"a": true1}}',
    '{"variable": {"x": {"type": "string x"}}}', '{"output": {"x": {"value": 1, "depends_on": ["${local.b}"]}}}',
]  # fmt: skip


def test_terraform_agrees(terraform: str, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    for text in ACCEPTED + REFUSED:
        (tmp_path / "main.tf.json").write_bytes(text.encode())
        command = [terraform, "validate", "-json"]
        said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False).stdout
        assert json.loads(said)["valid"] == (text in ACCEPTED), text
        try:
            parse(text, "main.tf.json")
        except HclSyntaxError:
            assert text in REFUSED
        else:
            assert text in ACCEPTED
