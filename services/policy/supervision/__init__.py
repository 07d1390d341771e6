"""Engines that run beside the service: one that it starts and keeps up, or one that it only watches."""

from services.policy.supervision.engine import Engine, EngineState, FlagValue, OnUp, Status
from services.policy.supervision.ladder import Device, EngineFlags, read_flags
from services.policy.supervision.patience import Patience
from services.policy.supervision.supervisor import Supervisor
from services.policy.supervision.watched import Watched

__all__ = [
    "Device",
    "Engine",
    "EngineFlags",
    "EngineState",
    "FlagValue",
    "OnUp",
    "Patience",
    "Status",
    "Supervisor",
    "Watched",
    "read_flags",
]
