"""One worker of a guard: a member of the group `holdfast.<guard>`, and the partitions that it owns.

The thread that polls the consumer is the only one that uses it. Everything else happens in the
threads of the partitions and of the handlers.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Event as Flag
from time import monotonic
from typing import Any

from confluent_kafka import (
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from holdfast.backoff import Backoff
from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.leaving import close_member
from holdfast.client.log_reader import next_messages
from holdfast.clock import now_ms
from holdfast.errors import FencedError, GateStoppedError, HoldfastError
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.reports import PartState, Report, partition_part
from holdfast.guard.circuit import Circuit, CircuitSettings
from holdfast.guard.control import ControlTail
from holdfast.guard.counts import HandlerCounts, PartitionCounts
from holdfast.guard.outputs import TopicLimits
from holdfast.guard.ownership import LostError
from holdfast.guard.partition import OwnedPartition
from holdfast.guard.policy import Policy
from holdfast.guard.pool import Pool
from holdfast.guard.reporter import Reporter
from holdfast.guard.schedule import Job
from holdfast.guard.shared import Shared, SharedCircuit, WorkerSettings
from holdfast.guard.steps import GuardStoppedError

log = logging.getLogger(__name__)

_MEMBER = {
    "group.protocol": "classic",
    "partition.assignment.strategy": "cooperative-sticky",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    "isolation.level": "read_committed",
    "fetch.wait.max.ms": 100,
    "queued.max.messages.kbytes": 32 * 1024,
    "reconnect.backoff.max.ms": 1_000,
}
_CHUNK = 10_000
_POLL_SECONDS = 0.1
_TAKE_OVER_SECONDS = 240.0
_FINISH_SECONDS = 30.0
_LAG_SECONDS = 1.0
_STUCK_SECONDS = _TAKE_OVER_SECONDS + 60.0
"""The polling thread takes part in a take-over. Without a turn for longer it is stuck."""


def _report_text(error: Exception) -> str:
    return error.report if isinstance(error, GuardStoppedError) else str(error)


class Worker:
    """Runs a guard until `stop`. A lost membership is joined again, with all state read again."""

    def __init__(
        self,
        connection: Connection,
        flow: FlowDefinition,
        policy: Policy,
        pool: Pool,
        *,
        settings: WorkerSettings | None = None,
        circuit: CircuitSettings | None = None,
        kafka: Mapping[str, Any] | None = None,
    ) -> None:
        self._connection = connection
        self._flow = flow
        self._policy = policy
        self._pool = pool
        self._settings = settings or WorkerSettings()
        self._circuit = SharedCircuit(Circuit(circuit))
        self._kafka = {**_MEMBER, **(kafka or {})}
        self._cooperative = "cooperative" in str(self._kafka["partition.assignment.strategy"])
        self._stopping = Flag()
        self._error: Exception | None = None
        self._metadata: object = None
        self._partitions: dict[int, OwnedPartition] = {}
        self._paused: set[int] = set()
        self._shared: Shared | None = None
        self._fetched: dict[int, int] = {}
        """The next offset to fetch, by partition."""
        self._lag_at = 0.0
        self._polled_at = monotonic()
        self.handler_counts = HandlerCounts()
        self._reporter = Reporter(connection, self._reports)
        pool.on_result = self._take_result

    # What reports and metrics read, from any thread.

    @property
    def name(self) -> str:
        return self._flow.name

    def counts(self) -> dict[int, PartitionCounts]:
        """By owned partition."""
        return {number: owned.counts for number, owned in list(self._partitions.items())}

    @property
    def running(self) -> int:
        return self._pool.running

    @property
    def stuck(self) -> int:
        return sum(owned.stuck for owned in list(self._partitions.values()))

    @property
    def circuit_open(self) -> bool:
        return self._circuit.is_open

    @property
    def polls(self) -> bool:
        """Returns True if the polling thread takes its turns."""
        return monotonic() - self._polled_at < _STUCK_SECONDS

    def stop(self) -> None:
        """End `run`, after the steps that run have been committed. From any thread, or a signal's
        handler."""
        self._stopping.set()

    def run(self) -> None:
        """Returns after `stop`. Raises an error that a retry does not help against."""
        backoff = Backoff(0.5, 10.0, steady=60.0)
        self._reporter.start()
        try:
            while not self._stopping.is_set():
                try:
                    self._serve()
                except FencedError as error:
                    log.warning("%s", error)
                except HoldfastError as error:
                    if not error.transient:
                        raise
                    log.warning("%s", error)
                self._stopping.wait(0 if self._stopping.is_set() else backoff.next())
        finally:
            self._reporter.stop()
            self._pool.close()

    def _serve(self) -> None:
        """One membership of the group."""
        self._error = None
        control = ControlTail(
            self._connection, self._flow.names.control, self._flow.partitions, self._wake_all
        )
        self._shared = Shared(
            self._connection,
            self._flow,
            self._policy,
            self._pool,
            self._circuit,
            control,
            TopicLimits(self._connection),
            lambda: self._metadata,
            self._fail,
            self._settings,
        )
        control.start()
        settings = {**self._kafka, "group.id": self._flow.names.group}
        consumer = self._connection.make(Consumer, settings)
        consumer.subscribe(
            [self._flow.names.events],
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_lost,
        )
        try:
            while not self._stopping.is_set() and self._error is None:
                self._poll(consumer)
        finally:
            if self._error is not None:
                self._end_reports(self._partitions.values(), "failed", _report_text(self._error))
            if self._error is not None and not isinstance(self._error, GuardStoppedError):
                self._abandon(list(self._partitions))
            close_member(consumer, settings)
            self._abandon(list(self._partitions))
            control.stop()
        if self._error is not None:
            raise self._error

    def _poll(self, consumer: Consumer) -> None:
        self._polled_at = monotonic()
        messages = next_messages(consumer, _CHUNK, _POLL_SECONDS)
        self._metadata = consumer.consumer_group_metadata()
        fetched: dict[int, list[Message]] = defaultdict(list)
        for message in messages:
            error = message.error()
            if error is None:
                fetched[message.partition() or 0].append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._fetched[message.partition() or 0] = message.offset() or 0
            else:
                self._take_error(message, error)
        for partition, events in fetched.items():
            owned = self._partitions.get(partition)
            if owned is not None:
                owned.offer(events)
                self._fetched[partition] = (events[-1].offset() or 0) + 1
                if owned.buffer.is_full and partition not in self._paused:
                    self._paused.add(partition)
                    consumer.pause([self._place(partition)])
        for partition in list(self._paused):
            if self._partitions[partition].buffer.is_hungry:
                self._paused.discard(partition)
                consumer.resume([self._place(partition)])
        if monotonic() >= self._lag_at:
            self._lag_at = monotonic() + _LAG_SECONDS
            self._measure_lag(consumer)

    def _measure_lag(self, consumer: Consumer) -> None:
        """From what the fetches have told. The last record may be the marker of a transaction: a
        partition that is fetched to its end has only its buffer left."""
        for partition, owned in self._partitions.items():
            _, end = consumer.get_watermark_offsets(self._place(partition), cached=True)
            fetched = self._fetched.get(partition, 0)
            waiting = len(owned.buffer)
            owned.counts.lag = waiting if fetched >= end else max(waiting, end - owned.offset)

    def _take_error(self, message: Message, error: KafkaError) -> None:
        if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            raise GateStoppedError(
                f"The guard has stopped: partition {message.partition()} of "
                f"{self._flow.names.events} has lost events that were not handled yet: "
                f"{error.str()}."
            )
        translated = translate(error, f"Reading {self._flow.names.events}")
        if not translated.transient:
            raise translated
        log.warning("%s", translated)

    def _on_assign(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        self._metadata = consumer.consumer_group_metadata()
        assert self._shared is not None
        taken = [OwnedPartition(self._shared, place.partition) for place in places]
        for owned in taken:
            owned.start()
        offsets = []
        deadline = monotonic() + _TAKE_OVER_SECONDS
        for owned in taken:
            try:
                offset = owned.started.result(max(0.0, deadline - monotonic()))
            except Exception as error:
                owned.abandon()
                self._fail(error)
                if not isinstance(error, LostError):
                    self._end_reports([owned], "failed", str(error))
                offset = OFFSET_END  # librdkafka must get what the group gave; nothing is read
            else:
                self._partitions[owned.partition] = owned
            offsets.append(TopicPartition(self._flow.names.events, owned.partition, offset))
        if self._cooperative:
            consumer.incremental_assign(offsets)
        else:
            consumer.assign(offsets)
        log.info("Took over partitions %s", [place.partition for place in places])

    def _on_revoke(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        """Finish the steps of these partitions and commit them, before another worker begins."""
        with suppress(KafkaException):
            self._metadata = consumer.consumer_group_metadata()
        numbers = [place.partition for place in places if place.partition in self._partitions]
        for number in numbers:
            self._partitions[number].give_up()
        deadline = monotonic() + self._settings.revoke_seconds + _FINISH_SECONDS
        for number in numbers:
            self._partitions[number].join(max(0.0, deadline - monotonic()))
        if self._stopping.is_set():
            self._end_reports([self._partitions[number] for number in numbers], "stopped")
        self._abandon(numbers)
        log.info("Gave up partitions %s", numbers)
        self._unassign(consumer, places)

    def _on_lost(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        self._abandon([place.partition for place in places])
        log.warning("Lost partitions %s", [place.partition for place in places])
        self._unassign(consumer, places)

    def _unassign(self, consumer: Consumer, places: Sequence[TopicPartition]) -> None:
        if self._cooperative:
            consumer.incremental_unassign(list(places))
        else:
            consumer.unassign()

    def _abandon(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            owned = self._partitions.pop(number, None)
            self._paused.discard(number)
            self._fetched.pop(number, None)
            if owned is not None:
                owned.abandon()
        self._reporter.forget(numbers)

    def _fail(self, error: Exception) -> None:
        if self._error is None:
            self._error = error

    def _take_result(self, job: Job) -> None:
        self._circuit.record(job)
        self.handler_counts.take(job)

    def _reports(self) -> dict[int, Report]:
        return {number: self._report(owned) for number, owned in list(self._partitions.items())}

    def _end_reports(
        self, ended: Iterable[OwnedPartition], state: PartState, reason: str = ""
    ) -> None:
        reports = {owned.partition: self._report(owned) for owned in ended}
        self._reporter.end(
            {n: replace(r, state=state, reason=reason, blocked=False) for n, r in reports.items()}
        )

    def _report(self, owned: OwnedPartition) -> Report:
        counts, stuck, blocked = owned.counts, owned.stuck, owned.is_blocked
        waits = ""
        if blocked:
            waits = "The limit of held events is reached: no events are taken until there is room."
        elif stuck:
            waits = f"{stuck} of its handlers run for too long: `holdfast held` shows their stacks."
        assert self._shared is not None
        return Report(
            flow=self.name,
            part=partition_part(owned.partition),
            state="waiting" if waits else "running",
            reason=waits,
            blocked=blocked,
            at=now_ms(),
            process=self._shared.owner,
            taken=counts.taken,
            passed=counts.handled,
            held=counts.held,
            dead=counts.dead,
            batches=counts.steps,
            batch_seconds=counts.step_seconds,
            lag=counts.lag,
        )

    def _wake_all(self) -> None:
        for owned in list(self._partitions.values()):
            owned.wake()

    def _place(self, partition: int) -> TopicPartition:
        return TopicPartition(self._flow.names.events, partition)
