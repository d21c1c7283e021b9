"""Parameters of routes: the actor, the flow, the key."""

from typing import Annotated

from fastapi import Depends, Header, Path, Query, Request

from holdfast.access.require import require
from holdfast.access.roles import Actor, Role
from holdfast.control.key_paths import key_from_path
from holdfast.control.services import Services
from holdfast.control.spans import SPAN_FORM, Span
from holdfast.views.flow_view import FlowView

Viewer = Annotated[Actor, Depends(require(Role.VIEWER))]
Operator = Annotated[Actor, Depends(require(Role.OPERATOR))]
Admin = Annotated[Actor, Depends(require(Role.ADMIN))]

KEY_FORM = (
    "A key in an address: text of letters, digits and `_ . ~ -` as it is; any other key, with "
    "slashes, spaces, quotes, emoji or bytes that are no text, as `b64.` and its bytes in URL-safe "
    "base64 without padding. Every answer has it as `key_path`."
)


def services_of(request: Request) -> Services:
    """The services of the process."""
    services: Services = request.app.state.services
    return services


ServicesOf = Annotated[Services, Depends(services_of)]

FlowPath = Annotated[str, Path(description="The flow's name.", max_length=100, examples=["orders"])]


def view_of(flow: FlowPath, services: ServicesOf) -> FlowView:
    """The flow of the address."""
    return services.ready_views().flow(flow)


View = Annotated[FlowView, Depends(view_of)]


def _key(
    key: Annotated[str, Path(description=KEY_FORM, examples=["customer-7", "b64.YS9i"])],
) -> bytes:
    return key_from_path(key)


KeyOfPath = Annotated[bytes, Depends(_key)]


def _key_filter(
    key: Annotated[
        str | None, Query(description=f"Only of this key. {KEY_FORM}", examples=["customer-7"])
    ] = None,
) -> bytes | None:
    return None if key is None else key_from_path(key)


KeyFilter = Annotated[bytes | None, Depends(_key_filter)]


def _span(
    since: Annotated[
        str | None,
        Query(max_length=40, description=f"Not older than this: {SPAN_FORM}.", examples=["2h"]),
    ] = None,
    until: Annotated[
        str | None, Query(max_length=40, description="Older than this, in the same form.")
    ] = None,
) -> Span:
    return Span.parse(since, until)


SpanOf = Annotated[Span, Depends(_span)]

IdempotencyKey = Annotated[
    str | None,
    Header(
        description="The same key twice, by the same actor, is one command, in whichever instance "
        "it arrives: a request that got no answer can be repeated.",
        pattern=r"^[\x21-\x7e]{1,255}$",
        examples=["7c9e6679-7425-40de-944b-e07fc1f90ae7"],
    ),
]
Cursor = Annotated[
    str | None,
    # Long enough for any key of 4 kB, and, fully escaped, short enough for an address.
    Query(description="From the page before, to go on after it.", max_length=20_000),
]
