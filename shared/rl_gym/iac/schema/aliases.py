"""Provider configurations that resources and modules ask for by an alias which nobody declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rl_gym.hcl import Module, ast
from rl_gym.iac.schema.reporting import Reporter
from rl_gym.iac.schema.written import address_of

_USERS = frozenset({"resource", "data", "ephemeral", "import"})


def find_aliases(module: Module, reporter: Reporter) -> None:
    """Report references to `NAME.ALIAS` of a provider that the module neither configures nor is given."""
    blocks = [block for file in module.files for block in file.body.blocks]
    declared = {*_configured(blocks), *_given(blocks)}
    for address, expression in _uses(blocks):
        alias = _alias(expression)
        if alias and alias not in declared:
            message = f'no provider "{alias[0]}" with the alias "{alias[1]}" is declared'
            reporter.add("reference", expression, message, address)


def _configured(blocks: Sequence[ast.Block]) -> Iterator[tuple[str, str]]:
    for block in blocks:
        alias = block.body.attributes.get("alias") if block.type == "provider" else None
        if alias is not None and isinstance(alias.expression, ast.Literal):
            yield block.labels[0], str(alias.expression.value)


def _given(blocks: Sequence[ast.Block]) -> Iterator[tuple[str, str]]:
    """The configurations that a module says it is called with, in `configuration_aliases`."""
    for block in blocks:
        for inner in block.body.blocks_of("required_providers") if block.type == "terraform" else ():
            for requirement in inner.body.attributes.values():
                for key, value in _items(requirement.expression):
                    if key == "configuration_aliases" and isinstance(value, ast.Tuple):
                        yield from filter(None, map(_alias, value.items))


def _uses(blocks: Sequence[ast.Block]) -> Iterator[tuple[str, ast.Expression]]:
    """Where a provider is chosen: the address of who chooses, and the choice."""
    for block in blocks:
        if block.type in _USERS and "provider" in block.body.attributes:
            yield address_of(block), block.body.attributes["provider"].expression
        elif block.type == "module" and "providers" in block.body.attributes:
            for _, value in _items(block.body.attributes["providers"].expression):
                yield address_of(block), value


def _items(expression: ast.Expression) -> Iterator[tuple[str, ast.Expression]]:
    for key, value in expression.items if isinstance(expression, ast.Object) else ():
        yield str(getattr(key, "value", getattr(key, "name", ""))), value


def _alias(expression: ast.Expression) -> tuple[str, str] | None:
    """Provider and alias of `aws.west` or "aws.west"; None of anything else."""
    if isinstance(expression, ast.GetAttr) and isinstance(expression.target, ast.Name):
        return expression.target.name, expression.name
    if isinstance(expression, ast.Literal) and isinstance(expression.value, str):
        name, dot, alias = expression.value.partition(".")
        return (name, alias) if dot else None
    return None
