"""Batches without Spark: ranges planned as Spark plans them, and their rows as it gives them."""

import json
import time
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import partial
from threading import Event, Thread

import pyarrow as pa
from confluent_kafka import Message
from tests.clients import raw_headers

from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import NotFoundError, TransientError
from holdfast.gate import FlowPausedError
from holdfast.kafka.fetch import Ranges
from holdfast.pipeline.gate.driver_path import LeaderChangedError, SettingsChangedError, take_rows
from holdfast.pipeline.gate.events import COLUMNS, rows_of
from holdfast.pipeline.gate.flow_gate import FlowGate, GateClosedError
from holdfast.pipeline.gate.task_path import TaskPath
from holdfast.pipeline.gate.tasks import BatchJob, PartitionResult, Worker


class Feeder:
    """Batches without Spark: plans ranges as Spark would, and gives their rows to the gate."""

    def __init__(
        self, connection: Connection, gate: FlowGate, *, most: int = 5_000, tasks: bool = False
    ) -> None:
        """`tasks`: each partition's share is taken as a task takes it, one after the other."""
        self._gate = gate
        self._tasks = TaskPath(gate) if tasks else None
        self._settings = connection.settings
        self._offsets = Offsets(connection)
        self._most = most
        self._reader = LogReader(connection, isolation="read_committed")
        self._stop = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self.error: BaseException | None = None

    def plan(self) -> dict[int, tuple[int, int]]:
        events = self._gate.names.events
        places = [Partition(events, p) for p in range(self._gate.flow.partitions)]
        ends = {p.number: end for p, end in self._offsets.ends(places).items()}
        starts = {p: at.offset for p, at in enumerate(self._gate.positions())}
        return {
            p: (starts[p], min(end, starts[p] + self._most))
            for p, end in ends.items()
            if starts[p] < end
        }

    def rows(self, ranges: Mapping[int, tuple[int, int]]) -> pa.Table:
        messages: list[Message] = []
        for p, (start, end) in ranges.items():
            place = Partition(self._gate.names.events, p)
            for chunk in self._reader.read(place, start, end):
                messages += chunk
        return table(messages)

    def batch(self) -> bool:
        """Takes one batch. Returns True if there were events."""
        ranges = self.plan()
        if not ranges:
            return False
        epochs = self._gate.epochs()
        rows = self.rows(ranges)
        try:
            if self._tasks is None:
                take_rows(self._gate, ranges, rows, self._gate.settings, epochs)
            else:
                self._tasks.take(ranges, partial(_run_tasks, ranges, rows), self._gate.settings)
        except LeaderChangedError:
            return self.batch()
        except FlowPausedError:
            return False
        except SettingsChangedError:
            pass
        return True

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self._reader.close()

    def turn(self) -> bool:
        """Takes a batch, unless the flow is blocked or the broker away. Returns True if it did."""
        try:
            return self._gate.blocked() is None and self.batch()
        except (TransientError, NotFoundError):  # nobody leads the partition now
            self._offsets = Offsets(Connection(self._settings))
            return False

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                if not self.turn():
                    time.sleep(0.005)
        except GateClosedError:
            pass
        except BaseException as error:
            self.error = error


def _run_tasks(ranges: Ranges, rows: pa.Table, job: BatchJob) -> list[PartitionResult]:
    shares = {p: rows_of(rows, p, *ranges[p]) for p in job.partitions}
    return [
        Worker(job).take(job, p, iter(share.to_batches()))
        for p, share in shares.items()
        if share.num_rows
    ]


def _headers_text(message: Message) -> str | None:
    """As Spark's `to_json` writes them."""
    pairs = [
        {"key": name} if value is None else {"key": name, "value": b64encode(value).decode()}
        for name, value in raw_headers(message)
    ]
    return json.dumps(pairs) if pairs else None


def table(messages: Iterable[Message]) -> pa.Table:
    rows = [
        {
            "partition": m.partition(),
            "offset": m.offset(),
            "timestamp": m.timestamp()[1],
            "key": m.key(),
            "value": m.value(),
            "headers": _headers_text(m),
            "invalid": "not an object" if m.value() == b"invalid" else None,
        }
        for m in messages
    ]
    return pa.Table.from_pylist(rows, COLUMNS)
