"""The front door: from Terraform text to verdicts, and from verdicts to a reward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rl_gym.gym.core import Episode, RewardBreakdown
from rl_gym.hcl import HclError, Limits, Resource, evaluate, load
from rl_gym.hcl.limits import COMPLETION, FILES
from rl_gym.iac.context import Context
from rl_gym.iac.gates import builds_required, no_critical
from rl_gym.iac.module_calls import with_calls
from rl_gym.iac.plan import plan_source
from rl_gym.iac.reach import counted
from rl_gym.iac.report import Finding, ScanError, ScanReport
from rl_gym.iac.rules import Rule, Ruleset, get_ruleset
from rl_gym.iac.secret_names import names_secret
from rl_gym.iac.verdicts import Answer
from rl_gym.infra.errors import InfrastructureError, RlGymError, UsageError

__all__ = ["ENGINES", "judge", "read", "scan", "score"]

ENGINES = ("builtin",)

_STEPS = 10_000
_STEPS_FOR_FILES = 20_000_000
"""Bounds on the values and companions that rules look at, for what a model wrote and for what is kept on disk."""


def scan(
    hcl: str | None,
    *,
    ruleset: str | Ruleset = "base",
    files: Mapping[str, str] | None = None,
    required: Sequence[str] = (),
    variables: Mapping[str, Any] | None = None,
    plan: Mapping[str, Any] | None = None,
    engines: Sequence[str] = ENGINES,
    limits: Limits = COMPLETION,
) -> ScanReport:
    """Judge a configuration by every rule of a ruleset.

    `hcl` is the text of `main.tf`, `files` further files of the module by relative path (`hcl` is None where they are
    all); `plan` is a document of `terraform show -json` instead. `required` are the requested resource types,
    `variables` the values of input variables, `limits` the bounds on reading. Text that cannot be read gives a report
    with `valid` false; a name that does not exist raises NotFoundError or UsageError.
    """
    for engine in engines:
        if engine not in ENGINES:
            raise UsageError(f"there is no scan engine {engine!r}: choose among {', '.join(ENGINES)}")
    chosen = get_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
    try:
        return judge(read(hcl, files=files, variables=variables, plan=plan, limits=limits), chosen, required)
    except HclError as error:
        return unreadable(error, chosen, required)


def score(
    hcl: str, *, request: str = "", required: Sequence[str] = (), ruleset: str = "base", profile: str = "default"
) -> RewardBreakdown:
    """The reward of a configuration without an episode, as a completion that holds it would get."""
    from rl_gym.iac.reward import IacAction, make_reward

    episode = Episode(id="", request=request, data={"required": list(required)})
    return make_reward(profile, ruleset).score(IacAction(hcl), episode)


def read(
    hcl: str | None,
    *,
    files: Mapping[str, str] | None = None,
    variables: Mapping[str, Any] | None = None,
    plan: Mapping[str, Any] | None = None,
    limits: Limits = COMPLETION,
) -> Context:
    """Parse and evaluate.

    Raises HclError where the text cannot be read, UsageError where there is none or two, InfrastructureError where
    reading it fails of itself.
    """
    if plan is not None:
        if hcl or files:
            raise UsageError("scan: give either a plan or source text, not both")
        source = plan_source(plan)
        return _evaluated({"plan.tf.json": source.text}, None, FILES, source.addresses)
    sources = dict(files or {})
    if hcl is not None:
        if "main.tf" in sources:
            raise UsageError("scan: main.tf is given twice, as text and among the files")
        sources["main.tf"] = hcl
    if not sources:
        raise UsageError("scan: there is nothing to read: give text, files or a plan")
    return _evaluated({name: _ended(text) for name, text in sources.items()}, variables, limits, {})


def _evaluated(
    sources: Mapping[str, str], variables: Mapping[str, Any] | None, limits: Limits, addresses: Mapping[str, str]
) -> Context:
    try:
        module = with_calls(load(sources, limits), names_secret)
        configuration = evaluate(module, variables, limits)
    except (HclError, RlGymError):
        raise
    except Exception as error:
        raise InfrastructureError(f"a configuration could not be read: {type(error).__name__}: {error}") from error
    return Context(configuration, module, addresses, _STEPS if limits is COMPLETION else _STEPS_FOR_FILES)


def _ended(text: str) -> str:
    """A file ends with a newline; completions often lack it."""
    return text if text.endswith("\n") else text + "\n"


def unreadable(error: HclError, ruleset: Ruleset, required: Sequence[str]) -> ScanReport:
    """The report about text that has no meaning: nothing is built by it, and nothing is known of it."""
    gates = {"well_formed": False, "builds_required": not required, "no_critical": True}
    return ScanReport(ruleset, gates=gates, errors=(ScanError.of(error),))


def judge(context: Context, ruleset: Ruleset, required: Sequence[str] = ()) -> ScanReport:
    """Ask every rule about every resource that is, or may be, created.

    Raises HclLimitError for a configuration that takes too many steps to judge, and InfrastructureError where a rule
    fails of itself: that is our fault, not the configuration's.
    """
    context.begin()
    results: list[Finding] = []
    for resource in (*context.all(), *context.providers()):
        context.spend(1)
        kind = resource.type if resource.mode == "managed" else f"{resource.mode}.{resource.type}"
        for rule in ruleset.for_type(kind):
            found = _ask(rule, resource, context)
            if found is not None:
                results.append(_finding(rule, resource, found))
    gates = {
        "well_formed": True,
        "builds_required": builds_required(required, context),
        "no_critical": no_critical(results),
    }
    rewarded = counted(results, required, context)
    if context.addresses:
        results = [replace(one, address=context.addresses.get(one.address, one.address)) for one in results]
    return ScanReport(ruleset, results, gates, (), context.configuration, rewarded)


def _ask(rule: Rule, resource: Resource, context: Context) -> Answer | None:
    try:
        found = rule.check(resource, context)
    except HclError:
        raise
    except Exception as error:
        raise InfrastructureError(
            f"rule {rule.id} failed on {resource.address}: {type(error).__name__}: {error}"
        ) from error
    if found is not None and found.verdict == "pass" and resource.created is not True:
        return Answer("unknown", "whether it is created is not known before apply", found.path, found.at)
    return found


def _finding(rule: Rule, resource: Resource, found: Answer) -> Finding:
    # A pass is counted by the thousand and looked up by nobody.
    at = resource if found.verdict == "pass" else found.at or resource
    line = at.line_of(found.path) if found.path and found.verdict != "pass" else at.line
    return Finding(rule.id, resource.address, found.verdict, rule.severity, at.filename, line, found.reason, rule.fix)
