"""Quality: what came of the checks that flows declare."""

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from holdfast.dashboard.looks import Look, check_look
from holdfast.dashboard.visit import Viewing, Visit
from holdfast.flows.quality import CheckResult, QualityReport


@dataclass(frozen=True, slots=True)
class QualityCard:
    """A flow's checks with what came of each; before they were ever run, only the checks."""

    flow: str
    report: QualityReport | None
    look: Look
    lines: tuple[tuple[CheckResult, Look], ...]
    declared: tuple[str, ...]


def add(router: APIRouter) -> None:
    @router.get("/quality")
    async def page(visit: Viewing) -> Response:
        return visit.page("quality.html", here="/quality", cards=_cards(visit))


def _cards(visit: Visit) -> list[QualityCard]:
    """Flows that declare checks, or did when they were last checked; what failed comes first."""
    reports = {report.flow: report for report in visit.services.quality.list()}
    declared = {view.name: view.definition.checks for view in visit.flows()}
    cards = [
        _card(name, checks, reports.get(name))
        for name, checks in declared.items()
        if checks or name in reports
    ]
    return sorted(cards, key=lambda card: (card.look.rank, card.flow))


def _card(flow: str, declared: tuple[str, ...], report: QualityReport | None) -> QualityCard:
    lines = () if report is None else tuple((r, check_look(r.passed)) for r in report.results)
    look = check_look(None if report is None else report.passed)
    return QualityCard(flow, report, look, lines, declared)
