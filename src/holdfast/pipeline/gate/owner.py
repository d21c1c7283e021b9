"""The owner: the only member of the flow's group. Offsets are committed with its metadata.

It is a static member, so a newer process with the same instance id takes its place at once. From
then on Kafka refuses every transaction with the older member's metadata, whatever its transactional
id. The owner reads no events.
"""

import logging
from collections.abc import Callable
from threading import Event, Thread
from time import monotonic

from confluent_kafka import Consumer, KafkaError, TopicPartition

from holdfast.client.committed import committed_positions
from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.leaving import close_member
from holdfast.client.positions import Partition
from holdfast.errors import GateStoppedError, HoldfastError, TimedOutError
from holdfast.flows.names import FlowNames
from holdfast.flows.status import Position
from holdfast.pipeline.parts.ticket import REPLACED, START_AGAIN, End, end_process

log = logging.getLogger(__name__)

INSTANCE_ID = "gate"

_MEMBER = {
    "group.instance.id": INSTANCE_ID,
    "group.protocol": "classic",
    # Taking over does not wait for it; a broker's restart must not cost the membership.
    "session.timeout.ms": 30 * 60 * 1000,
    "max.poll.interval.ms": 24 * 60 * 60 * 1000,
    # A step finds out at once if the place was taken. A heartbeat only tells a flow at rest.
    "heartbeat.interval.ms": 10_000,
    "partition.assignment.strategy": "range",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    # `committed` then waits for offsets of transactions that are about to end.
    "isolation.level": "read_committed",
    "topic.metadata.refresh.interval.ms": 300_000,
    "reconnect.backoff.max.ms": 1_000,
    "retry.backoff.ms": 20,
}
_JOIN_SECONDS = 0.05
_POLL_SECONDS = 1.0
"""Between polls, which themselves do not wait: confluent-kafka lets one thread at a time use a
consumer, and one that waits in `poll` kept `committed` out for minutes."""
_GONE = (KafkaError.FENCED_INSTANCE_ID, KafkaError._FATAL)


class Owner:
    """This process's place in the group `holdfast.<flow>`.

    If the place is lost, the process ends before anything else can be sent (`end`). If it was
    taken for a reason that a person must see to, `check` raises it.
    """

    def __init__(
        self,
        connection: Connection,
        names: FlowNames,
        partitions: int,
        check_topics: Callable[[], None],
        *,
        end: End = end_process,
    ) -> None:
        """`check_topics` raises GateStoppedError if they are not those that they were."""
        self._connection = connection
        self._check_topics = check_topics
        self._names = names
        self._all = {Partition(names.events, p) for p in range(partitions)}
        self._end = end
        self._member: _Member | None = None
        self._trouble: GateStoppedError | None = None

    def join(self, timeout: float = 60.0) -> None:
        """Take the place in the group from any earlier process."""
        self._trouble = None
        self._member = _Member(self)
        self._member.wait_for_assignment(timeout)
        self.check()

    def renew(self) -> None:
        """Join again: what still runs in the name of the old member is refused from now on.

        The new member fences the old one before that is closed. A fenced member gets no assignment,
        and an assignment that arrives in `close` could make librdkafka hang.
        """
        old, self._member = self._member, None
        if old is not None:
            old.stop()
        try:
            self.join()
        finally:
            if old is not None:
                old.close()

    def check(self) -> None:
        """Raise the error that forbids steps, if there is one."""
        if self._trouble is not None:
            raise self._trouble

    def group_metadata(self) -> bytes:
        """The metadata with which a transaction commits offsets in this owner's name now."""
        self.check()
        return self._joined().group_metadata()

    def committed(self) -> dict[int, Position | None]:
        """Each partition's committed position; None if there is none, or none that is readable."""
        timeout = self._connection.settings.request_timeout
        return committed_positions(self._joined().consumer, self._all, timeout)

    def committed_so_far(self) -> dict[int, Position | None]:
        """The committed positions, without waiting for open transactions: one that a dead task has
        left stays open until it times out, or until the task's id is initialised."""
        consumer = self._connection.reader(group=self._names.group, isolation="read_uncommitted")
        try:
            timeout = self._connection.settings.request_timeout
            return committed_positions(consumer, self._all, timeout)
        finally:
            consumer.close()

    def close(self) -> None:
        """Stop. A static member's place stays taken until its session ends or a newer one comes."""
        if self._member is not None:
            self._member.close()
            self._member = None

    def _joined(self) -> "_Member":
        if self._member is None:
            raise RuntimeError("The owner has not joined its group.")
        return self._member

    def _assigned(self, partitions: set[Partition]) -> None:
        if partitions != self._all:
            self._trouble = self._cause() or _another_consumer(self._names.group)

    def _revoked(self, why: str) -> None:
        """The place was lost. If a person can fix the cause, `check` raises it; else the process
        ends, because another one may act now."""
        try:
            cause = self._cause()
        except HoldfastError as error:
            log.warning("%s", error)
            cause = None
        if cause is None:
            self._end(START_AGAIN, f"The place in the group {self._names.group} was {why}.")
        self._trouble = cause

    def _fenced(self) -> None:
        self._end(REPLACED, f"Another pipeline has taken over the flow {self._names.flow!r}.")

    def _cause(self) -> GateStoppedError | None:
        try:
            self._check_topics()
        except GateStoppedError as error:
            return error
        group = self._names.group
        futures = self._connection.admin.describe_consumer_groups([group])
        if len(self._connection.wait(futures[group], f"Describing the group {group}").members) > 1:
            return _another_consumer(group)
        return None


class _Member:
    """One membership: a consumer, and the thread that polls it."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._closing = Event()
        self._assignment = Event()
        self._error: HoldfastError | None = None
        self._metadata: bytes | None = None
        settings = {**_MEMBER, "group.id": owner._names.group}
        self.consumer: Consumer = owner._connection.make(Consumer, settings)
        self.consumer.subscribe(
            [owner._names.events],
            on_assign=self._on_assign,
            on_revoke=lambda *_: self._gone("taken away"),
            on_lost=lambda *_: self._gone("lost"),
        )
        name = f"owner of {owner._names.flow}"
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def wait_for_assignment(self, timeout: float) -> None:
        deadline = monotonic() + timeout
        while not self._assignment.wait(_JOIN_SECONDS):
            if self._error is not None:
                raise self._error
            if monotonic() > deadline:
                raise TimedOutError(
                    f"The group {self._owner._names.group} gave no place within {timeout:.0f} s."
                )

    def group_metadata(self) -> bytes:
        """Group, generation and member id. They change with an assignment only. librdkafka looks
        them up on another thread, and the caller keeps Python's global lock meanwhile: in every
        step this stopped all other flows for more than half of the time."""
        metadata = self._metadata
        if metadata is None:
            metadata = self._metadata = self.consumer.consumer_group_metadata()
        return metadata

    def stop(self) -> None:
        """Stop polling."""
        self._closing.set()
        self._thread.join()

    def close(self) -> None:
        self.stop()
        close_member(self.consumer, _MEMBER)

    def _run(self) -> None:
        try:
            while not self._closing.wait(
                _POLL_SECONDS if self._assignment.is_set() else _JOIN_SECONDS
            ):
                message = self.consumer.poll(0)
                error = None if message is None else message.error()
                if error is not None:
                    self._take_error(error)
        except BaseException as error:
            # Without this thread a lost place would go unnoticed.
            self._owner._end(START_AGAIN, f"The owner's thread has failed: {error!r}.")

    def _take_error(self, error: KafkaError) -> None:
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            return  # a fetch that began before the pause; what was deleted unread is seen elsewhere
        if error.code() in _GONE:
            self._owner._fenced()
        translated = translate(error, f"Being in the group {self._owner._names.group}")
        log.warning("%s", translated)
        if not translated.transient:
            self._error = translated

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._metadata = None
        # Assigned first: a pause alone, inside this callback, does nothing. At an offset of our
        # own, so that nothing is looked up: it is never read.
        consumer.assign([TopicPartition(p.topic, p.partition, 0) for p in partitions])
        consumer.pause(partitions)
        self._owner._assigned({Partition(p.topic, p.partition) for p in partitions})
        self._assignment.set()

    def _gone(self, how: str) -> None:
        self._metadata = None
        if not self._closing.is_set():
            self._owner._revoked(how)


def _another_consumer(group: str) -> GateStoppedError:
    return GateStoppedError(
        f"The gate has stopped: another consumer uses the group {group}, which belongs to the gate "
        "alone. End that consumer, or give it a group of its own; then start the pipeline again."
    )
