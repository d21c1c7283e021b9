"""Notices that a gate was stopped, has failed, or reports no more."""

from holdfast.flows.reports import Report
from holdfast.hooks.event import HookEvent, event_of_report
from holdfast.views.health import GATE, SILENT_AFTER_MS

_DOWN = ("stopped", "failed")
_SILENT = "It has not reported for a while. Is the pipeline running?"


class GateWatch:
    """The last report of each gate. A gate that goes down is reported once, until it is up again.

    The watch is in memory: after a restart of the web process a gate that is still down may be
    reported again, under the same id if nothing has changed.
    """

    def __init__(self) -> None:
        self._reports: dict[str, Report] = {}
        self._arrived: dict[str, int] = {}
        self._down: set[str] = set()

    def take(self, report: Report, *, now: int, is_new: bool) -> HookEvent | None:
        """Takes a report. Not `is_new`: it was handled before a restart."""
        if report.part != GATE:
            return None
        self._reports[report.flow] = report
        self._arrived[report.flow] = now if is_new else min(report.at, now)
        if report.state not in _DOWN:
            self._down.discard(report.flow)
            return None
        if report.flow in self._down:
            return None
        self._down.add(report.flow)
        why = report.reason or f"The gate is {report.state}."
        return event_of_report(report, why) if is_new else None

    def forget(self, flow: str) -> None:
        self._reports.pop(flow, None)

    def silent(self, now: int) -> list[HookEvent]:
        """The events of gates that have just become silent."""
        events = []
        for flow, report in self._reports.items():
            if flow not in self._down and now - self._arrived[flow] > SILENT_AFTER_MS:
                self._down.add(flow)
                events.append(event_of_report(report, _SILENT))
        return events
