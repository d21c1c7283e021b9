"""`/flows/{flow}/quality`: what came of the checks that a flow declares."""

from fastapi import APIRouter
from pydantic import Field

from holdfast.api.models import Model, Moment, moment
from holdfast.api.parameters import ServicesOf, View, Viewer
from holdfast.api.problems import problems
from holdfast.flows.quality import QualityReport

router = APIRouter(tags=["flows"])


class CheckOut(Model):
    """What came of one check."""

    check: str = Field(examples=["range total 0..5000"])
    passed: bool
    examined: int = Field(description="Events that were looked at.")
    failed: int = Field(description="Of them: those that speak against it.")
    says: str = Field(examples=["all 1,200 are within"])


class QualityOut(Model):
    """The last report of a flow's quality."""

    flow: str = Field(examples=["orders"])
    at: Moment | None
    passed: bool
    events: int
    results: list[CheckOut]

    @classmethod
    def of(cls, report: QualityReport) -> "QualityOut":
        return cls(
            flow=report.flow,
            at=moment(report.at),
            passed=report.passed,
            events=report.events,
            results=[
                CheckOut(
                    check=result.check,
                    passed=result.passed,
                    examined=result.examined,
                    failed=result.failed,
                    says=result.says,
                )
                for result in report.results
            ],
        )


@router.get("/flows/{flow}/quality", responses=problems(404))
async def quality(view: View, services: ServicesOf, _: Viewer) -> QualityOut:
    """What came of the checks that the flow declares, when they were last run. POST runs them."""
    return QualityOut.of(services.quality.get(view.name))
