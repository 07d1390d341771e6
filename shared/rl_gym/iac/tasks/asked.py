"""Which demands of a stack a request states, read from its words, and how many of them a configuration meets.

A builder may leave details out of a request, and a detail that was not asked for is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rl_gym.gym.core import Episode
from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.tasks.builders import BUILDERS
from rl_gym.iac.tasks.demands import Demand
from rl_gym.iac.tasks.parametric import stack_of
from rl_gym.iac.tasks.parts import Builder, Part, Stack

__all__ = ["demanded_rules", "share_met", "stated"]


_NAMES = ("name", "bucket", "identifier", "cluster_identifier", "description", "tags.Name", "inline_policy.name")
"""Where a resource has its name in AWS."""


def share_met(context: Context, episode: Episode) -> float | None:
    """The share of the stated demands that hold, in [0, 1]; None where the request states none.

    Each part is answered by the resource that carries its name; where several or none do, by the one that does least.
    So a second resource never makes up for a first that does not do what was asked.
    """
    context.begin()
    met, made = 0, 0
    for part, demands in stated(episode):
        made += len(demands)
        met += min((_met(one, demands, context) for one in _answers(part, context)), default=0)
    return met / made if made else None


def demanded_rules(episode: Episode) -> frozenset[str]:
    """The protections without which an answer does not do what the request states."""
    return frozenset(demand.rule for _, demands in stated(episode) for demand in demands if demand.rule)


def stated(episode: Episode) -> Iterator[tuple[Part, Sequence[Demand]]]:
    """The parts of a parametric episode, each with the demands that its request puts into words."""
    stack = stack_of(episode)
    for part in stack.parts:
        builder = BUILDERS[part.kind]
        yield part, [*_of_noun(builder, part, episode.request), *_of_details(builder, part, stack, episode.request)]


def _of_noun(builder: Builder, part: Part, request: str) -> Iterator[Demand]:
    """Demands that stand in what the thing is called, and in its name."""
    phrase = re.search(rf"({_nouns(builder, part)})(?: named | called | ){re.escape(part.name)}", request)
    for demand in builder.identity(part):
        if phrase is not None and demand.words in phrase[0]:
            yield demand


def _of_details(builder: Builder, part: Part, stack: Stack, request: str) -> Iterator[Demand]:
    """Demands whose words follow the name, each once, in their order."""
    demands = builder.demands(part, stack)
    details = "".join(f"(, {re.escape(demand.words)})?" for demand in demands)
    pattern = rf"(?:{_nouns(builder, part)})(?: named | called | ){re.escape(part.name)}{details}"
    found = re.search(pattern, request)
    for place, demand in enumerate(demands, start=1):
        if found is not None and found[place]:
            yield demand


def _nouns(builder: Builder, part: Part) -> str:
    return "|".join(re.escape(noun) for noun in (builder.types[0], *builder.nouns(part)))


def _answers(part: Part, context: Context) -> Sequence[Resource]:
    """The resources that may be the part: those of its name, else all of its types, else all that may stand in."""
    builder = BUILDERS[part.kind]
    found = [one for one in context.of_type(*builder.types, *builder.others) if one.created is True]
    named = [one for one in found if _carries(one, part.name)]
    return named or [one for one in found if one.type in builder.types] or found


def _carries(resource: Resource, name: str) -> bool:
    return any(resource.get(path) == name for path in _NAMES)


def _met(resource: Resource, demands: Sequence[Demand], context: Context) -> int:
    return sum(demand.holds(resource, context) is True for demand in demands)
