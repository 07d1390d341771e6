"""What every service does alike around its own routes: who may call, how much, under which request id, what is logged.

Needs the extra `services`.
"""

from rl_gym.infra.hosting.access import Access, Caller, require
from rl_gym.infra.hosting.app import kept, make_app, refuse_open_binding, serve
from rl_gym.infra.hosting.bodies import BodyLimits, document_body, read_body, read_json, read_message
from rl_gym.infra.hosting.logs import configure_logs

__all__ = [
    "Access",
    "BodyLimits",
    "Caller",
    "configure_logs",
    "document_body",
    "kept",
    "make_app",
    "read_body",
    "read_json",
    "read_message",
    "refuse_open_binding",
    "require",
    "serve",
]
