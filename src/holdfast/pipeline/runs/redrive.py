"""Redrive: dead letters through `<flow>.events` again.

Each letter's event and the mark on its coordinate are one transaction, and one transactional id
redrives a flow. Whoever begins with it reads the marks then: nobody else can add one. So a letter
is redriven once, unless somebody insists, and never twice by one run.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import time
from typing import Any, Literal

from confluent_kafka import KafkaException

from holdfast.client.connection import Connection
from holdfast.client.dead_letters import ATTEMPT
from holdfast.client.planned_topics import make_table
from holdfast.client.positions import Offsets, Partition
from holdfast.client.source import Header
from holdfast.client.topics import Topics
from holdfast.errors import NotFoundError, RecordTooLargeError
from holdfast.flows.redriven import REDRIVEN_TOPIC, Mark, encode_mark
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.work import Coordinate, Redrive
from holdfast.pipeline import faults
from holdfast.pipeline.events import TOO_LARGE
from holdfast.pipeline.runs.dead_letters import (
    REDRIVE_RUN,
    REDRIVE_SOURCE,
    Letter,
    is_meant,
    read_letters,
    read_marks,
)
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.runs.slices import ORIGINAL_TIME, keeps_from
from holdfast.pipeline.transactions import Transactions
from holdfast.pipeline.writer import insist

AT_ONCE = 500
"""Letters of one transaction."""
LISTED = 1_000
"""Outcomes that the run's result names one by one; of all it has the counts."""

OutcomeName = Literal["redriven", "redriven before", "value left out", "too large", "not found"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one letter."""

    letter: Coordinate
    outcome: OutcomeName
    attempt: int | None = None
    run: str | None = None
    """Of one that was redriven before: by which run."""

    def fields(self) -> dict[str, Any]:
        given = {"outcome": self.outcome, "attempt": self.attempt, "run": self.run}
        return {"letter": str(self.letter)} | {k: v for k, v in given.items() if v is not None}


class RedriveRun:
    """Carries one redrive out, or on."""

    def __init__(self, connection: Connection, flow: FlowDefinition, execution: Execution) -> None:
        work = execution.run.request.work
        assert isinstance(work, Redrive)
        self._connection = connection
        self._flow = flow
        self._execution = execution
        self._work = work
        self._transactions = Transactions(connection, f"holdfast.{flow.name}.redrive", {})
        self._marks: dict[Coordinate, Mark] = {}
        self._keeps_from = 0
        self._outcomes: list[Outcome] = []

    def carry_out(self) -> Mapping[str, Any]:
        """-> the run's result"""
        make_table(self._connection, REDRIVEN_TOPIC)
        retention = Topics(self._connection).config(self._flow.names.events)["retention.ms"].value
        self._keeps_from = keeps_from(int(retention), _now())
        try:
            self._begin_anew()
            self._redrive(self._ranges())
        finally:
            self._transactions.close()
        return self._result()

    def _begin_anew(self) -> None:
        self._transactions.renew()
        self._marks = read_marks(self._connection, self._flow)

    def _ranges(self) -> dict[int, tuple[int, int]]:
        """Where the letters stand; fixed when the run begins, so that one that fails again, and
        comes back, is not redriven by the same run."""
        plan = self._execution.progress.plan
        if "ends" in plan:
            ends = {int(p): int(end) for p, end in plan["ends"].items()}
        else:
            places = [Partition(self._flow.names.dlq, p) for p in range(self._flow.partitions)]
            found = Offsets(self._connection).ends(places)
            ends = {place.number: found[place] for place in places}
            unit = {"unit": "letters"}
            self._execution.begin({**unit, "ends": {str(p): end for p, end in ends.items()}}, None)
        places = [Partition(self._flow.names.dlq, p) for p in ends]
        starts = Offsets(self._connection).starts(places)
        ranges = {p.number: (starts[p], max(starts[p], ends[p.number])) for p in places}
        return _around(self._work.letters, ranges) if self._work.letters else ranges

    def _redrive(self, ranges: Mapping[int, tuple[int, int]]) -> None:
        waiting: list[Letter] = []
        missing = set(self._work.letters)
        seen = 0
        for letter in read_letters(self._connection, self._flow.names.dlq, ranges):
            if not is_meant(letter, self._work):
                continue
            seen += 1
            missing.discard(letter.place)
            if self._is_to_be_sent(letter):
                waiting.append(letter)
            if len(waiting) == AT_ONCE:
                self._send(waiting)
                waiting = []
                self._execution.reach(len(self._outcomes))
        self._send(waiting)
        self._outcomes += [Outcome(letter, "not found") for letter in sorted(missing)]
        self._execution.reach(len(self._outcomes), seen + len(missing))

    def _is_to_be_sent(self, letter: Letter) -> bool:
        mark = self._marks.get(letter.place)
        if mark is not None and mark.run == self._execution.run.id:
            # By an earlier attempt of this run, before a crash.
            self._outcomes.append(Outcome(letter.place, "redriven", mark.attempt))
            return False
        if mark is not None and not self._work.again:
            self._outcomes.append(Outcome(letter.place, "redriven before", run=mark.run))
            return False
        if letter.reason == TOO_LARGE and letter.value is None and self._work.value is None:
            self._outcomes.append(Outcome(letter.place, "value left out"))
            return False
        return True

    def _send(self, letters: Sequence[Letter]) -> None:
        if not letters:
            return
        try:
            self._commit(letters)
        except RecordTooLargeError:
            self._begin_anew()
            if len(letters) == 1:
                self._outcomes.append(Outcome(letters[0].place, "too large"))
                return
            for letter in letters:
                self._send([letter])
            return
        self._outcomes += [
            Outcome(letter.place, "redriven", letter.attempt + 1) for letter in letters
        ]

    def _commit(self, letters: Sequence[Letter]) -> None:
        """One transaction: the events, and a mark on each letter."""
        request = self._execution.run.request
        producer = self._transactions.begin()
        now = _now()
        for letter in letters:
            mark = Mark(
                letter=letter.place,
                run=request.id,
                actor=request.actor,
                at=now,
                attempt=letter.attempt + 1,
            )
            key, value = encode_mark(self._flow, mark)
            producer.produce(REDRIVEN_TOPIC, value, key)
            self._produce_event(producer, letter, now)
        faults.reach("redrive-before-commit")
        self._transactions.commit()
        faults.reach("redrive-after-commit")

    def _produce_event(self, producer: Any, letter: Letter, now: int) -> None:
        headers: list[Header] = [
            *letter.own_headers(),
            (REDRIVE_RUN, self._execution.run.id.encode()),
            (REDRIVE_SOURCE, str(letter.place).encode()),
            (ATTEMPT, str(letter.attempt + 1).encode()),
        ]
        timestamp = letter.timestamp
        if timestamp < self._keeps_from:
            headers.append((ORIGINAL_TIME, str(timestamp).encode()))
            timestamp = now
        value = letter.value if self._work.value is None else self._work.value
        # A letter stands in the partition that its event came from, and goes back there.
        arguments = (self._flow.names.events, value, letter.key, letter.place.partition)
        try:
            producer.produce(*arguments, None, None, timestamp, headers)
        except (BufferError, KafkaException) as error:
            insist(producer, error, *arguments, timestamp, headers)

    def _result(self) -> Mapping[str, Any]:
        counts = Counter(each.outcome for each in self._outcomes)
        return {
            "letters": len(self._outcomes),
            "outcomes": dict(sorted(counts.items())),
            "each": [each.fields() for each in self._outcomes[:LISTED]],
        }


def _around(
    letters: Sequence[Coordinate], ranges: Mapping[int, tuple[int, int]]
) -> dict[int, tuple[int, int]]:
    """Those parts of the ranges in which the letters stand."""
    found: dict[int, tuple[int, int]] = {}
    for letter in letters:
        if letter.partition not in ranges:
            raise NotFoundError(f"There is no partition {letter.partition} of dead letters.")
        start, end = ranges[letter.partition]
        known = found.get(letter.partition, (letter.offset, letter.offset + 1))
        first, last = min(known[0], letter.offset), max(known[1], letter.offset + 1)
        found[letter.partition] = max(start, first), min(end, last)
    return found


def _now() -> int:
    return round(time() * 1000)
