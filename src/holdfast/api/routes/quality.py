"""`/flows/{flow}/quality`: results of the checks that a flow declares."""

from fastapi import APIRouter
from pydantic import Field

from holdfast.api.models import Model, Moment
from holdfast.api.parameters import ServicesOf, View, Viewer
from holdfast.control.problems import problems

router = APIRouter(tags=["flows"])


class CheckOut(Model):
    """The result of one check."""

    check: str = Field(examples=["range total 0..5000"])
    passed: bool
    examined: int = Field(description="Events that were looked at.")
    failed: int = Field(description="Of them: those that speak against it.")
    says: str = Field(examples=["all 1,200 are within"])
    examples: list[str] = Field(
        description="The first events that failed, as partition:offset in the events topic.",
        examples=[["2:41"]],
    )


class QualityOut(Model):
    """The last report of a flow's quality."""

    flow: str = Field(examples=["orders"])
    at: Moment
    passed: bool
    events: int
    results: list[CheckOut]


@router.get("/flows/{flow}/quality", responses=problems(404))
async def quality(view: View, services: ServicesOf, _: Viewer) -> QualityOut:
    """The results of the flow's checks from their last run. POST runs them."""
    return QualityOut.model_validate(services.quality.get(view.name))
