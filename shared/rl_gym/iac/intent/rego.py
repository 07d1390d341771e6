"""Rego policies over plan documents, in this process, by regorus (`pip install 'rl-gym[opa]'`).

The text of a policy is its author's, and what goes wrong with it is never the fault of the configuration that it
judges. regorus has no limit on time, so the sizes of both are bounded; a policy that runs for long all the same ends
with the worker that is killed for it.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rl_gym.infra.errors import InfrastructureError, one_line

__all__ = ["MOST_BYTES", "Policies", "Policy", "PolicyError", "Rule", "policy_passes"]

MOST_BYTES = 256 * 1024
"""The longest policy that is read, in bytes of UTF-8."""

_MOST_KEPT = 512
"""Compiled policies that a thread keeps: an engine belongs to the thread that made it."""


_MOST_FAULT = 400
"""Characters that are kept of what the engine says of a policy."""


class PolicyError(InfrastructureError):
    """A policy that cannot be read or evaluated."""


class Policies:
    """Modules of Rego in one engine, each in the old syntax or, where it is none, in that of version 1."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Read modules by the names of their files. Raises PolicyError."""
        self._engine = _engine()
        for name, text in texts.items():
            self._add(name, text)
        self.rules: Sequence[Rule] = [rule for module in self._modules() for rule in _rules_of(module)]

    def _add(self, name: str, text: str) -> None:
        if len(text.encode()) > MOST_BYTES:
            raise PolicyError(f"{name}: a policy of more than {MOST_BYTES} bytes is not read")
        for old in (True, False):
            self._engine.set_rego_v0(old)
            try:
                self._engine.add_policy(name, text)
            except BaseException as error:
                fault = _fault(error)
            else:
                return
        raise PolicyError(f"{name}: cannot be read as Rego: {fault}")

    def _modules(self) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = json.loads(self._engine.get_ast_as_json())
        return [module["ast"] for module in found]

    def evaluate(self, document: str, rules: Iterable[str]) -> Iterator[Any]:
        """The value of each rule (`data.main.deny`) over a JSON document; None for one that has no value."""
        engine: Any = None
        for rule in rules:
            try:
                if engine is None:
                    engine = self._engine.clone()
                    engine.set_input_json(document)
                results = json.loads(engine.eval_query_as_json(rule)).get("result", [])
            except BaseException as error:
                raise PolicyError(f"{rule}: the policy failed: {_fault(error)}") from None
            yield results[0]["expressions"][0]["value"] if results else None


class Rule(NamedTuple):
    """A rule by its full name, `data.main.deny`, and whether it is false by default."""

    name: str
    is_false: bool


class Policy:
    """One policy whose verdict is asked for: every rule of it that is false by default."""

    def __init__(self, text: str) -> None:
        self._policies = Policies({"policy.rego": text})
        self.verdict = [rule.name for rule in self._policies.rules if rule.is_false]

    def passes(self, document: str) -> bool:
        """Whether every rule that is false by default is true: what a policy is asked, whatever it calls its rules.

        A built-in function that fails over what the document holds (`count` of a null) leaves its rule without a value,
        as in OPA. Raises PolicyError for a policy without such a rule, and for one that fails over nothing at all.
        """
        if not self.verdict:
            raise PolicyError("no rule of the policy is false by default, so that none is its verdict")
        try:
            return all(value is True for value in self._policies.evaluate(document, self.verdict))
        except PolicyError:
            self._refuse_failing()
            return False

    def _refuse_failing(self) -> None:
        """Raises PolicyError where the policy fails whatever it is asked about."""
        for _ in self._policies.evaluate("{}", self.verdict):
            pass


_thread = threading.local()


def policy_passes(text: str, document: Mapping[str, Any]) -> bool:
    """Whether a policy holds of a plan document; see `Policy.passes`.

    Raises PolicyError where the policy fails of itself, InfrastructureError where regorus is not installed.
    """
    return _policy(text).passes(json.dumps(document))


def _policy(text: str) -> Policy:
    kept: OrderedDict[str, Policy] = _thread.__dict__.setdefault("policies", OrderedDict())
    if text not in kept:
        kept[text] = Policy(text)
        if len(kept) > _MOST_KEPT:
            kept.popitem(last=False)
    kept.move_to_end(text)
    return kept[text]


def _engine() -> Any:
    try:
        import regorus
    except ImportError:
        raise InfrastructureError("judging by a Rego policy needs regorus: pip install 'rl-gym[opa]'") from None
    return regorus.Engine()


def _fault(error: BaseException) -> str:
    """What went wrong inside regorus, on one line without its stack; raises what is none of its faults.

    A panic of the engine is a BaseException of its own.
    """
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    return one_line(str(error).partition("Stack backtrace")[0], _MOST_FAULT)


def _rules_of(module: Mapping[str, Any]) -> Iterator[Rule]:
    """The rules of a module, one for each time that it is defined; functions are none."""
    package = _dotted(module["package"]["refr"])
    for rule in module["rules"]:
        default = rule.get("Default")
        if default is None:
            kind, head = next(iter(rule["Spec"]["head"].items()))
            if kind != "Func":
                yield Rule(f"data.{package}.{_dotted(head['refr'])}", False)
        elif not default["args"]:
            is_false = default["value"].get("Bool", {}).get("value") is False
            yield Rule(f"data.{package}.{_dotted(default['refr'])}", is_false)


def _dotted(reference: Mapping[str, Any]) -> str:
    """A reference of the syntax tree as it is written: `terraform.validation`."""
    if "Var" in reference:
        return str(reference["Var"]["value"])
    if "RefDot" in reference:
        return f"{_dotted(reference['RefDot']['refr'])}.{reference['RefDot']['field'][1]}"
    return _dotted(reference["RefBrack"]["refr"])
