"""Hooks: where events are sent, what came back, and a test button."""

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from holdfast.access.roles import Role
from holdfast.dashboard.page_request import AdminRequest, ViewerRequest
from holdfast.dashboard.pages.hooks import hook_card, hook_cards
from holdfast.dashboard.routes.page_route import page_router

router = page_router()


@router.get("/hooks")
def page(request: ViewerRequest, http: Request) -> Response:
    cards = hook_cards(http.app.state.hooks)
    return request.page(
        "hooks.html", here="/hooks", cards=cards, tests=request.actor.may(Role.ADMIN)
    )


@router.post("/hooks/{hook}/test")
async def send_test(request: AdminRequest, http: Request, hook: str) -> Response:
    """Sends a test event, and returns the hook's card with what came back."""
    runner = http.app.state.hooks
    found = await run_in_threadpool(runner.log.get, hook)
    await run_in_threadpool(runner.log.test, found, request.actor.signature)
    deliveries = await run_in_threadpool(runner.log.deliveries, found)
    card = hook_card(runner, found, deliveries)
    return request.fragment("hook_card.html", card=card, tests=True)
