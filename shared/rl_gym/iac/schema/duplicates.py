"""Declarations that a module may have once alone, beside those that reading it refuses already."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from rl_gym.hcl import Module, ast
from rl_gym.iac.schema.reporting import Reporter


def find_duplicates(module: Module, reporter: Reporter) -> None:
    """Report what is declared a second time: a provider of one alias, required providers, a backend, a check."""
    first: dict[Hashable, ast.Block] = {}
    for file in module.files:
        for key, what, block in _declarations(file.body):
            seen = first.setdefault(key, block)
            if seen is not block:
                message = f"{what} was already declared at {seen.source.filename}:{seen.line}"
                reporter.add("duplicate", block, message)


def _declarations(body: ast.Body) -> Iterator[tuple[Hashable, str, ast.Block]]:
    """What is declared once alone: something that names it, its name for people, and its block."""
    for block in body.blocks:
        if block.type == "provider":
            alias = block.body.attributes.get("alias")
            if alias is None:
                yield ("provider", block.labels[0], None), f'provider "{block.labels[0]}" without an alias', block
            elif isinstance(alias.expression, ast.Literal):
                name = alias.expression.value
                yield (
                    ("provider", block.labels[0], name),
                    f'provider "{block.labels[0]}" with the alias "{name}"',
                    block,
                )
        elif block.type == "check":
            yield ("check", block.labels[0]), f'check "{block.labels[0]}"', block
        elif block.type == "ephemeral":
            yield ("ephemeral", *block.labels), f'ephemeral "{block.labels[0]}" "{block.labels[1]}"', block
        elif block.type == "terraform":
            for inner in block.body.blocks:
                if inner.type == "required_providers":
                    yield inner.type, "required_providers", inner
                elif inner.type in ("backend", "cloud"):
                    yield "backend", "the place of the state", inner
