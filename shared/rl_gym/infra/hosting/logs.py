"""Logs: one JSON object a line on standard error, each with the request that it belongs to, none with a secret."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

__all__ = ["configure_logs"]

_SECRET_WORDS = ("authorization", "token", "secret", "password", "api_key", "private", "signing_key", "cookie")
_HIDDEN = "[hidden]"


def hide_secrets(_logger: WrappedLogger | None, _method: str, event: EventDict) -> EventDict:
    """Blank every value, however deep, that stands under the name of a secret."""
    return {name: _hidden(name, value) for name, value in event.items()}


def _hidden(name: str, value: Any) -> Any:
    if any(word in name.lower() for word in _SECRET_WORDS):
        return _HIDDEN
    if isinstance(value, dict):
        return {inner: _hidden(str(inner), one) for inner, one in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden("", one) for one in value]
    return value


def configure_logs(service: str, level: str = "info") -> None:
    """Send what structlog and the standard library log to standard error, as JSON, with `service` in each line.

    A traceback is logged without the values of variables.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        lambda _logger, _method, event: {"service": service, **event},
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                hide_secrets,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Requests are logged here, once each and with their id; uvicorn and httpx would log them again, with the query. And
    # alembic tells of each of its plugins.
    for noisy in ("uvicorn.access", "httpx", "httpcore", "alembic.runtime.plugins"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
