"""One request for a page: its actor, its time, and the frame of every page."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.responses import HTMLResponse

from holdfast.access.require import require
from holdfast.access.roles import Actor, Role
from holdfast.clock import now_ms
from holdfast.control.services import Services
from holdfast.dashboard.live import live_address
from holdfast.dashboard.navigation import SECTIONS, Section
from holdfast.dashboard.rendering import render
from holdfast.dashboard.state_styles import StateStyle, flow_style
from holdfast.views.flow_view import FlowView
from holdfast.views.standstill import Standstill

_VERSION = version("holdfast")


@dataclass(frozen=True, slots=True)
class SideFlow:
    name: str
    style: StateStyle
    lag: int


@dataclass(frozen=True, slots=True)
class Shell:
    """The frame of every page: menus, flows, cluster."""

    sections: tuple[Section, ...]
    flows: tuple[SideFlow, ...]
    cluster: str
    version: str
    open_mode: bool
    standstill: Standstill | None
    """Set if the page shows old data."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The request, and its two kinds of responses: whole pages and parts of them."""

    services: Services
    actor: Actor
    open_mode: bool
    now: int

    def flow(self, name: str) -> FlowView:
        """The flow, or NotFoundError; UnavailableError until the flows are known."""
        return self.services.ready_views().flow(name)

    def flows(self) -> list[FlowView]:
        """All flows, by name; UnavailableError until they are known."""
        return self.services.ready_views().flows()

    def live(self) -> str:
        """The address of the stream of all flows; see `live_address`."""
        return live_address("/live", self.services.views.changes)

    def page(self, template: str, *, here: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page; `here` is the section or flow that the menus mark."""
        text = render(template, here=here, shell=self._shell(), **self._own(), **values)
        return HTMLResponse(text, status)

    def fragment(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        return HTMLResponse(render(template, **self._own(), **values), status)

    def side(self, here: str) -> HTMLResponse:
        """The flows of the side bar."""
        return self.fragment("side_flows.html", here=here, shell=self._shell())

    def _own(self) -> dict[str, Any]:
        return {"actor": self.actor, "acts": self.actor.may(Role.OPERATOR), "now": self.now}

    def _shell(self) -> Shell:
        views = self.services.views.flows()
        flows = sorted((_side_flow(view) for view in views), key=lambda f: (f.style.rank, f.name))
        cluster = ", ".join(self.services.connection.addresses)
        standstill = self.services.views.standstill
        return Shell(SECTIONS, tuple(flows), cluster, _VERSION, self.open_mode, standstill)


def page_request(role: Role) -> Callable[..., PageRequest]:
    """The dependency of a page's route: a request by an actor with at least this role."""

    def of(request: Request, actor: Annotated[Actor, Depends(require(role))]) -> PageRequest:
        state = request.app.state
        return PageRequest(state.services, actor, state.authenticator.open_to_all, now_ms())

    return of


ViewerRequest = Annotated[PageRequest, Depends(page_request(Role.VIEWER))]
OperatorRequest = Annotated[PageRequest, Depends(page_request(Role.OPERATOR))]
AdminRequest = Annotated[PageRequest, Depends(page_request(Role.ADMIN))]


async def _form(request: Request) -> dict[str, str]:
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


FormFields = Annotated[dict[str, str], Depends(_form)]
"""The fields of a form, by name, without files."""


def _side_flow(view: FlowView) -> SideFlow:
    summary = view.summary()
    return SideFlow(view.name, flow_style(summary), summary.now.lag if summary.now else 0)
