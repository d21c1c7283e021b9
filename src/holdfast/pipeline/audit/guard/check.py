"""The faults of one partition of a guard, from its logs. No I/O, and no decision of the guard."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.flows.journal import JournalRecord, Outcome
from holdfast.flows.status import Entry, Position
from holdfast.pipeline.audit.guard.logs import Copy, PartitionLogs
from holdfast.pipeline.audit.guard.spans import Spans
from holdfast.pipeline.audit.verification import Example, Fault

BY_COMMAND = "dead-lettered"
BY_HANDLER = "Skip"
OVERFLOW = "overflow"
"""Kinds of dead letters, as their headers name them. Any other kind is the class of an error."""


@dataclass(slots=True)
class PartitionResult:
    """Where the events of one partition are, and what is wrong."""

    start: int = 0
    """The first source offset that the guard had to take."""
    end: int = 0
    """The first one that it has not taken yet."""
    not_taken: int = 0
    handled: int = 0
    held: int = 0
    dead: int = 0
    skipped: int = 0
    """Of the dead: those that the handler or a person has given up on."""
    waited: int = 0
    """Events whose key had to wait."""
    trimmed: int = 0
    """Of these: those whose row was deleted from held, after it had left."""
    journal: int = 0
    faults: dict[tuple[Fault, str, int], Example] = field(default_factory=dict)

    def add(self, fault: Fault, log: str, partition: int, offset: int, detail: str = "") -> None:
        self.faults[fault, log, offset] = Example(log, partition, offset, detail)


class PartitionCheck:
    """Checks one partition, whose guard may be running. `committed`: its committed position, read
    before the logs. `compacted`: the source may lack any event."""

    def __init__(
        self, logs: PartitionLogs, committed: Position | None, *, compacted: bool = False
    ) -> None:
        self._logs = logs
        self._partition = logs.partition
        self._compacted = compacted
        self.result = PartitionResult()
        self._check_position(committed)
        position = logs.position
        self._offset = position.offset if position else 0
        step = position.step if position else -1
        self._journal = [record for record in logs.journal if record.step <= step]
        self._check_journal()
        self._rows = self._by_source(logs.held, "held")
        self._letters = self._by_source(logs.letters, "dlq")
        self._spans = Spans(self._journal, self._rows.values())
        self._kept_from = self._first_kept()
        self._causes = Causes(logs.journal)
        self.result.end = self._offset
        self.result.journal = len(self._journal)

    def run(self, events: Iterable[Copy]) -> PartitionResult:
        """Account for the events, which begin at `result.start`, in order."""
        seen: set[int] = set()
        for event in events:
            if event.offset >= self._offset:
                self.result.not_taken += 1
                continue
            row, letter = self._rows.get(event.offset), self._letters.get(event.offset)
            if row is not None or letter is not None:
                seen.add(event.offset)
                self._compare(event, row, "held")
                self._compare(event, letter, "dlq")
            self._account(event, row, letter)
        if not self._compacted:
            self._find_strays(seen)
        self._check_letters()
        self._check_entries()
        self._check_spans()
        return self.result

    def _fault(self, fault: Fault, log: str, offset: int, detail: str = "") -> None:
        self.result.add(fault, log, self._partition, offset, detail)

    # The logs by themselves.

    def _check_position(self, committed: Position | None) -> None:
        position, logs = self._logs.position, self._logs
        if position is None:
            if committed is not None or logs.journal or logs.held:
                self._fault(Fault.STATUS_MISSING, "status", 0, "no position")
        elif committed is None:
            detail = "the group has no committed offset"
            self._fault(Fault.STATUS_DIFFERS, "status", position.offset, detail)
        elif position.step < committed.step:
            detail = f"step {position.step}, but step {committed.step} is committed"
            self._fault(Fault.STATUS_MISSING, "status", position.offset, detail)
        elif position.step == committed.step and position.offset != committed.offset:
            detail = f"offset {position.offset}, but {committed.offset} is committed"
            self._fault(Fault.STATUS_DIFFERS, "status", position.offset, detail)

    def _check_journal(self) -> None:
        for log, offset in self._logs.unreadable:
            fault = Fault.UNREADABLE if log == "journal" else Fault.STATUS_DIFFERS
            self._fault(fault, log, offset, "cannot be read")
        first = self._journal[0] if self._journal else None
        begins = first is not None and first.outcome is Outcome.CHANGED
        if self._logs.position is not None and (self._logs.journal_start or not begins):
            self._fault(Fault.JOURNAL_MISSING, "journal", 0, "it does not begin with the settings")
        self.result.start = first.cut if first is not None and begins else self._logs.events_start
        step, left = -1, dict[bytes | None, int]()
        for record in self._journal:
            if record.step < step:
                detail = f"step {record.step} after step {step}"
                self._fault(Fault.IMPOSSIBLE, "journal", record.cut, detail)
            step = record.step
            through = record.drained_through
            if through is None:
                continue
            if through < left.get(record.key, -1):
                detail = f"{record.outcome} through {through} after {left[record.key]}"
                self._fault(Fault.IMPOSSIBLE, "journal", record.cut, detail)
            left[record.key] = through

    def _by_source(self, copies: Sequence[Copy], log: str) -> dict[int, Copy]:
        """The copies of events that the guard has taken, by source offset."""
        found: dict[int, Copy] = {}
        last: dict[bytes | None, int] = {}
        for copy in copies:
            if copy.source is None:
                self._fault(Fault.STRAY, log, copy.offset, "it does not say which event it is")
                continue
            partition, source = copy.source
            if partition != self._partition:
                self._fault(Fault.MISPLACED, log, copy.offset, f"of partition {partition}")
            elif source >= self._offset:
                if source >= self._logs.events_end:
                    self._fault(Fault.STRAY, log, copy.offset, f"there is no event {source}")
            elif source in found:
                self._fault(Fault.DOUBLED, "events", source, f"twice in {log}")
            else:
                found[source] = copy
                if log == "held" and source < last.get(copy.key, -1):
                    detail = f"offset {copy.offset} of held, after a row of {last[copy.key]}"
                    self._fault(Fault.HELD_SWAPPED, "events", source, detail)
                last[copy.key] = max(source, last.get(copy.key, -1))
        return found

    def _first_kept(self) -> int:
        """Rows of events below this source offset were deleted, if there were any. Rows are in the
        order of the source."""
        if not self._logs.held_start:
            return 0
        position = self._logs.position
        return min(self._rows, default=position.last_held + 1 if position else 0)

    # One event.

    def _compare(self, event: Copy, copy: Copy | None, log: str) -> None:
        if copy is None:
            return
        dropped = log == "dlq" and not copy.has_value and event.has_value  # it did not fit
        if event.key != copy.key or (event.value != copy.value and not dropped):
            self._fault(Fault.ALTERED, "events", event.offset, f"in {log}")
        if event.headers != copy.headers and not dropped:
            self._fault(Fault.HEADERS_ALTERED, "events", event.offset, f"in {log}")
        if event.time > 0 and event.time != copy.time:
            self._fault(Fault.TIME_ALTERED, "events", event.offset, f"in {log}")

    def _account(self, event: Copy, row: Copy | None, letter: Copy | None) -> None:
        """Count the event where it is. An event of a key that waits must wait, too."""
        key, source, result = event.key, event.offset, self.result
        span = None if key is None else self._spans.get(key, source)
        entry = None if key is None or span is None or not span.is_open else self._entry(key)
        is_left = entry is None or source <= entry.drained_through
        if span is not None and source >= span.start:
            result.waited += 1
            if row is None:
                self._check_absent(source, letter, is_left=is_left)
        if letter is not None:
            result.dead += 1
            result.skipped += letter.reason in (BY_COMMAND, BY_HANDLER)
            if row is not None and not is_left:
                self._fault(Fault.DOUBLED, "events", source, "in the dead letters, and it waits")
        elif row is not None and not is_left:
            result.held += 1
        else:
            result.handled += 1

    def _check_absent(self, source: int, letter: Copy | None, *, is_left: bool) -> None:
        """The event had to wait, and has no row."""
        if source < self._kept_from:
            self.result.trimmed += 1
            if not is_left:
                self._fault(Fault.LOST, "events", source, "its row was deleted while it waited")
        elif letter is None or letter.reason != OVERFLOW:
            detail = "an earlier event of its key, or a hold, was to be waited for"
            self._fault(Fault.LET_THROUGH, "events", source, detail)

    def _entry(self, key: bytes) -> Entry | None:
        return self._logs.entries.get(key)

    # After all events.

    def _find_strays(self, seen: set[int]) -> None:
        first = max(self._logs.events_start, self.result.start)
        for log, copies in (("held", self._rows), ("dlq", self._letters)):
            for source, copy in copies.items():
                if source >= first and source not in seen:
                    self._fault(Fault.STRAY, log, copy.offset, f"there is no event {source}")

    def _check_letters(self) -> None:
        for source, letter in self._letters.items():
            if not self._causes.explain(source, letter):
                detail = f"'{letter.reason}', without a cause in the journal"
                self._fault(Fault.DEAD_UNASKED, "events", source, detail)
        for record in self._journal:
            buried = by_guard(record)
            entry = None if record.key is None else self._entry(record.key)
            if buried is None or (entry is not None and buried > entry.drained_through):
                continue  # a crash has decided it; the next step writes the letter
            if buried not in self._letters:
                detail = "the journal has it as a dead letter, and the dead letters lack it"
                self._fault(Fault.LOST, "events", buried, detail)

    def _check_entries(self) -> None:
        rows: dict[bytes, list[int]] = defaultdict(list)
        for source, row in self._rows.items():
            if row.key in self._logs.entries:
                rows[row.key].append(source)
        for key, entry in self._logs.entries.items():
            if self._spans.open_span(key) is None:
                self._differs(key, entry.cut, "it has an entry, but nothing of it waits")
                continue
            first, last = entry.drained_through, entry.counted_through
            count = sum(first < source <= last for source in rows[key])
            if count != entry.events:
                detail = f"it has {entry.events} events there, and {count} rows wait in held"
                self._differs(key, entry.cut, detail)

    def _check_spans(self) -> None:
        for key, span in self._spans.all():
            if span.is_open and key not in self._logs.entries:
                self._differs(key, span.start, "its events wait, but it has no entry")
            elif not span.is_open and span.last_row > span.left_through:
                detail = f"its key was drained through {span.left_through} according to the journal"
                self._fault(Fault.STUCK, "events", span.last_row, detail)

    def _differs(self, key: bytes, offset: int, detail: str) -> None:
        self._fault(Fault.STATUS_DIFFERS, "status", offset, f"key {key!r}: {detail}")


class Causes:
    """Why events may be dead letters, according to the journal."""

    def __init__(self, journal: Sequence[JournalRecord]) -> None:
        self._by_guard = {source for record in journal if (source := by_guard(record)) is not None}
        self._by_command: dict[bytes | None, list[tuple[int, int]]] = defaultdict(list)
        self._overflows: set[bytes | None] = set()
        for record in journal:
            if record.outcome is Outcome.OVERFLOW_BEGUN:
                self._overflows.add(record.key)
            elif record.outcome is Outcome.DEAD_LETTERED and record.command is not None:
                first = -1 if record.drained_through is None else record.drained_through
                self._by_command[record.key].append((first, record.cut))

    def explain(self, source: int, letter: Copy) -> bool:
        """Returns True if the journal has a cause for this letter."""
        if letter.reason == OVERFLOW:
            return bool(self._overflows & {None, letter.key})
        if source in self._by_guard:
            return True
        commands = self._by_command[letter.key]
        return letter.reason == BY_COMMAND and any(first < source < cut for first, cut in commands)


def by_guard(record: JournalRecord) -> int | None:
    """The source offset of the event that the guard has given up on by itself."""
    if record.outcome is Outcome.DEAD_LETTERED and record.command is None:
        return record.drained_through
    return None
