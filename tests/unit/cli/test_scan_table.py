"""The table of a scan, as a person sees it."""

from __future__ import annotations

from dataclasses import replace

from rl_gym.cli.scan_table import summary, table
from rl_gym.iac.scan import scan
from rl_gym.iac.scorecard import painted
from rl_gym.iac.triage import JudgedModule, Suppression, judged

FILES = {
    "b.tf": 'variable "v" {}\nresource "aws_kms_key" "k" {\n  enable_key_rotation = var.v\n}\n',
    "a.tf": 'resource "aws_kms_key" "x" {}\nresource "aws_kms_key" "y" {}\n',
}


def _module(name: str = "infra") -> JudgedModule:
    return judged(scan(None, files=FILES, ruleset="seed18"), name=name)


def _text(*modules: JudgedModule, plain: bool = False) -> list[str]:
    return [painted(line, colour=False) for line in table(modules, width=100, plain=plain)]


def test_files_stand_apart_and_a_fix_is_said_once() -> None:
    lines = _text(_module())
    assert lines[: lines.index("", 9)] == [
        "a.tf:1  medium   kms_rotation  aws_kms_key.x: the key does not rotate",
        "    fix: set enable_key_rotation = true",
        "a.tf:2  medium   kms_rotation  aws_kms_key.y: the key does not rotate",
        "a.tf:1  low      tags          aws_kms_key.x: it carries no tags",
        '    fix: add tags, for example { Name = "...", Environment = "..." }, or default_tags to the provider',
        "a.tf:2  low      tags          aws_kms_key.y: it carries no tags",
        "",
        "b.tf:2  low      tags          aws_kms_key.k: it carries no tags",
        "b.tf:3  unknown  kms_rotation  aws_kms_key.k: enable_key_rotation is not known before apply",
    ]
    assert lines[-1] == "5 findings in 2 files: 2 medium, 3 low; 1 unknown before apply"


def test_one_module_has_the_whole_scorecard_and_several_a_brief_one() -> None:
    assert "✘ kms_rotation medium" in "\n".join(_text(_module()))
    several = _text(_module("one"), judged(scan(""), name="empty"), _module("two"))
    assert [line for line in several if line.startswith("==")] == ["== one", "== two", "== empty  no findings"]
    assert not [line for line in several if line.startswith("✘ kms_rotation")]
    assert len([line for line in several if line.startswith("security")]) == 2


def test_what_is_excused_is_counted_and_not_shown() -> None:
    module = _module()
    kinds = {"kms_rotation": Suppression("waived", "w"), "tags": Suppression("known", "k")}
    lines = _text(replace(module, issues=[replace(one, suppression=kinds[one.rule]) for one in module.issues]))
    assert lines[-1] == "no findings; not shown: 3 waived, 3 known"
    assert not [line for line in lines if line.startswith("a.tf")]


def test_a_scan_that_read_nothing_is_not_clean() -> None:
    broken = judged(scan("{"))
    clean = judged(scan(""))
    assert painted(summary([clean]), colour=False) == "no findings"
    assert painted(summary([clean, broken]), colour=False) == "no findings in what could be read"
    assert painted(summary([broken]), colour=False) == "nothing could be read"


def test_colours_are_of_severities_and_ascii_is_enough() -> None:
    module = _module()
    coloured = "\n".join(painted(line, colour=True) for line in table([module], width=100, plain=False))
    assert "\x1b[33m  medium \x1b[0m" in coloured
    assert "\n".join(_text(module, plain=True)).isascii()
