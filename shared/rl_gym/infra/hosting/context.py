"""The outermost layer of a service: gives each request an id, logs it once, and answers for what nobody expected."""

from __future__ import annotations

import asyncio
import re
import time
import uuid

import structlog
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rl_gym.infra.errors import InfrastructureError
from rl_gym.infra.hosting.errors import error_body
from rl_gym.infra.hosting.metrics import HttpMetrics

__all__ = ["REQUEST_ID_HEADER", "RequestContext"]

REQUEST_ID_HEADER = "X-Request-Id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_QUIET = {"/healthz", "/readyz", "/metrics"}

_log = structlog.get_logger("request")


class RequestContext:
    """ASGI middleware. A caller's id is kept where it is plain, so that one id names a request in all services."""

    def __init__(self, app: ASGIApp, metrics: HttpMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
        name = asked if _REQUEST_ID.fullmatch(asked) else uuid.uuid4().hex
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=name)
        await self._serve(scope, receive, send, name)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, name: str) -> None:
        started = time.perf_counter()
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = name
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except asyncio.CancelledError:
            # Nobody but the server cancels here, once the time that requests have at its end is over.
            if status:
                raise
            detail = "the service ended before there was an answer"
            await JSONResponse(error_body(InfrastructureError.code, detail), 503)(scope, receive, send_with_id)
        except Exception:
            _log.exception("unexpected")
            if status:
                raise
            detail = "something unexpected went wrong here; the log says more under this request id"
            await JSONResponse(error_body("internal_error", detail), 500)(scope, receive, send_with_id)
        finally:
            seconds = time.perf_counter() - started
            self._metrics.served(getattr(scope.get("route"), "path", "none"), status, seconds)
            log = _log.debug if scope["path"] in _QUIET else _log.info
            log(
                "served",
                method=scope["method"],
                path=scope["path"][:200],
                status=status,
                milliseconds=round(seconds * 1e3, 1),
            )
