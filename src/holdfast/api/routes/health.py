"""`/health`: is it well, part by part?"""

import asyncio

from fastapi import APIRouter, Request
from pydantic import Field

from holdfast.access.authenticator import Authenticator
from holdfast.api.models import Model
from holdfast.api.parameters import ServicesOf, Viewer
from holdfast.control.health import part_lines
from holdfast.control.services import Services
from holdfast.hooks.hook_runner import HookRunner
from holdfast.views.health import HealthState

router = APIRouter(tags=["cluster"])


class PartLineOut(Model):
    """One part: the broker, a follower of this web process, or a part of a flow."""

    part: str = Field(examples=["gate"])
    flow: str | None = Field(description="Null for a part of the whole.", examples=["orders"])
    state: HealthState
    well: bool
    reason: str = Field(description="Why it is not well, and what to do.")


class PartLinesOut(Model):
    well: bool = Field(description="Every part is well.")
    parts: list[PartLineOut]


@router.get("/health", summary="Is it well, part by part")
async def health(request: Request, services: ServicesOf, _: Viewer) -> PartLinesOut:
    """The broker, this web process and what it follows, and the parts of every flow."""
    authenticator: Authenticator = request.app.state.authenticator
    hooks: HookRunner = request.app.state.hooks
    followers = {"web": "", **_followers(services), "tokens": authenticator.trouble}
    followers |= {f"hook {name}": trouble for name, trouble in hooks.failures().items()}
    lines = await asyncio.to_thread(part_lines, services.client, services.views, followers)
    parts = [PartLineOut.model_validate(line) for line in lines]
    return PartLinesOut(well=all(line.well for line in lines), parts=parts)


def _followers(services: Services) -> dict[str, str]:
    """What each follower lacks; empty for those that are up to date."""
    views = services.views
    building = "" if views.ready else f"The views are being built. {views.trouble}".strip()
    return {
        "views": building or str(views.standstill or ""),
        "runs": services.runs.failure,
        "quality reports": services.quality.failure,
        "redriven letters": services.redriven.failure,
    }
