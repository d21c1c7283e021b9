"""The app, put together: API, dashboard, sign-in, health, and what stands before them all."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import Depends, FastAPI
from starlette.middleware import Middleware

from holdfast.access.gatekeeper import Gatekeeper
from holdfast.access.require import require
from holdfast.access.roles import Actor, Role
from holdfast.access.token_log import TokenLog
from holdfast.access.token_view import TokenView
from holdfast.api.problems import install_problems
from holdfast.api.router import api_router
from holdfast.api.services import Services
from holdfast.client.connection import Connection
from holdfast.dashboard.assets import PATH as ASSETS_PATH
from holdfast.dashboard.assets import Assets
from holdfast.dashboard.routes.router import dashboard_router
from holdfast.web.door import Door
from holdfast.web.error_pages import show_error
from holdfast.web.faults import Faults
from holdfast.web.headers import SecurityHeaders
from holdfast.web.health import Readiness, health_router
from holdfast.web.limits import BodyLimit, TimeLimit
from holdfast.web.login import login_router
from holdfast.web.metrics import WebMetrics
from holdfast.web.origins import OwnSiteOnly
from holdfast.web.pulse import Pulse
from holdfast.web.rate_limit import Buckets, RateLimit
from holdfast.web.request_log import RequestLog
from holdfast.web.route_table import route_table
from holdfast.web.settings import WebSettings
from holdfast.web.streams import OpenStreams, Streams

OPENAPI = "/api/v1/openapi.json"


def create_app(settings: WebSettings, connection: Connection) -> FastAPI:
    """The app over one cluster. It follows the cluster while it runs; nothing waits for that."""
    services = Services.over(connection)
    tokens = TokenView(connection)
    gatekeeper = Gatekeeper(tokens, TokenLog(services.client), loopback=settings.loopback)
    pulse = Pulse(connection)
    readiness = Readiness(services, gatekeeper, pulse)
    streams = OpenStreams()
    metrics = WebMetrics(streams.__len__, lambda: not readiness.missing())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        tokens.start()
        services.start()
        async with asyncio.TaskGroup() as tasks:
            watches = [
                tasks.create_task(streams.end_those(lambda given: not gatekeeper.knows(given))),
                tasks.create_task(pulse.beat()),
            ]
            yield
            for watch in watches:
                watch.cancel()
        services.stop()
        tokens.close()

    app: FastAPI = FastAPI(
        title="Holdfast",
        version=version("holdfast"),
        description="Put any key of a stream on hold, and let it go again.",
        lifespan=lifespan,
        # The pages that come with FastAPI load scripts from elsewhere, and ask nobody who they are.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        middleware=[
            Middleware(
                RequestLog,
                metrics,
                lambda: route_table(app),
                all_requests=settings.access_log,
            ),
            Middleware(SecurityHeaders, tls=settings.tls),
            Middleware(OwnSiteOnly, settings),
            Middleware(
                RateLimit,
                Buckets(settings.requests_per_second, settings.request_burst),
                gatekeeper,
            ),
            Middleware(Door, gatekeeper),
            Middleware(BodyLimit, most_bytes=settings.max_body_bytes),
            Middleware(TimeLimit, seconds=settings.request_seconds),
            Middleware(Faults),
            Middleware(Streams, streams),
        ],
    )
    app.state.services = services
    app.state.gatekeeper = gatekeeper
    app.state.streams = streams
    app.include_router(api_router())
    app.include_router(health_router(readiness.missing, metrics))
    app.include_router(login_router(gatekeeper, tls=settings.tls))
    app.include_router(dashboard_router())
    app.mount(ASSETS_PATH, Assets(), name="static")
    install_problems(app)
    app.add_exception_handler(404, show_error)
    _add_openapi(app)
    return app


def _add_openapi(app: FastAPI) -> None:
    @app.get(OPENAPI, include_in_schema=False)
    def openapi(_: Annotated[Actor, Depends(require(Role.VIEWER))]) -> dict[str, Any]:
        return app.openapi()
