"""The three errors of reading a configuration. Each knows the file, line and column it is about."""

from __future__ import annotations


class HclError(ValueError):
    """A configuration cannot be read.

    Attributes: `filename`; `line` and `column`, both counted from 1 in characters; `message`, one sentence.
    """

    def __init__(self, message: str, *, filename: str = "main.tf", line: int = 1, column: int = 1) -> None:
        super().__init__(f"{filename}:{line}:{column}: {message}")
        self.message = message
        self.filename = filename
        self.line = line
        self.column = column


class HclSyntaxError(HclError):
    """The text is not HCL: `terraform fmt` would refuse it too."""


class HclLimitError(HclError):
    """The text, or what it evaluates to, is larger than a stated bound."""


class HclEvaluationError(HclError):
    """The text is HCL but has no meaning: a cycle, a function that fails, a duplicate block."""
