"""Making the application of a service, and running it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any

import uvicorn
from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

import rl_gym
from rl_gym.infra.errors import UsageError
from rl_gym.infra.hosting.access import Access, LoopbackOnly, is_loopback
from rl_gym.infra.hosting.bodies import InFlight
from rl_gym.infra.hosting.context import RequestContext
from rl_gym.infra.hosting.errors import handle_errors
from rl_gym.infra.hosting.metrics import HttpMetrics
from rl_gym.infra.settings import ServiceSettings
from rl_gym.infra.signing import KeyRing

__all__ = ["Lifespan", "kept", "make_app", "refuse_open_binding", "serve"]

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
_REFERENCE = "#/components/schemas/{model}"


def kept(name: str) -> Any:
    """How a route asks, by `Annotated[Kind, kept(name)]`, for what its application keeps as `app.state.name`."""

    def found(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(found)


def make_app(
    settings: ServiceSettings, title: str, lifespan: Lifespan, bodies: Iterable[type[BaseModel]] = ()
) -> FastAPI:
    """An application with what all services share; its routes are the service's own.

    `bodies` are messages that routes read by themselves, so that the OpenAPI page can refer to them.
    """
    keys = KeyRing.load(settings.principal_keys)
    app = FastAPI(
        title=title,
        version=rl_gym.__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.settings = settings
    app.state.in_flight = InFlight(settings.in_flight)
    app.state.access = Access(keys, audience=settings.service)
    handle_errors(app)
    # The last one added is the first to see a request.
    if not keys:
        app.add_middleware(LoopbackOnly)
    app.state.registry = CollectorRegistry()
    app.add_middleware(RequestContext, metrics=HttpMetrics(app.state.registry))
    app.include_router(operations)
    _document(app, tuple(bodies))
    return app


operations = APIRouter(tags=["operations"])
"""What whoever runs a service asks, without a principal: nothing here tells of a request."""


@operations.get("/healthz")
async def healthz() -> dict[str, str]:
    """Whether the process answers at all."""
    return {"status": "alive"}


@operations.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Counters and times, for Prometheus."""
    return Response(generate_latest(request.app.state.registry), media_type=CONTENT_TYPE_LATEST)


def _document(app: FastAPI, bodies: tuple[type[BaseModel], ...]) -> None:
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _, schemas = models_json_schema([(body, "validation") for body in bodies], ref_template=_REFERENCE)
            known = generate().setdefault("components", {}).setdefault("schemas", {})
            for name, schema in schemas.get("$defs", {}).items():
                known.setdefault(name, schema)
        return generate()

    app.openapi = openapi  # type: ignore[method-assign]


def refuse_open_binding(settings: ServiceSettings) -> None:
    """Raises UsageError where others than this machine could reach a service that asks nobody for a principal."""
    if not settings.principal_keys and not is_loopback(settings.host):
        raise UsageError(
            f"listening on {settings.host} without principal keys would serve everyone: "
            "set RL_GYM_PRINCIPAL_KEYS, or listen on 127.0.0.1"
        )


def serve(app: FastAPI, settings: ServiceSettings) -> None:
    """Run until SIGTERM or SIGINT; then requests in flight may finish within `drain_seconds`.

    What a proxy says of the peer (X-Forwarded-For) is not believed.
    """
    refuse_open_binding(settings)
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=settings.drain_seconds,
    )
