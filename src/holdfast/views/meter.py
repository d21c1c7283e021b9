"""The thread that takes a sample of every flow each second: how much came in, and what waits.

What comes in is seen from the ends of logs, one cheap request for all flows. What came out is what
the pipeline reports: the end of a log that is written in transactions also counts their markers.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event, Thread
from time import monotonic, time

from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import HoldfastError, NotFoundError
from holdfast.flows.reports import Report
from holdfast.views.changes import ChangeKind, Changes
from holdfast.views.flow_view import FlowView
from holdfast.views.follower import tell_health
from holdfast.views.health import GATE
from holdfast.views.series import Sample

log = logging.getLogger(__name__)

_EVERY_S = 1.0
_ANSWER_S = 3.0
"""A broker that does not answer so simple a question in this time is away, and that is said."""
_OLD_MS = 2_500
"""A report is written every second while counts move: one that is older says that they rest."""
_REPORTED_MS = 1_000


@dataclass(frozen=True, slots=True)
class _Reported:
    """Rates between the two newest reports of a gate."""

    report: Report
    passed: float = 0.0
    held: float = 0.0
    dead: float = 0.0


class Meter:
    """Samples all flows, from start to stop."""

    def __init__(
        self, connection: Connection, flows: Mapping[str, FlowView], changes: Changes
    ) -> None:
        self.trouble = ""
        """Why no sample can be taken just now; empty if one can."""
        hasty = replace(connection.settings, request_timeout=_ANSWER_S)
        self._offsets = Offsets(Connection(hasty), committed_only=False)
        self._flows = flows
        self._changes = changes
        self._ends: dict[str, tuple[float, dict[Partition, int]]] = {}
        self._reported: dict[str, _Reported] = {}
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="meter", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(_EVERY_S):
            try:
                self._sample_all()
                self.trouble = ""
            except HoldfastError as error:
                if not self.trouble:
                    log.warning("No figures can be had just now: %s", error)
                self.trouble = str(error)

    def _sample_all(self) -> None:
        views = list(self._flows.values())
        ends = self._ends_of(views)
        now = monotonic()
        for view in views:
            own = {place: ends[place] for place in _events_of(view) if place in ends}
            sample = self._sample(view, own, now)
            view.take_sample(sample)
            self._changes.append(ChangeKind.RATES, view.name, sample)
            tell_health(view, self._changes)

    def _ends_of(self, views: Sequence[FlowView]) -> dict[Partition, int]:
        """Of all flows at once; one by one where one has lost its topic."""
        try:
            return self._offsets.ends([place for view in views for place in _events_of(view)])
        except NotFoundError:
            if len(views) == 1:
                return {}
            return {place: end for view in views for place, end in self._ends_of([view]).items()}

    def _sample(self, view: FlowView, ends: dict[Partition, int], now: float) -> Sample:
        begun, before = self._ends.get(view.name, (now, ends))
        self._ends[view.name] = now, ends
        arrived = sum(ends[place] - before.get(place, ends[place]) for place in ends)
        reported = self._rates(view)
        keys, events, size = view.counts()
        return Sample(
            at=round(time() * 1000),
            incoming=round(max(0, arrived) / (now - begun), 1) if now > begun else 0.0,
            outgoing=reported.passed if reported else 0.0,
            held=reported.held if reported else 0.0,
            dead=reported.dead if reported else 0.0,
            lag=self._lag(view, ends),
            held_keys=keys,
            held_events=events,
            held_bytes=size,
        )

    def _lag(self, view: FlowView, ends: dict[Partition, int]) -> int:
        positions = view.positions()
        taken = {place: positions[place.number].offset for place in ends
                 if place.number in positions}  # fmt: skip
        untouched = [place for place in ends if place not in taken]
        if untouched and view.definition.start == "earliest":
            taken |= self._offsets.starts(untouched)
        return sum(max(0, end - taken.get(place, end)) for place, end in ends.items())

    def _rates(self, view: FlowView) -> _Reported | None:
        report, known = view.report(GATE), self._reported.get(view.name)
        if report is None:
            return None
        if known is None or report.process != known.report.process:
            known = self._reported[view.name] = _Reported(report)
        elif report.at > known.report.at:
            # Between two reports that lie further apart nothing moved but in the last second.
            seconds = min(report.at - known.report.at, _REPORTED_MS) / 1000
            known = self._reported[view.name] = _Reported(
                report,
                round((report.passed - known.report.passed) / seconds, 1),
                round((report.held - known.report.held) / seconds, 1),
                round((report.dead - known.report.dead) / seconds, 1),
            )
        elif time() * 1000 - report.at > _OLD_MS:
            return _Reported(report)
        return known


def _events_of(view: FlowView) -> list[Partition]:
    return [Partition(view.names.events, p) for p in range(view.definition.partitions)]
