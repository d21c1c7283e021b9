"""All pages under one router."""

from fastapi import APIRouter

from holdfast.dashboard.routes import (
    api_docs,
    audit,
    dead_letters,
    find,
    flow,
    groups,
    health,
    hooks,
    key,
    overview,
    quality,
    runs,
    scopes,
    topics,
    verbs,
)


def dashboard_router() -> APIRouter:
    """The dashboard's pages. They need `app.state.services` and `app.state.authenticator`."""
    pages = APIRouter()
    for module in (
        overview, find, flow, verbs, scopes, key, dead_letters, runs, topics, groups, audit,
        quality, hooks, health, api_docs,
    ):  # fmt: skip
        pages.include_router(module.router)
    return pages
