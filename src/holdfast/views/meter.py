"""The thread that samples rates and lag of every flow each second.

Incoming events are counted by the ends of logs, with one cheap request for all flows. Outgoing
events are counted by the reports of the pipeline, or of a guard's workers: the end of a log that is
written in transactions also counts their markers.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from holdfast.background import Background
from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.clock import now_ms
from holdfast.errors import HoldfastError, NotFoundError
from holdfast.flows.reports import Report
from holdfast.views.changes import ChangeKind, Changes
from holdfast.views.flow_view import FlowView
from holdfast.views.follower import publish_health
from holdfast.views.series import Sample
from holdfast.views.standstill import Standstill

log = logging.getLogger(__name__)

_SAMPLE_SECONDS = 1.0
_REQUEST_SECONDS = 3.0
"""A broker that does not answer such a simple request in this time counts as away."""
_OLD_MS = 2_500
"""A report is written every second while counts change: an older one means that they do not."""
_REPORTED_MS = 1_000


@dataclass(frozen=True, slots=True)
class _Reported:
    """Rates between the two newest reports of a gate, or of a partition of a guard."""

    report: Report
    passed: float = 0.0
    held: float = 0.0
    dead: float = 0.0


class Meter:
    """Samples all flows, from start to stop."""

    def __init__(
        self, connection: Connection, flows: Mapping[str, FlowView], changes: Changes
    ) -> None:
        self.standstill: Standstill | None = None
        """Set while the broker does not answer. The last sample stays."""
        hasty = replace(connection.settings, request_timeout=_REQUEST_SECONDS)
        self._offsets = Offsets(Connection(hasty), committed_only=False)
        self._flows = flows
        self._changes = changes
        self._ends: dict[str, tuple[float, dict[Partition, int]]] = {}
        self._reported: dict[tuple[str, str], _Reported] = {}
        self._thread = Background("meter", self._turn)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._thread.stop()

    @property
    def trouble(self) -> str:
        """Why no sample can be taken at the moment; empty if one can."""
        return self.standstill.why if self.standstill else self._thread.failure

    def _turn(self) -> None:
        if self._thread.stopping.wait(_SAMPLE_SECONDS):
            return
        try:
            self._sample_all()
            self.standstill = None
        except HoldfastError as error:
            if self.standstill is None:
                log.warning("Rates and lag are not available: %s", error)
            self.standstill = Standstill.after(self.standstill, f"rates and lag: {error}")

    def _sample_all(self) -> None:
        views = list(self._flows.values())
        ends = self._ends_of(views)
        now = monotonic()
        for view in views:
            own = {p: ends[p] for p in _events_of(view) if p in ends}
            sample = self._sample(view, own, now)
            view.take_sample(sample)
            self._changes.append(ChangeKind.RATES, view.name, sample)
            publish_health(view, self._changes)

    def _ends_of(self, views: Sequence[FlowView]) -> dict[Partition, int]:
        """The ends of all flows in one request; flow by flow if one has lost its topic."""
        try:
            return self._offsets.ends([p for view in views for p in _events_of(view)])
        except NotFoundError:
            if len(views) == 1:
                return {}
            return {p: end for view in views for p, end in self._ends_of([view]).items()}

    def _sample(self, view: FlowView, ends: dict[Partition, int], now: float) -> Sample:
        begun, before = self._ends.get(view.name, (now, ends))
        self._ends[view.name] = now, ends
        arrived = sum(ends[p] - before.get(p, ends[p]) for p in ends)
        reported = [self._rates(report) for report in view.counting_reports()]
        keys, events, size = view.counts()
        return Sample(
            at=now_ms(),
            incoming=round(max(0, arrived) / (now - begun), 1) if now > begun else 0.0,
            outgoing=round(sum(rates.passed for rates in reported), 1),
            held=round(sum(rates.held for rates in reported), 1),
            dead=round(sum(rates.dead for rates in reported), 1),
            lag=self._lag(view, ends),
            held_keys=keys,
            held_events=events,
            held_bytes=size,
        )

    def _lag(self, view: FlowView, ends: dict[Partition, int]) -> int:
        if view.definition.is_guard and view.health().well:
            # Its position stays before a marker at the end of a topic that is written in
            # transactions. Its workers know that nothing else is there.
            return sum(report.lag for report in view.counting_reports())
        positions = view.positions()
        taken = {p: positions[p.number].offset for p in ends if p.number in positions}
        untouched = [p for p in ends if p not in taken]
        if untouched and view.definition.start == "earliest":
            taken |= self._offsets.starts(untouched)
        return sum(max(0, end - taken.get(p, end)) for p, end in ends.items())

    def _rates(self, report: Report) -> _Reported:
        part = report.flow, report.part
        known = self._reported.get(part)
        if known is None or report.process != known.report.process:
            known = self._reported[part] = _Reported(report)
        elif report != known.report:
            # Of a longer interval only the last second had events. Two reports that arrived
            # together were written one after the other.
            apart = report.at - known.report.at
            seconds = max(_REPORTED_MS / 2, min(apart, _REPORTED_MS)) / 1000
            known = self._reported[part] = _Reported(
                report,
                round((report.passed - known.report.passed) / seconds, 1),
                round((report.held - known.report.held) / seconds, 1),
                round((report.dead - known.report.dead) / seconds, 1),
            )
        elif now_ms() - report.at > _OLD_MS:
            return _Reported(report)
        return known


def _events_of(view: FlowView) -> list[Partition]:
    return [Partition(view.names.events, p) for p in range(view.definition.partitions)]
