"""One request for a page: who is there, when, and what every page has around its own."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from time import time
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.responses import HTMLResponse

from holdfast.access.require import require
from holdfast.access.roles import Actor, Role
from holdfast.api.services import Services
from holdfast.dashboard.live import live_address
from holdfast.dashboard.looks import Look, flow_look
from holdfast.dashboard.navigation import SECTIONS, Section
from holdfast.dashboard.rendering import render
from holdfast.errors import UnavailableError
from holdfast.views.flow_view import FlowView
from holdfast.views.views import Views

_VERSION = version("holdfast")


@dataclass(frozen=True, slots=True)
class SideFlow:
    """A flow in the side bar."""

    name: str
    look: Look
    lag: int


@dataclass(frozen=True, slots=True)
class Shell:
    """What stands around every page."""

    sections: tuple[Section, ...]
    flows: tuple[SideFlow, ...]
    cluster: str
    version: str
    open_mode: bool


@dataclass(frozen=True, slots=True)
class Visit:
    """The request, and the two kinds of answers to it: whole pages and parts of them."""

    services: Services
    actor: Actor
    open_mode: bool
    now: int

    def flow(self, name: str) -> FlowView:
        """The flow of that name, or NotFoundError; UnavailableError until that can be told."""
        return self._views().flow(name)

    def flows(self) -> list[FlowView]:
        """All flows, by name; UnavailableError until they are known."""
        return self._views().flows()

    def _views(self) -> Views:
        """Views that are being read know nothing yet, and must not say that nothing is there."""
        views = self.services.views
        if not views.ready:
            trouble = views.trouble or "This page comes by itself in a moment."
            raise UnavailableError(f"The topics are being read. {trouble}")
        return views

    def live(self) -> str:
        """The address of the stream of all flows; see `live_address`."""
        return live_address("/live", self.services.views.changes)

    def page(self, template: str, *, here: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page; `here` is the section or flow that the menus mark."""
        text = render(template, here=here, shell=self._shell(), **self._own(), **values)
        return HTMLResponse(text, status)

    def fragment(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A part of a page."""
        return HTMLResponse(render(template, **self._own(), **values), status)

    def side(self, here: str) -> HTMLResponse:
        """The flows of the side bar."""
        return self.fragment("side_flows.html", here=here, shell=self._shell())

    def _own(self) -> dict[str, Any]:
        return {"actor": self.actor, "acts": self.actor.may(Role.OPERATOR), "now": self.now}

    def _shell(self) -> Shell:
        views = self.services.views.flows()
        flows = sorted((_side_flow(view) for view in views), key=lambda f: (f.look.rank, f.name))
        cluster = ", ".join(self.services.connection.addresses)
        return Shell(SECTIONS, tuple(flows), cluster, _VERSION, self.open_mode)


def visit(role: Role) -> Callable[..., Visit]:
    """The dependency of a page's route: a visit by somebody who has at least that role."""

    def of(request: Request, actor: Annotated[Actor, Depends(require(role))]) -> Visit:
        state = request.app.state
        return Visit(state.services, actor, state.gatekeeper.open_to_all, round(time() * 1000))

    return of


Viewing = Annotated[Visit, Depends(visit(Role.VIEWER))]
Operating = Annotated[Visit, Depends(visit(Role.OPERATOR))]
Administering = Annotated[Visit, Depends(visit(Role.ADMIN))]


def _side_flow(view: FlowView) -> SideFlow:
    summary = view.summary()
    return SideFlow(view.name, flow_look(summary), summary.now.lag if summary.now else 0)
