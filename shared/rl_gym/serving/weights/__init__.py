"""Where models come from: by name, from folders, GGUF files, the hub and S3; each only where it is allowed."""

from rl_gym.serving.weights.allowed import Terms
from rl_gym.serving.weights.packaged import PACKAGED, packaged_models
from rl_gym.serving.weights.resolving import Weights, find_model, named_weights, resolve_weights
from rl_gym.serving.weights.sources import Source, model_name, parse_source

__all__ = [
    "PACKAGED",
    "Source",
    "Terms",
    "Weights",
    "find_model",
    "model_name",
    "named_weights",
    "packaged_models",
    "parse_source",
    "resolve_weights",
]
