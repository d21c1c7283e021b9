"""Redrive: sends dead letters to `<flow>.events` again.

Each event and the mark on its letter's coordinate are one transaction, and each flow has one
transactional id for redrives. A redrive first takes over that id and then reads the marks: no one
else can add one from then on. So a letter is redriven once, unless the request says `again`, and
never twice by one run.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from holdfast import faults
from holdfast.client.connection import Connection
from holdfast.client.dead_letters import ATTEMPT
from holdfast.client.planned_topics import make_table
from holdfast.client.positions import Offsets, Partition
from holdfast.client.source import Header
from holdfast.client.topics import Topics
from holdfast.clock import now_ms
from holdfast.errors import NotFoundError, RecordTooLargeError
from holdfast.flows.redriven import REDRIVEN_TOPIC, Mark, encode_mark
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.run_specs import Coordinate, Redrive
from holdfast.kafka.record_size import wire_size
from holdfast.kafka.transactions import Transactions
from holdfast.pipeline.gate.events import TOO_LARGE
from holdfast.pipeline.gate.sizes import SizeLimits
from holdfast.pipeline.gate.writer import produce_with_backpressure
from holdfast.pipeline.runs.dead_letters import (
    REDRIVE_RUN,
    REDRIVE_SOURCE,
    Letter,
    matches,
    read_letters,
    read_marks,
)
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.runs.slices import ORIGINAL_TIME, keeps_from

AT_ONCE = 500
"""The maximum number of letters in one transaction."""
LISTED = 1_000
"""The maximum number of letters in the run's result; its counts cover all letters."""

OutcomeName = Literal["redriven", "redriven before", "value left out", "too large", "not found"]


@dataclass(frozen=True, slots=True)
class LetterResult:
    """The result for one letter."""

    letter: Coordinate
    outcome: OutcomeName
    attempt: int | None = None
    run: str | None = None
    """The run that redrove the letter before."""

    def fields(self) -> dict[str, Any]:
        fields = {"outcome": self.outcome, "attempt": self.attempt, "run": self.run}
        return {"letter": str(self.letter)} | {k: v for k, v in fields.items() if v is not None}


class RedriveRun:
    """Executes one redrive, from its start or after an interruption."""

    def __init__(self, connection: Connection, flow: FlowDefinition, execution: Execution) -> None:
        work = execution.run.request.spec
        assert isinstance(work, Redrive)
        self._connection = connection
        self._flow = flow
        self._execution = execution
        self._work = work
        self._limits = SizeLimits(connection.settings, [flow.names.events])
        self._transactions = Transactions(connection, f"holdfast.{flow.name}.redrive", 1)
        self._marks: dict[Coordinate, Mark] = {}
        self._keeps_from = 0
        self._results: list[LetterResult] = []

    def carry_out(self) -> Mapping[str, Any]:
        """Returns the run's result."""
        make_table(self._connection, REDRIVEN_TOPIC)
        retention = Topics(self._connection).config(self._flow.names.events)["retention.ms"].value
        self._keeps_from = keeps_from(int(retention), now_ms())
        try:
            self._renew()
            self._redrive(self._ranges())
        finally:
            self._transactions.close()
        return self._result()

    def _renew(self) -> None:
        """Take over the transactional id, and read the marks."""
        self._transactions.batch_bytes = self._limits.batch_bytes
        self._transactions.renew()
        self._marks = read_marks(self._connection, self._flow)

    def _ranges(self) -> dict[int, tuple[int, int]]:
        """The ranges of the letters. They are fixed when the run starts, so that a letter that
        fails again is not redriven by the same run."""
        plan = self._execution.progress.plan
        if "ends" in plan:
            ends = {int(p): int(end) for p, end in plan["ends"].items()}
        else:
            partitions = [Partition(self._flow.names.dlq, p) for p in range(self._flow.partitions)]
            ends = {p.number: end for p, end in Offsets(self._connection).ends(partitions).items()}
            unit = {"unit": "letters"}
            self._execution.begin({**unit, "ends": {str(p): end for p, end in ends.items()}}, None)
        partitions = [Partition(self._flow.names.dlq, p) for p in ends]
        starts = Offsets(self._connection).starts(partitions)
        ranges = {p.number: (starts[p], max(starts[p], ends[p.number])) for p in partitions}
        return _around(self._work.letters, ranges) if self._work.letters else ranges

    def _redrive(self, ranges: Mapping[int, tuple[int, int]]) -> None:
        waiting: list[Letter] = []
        missing = set(self._work.letters)
        count = 0
        for letter in read_letters(self._connection, self._flow.names.dlq, ranges):
            if not matches(letter, self._work):
                continue
            count += 1
            missing.discard(letter.coordinate)
            if self._must_be_sent(letter):
                waiting.append(letter)
            if len(waiting) == AT_ONCE:
                self._send(waiting)
                waiting = []
                self._execution.reach(len(self._results))
        self._send(waiting)
        self._results += [LetterResult(letter, "not found") for letter in sorted(missing)]
        self._execution.reach(len(self._results), count + len(missing))

    def _must_be_sent(self, letter: Letter) -> bool:
        mark = self._marks.get(letter.coordinate)
        if mark is not None and mark.run == self._execution.run.id:
            # By an earlier attempt of this run, before a crash.
            self._results.append(LetterResult(letter.coordinate, "redriven", mark.attempt))
            return False
        if mark is not None and not self._work.again:
            self._results.append(LetterResult(letter.coordinate, "redriven before", run=mark.run))
            return False
        if letter.reason == TOO_LARGE and letter.value is None and self._work.value is None:
            self._results.append(LetterResult(letter.coordinate, "value left out"))
            return False
        value, headers, _ = self._event(letter, now_ms())
        if wire_size(letter.key, value, headers) > self._limits.of(self._flow.names.events):
            self._results.append(LetterResult(letter.coordinate, "too large"))
            return False
        return True

    def _send(self, letters: Sequence[Letter]) -> None:
        if not letters:
            return
        try:
            self._commit(letters)
        except RecordTooLargeError:  # the topic's limit was lowered meanwhile
            self._limits.refresh()
            self._renew()
            if len(letters) == 1:
                self._results.append(LetterResult(letters[0].coordinate, "too large"))
                return
            half = len(letters) // 2
            self._send(letters[:half])
            self._send(letters[half:])
            return
        self._results += [
            LetterResult(letter.coordinate, "redriven", self._next_attempt(letter))
            for letter in letters
        ]

    def _commit(self, letters: Sequence[Letter]) -> None:
        """One transaction: the events, and a mark on each letter."""
        request = self._execution.run.request
        producer = self._transactions.begin()
        now = now_ms()
        for letter in letters:
            mark = Mark(
                letter=letter.coordinate,
                run=request.id,
                actor=request.actor,
                at=now,
                attempt=self._next_attempt(letter),
            )
            key, value = encode_mark(self._flow, mark)
            producer.produce(REDRIVEN_TOPIC, value, key)
            self._produce_event(producer, letter, now)
        faults.reach("redrive-before-commit")
        self._transactions.commit()
        faults.reach("redrive-after-commit")

    def _next_attempt(self, letter: Letter) -> int:
        return letter.attempt(self._marks) + 1

    def _event(self, letter: Letter, now: int) -> tuple[bytes | None, list[Header], int]:
        """Value, headers and time of the event that is sent."""
        headers: list[Header] = [
            *letter.own_headers(self._marks),
            (REDRIVE_RUN, self._execution.run.id.encode()),
            (REDRIVE_SOURCE, str(letter.coordinate).encode()),
            (ATTEMPT, str(self._next_attempt(letter)).encode()),
        ]
        timestamp = letter.timestamp
        if timestamp < self._keeps_from:
            headers.append((ORIGINAL_TIME, str(timestamp).encode()))
            timestamp = now
        value = letter.value if self._work.value is None else self._work.value
        return value, headers, timestamp

    def _produce_event(self, producer: Any, letter: Letter, now: int) -> None:
        value, headers, timestamp = self._event(letter, now)
        # A letter is in the partition of its event, and returns to that partition.
        produce_with_backpressure(
            producer,
            self._flow.names.events,
            value,
            letter.key,
            letter.coordinate.partition,
            timestamp,
            headers,
        )

    def _result(self) -> Mapping[str, Any]:
        counts = Counter(each.outcome for each in self._results)
        return {
            "letters": len(self._results),
            "outcomes": dict(sorted(counts.items())),
            "each": [each.fields() for each in self._results[:LISTED]],
        }


def _around(
    letters: Sequence[Coordinate], ranges: Mapping[int, tuple[int, int]]
) -> dict[int, tuple[int, int]]:
    """The parts of the ranges that contain the letters."""
    parts: dict[int, tuple[int, int]] = {}
    for letter in letters:
        if letter.partition not in ranges:
            raise NotFoundError(f"There is no partition {letter.partition} of dead letters.")
        start, end = ranges[letter.partition]
        first, last = parts.get(letter.partition, (letter.offset, letter.offset + 1))
        first, last = min(first, letter.offset), max(last, letter.offset + 1)
        parts[letter.partition] = max(start, first), min(end, last)
    return parts
