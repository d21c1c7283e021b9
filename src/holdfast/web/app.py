"""The app, put together: API, dashboard, sign-in, health, and the middlewares before them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.middleware import Middleware

from holdfast.access.authenticator import Authenticator
from holdfast.access.require import require
from holdfast.access.roles import Actor, Role
from holdfast.access.token_log import TokenLog
from holdfast.access.token_view import TokenView
from holdfast.api.router import TAGS, api_router
from holdfast.client.connection import Connection
from holdfast.control.problems import install_problems
from holdfast.control.services import Services
from holdfast.dashboard.assets import PATH as ASSETS_PATH
from holdfast.dashboard.assets import Assets
from holdfast.dashboard.routes.router import dashboard_router
from holdfast.hooks.hook_runner import HookRunner
from holdfast.web import health, login
from holdfast.web.auth_middleware import AuthMiddleware
from holdfast.web.error_handler import CatchErrors
from holdfast.web.error_pages import show_error
from holdfast.web.headers import SecurityHeaders
from holdfast.web.health import Pulse, Readiness
from holdfast.web.limits import BodyLimit, TimeLimit
from holdfast.web.metrics import WebMetrics
from holdfast.web.origins import OwnSiteOnly
from holdfast.web.rate_limit import Buckets, RateLimit
from holdfast.web.request_log import RequestLog
from holdfast.web.route_table import route_table
from holdfast.web.settings import WebSettings
from holdfast.web.streams import OpenStreams, Streams

OPENAPI = "/api/v1/openapi.json"

_openapi = APIRouter(include_in_schema=False)


@_openapi.get(OPENAPI)
def openapi(request: Request, _: Annotated[Actor, Depends(require(Role.VIEWER))]) -> dict[str, Any]:
    app: FastAPI = request.app
    return app.openapi()


def create_app(settings: WebSettings, connection: Connection) -> FastAPI:
    """The app of one cluster. It follows the cluster while it runs, and starts without waiting for
    it."""
    services = Services.over(connection)
    hooks = HookRunner(connection, services.client, services.views)
    tokens = TokenView(connection)
    authenticator = Authenticator(tokens, TokenLog(services.client), loopback=settings.loopback)
    pulse = Pulse(connection)
    readiness = Readiness(services, authenticator, pulse)
    streams = OpenStreams()
    metrics = WebMetrics(streams.__len__, lambda: not readiness.missing())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        tokens.start()
        services.start()
        hooks.start()
        async with asyncio.TaskGroup() as tasks:
            watches = [
                tasks.create_task(streams.end_those(lambda given: not authenticator.knows(given))),
                tasks.create_task(pulse.beat()),
            ]
            yield
            for watch in watches:
                watch.cancel()
        await asyncio.to_thread(hooks.stop)
        services.stop()
        tokens.stop()

    app: FastAPI = FastAPI(
        title="Holdfast",
        version=version("holdfast"),
        description="Put any key of a stream on hold, and let it go again.",
        lifespan=lifespan,
        openapi_tags=TAGS,
        # FastAPI's own pages load scripts from other sites and need no credentials.
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
                authenticator,
            ),
            Middleware(AuthMiddleware, authenticator),
            Middleware(BodyLimit, most_bytes=settings.max_body_bytes),
            Middleware(TimeLimit, seconds=settings.request_seconds),
            Middleware(CatchErrors),
            Middleware(Streams, streams),
        ],
    )
    # Routes are module-level functions that find everything here. A closure would
    # live as long as the process, with everything it refers to: FastAPI caches route functions.
    app.state.settings = settings
    app.state.services = services
    app.state.hooks = hooks
    app.state.authenticator = authenticator
    app.state.streams = streams
    app.state.readiness = readiness
    app.state.metrics = metrics
    for router in (api_router(), health.router, login.router, dashboard_router(), _openapi):
        app.include_router(router)
    app.mount(ASSETS_PATH, Assets(), name="static")
    install_problems(app)
    app.add_exception_handler(404, show_error)
    return app
