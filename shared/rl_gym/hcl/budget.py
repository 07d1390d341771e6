"""What evaluation may still spend: every loop, copy and expansion is paid for before it is made."""

from __future__ import annotations

from rl_gym.hcl.limits import Limits
from rl_gym.hcl.values import Value


class LimitReached(Exception):
    """A bound of `Limits` would be exceeded; the evaluator adds the place and raises HclLimitError."""


class Failure(Exception):
    """An expression has no value; the evaluator adds the place and raises HclEvaluationError."""


class Budget:
    """Steps left and the sizes that a value may have."""

    __slots__ = ("left", "limits")

    CHARACTERS_PER_STEP = 64

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.left = limits.max_steps

    def spend(self, steps: int) -> None:
        """Pay for `steps`: about one for each element that is made or looked at."""
        self.left -= steps
        if self.left < 0:
            raise LimitReached(
                f"evaluating this takes more than {self.limits.max_steps} steps; raise Limits.max_steps if it is meant"
            )

    def text(self, length: int) -> None:
        """Pay for a string of so many characters."""
        self.refuse_text(length)
        self.spend(length // self.CHARACTERS_PER_STEP)

    def refuse_text(self, length: int) -> None:
        """Refuse a string of so many characters when it is too long, at no cost."""
        if length > self.limits.max_text:
            raise LimitReached(
                f"a string of {length} characters is longer than {self.limits.max_text}; "
                "raise Limits.max_text if it is meant"
            )

    def items(self, count: int) -> None:
        """Pay for a list, set or map of so many elements."""
        if count > self.limits.max_items:
            raise LimitReached(
                f"a collection of {count} elements is larger than {self.limits.max_items}; "
                "raise Limits.max_items if it is meant"
            )
        self.spend(count)

    def value(self, value: Value) -> None:
        """Pay for walking a whole value once; refuses one that is too large or nested too deeply to walk."""
        pending = [(value, 0)]
        deepest = self.limits.max_value_depth
        while pending:
            container, depth = pending.pop()
            if depth > deepest:
                raise LimitReached(
                    f"a value nests deeper than {deepest} lists and maps; raise Limits.max_value_depth if it is meant"
                )
            self.spend(len(container) + 1)
            inside = container.values() if isinstance(container, dict) else container
            for item in inside:
                if isinstance(item, (list, dict)):
                    pending.append((item, depth + 1))
