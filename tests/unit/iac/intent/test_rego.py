"""Policies: what their verdict is, in which syntax, and whose fault it is when one fails."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from rl_gym.iac.intent.rego import MOST_BYTES, Policies, PolicyError, policy_passes
from rl_gym.infra.errors import InfrastructureError

pytest.importorskip("regorus", reason="regorus is not installed: pip install 'rl-gym[opa]'")

OLD = "package p\ndefault allow = false\nallow { input.size == 8 }\n"
NEW = "package p\nimport rego.v1\ndefault allow := false\nallow if { input.size == 8 }\n"


@pytest.mark.parametrize("text", [OLD, NEW])
def test_both_syntaxes_are_read(text: str) -> None:
    assert policy_passes(text, {"size": 8})
    assert not policy_passes(text, {"size": 9})


def test_every_rule_that_is_false_by_default_has_to_hold() -> None:
    text = (
        "package p\ndefault is_valid_key = false\ndefault is_valid_disk = false\n"
        "is_valid_key { input.key }\nis_valid_disk { input.disk }\nhelper { input.other }\n"
    )
    assert policy_passes(text, {"key": True, "disk": True})
    assert not policy_passes(text, {"key": True})


def test_neither_comments_nor_strings_nor_functions_are_verdicts() -> None:
    text = (
        OLD + '# default a = false\nb["default c = false"] { true }\ndefault f(x) = false\nf(x) { x }\ndefault n = 3\n'
    )
    assert policy_passes(text, {"size": 8})


def test_a_value_that_is_not_true_does_not_pass() -> None:
    assert not policy_passes('package p\ndefault ok = false\nok = "yes" { true }\n', {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("package p\nallow {", "cannot be read as Rego"),
        ("package p\nallow { true }\n", "no rule of the policy is false by default"),
        ("package p\ndefault a = false\na { count(null) == 1 }\n", "the policy failed"),
        ("package p\n" + "#" * MOST_BYTES, "bytes"),
    ],
)
def test_what_is_wrong_with_a_policy_is_no_ones_completion(text: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message) as caught:
        policy_passes(text, {})
    assert isinstance(caught.value, InfrastructureError)
    assert "\n" not in str(caught.value)
    assert "<unknown>" not in str(caught.value)


def test_what_fails_over_a_value_of_the_document_does_not_hold() -> None:
    text = "package p\ndefault a = false\na { count(input.size) == 1 }\n"
    assert policy_passes(text, {"size": ["s"]})
    assert not policy_passes(text, {"size": None})


def test_a_panic_of_the_engine_is_a_fault_of_the_policy() -> None:
    policies = Policies({"p.rego": OLD})
    caught: list[BaseException] = []

    def elsewhere() -> None:
        try:
            list(policies.evaluate("{}", ["data.p.allow"]))
        except BaseException as error:
            caught.append(error)

    # An engine panics in a thread that did not make it: that is why each thread keeps its own.
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert [type(error) for error in caught] == [PolicyError]


def test_every_thread_judges() -> None:
    found: list[bool] = []
    threads = [threading.Thread(target=lambda: found.append(policy_passes(OLD, {"size": 8}))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_without_regorus_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regorus", None)
    with pytest.raises(InfrastructureError, match=r"pip install 'rl-gym\[opa\]'"):
        policy_passes(OLD + "# another\n", {})


def test_modules_in_different_syntaxes_see_each_other() -> None:
    texts = {
        "lib.rego": "package lib\nimport rego.v1\nbig(x) if x > 8\n",
        "main.rego": 'package main\nimport data.lib\ndeny[m] { lib.big(input.size); m := "too big" }\n',
    }
    policies = Policies(texts)
    assert [rule.name for rule in policies.rules] == ["data.main.deny"]
    values: list[Any] = list(policies.evaluate('{"size": 9}', ["data.main.deny"]))
    assert values == [["too big"]]
