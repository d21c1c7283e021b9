"""`/healthz`, `/readyz` and `/metrics`: for whoever runs the process."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import JSONResponse, Response

from holdfast.access.gatekeeper import Gatekeeper
from holdfast.access.require import require
from holdfast.access.roles import Actor, Role
from holdfast.api.services import Services
from holdfast.web.metrics import WebMetrics
from holdfast.web.pulse import Pulse


class Readiness:
    """Whether requests are served from a view that is whole and moves."""

    def __init__(self, services: Services, gatekeeper: Gatekeeper, pulse: Pulse) -> None:
        self._services = services
        self._gatekeeper = gatekeeper
        self._pulse = pulse

    def missing(self) -> str:
        """What is missing, as a sentence; empty if nothing is."""
        if self._pulse.trouble:
            return self._pulse.trouble
        if not self._gatekeeper.knows_tokens:
            return "The tokens were not read yet."
        if not self._services.views.ready:
            return "The views are being built."
        return ""


def health_router(missing: Callable[[], str], metrics: WebMetrics) -> APIRouter:
    """The two probes are open to all, and tell nothing; the metrics take a viewer."""
    router = APIRouter(include_in_schema=False)

    @router.get("/healthz")
    def healthz() -> JSONResponse:
        """The process answers."""
        return JSONResponse({"status": "ok"})

    @router.get("/readyz")
    def readyz() -> JSONResponse:
        """Views are caught up, and the broker answers."""
        why = missing()
        if why:
            return JSONResponse({"status": "not ready", "reason": why}, status_code=503)
        return JSONResponse({"status": "ready"})

    @router.get("/metrics")
    def show_metrics(_: Annotated[Actor, Depends(require(Role.VIEWER))]) -> Response:
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

    return router
