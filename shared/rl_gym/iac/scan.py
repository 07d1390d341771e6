"""The front door: from Terraform text to verdicts, and from verdicts to a reward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rl_gym.gym.core import Episode, RewardBreakdown
from rl_gym.hcl import HclError, Limits, Resource, evaluate, load
from rl_gym.hcl.limits import COMPLETION, FILES
from rl_gym.iac.context import Context
from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET
from rl_gym.iac.engines import ENGINES, get_engine
from rl_gym.iac.gates import builds_required, no_critical
from rl_gym.iac.module_calls import unread_calls, with_calls
from rl_gym.iac.plan import plan_source
from rl_gym.iac.reach import counted
from rl_gym.iac.report import Finding, Problem, ScanError, ScanReport
from rl_gym.iac.rules import Rule, Ruleset, get_ruleset
from rl_gym.iac.schema import find_problems
from rl_gym.iac.secret_names import names_secret
from rl_gym.iac.verdicts import Answer
from rl_gym.infra.errors import InfrastructureError, RlGymError, UsageError

__all__ = ["ENGINES", "judge", "read", "scan", "score"]

_STEPS = 10_000
_STEPS_FOR_FILES = 20_000_000
"""Bounds on the values and companions that rules look at, for what a model wrote and for what is kept on disk."""


def scan(
    hcl: str | None,
    *,
    ruleset: str | Ruleset = DEFAULT_RULESET,
    files: Mapping[str, str] | None = None,
    required: Sequence[str] = (),
    variables: Mapping[str, Any] | None = None,
    plan: Mapping[str, Any] | None = None,
    engines: Sequence[str] = ("builtin",),
    limits: Limits = COMPLETION,
) -> ScanReport:
    """Judge a configuration by every rule of a ruleset.

    `hcl` is the text of `main.tf`, `files` further files of the module by relative path (`hcl` is None where they are
    all); `plan` is a document of `terraform show -json` instead. `required` are the requested resource types,
    `variables` the values of input variables, `limits` the bounds on reading. `engines` are further witnesses beside
    `builtin`, which always judges. Text that cannot be read gives a report with `valid` false; a name that does not
    exist raises NotFoundError or UsageError.
    """
    others = [get_engine(name) for name in dict.fromkeys(engines) if name != "builtin"]
    if others and plan is not None:
        raise UsageError("scan: a plan is judged by the built-in engine alone")
    chosen = get_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
    try:
        context = read(hcl, files=files, variables=variables, plan=plan, limits=limits)
        unread = unread_calls(context.module) if context.module else ()
        report = replace(judge(context, chosen, required), unread=unread)
    except HclError as error:
        report = unreadable(error, chosen, required)
    if not others:
        return report
    sources = {**(files or {}), **({"main.tf": hcl} if hcl is not None else {})}
    return replace(report, engines=[engine.scan(sources, variables) for engine in others])


def score(
    hcl: str,
    *,
    request: str = "",
    required: Sequence[str] = (),
    ruleset: str = DEFAULT_RULESET,
    profile: str = DEFAULT_PROFILE,
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
    return _evaluated({name: _ended(name, text) for name, text in sources.items()}, variables, limits, {})


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


def _ended(name: str, text: str) -> str:
    """A file of HCL ends with a newline; completions often lack it. JSON needs none, and is cut where it ends."""
    return text if text.endswith("\n") or name.endswith(".json") else text + "\n"


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
    problems = _problems(context)
    gates = {
        "well_formed": all(problem.kind == "reference" for problem in problems),
        "builds_required": builds_required(required, context),
        "no_critical": no_critical(results),
    }
    passes = counted(results, ruleset, required, context)
    if context.addresses:
        results = [replace(one, address=context.addresses.get(one.address, one.address)) for one in results]
    return ScanReport(ruleset, results, gates, (), context.configuration, passes.strictly, passes.leniently, problems)


def _problems(context: Context) -> Sequence[Problem]:
    try:
        return find_problems(context)
    except (HclError, RlGymError):
        raise
    except Exception as error:
        raise InfrastructureError(f"the schema check failed: {type(error).__name__}: {error}") from error


def _ask(rule: Rule, resource: Resource, context: Context) -> Answer | None:
    try:
        found = rule.check(resource, context)
    except (HclError, RlGymError):
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
    told = found.path and found.verdict != "pass"
    filename, line = at.place_of(found.path) if told else (at.filename, at.line)
    return Finding(rule.id, resource.address, found.verdict, rule.severity, filename, line, found.reason, rule.fix)
