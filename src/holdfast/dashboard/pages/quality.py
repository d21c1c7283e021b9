"""The checks of each flow with their results."""

from dataclasses import dataclass

from holdfast.dashboard.page_request import PageRequest
from holdfast.dashboard.state_styles import StateStyle, check_style
from holdfast.flows.quality import CheckResult, QualityReport


@dataclass(frozen=True, slots=True)
class QualityCard:
    """A flow's checks with their results; before the first run, only the checks."""

    flow: str
    report: QualityReport | None
    style: StateStyle
    lines: tuple[tuple[CheckResult, StateStyle], ...]
    declared: tuple[str, ...]


def quality_cards(request: PageRequest) -> list[QualityCard]:
    """Flows that declare checks, or did at their last report; failed checks first."""
    reports = {report.flow: report for report in request.services.quality.list()}
    declared = {view.name: view.definition.checks for view in request.flows()}
    cards = [
        _card(name, checks, reports.get(name))
        for name, checks in declared.items()
        if checks or name in reports
    ]
    return sorted(cards, key=lambda card: (card.style.rank, card.flow))


def _card(flow: str, declared: tuple[str, ...], report: QualityReport | None) -> QualityCard:
    lines = () if report is None else tuple((r, check_style(r.passed)) for r in report.results)
    style = check_style(None if report is None else report.passed)
    return QualityCard(flow, report, style, lines, declared)
