"""The promotion gate: whether a candidate may take the incumbent's place, on the evidence of recorded completions."""

from rl_gym.gym.gate.decide import decide
from rl_gym.gym.gate.families import family_of
from rl_gym.gym.gate.verdict import AnchorResult, Verdict, write_verdict

__all__ = ["AnchorResult", "Verdict", "decide", "family_of", "write_verdict"]
