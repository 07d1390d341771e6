"""An organisation's own rules: what a folder of them gives, and how a mistake in one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_gym.iac.rules import all_rules, get_ruleset
from rl_gym.iac.scan import scan, score
from rl_gym.iac.triage.own_rules import read_own_rules, with_own_rules
from rl_gym.infra.errors import UsageError

RULE = '''
from rl_gym.iac.rules import rule
from rl_gym.iac.verdicts import answer

@rule("acme_owner", severity="high", types=("aws_kms_key",), title="Keys have an owner", fix="add the tag Owner")
def acme_owner(resource, context):
    """A key that belongs to nobody is rotated by nobody."""
    return answer("Owner" in (resource.get("tags") or {}), "it has an owner", "it has no owner", "tags")
'''
HCL = 'resource "aws_kms_key" "k" {\n  tags = { Name = "k" }\n}\n'


@pytest.fixture(autouse=True)
def _at_the_top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _folder(tmp_path: Path, **files: str) -> str:
    (tmp_path / "rules").mkdir(exist_ok=True)
    for name, text in files.items():
        (tmp_path / "rules" / f"{name}.py").write_text(text)
    return "rules"


def _scan(folder: str) -> list[tuple[str, str, int]]:
    ruleset = with_own_rules(get_ruleset("seed18"), read_own_rules(folder))
    return [(one.rule, one.reason, one.line) for one in scan(HCL, ruleset=ruleset).findings]


def test_own_rules_judge_beside_the_others(tmp_path: Path) -> None:
    folder = _folder(tmp_path, owner=RULE)
    assert ("acme_owner", "it has no owner", 2) in _scan(folder)
    ruleset = with_own_rules(get_ruleset("seed18"), read_own_rules(folder))
    assert ruleset.name == "seed18+own"
    assert ruleset.digest != get_ruleset("seed18").digest
    assert "acme_owner" in ruleset


def test_no_ruleset_and_no_reward_knows_them(tmp_path: Path) -> None:
    before = score(HCL).reward
    read_own_rules(_folder(tmp_path, owner=RULE))
    assert "acme_owner" not in all_rules()
    assert score(HCL).reward == before


def test_files_may_import_from_one_another_and_nothing_is_written(tmp_path: Path) -> None:
    shared = RULE.replace('("Owner" in (resource.get("tags") or {})', "(has_owner(resource)")
    folder = _folder(
        tmp_path,
        _tags='def has_owner(resource):\n    return "Owner" in (resource.get("tags") or {})\n',
        owner="from ._tags import has_owner\n" + shared,
    )
    assert ("acme_owner", "it has no owner", 2) in _scan(folder)
    assert {path.name for path in (tmp_path / "rules").iterdir()} == {"_tags.py", "owner.py"}


def test_a_folder_is_read_as_it_is_now(tmp_path: Path) -> None:
    _scan(_folder(tmp_path, owner=RULE))
    assert ("acme_owner", "nobody's", 2) in _scan(_folder(tmp_path, owner=RULE.replace("it has no owner", "nobody's")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:\n", "rules/owner.py:1: invalid syntax"),
        ("\nimport nowhere\n", "rules/owner.py:2: ModuleNotFoundError: No module named 'nowhere'"),
        ("x = 1 / 0\n", "rules/owner.py:1: ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)\n", "rules/owner.py:1: SystemExit: 0"),
        (RULE.replace("acme_owner", "rds_public"), "rule 'rds_public': one of rl-gym's own has this name"),
        (RULE.replace('"high"', '"dire"'), "rule 'acme_owner': its severity is none of critical, high, medium, low"),
        (RULE.replace('("aws_kms_key",)', '"aws_kms_key"'), "rule 'acme_owner': its types must be a list"),
        (RULE + RULE, "rules/owner.py:13: ValueError: rule 'acme_owner' is defined twice"),
    ],
)
def test_a_file_that_gives_no_rules_is_told(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_own_rules(_folder(tmp_path, owner=text))
    assert message in str(refused.value)
    assert str(refused.value).startswith("rules/owner.py:")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("resource.nothing()", "rules/owner.py:8: rule acme_owner failed on aws_kms_key.k: AttributeError:"),
        ("True", "rules/owner.py:5: rule acme_owner must give None, or an Answer"),
        ('answer(True, "a", "b")._replace(1)', "rules/owner.py:8: rule acme_owner failed on aws_kms_key.k"),
    ],
)
def test_a_rule_that_fails_is_its_author_s_mistake(tmp_path: Path, body: str, message: str) -> None:
    text = RULE[: RULE.index("    return")] + f"    return {body}\n"
    with pytest.raises(UsageError) as refused:
        _scan(_folder(tmp_path, owner=text))
    assert message in str(refused.value)


def test_a_folder_without_rules_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rules: there is no such folder of rules"):
        read_own_rules("rules")
    _folder(tmp_path, _private="")
    with pytest.raises(UsageError, match="with rules in this folder"):
        read_own_rules("rules")
    _folder(tmp_path, without="x = 1\n")
    with pytest.raises(UsageError, match=r"^rules: no file in this folder defines a rule"):
        read_own_rules("rules")
