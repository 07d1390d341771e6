"""What evaluation may still spend: every loop, copy and expansion is paid for before it is made."""

from __future__ import annotations

from rl_gym.hcl.limits import Limits
from rl_gym.hcl.values import Unknown, UnknownText, Value


class LimitExceededError(Exception):
    """A bound of `Limits`, by its name, would be exceeded; the evaluator adds the place and raises HclLimitError."""

    def __init__(self, message: str, limit: str = "") -> None:
        super().__init__(message)
        self.limit = limit


class NoValueError(Exception):
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
            raise LimitExceededError(f"evaluating this takes more than {self.limits.max_steps} steps", "max_steps")

    def text(self, length: int) -> None:
        """Pay for a string of so many characters."""
        self.refuse_text(length)
        self.spend(length // self.CHARACTERS_PER_STEP)

    def refuse_text(self, length: int) -> None:
        """Refuse a string of so many characters when it is too long, at no cost."""
        if length > self.limits.max_text:
            message = f"a string of {length} characters is longer than {self.limits.max_text}"
            raise LimitExceededError(message, "max_text")

    def items(self, count: int) -> None:
        """Pay for a list, set or map of so many elements."""
        if count > self.limits.max_items:
            message = f"a collection of {count} elements is larger than {self.limits.max_items}"
            raise LimitExceededError(message, "max_items")
        self.spend(count)

    def value(self, value: Value) -> bool:
        """Pay for walking a whole value once, and answer whether any of it is unknown.

        Refuses a value that is nested too deeply to walk.
        """
        if isinstance(value, Unknown):
            self.spend(1 + len(value.references))
            if type(value) is UnknownText:
                self.items(len(value.pieces))
                self.text(sum(len(piece) for piece in value.pieces if isinstance(piece, str)))
            return True
        if not isinstance(value, (list, dict)):
            return False
        unknown = False
        deepest = self.limits.max_value_depth
        level: list[Value] = [value]
        depth = 0
        while level:
            if depth > deepest:
                raise LimitExceededError(f"a value nests deeper than {deepest} lists and maps", "max_value_depth")
            depth += 1
            self.spend(sum(map(len, level)) + len(level))
            inside: list[Value] = []
            for container in level:
                for item in container.values() if isinstance(container, dict) else container:
                    if isinstance(item, (list, dict)):
                        inside.append(item)
                    elif isinstance(item, Unknown):
                        unknown = True
            level = inside
        return unknown
