"""`/healthz`, `/readyz` and `/metrics`, for monitoring."""

import asyncio
from typing import Annotated

import anyio.to_thread
from confluent_kafka import KafkaException
from fastapi import APIRouter, Depends, Request
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import JSONResponse, Response

from holdfast.access.authenticator import Authenticator
from holdfast.access.require import require
from holdfast.access.roles import Actor, Role
from holdfast.client.connection import Connection
from holdfast.control.services import Services
from holdfast.web.metrics import WebMetrics

_EVERY_SECONDS = 2.0
_ANSWER_SECONDS = 3.0


class Pulse:
    """Sends the broker a small request every two seconds, while `beat` runs."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.trouble = "The broker was not reached yet."
        """Why it does not answer; empty if it does."""

    async def beat(self) -> None:
        while True:
            # The end of the process does not wait for an answer that may not come.
            self.trouble = await anyio.to_thread.run_sync(self._ask, abandon_on_cancel=True)
            await asyncio.sleep(_EVERY_SECONDS)

    def _ask(self) -> str:
        try:
            reply = self._connection.admin.describe_cluster(request_timeout=_ANSWER_SECONDS)
            reply.result(_ANSWER_SECONDS + 1)
        except (KafkaException, TimeoutError):
            return f"No broker answers at {self._connection}."
        return ""


class Readiness:
    """Checks that the views behind the requests are complete and up to date."""

    def __init__(self, services: Services, authenticator: Authenticator, pulse: Pulse) -> None:
        self._services = services
        self._authenticator = authenticator
        self._pulse = pulse

    def missing(self) -> str:
        """Returns what is missing, as a sentence; empty if the process is ready."""
        if self._pulse.trouble:
            return self._pulse.trouble
        if not self._authenticator.knows_tokens:
            return "The tokens were not read yet."
        if self._authenticator.trouble:
            return f"The tokens are not followed ({self._authenticator.trouble})."
        if not self._services.views.ready:
            return f"The views are being built. {self._services.views.trouble}".strip()
        return str(self._services.views.standstill or "")


router = APIRouter(include_in_schema=False)
"""The two probes are open to everyone and reveal nothing; the metrics need the role viewer. They
need `app.state.readiness` and `app.state.metrics`."""


@router.get("/healthz")
def healthz() -> JSONResponse:
    """The process answers."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
def readyz(request: Request) -> JSONResponse:
    """Views are caught up, and the broker answers."""
    readiness: Readiness = request.app.state.readiness
    reason = readiness.missing()
    if reason:
        return JSONResponse({"status": "not ready", "reason": reason}, status_code=503)
    return JSONResponse({"status": "ready"})


@router.get("/metrics")
def show_metrics(request: Request, _: Annotated[Actor, Depends(require(Role.VIEWER))]) -> Response:
    metrics: WebMetrics = request.app.state.metrics
    return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)
