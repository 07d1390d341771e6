"""Engines behind the OpenAI protocol: vLLM, Token Factory, and any other address that speaks it."""

from rl_gym.serving.backends.openai.backend import Api, OpenAIBackend

__all__ = ["Api", "OpenAIBackend"]
