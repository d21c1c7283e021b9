"""`/hooks`: URLs that are called when something happens to a key or a gate."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import Field

from holdfast.api.models import Body, Model, Moment, example, moment
from holdfast.api.parameters import Admin, Viewer
from holdfast.control.problems import problems
from holdfast.errors import NotFoundError
from holdfast.hooks.delivery import Delivery
from holdfast.hooks.hook import REPORTED, BodyFormat, Hook
from holdfast.hooks.hook_runner import HookRunner

router = APIRouter(tags=["hooks"])

_HookPath = Annotated[str, Path(max_length=100, description="The hook's name or id.")]


class HookBody(Body):
    model_config = example(url="https://example.com/holdfast", on=["held", "stopped"])

    url: str = Field(max_length=2_000, examples=["https://example.com/holdfast"])
    on: list[str] = Field(
        min_length=1, max_length=len(REPORTED), description=f"Of {', '.join(REPORTED)}."
    )
    name: str = Field(default="", max_length=100, description="The URL's host unless given.")
    format: Annotated[str, Field(pattern="^(json|slack)$")] = "json"


class HookOut(Model):
    id: str
    name: str = Field(examples=["example.com"])
    origin: str = Field(
        description="The URL without its path, which may be a secret.",
        examples=["https://example.com/…"],
    )
    on: list[str]
    format: BodyFormat
    created_at: Moment
    created_by: str

    @classmethod
    def of(cls, hook: Hook) -> "HookOut":
        return cls(
            id=hook.id,
            name=hook.name,
            origin=hook.origin,
            on=list(hook.on),
            format=hook.format,
            created_at=moment(hook.created_at),
            created_by=hook.created_by,
        )


class NewHookOut(HookOut):
    secret: str = Field(description="Signs each request. It is shown this once.")


class HooksOut(Model):
    hooks: list[HookOut]


class DeliveryOut(Model):
    """One attempt to deliver an event."""

    event: str = Field(description="The event's id.")
    kind: str
    flow: str
    attempt: int
    at: Moment
    status: int | None = Field(description="Of the answer; null if there was none.")
    error: str
    delivered: bool
    given_up: bool = Field(description="It is not tried again.")


class DeliveriesOut(Model):
    deliveries: list[DeliveryOut] = Field(description="The newest 100, the newest first.")


def runner_of(request: Request) -> HookRunner:
    """The hooks of the process."""
    runner: HookRunner = request.app.state.hooks
    return runner


@router.get("/hooks", summary="List hooks")
def list_hooks(request: Request, _: Viewer) -> HooksOut:
    """The hooks, without secrets and paths."""
    return HooksOut(hooks=[HookOut.of(hook) for hook in runner_of(request).hooks()])


@router.post("/hooks", status_code=201, summary="Add a hook", responses=problems(409))
async def add_hook(request: Request, actor: Admin, body: HookBody) -> NewHookOut:
    """Calls the URL on each of these events from now on, signed with a new secret."""
    hook = await asyncio.to_thread(
        runner_of(request).log.add,
        body.url,
        body.on,
        created_by=actor.signature,
        name=body.name,
        body_format=BodyFormat(body.format),
    )
    return NewHookOut(**dict(HookOut.of(hook)), secret=hook.secret)


@router.delete("/hooks/{hook}", summary="Remove a hook", responses=problems(404))
async def remove_hook(request: Request, _: Admin, hook: _HookPath) -> HookOut:
    """Events that were not delivered yet are dropped."""
    return HookOut.of(await asyncio.to_thread(runner_of(request).log.remove, hook))


@router.post("/hooks/{hook}/test", summary="Test a hook", responses=problems(404))
async def try_hook(request: Request, actor: Admin, hook: _HookPath) -> DeliveryOut:
    """Sends a test event once, now, and reports what the URL answered."""
    log = runner_of(request).log
    found = await asyncio.to_thread(log.get, hook)
    return _out(await asyncio.to_thread(log.test, found, actor.signature))


@router.get("/hooks/{hook}/deliveries", summary="Deliveries of a hook", responses=problems(404))
def deliveries(request: Request, _: Viewer, hook: _HookPath) -> DeliveriesOut:
    """The newest attempts, with what came back."""
    runner = runner_of(request)
    for each in runner.hooks():
        if hook in (each.name, each.id):
            return DeliveriesOut(deliveries=[_out(one) for one in runner.deliveries(each)])
    raise NotFoundError(f"There is no hook {hook!r}.")


def _out(delivery: Delivery) -> DeliveryOut:
    return DeliveryOut.model_validate(delivery)
