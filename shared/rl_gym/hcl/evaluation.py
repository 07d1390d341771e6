"""From a module to a configuration.

Everything is evaluated, so that whatever is wrong with a configuration is said at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rl_gym.hcl import ast
from rl_gym.hcl.configuration import Configuration
from rl_gym.hcl.conversion import ANY, PRIMITIVES
from rl_gym.hcl.errors import HclEvaluationError
from rl_gym.hcl.folding import evaluate as fold
from rl_gym.hcl.limits import DEFAULT, Limits
from rl_gym.hcl.module import Module
from rl_gym.hcl.number import from_text
from rl_gym.hcl.parser import parse
from rl_gym.hcl.scope import Constants, ModuleScope
from rl_gym.hcl.settling import Run
from rl_gym.hcl.values import NOTHING_KNOWN, UNKNOWN, Value


def evaluate(module: Module, variables: Mapping[str, Any] | None = None, limits: Limits = DEFAULT) -> Configuration:
    """The configuration that a module comes to.

    `variables` are values for the root module, above those of `.tfvars` files: plain Python, or text, which is read as
    an expression where the variable's type is not primitive. Raises HclEvaluationError for a cycle, a function that
    fails, something declared twice or wrongly; HclLimitError for what would exceed `limits`.
    """
    run = Run(limits)
    scope = ModuleScope(run, module)
    scope.given = _root_values(scope, variables or {})
    resources = list(scope.settled())
    providers = scope.providers()
    run.refuse_cycles()
    return Configuration(
        resources,
        variables=scope.variables,
        local_values=scope.locals,
        outputs=scope.outputs,
        providers=providers,
    )


def _root_values(scope: ModuleScope, variables: Mapping[str, Any]) -> dict[str, Value]:
    """Values of root variables, later ones above earlier ones: `.tfvars` files, then those that were passed."""
    given: dict[str, Value] = {}
    for file in scope.module.settings:
        for name, attribute in file.body.attributes.items():
            given[name] = fold(Constants(scope.run), attribute.expression)
    for name, value in variables.items():
        block = scope.declared.variables.get(name)
        if block is None:
            raise HclEvaluationError(f'a value was given for the variable "{name}", which is not declared')
        given[name] = _passed(scope, name, block, value)
    return given


def _passed(scope: ModuleScope, name: str, block: ast.Block, value: Any) -> Value:
    if not isinstance(value, str):
        return _internal(value)
    kind = scope.variable_type(block)
    if kind in PRIMITIVES or kind == ANY:
        return value
    file = parse(f"value = {value}\n", f"<value of {name}>", scope.run.limits)
    return fold(Constants(scope.run), file.body.attributes["value"].expression)


def _internal(value: Any) -> Value:
    """Plain Python data as a value of the evaluator; raises TypeError for anything else."""
    if value is UNKNOWN:
        return NOTHING_KNOWN
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return from_text(repr(value))
    if isinstance(value, Mapping):
        return {str(key): _internal(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_internal(item) for item in value]
    raise TypeError(f"a variable's value must be plain data, not {type(value).__name__}")
