"""Asks whether what is read of resources is there, in one version of the provider."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rl_gym.hcl.conversion import ANY, PRIMITIVES, Type
from rl_gym.iac.schema.bundled import Version
from rl_gym.iac.schema.packing import Body
from rl_gym.iac.schema.references import At, Step
from rl_gym.iac.schema.reporting import Reporter
from rl_gym.iac.schema.undeclared import Use

_SECTIONS = {"managed": "resource", "data": "data", "ephemeral": "ephemeral"}
"""Where a schema keeps what is referred to in a mode."""


def check_uses(uses: Iterable[Use], version: Version, reporter: Reporter) -> None:
    """Report attributes that a version of the provider does not have; of other types than its own it says nothing."""
    for use in uses:
        schema = version.find(_SECTIONS[use.mode], use.type)
        if schema is not None:
            _check_use(use, schema, reporter)


def _check_use(use: Use, schema: Body, reporter: Reporter) -> None:
    wrong = _unknown_step(schema, use.steps)
    if wrong is not None:
        name, names = wrong
        hint = reporter.hint(name, lambda: names)
        reporter.add("schema", use.node, f'"{use.type}.{use.name}" has no attribute "{name}"', use.address, hint)


def _unknown_step(schema: Body, steps: Sequence[Step]) -> tuple[str, Collection[str]] | None:
    """The first step to a name that is not there, with the names that are."""
    while steps:
        name, *rest = steps
        if isinstance(name, At):
            steps = rest
        elif name in schema.blocks:
            schema, steps = schema.blocks[name].body, rest
        elif name in schema.attributes:
            return _unknown_part(schema.attributes[name].type, rest)
        else:
            return name, [*schema.attributes, *schema.blocks]
    return None


def _unknown_part(kind: Type, steps: Sequence[Step]) -> tuple[str, Collection[str]] | None:
    for step in steps:
        if kind == ANY:
            return None
        name = str(step.key) if isinstance(step, At) else step
        if kind in PRIMITIVES:
            return name, ()
        if kind[0] == "object":
            fields = dict(kind[1])
            if name not in fields:
                return name, fields
            kind = fields[name]
        elif kind[0] != "map" and not isinstance(step, At):
            return name, ()
        else:
            kind = kind[1] if kind[0] != "tuple" else ANY
    return None
