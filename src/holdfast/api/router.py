"""All routes, under `/api/v1`."""

from fastapi import APIRouter

from holdfast.api.problems import problems
from holdfast.api.routes import (
    audit,
    cluster,
    dead_letters,
    flows,
    keys,
    quality,
    records,
    runs,
    streams,
    verbs,
)

PREFIX = "/api/v1"


def api_router() -> APIRouter:
    """The API. It wants `app.state.services` and `app.state.gatekeeper`."""
    router = APIRouter(
        prefix=PREFIX, responses=problems(400, 401, 403, 413, 422, 429, 502, 503, 504)
    )
    # Before what takes any name in the same place.
    for part in (flows, quality, keys, verbs, dead_letters, runs, records, streams, audit, cluster):
        router.include_router(part.router)
    return router
