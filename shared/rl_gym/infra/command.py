"""`python -m services.NAME`: what every service does before it serves, and what it says where it cannot."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

from rl_gym.infra.errors import RlGymError
from rl_gym.infra.extras import extra
from rl_gym.infra.settings import ServiceSettings, read_settings, unknown_variables

__all__ = ["run_part", "run_service", "serve_app"]

S = TypeVar("S", bound=ServiceSettings)


def run_service(kind: type[ServiceSettings]) -> int:
    """Serve the application that `services.NAME.app.create_app` makes of its settings; 1 and one line where it cannot.

    The application is imported here, so that a missing extra is a line as well.
    """
    return run_part(kind, serve_app)


def run_part(kind: type[S], part: Callable[[S], int]) -> int:
    """Read the settings of a service, set up its logs, and do a part of it; the exit status, 1 and one line at worst.

    What `part` imports of the extra `services` it imports itself, under `extra`.
    """
    try:
        with extra("services"):
            import structlog

            from rl_gym.infra.hosting import configure_logs
        settings = read_settings(kind)
        configure_logs(settings.service, settings.log_level)
        for name in unknown_variables(kind):
            structlog.get_logger("settings").warning("there is no such setting: it changes nothing", variable=name)
        return part(settings)
    except RlGymError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def serve_app(settings: ServiceSettings) -> int:
    """Serve the application of these settings until SIGTERM or SIGINT."""
    with extra("services"):
        from rl_gym.infra.hosting import refuse_open_binding, serve

        app = import_module(f"services.{settings.service}.app")
    refuse_open_binding(settings)
    serve(app.create_app(settings), settings)
    return 0
