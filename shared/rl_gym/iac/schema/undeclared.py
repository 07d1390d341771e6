"""References to what a module does not declare, and to `each`, `count` and `self` outside of their place."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from rl_gym.hcl import Module, ast
from rl_gym.iac.schema.references import REPEATING, At, Reference, Step, references, type_and_name
from rl_gym.iac.schema.reporting import Reporter

_FIELDS = {
    "each": ("key", "value"),
    "count": ("index",),
    "path": ("module", "root", "cwd"),
    "terraform": ("workspace", "applying"),
}
"""What may be asked of the names that the language itself gives."""
_MODES = {"data": "data", "resource": "managed", "ephemeral": "ephemeral"}
_KINDS = {"managed": "the resource", "data": "the data source", "ephemeral": "the ephemeral resource"}
_RESERVED = frozenset({"template", "lazy", "arg"})
"""Roots that Terraform keeps for itself."""


class Use(NamedTuple):
    """A reference to a resource or data source that is declared, and what is read of it.

    `steps` are names and indexes; they end where the next one is not written out.
    """

    mode: str
    type: str
    name: str
    steps: tuple[Step, ...]
    node: ast.Node
    address: str


def find_undeclared(module: Module, reporter: Reporter) -> list[Use]:
    """Report references to nothing; answers those to resources."""
    judge = _Judge(module, reporter)
    for reference in references(module):
        judge.judge(reference)
    return judge.uses


class _Judge:
    """Asks of each reference whether it refers to something."""

    def __init__(self, module: Module, reporter: Reporter) -> None:
        self._reporter = reporter
        self.uses: list[Use] = []
        declared = module.declared
        self._named: dict[str, tuple[str, Collection[str]]] = {
            "var": ("the variable", declared.variables),
            "local": ("the local value", declared.locals),
            "module": ("the module", declared.modules),
        }
        self._resources = {(key.mode, key.type, key.name): block for key, block in declared.resources.items()}
        blocks = [block for file in module.files for block in file.body.blocks_of("ephemeral")]
        self._resources.update((("ephemeral", *type_and_name(block)), block) for block in blocks)

    def judge(self, reference: Reference) -> None:
        root = reference.root
        if root in _FIELDS:
            self._given(reference)
        elif root == "self":
            if not reference.place.has_self:
                self._report(reference, '"self" stands for the resource in provisioners and postconditions alone')
        elif root in self._named:
            self._declared(reference)
        elif root in _RESERVED:
            self._report(reference, f'the name "{root}" is reserved: it refers to nothing')
        elif root in _MODES:
            self._resource(_MODES[root], reference.steps, reference)
        else:
            self._resource("managed", (root, *reference.steps), reference)

    def _given(self, reference: Reference) -> None:
        root, steps, _, place = reference
        if root == "each" and not place.in_for_each:
            self._report(reference, '"each" is there only with an argument "for_each"')
        elif root == "count" and not place.in_count:
            self._report(reference, '"count.index" is there only with an argument "count"')
        elif not steps or steps[0] not in _FIELDS[root]:
            right = " or ".join(f"{root}.{field}" for field in _FIELDS[root])
            self._report(reference, f'"{root}" is no value of itself: write {right}')

    def _declared(self, reference: Reference) -> None:
        what, names = self._named[reference.root]
        name = reference.steps[0] if reference.steps else None
        if not isinstance(name, str):
            self._report(reference, f'"{reference.root}" is no value of itself: write {reference.root}.NAME')
        elif name not in names:
            self._report(reference, f'{what} "{name}" is not declared', name, lambda: names)

    def _resource(self, mode: str, steps: tuple[Step, ...], reference: Reference) -> None:
        if len(steps) < 2 or not isinstance(steps[0], str) or not isinstance(steps[1], str):
            self._report(reference, "a reference to a resource names its type and its name")
            return
        kind, name, *rest = steps[0], steps[1], *steps[2:]
        block = self._resources.get((mode, kind, name))
        if block is None:
            if mode != "data" or (kind, name) not in reference.place.data:
                message = f'{_KINDS[mode]} "{kind}" "{name}" is not declared'
                self._report(reference, message, name, lambda: self._names_of(mode, kind))
            return
        repeated = bool(block.body.attributes.keys() & REPEATING)
        if rest and isinstance(rest[0], At):
            if not repeated:
                self._report(reference, f'"{kind}.{name}" has neither count nor for_each, and so takes no index')
            rest = rest[1:]
        elif rest and repeated:
            self._report(reference, f'"{kind}.{name}" has count or for_each: say which instance, by an index')
            return
        if rest:
            self.uses.append(Use(mode, kind, name, tuple(rest), reference.node, reference.place.address))

    def _names_of(self, mode: str, kind: str) -> list[str]:
        return [name for known, of, name in self._resources if (known, of) == (mode, kind)]

    def _report(
        self, reference: Reference, message: str, wrong: str = "", right: Callable[[], Collection[str]] = tuple
    ) -> None:
        hint = self._reporter.hint(wrong, right) if wrong else ""
        self._reporter.add("reference", reference.node, message, reference.place.address, hint)
