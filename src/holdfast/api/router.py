"""All routes, under `/api/v1`."""

from fastapi import APIRouter
from fastapi.routing import APIRoute

from holdfast.api.routes import (
    audit,
    cluster,
    dead_letters,
    flows,
    health,
    hooks,
    keys,
    quality,
    records,
    runs,
    scopes,
    streams,
    unreadable,
    verbs,
)
from holdfast.control.problems import problems

PREFIX = "/api/v1"
TAGS = [
    {"name": name, "description": description}
    for name, description in {
        "flows": "Flows: their settings, rates, health and quality.",
        "keys": "The keys of a flow: state, holds, held events.",
        "verbs": "Hold, release, dead-letter, extend, pause, resume, void and skip.",
        "dead letters": "Events that were set aside, and why.",
        "runs": "Replays, backfills, redrives and the other runs.",
        "records": "The records of a topic.",
        "live": "Server-sent events.",
        "audit": "Commands and their outcomes.",
        "hooks": "URLs that are called when something happens.",
        "cluster": "The surroundings of flows: topics, groups, brokers, health, who is asking.",
    }.items()
]
"""The tags of the routes, in the order of the reference."""


def _short_id(route: APIRoute) -> str:
    """The operation's id: the name of the function, such as `hold_key`."""
    return route.name


def api_router() -> APIRouter:
    """The API. It needs `app.state.services` and `app.state.authenticator`."""
    router = APIRouter(
        prefix=PREFIX,
        responses=problems(400, 401, 403, 413, 421, 422, 429, 502, 503, 504),
        generate_unique_id_function=_short_id,
    )
    # Fixed paths come before those with a parameter in the same place.
    for part in (
        flows,
        quality,
        keys,
        verbs,
        unreadable,
        scopes,
        dead_letters,
        runs,
        records,
        streams,
        audit,
        hooks,
        health,
        cluster,
    ):
        router.include_router(part.router)
    return router
