"""Dead letters: of each flow, by reason, one in full."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from holdfast.control.exports import ExportForm, letter_fields
from holdfast.dashboard.downloads import download
from holdfast.dashboard.page_request import PageRequest, ViewerRequest
from holdfast.dashboard.pages.dead_letters import dead_letter_counts, dead_letter_reasons
from holdfast.dashboard.pages.messages import MessageFilter, letter_condition, message_page
from holdfast.dashboard.routes.page_route import page_router
from holdfast.dashboard.routes.topics import Chosen, exported_rows
from holdfast.flows.registry import FlowDefinition
from holdfast.views.flow_view import FlowView

router = page_router()


@router.get("/dead-letters")
def page(
    request: ViewerRequest, chosen: Chosen, flow: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    views = request.flows()
    counts = dead_letter_counts(request, views)
    name = flow or max(counts, key=lambda one: counts[one], default="")
    if not name:
        return request.page("dead_letters.html", here="/dead-letters", flow="", counts={})
    return _letters(request, request.flow(name), chosen, counts)


@router.get("/dead-letters/fragments/messages")
def fragment(
    request: ViewerRequest, chosen: Chosen, flow: Annotated[str, Query(max_length=100)]
) -> Response:
    return _letters(request, request.flow(flow), chosen, None)


@router.get("/dead-letters/export")
def export(
    request: ViewerRequest,
    chosen: Chosen,
    flow: Annotated[str, Query(max_length=100)],
    form: ExportForm,
) -> Response:
    view = request.flow(flow)
    definition, topic = view.definition, view.names.dlq
    rows = exported_rows(
        request,
        definition,
        topic,
        definition.partitions,
        chosen,
        letter_fields,
        letter_condition(chosen, _run_of(request, definition)),
    )
    return download(topic, rows, form)


def _run_of(request: PageRequest, flow: FlowDefinition) -> Callable[[str], str]:
    return lambda letter: request.services.redriven.run_of(flow, letter)


def _letters(
    request: PageRequest, view: FlowView, chosen: MessageFilter, counts: dict[str, int] | None
) -> Response:
    connection, definition = request.services.connection, view.definition
    topic = view.names.dlq
    shown = message_page(
        connection,
        topic,
        definition.partitions,
        definition,
        chosen,
        request.actor,
        run_of=_run_of(request, definition),
    )
    values: dict[str, Any] = {
        "topic": topic,
        "flow": view.name,
        "meaning": "dead letters",
        "partitions": definition.partitions,
        "messages": shown,
        "where": "/dead-letters",
    }
    if counts is None:
        return request.fragment("messages_body.html", **values)
    reasons = dead_letter_reasons(request, view, chosen)
    return request.page(
        "dead_letters.html",
        here="/dead-letters",
        status=422 if shown.errors else 200,
        counts=counts,
        reasons=reasons,
        **values,
    )
