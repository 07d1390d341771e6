"""Model engines behind one protocol, one module each: whoever asks need not know which one answers."""

from rl_gym.serving.backends.protocol import (
    AdapterHost,
    Completions,
    ModelBackend,
    OnText,
    PromptTooLongError,
)

__all__ = ["AdapterHost", "Completions", "ModelBackend", "OnText", "PromptTooLongError"]
