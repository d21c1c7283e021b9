"""What one step gives to the handler, and where the step ends. No I/O.

A key has either fresh events in a step or rows of held: events of a key with an entry go behind its
rows. Of a key whose first row is with the handler since an earlier step nothing else starts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.gate import Backlog, Drained, HeldRow, Verdict
from holdfast.guard.event import Event
from holdfast.guard.schedule import Job, Schedule
from holdfast.guard.step import GuardStep

RowEvent = Callable[[HeldRow[Any], int], Event]
"""The event of a row of held, for its n-th attempt."""


@dataclass(slots=True)
class Lane:
    """The rows of one key that leave held or are tried in a step. A row that leaves without a try
    has no job."""

    key: bytes
    rows: list[tuple[Drained[Any], Event, Job | None]] = field(default_factory=list)


class Plan:
    """The events and rows of one step."""

    def __init__(self, step: GuardStep, schedule: Schedule) -> None:
        self.step = step
        self.schedule = schedule
        self.fresh: list[Job] = []
        """Events of the source for the handler, in offset order."""
        self.waiting: list[Event] = []
        """Events of the source that wait because of an entry or a hold, in offset order."""
        self.lanes: list[Lane] = []

    def add_events(self, events: Sequence[Event]) -> None:
        """The events that the step takes from the source."""
        for event in events:
            key = event.key
            if self.step.verdict(key) is Verdict.PASS:
                job = Job(key, event.offset, event)
                self.schedule.add(job)
                self.fresh.append(job)
            else:
                self.waiting.append(event)

    def add_ended(
        self, running: Mapping[bytes, Job], backlog: Backlog[Any]
    ) -> Iterator[tuple[bytes, Job]]:
        """The rows whose handler has ended since an earlier step. Those that are known to be in
        held by now are settled by this step, and returned."""
        for key, job in running.items():
            entry = self.step.entry(key)
            row = None if entry is None else next(backlog.rows(entry), None)
            if entry is None or row is None or not job.finished or row.source != job.source:
                continue
            verdict = Verdict.DEAD if row.source <= entry.dead_through else Verdict.PASS
            self.lanes.append(Lane(key, [(Drained(key, row, verdict), job.event, job)]))
            yield key, job

    def add_rows(
        self,
        backlog: Backlog[Any],
        row_event: RowEvent,
        *,
        busy: Mapping[bytes, Job],
        most: int | None = None,
    ) -> None:
        """Rows that leave held. `busy`: keys to leave alone. `most`: rows to try."""
        settled = {lane.key for lane in self.lanes}
        for drained in self.step.rows(backlog):
            key = drained[0].key
            if key in busy or key in settled:
                continue
            entry, lane = self.step.entry(key), Lane(key)
            attempt = 1 if entry is None else entry.attempts + 1
            for each in drained:
                event = row_event(each.row, attempt)
                if each.verdict is Verdict.DEAD:
                    lane.rows.append((each, event, None))
                elif most != 0:
                    job = Job(key, each.row.source, event)
                    self.schedule.add(job)
                    lane.rows.append((each, event, job))
                    most = None if most is None else most - 1
                attempt = 1
            if lane.rows:
                self.lanes.append(lane)

    def cut(self, start: int) -> int | None:
        """End the step before the events at its end that have not started. Returns where that is,
        or None if all of them have. `start`: where the step begins."""
        if all(job.begun is not None for job in self.fresh):
            return None
        begun = [job.source for job in self.fresh if job.begun is not None]
        cut = max(begun, default=start - 1) + 1
        if all(job.source < cut for job in self.fresh):
            return None
        self.fresh = [job for job in self.fresh if job.source < cut]
        self.waiting = [event for event in self.waiting if event.offset < cut]
        self.step.shorten(cut)
        return cut
