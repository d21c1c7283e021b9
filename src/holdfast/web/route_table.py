"""The routes of the app as one flat table, with the role of each."""

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute

from holdfast.access.require import Require
from holdfast.access.roles import Role


@dataclass(frozen=True, slots=True)
class RouteEntry:
    """One route, under the prefixes of all routers around it."""

    path: str
    """Its template, e.g. `/api/v1/flows/{flow}`."""
    methods: frozenset[str]
    """Empty for mounted apps."""
    role: Role | None
    """The lowest role that may use it; None if the route declares none."""
    route: BaseRoute


def route_table(app: FastAPI) -> tuple[RouteEntry, ...]:
    return tuple(
        RouteEntry(
            path=context.path or "",
            methods=frozenset(context.methods or ()),
            role=max(_roles(getattr(context, "dependant", None)), default=None),
            route=context.original_route,
        )
        for context in iter_route_contexts(app.routes)
    )


def _roles(dependant: Dependant | None) -> Iterator[Role]:
    for dependency in dependant.dependencies if dependant else ():
        if isinstance(dependency.call, Require):
            yield dependency.call.role
        yield from _roles(dependency)
