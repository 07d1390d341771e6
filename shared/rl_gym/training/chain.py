"""What a run is made of: the stages of each mode in their order, and which model each policy is.

pipeline   prepare, sft, (rollout, raft), grpo, evaluate, audit, gate, promote
eval-only  prepare, evaluate
bakeoff    prepare, bakeoff
mine       mine
repair     prepare, rollout, repair, evaluate, audit, gate, promote
drift      prepare, update, (grpo), evaluate, audit, gate, promote
flywheel   prepare, update, (grpo), evaluate, audit, gate, promote
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from rl_gym.wire.run import RunMode

__all__ = ["MODES", "POLICIES", "PolicyName", "candidate", "chain", "incumbent", "maker", "policies", "trainers"]

PolicyName = Literal["random", "base", "sft", "raft", "grpo", "incumbent", "candidate", "oracle"]
"""`oracle` is the human reference where an anchor has one."""

MODES: tuple[RunMode, ...] = get_args(RunMode)
POLICIES: tuple[PolicyName, ...] = get_args(PolicyName)

_RAFT = ("rollout", "raft")
_JUDGED = ("evaluate", "audit", "gate", "promote")
_CHAINS: Mapping[RunMode, tuple[str, ...]] = {
    "pipeline": ("prepare", "sft", *_RAFT, "grpo", *_JUDGED),
    "eval-only": ("prepare", "evaluate"),
    "bakeoff": ("prepare", "bakeoff"),
    "mine": ("mine",),
    "repair": ("prepare", "rollout", "repair", *_JUDGED),
    "drift": ("prepare", "update", "grpo", *_JUDGED),
    "flywheel": ("prepare", "update", "grpo", *_JUDGED),
}
_TRAINERS = ("sft", "raft", "grpo", "repair", "update")
_REFERENCES: tuple[PolicyName, ...] = ("random", "oracle")


def chain(mode: RunMode, *, raft: bool = False, sharpened: bool = False) -> tuple[str, ...]:
    """The stages of a mode, in order: RAFT is in a pipeline that asks for it, GRPO behind an update that does."""
    stages = _CHAINS[mode]
    left_out = {*(() if raft else _RAFT)} if mode == "pipeline" else set()
    if "update" in stages and not sharpened:
        left_out = {"grpo"}
    return tuple(stage for stage in stages if stage not in left_out)


def trainers(stages: tuple[str, ...]) -> tuple[str, ...]:
    """Those of these stages that end with a model, in their order."""
    return tuple(stage for stage in stages if stage in _TRAINERS)


def policies(stages: tuple[str, ...]) -> tuple[PolicyName, ...]:
    """What a run of these stages evaluates where nobody said otherwise, from the floor to the ceiling."""
    trained = trainers(stages)
    if not trained:
        return ("random", "base", "oracle")
    if "sft" not in trained:
        return ("random", "incumbent", "candidate", "oracle")
    return tuple(policy for policy in POLICIES if policy in ("base", *trained, *_REFERENCES))


def maker(policy: PolicyName, stages: tuple[str, ...]) -> str | None:
    """The stage in whose folder the model of a policy lies, "" for the base or what is promoted; None where none is."""
    trained = trainers(stages)
    if policy in ("base", "incumbent"):
        return ""
    if policy == "candidate":
        return trained[-1] if trained else None
    return policy if policy in trained and "sft" in trained else None


def incumbent(stages: tuple[str, ...]) -> PolicyName:
    """The policy that the gate holds the candidate against."""
    return "sft" if "sft" in stages else "incumbent"


def candidate(stages: tuple[str, ...]) -> PolicyName:
    """The policy that the gate is asked about."""
    return "grpo" if "sft" in stages else "candidate"
