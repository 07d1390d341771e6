"""What Terraform and the AWS provider take: resource types, arguments and blocks, declarations and references.

A configuration is fine where one version of the provider takes the whole of it, all its modules together, since
Terraform runs one version: what only version 5 has beside what only version 6 has is refused. What is reported is what
the version says that refuses least.
"""

from __future__ import annotations

from collections.abc import Sequence

from rl_gym.hcl import Module
from rl_gym.iac.context import Context
from rl_gym.iac.report import Problem
from rl_gym.iac.schema.aliases import find_aliases
from rl_gym.iac.schema.bundled import digest, versions
from rl_gym.iac.schema.conformity import check_language, check_provider
from rl_gym.iac.schema.duplicates import find_duplicates
from rl_gym.iac.schema.reporting import Reporter
from rl_gym.iac.schema.undeclared import Use, find_undeclared
from rl_gym.iac.schema.uses import check_uses

__all__ = ["digest", "find_problems"]


def find_problems(context: Context) -> Sequence[Problem]:
    """What Terraform would refuse in a configuration that can be read, in the order of the text.

    A plan has been through Terraform, and has no problem.
    """
    if context.module is None:
        return ()
    modules = _modules(context.module)
    reporter = Reporter()
    uses = [_check_declarations(module, reporter) for module in modules]
    problems = [*reporter.problems, *_refused(list(zip(modules, uses, strict=True)))]
    order = {file.filename: number for number, file in enumerate(f for module in modules for f in module.files)}
    return sorted(problems, key=lambda problem: (order.get(problem.filename, len(order)), problem.line, problem.column))


def _modules(root: Module) -> list[Module]:
    """A module and all that it calls, each once."""
    found = {id(root): root}
    pending = [root]
    while pending:
        new = {id(called): called for called in pending.pop().calls.values() if id(called) not in found}
        found.update(new)
        pending += new.values()
    return list(found.values())


def _check_declarations(module: Module, reporter: Reporter) -> list[Use]:
    find_duplicates(module, reporter)
    find_aliases(module, reporter)
    check_language(module, reporter)
    return find_undeclared(module, reporter)


def _refused(modules: Sequence[tuple[Module, Sequence[Use]]]) -> Sequence[Problem]:
    """What the version says that refuses least, the newer of two; nothing where one takes it all."""
    least: Sequence[Problem] | None = None
    for version in versions():
        reporter = Reporter()
        for module, uses in modules:
            check_provider(module, version, reporter)
            check_uses(uses, version, reporter)
        if least is None or len(reporter.problems) <= len(least):
            least = reporter.problems
        if not least:
            break
    return least or ()
