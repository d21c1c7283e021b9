"""The owner: the one member of the flow's group. Only what it vouches for can be committed.

It is a static member, so a newer process with the same instance id takes its place at once, and
every transaction that is sent with the older one's metadata is refused from then on, whatever its
transactional id. It reads nothing: it is in the group to be its owner.
"""

import logging
from collections.abc import Callable
from threading import Event, Thread
from time import monotonic

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Partition
from holdfast.errors import GateStoppedError, HoldfastError, InvalidRecordError, TimedOutError
from holdfast.flows.names import FlowNames
from holdfast.flows.status import Position, decode_offset_metadata
from holdfast.pipeline.exits import REPLACED, START_AGAIN, End, end_process

log = logging.getLogger(__name__)

INSTANCE_ID = "gate"

_MEMBER = {
    "group.instance.id": INSTANCE_ID,
    "group.protocol": "classic",
    # Taking over does not wait for it; a broker's restart must not cost the membership.
    "session.timeout.ms": 30 * 60 * 1000,
    "max.poll.interval.ms": 24 * 60 * 60 * 1000,
    "heartbeat.interval.ms": 1_000,
    "partition.assignment.strategy": "range",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    # `committed` then waits for offsets of transactions that are about to end.
    "isolation.level": "read_committed",
    "topic.metadata.refresh.interval.ms": 10_000,
    "reconnect.backoff.max.ms": 1_000,
    "retry.backoff.ms": 20,
}
_POLL_SECONDS = 0.05
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
        """Take the place, whoever had it before."""
        self._trouble = None
        self._member = _Member(self)
        self._member.wait_for_assignment(timeout)
        self.check()

    def renew(self) -> None:
        """Take the place anew: what still runs in the name of the old one is refused from now."""
        self.close()
        self.join()

    def check(self) -> None:
        """Raise what forbids to act."""
        if self._trouble is not None:
            raise self._trouble

    def group_metadata(self) -> bytes:
        """What a transaction needs to commit offsets in this owner's name, right now."""
        self.check()
        metadata: bytes = self._joined().consumer.consumer_group_metadata()
        return metadata

    def committed(self) -> dict[int, Position | None]:
        """Each partition's committed position; None if there is none, or none that is readable."""
        timeout = self._connection.settings.request_timeout
        return committed_positions(self._joined().consumer, self._all, timeout)

    def committed_so_far(self) -> dict[int, Position | None]:
        """The same without waiting for transactions that are open: one that a dead task has left
        stays open until it times out, or until somebody initialises the task's id."""
        settings = {"group.id": self._names.group, "isolation.level": "read_uncommitted"}
        consumer = self._connection.make(Consumer, settings)
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
        """Not asked for. Either a person has to see to it, or nobody knows who acts now."""
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
        while not self._assignment.wait(_POLL_SECONDS):
            if self._error is not None:
                raise self._error
            if monotonic() > deadline:
                raise TimedOutError(
                    f"The group {self._owner._names.group} gave no place within {timeout:.0f} s."
                )

    def close(self) -> None:
        self._closing.set()
        self._thread.join()
        self.consumer.close()

    def _run(self) -> None:
        try:
            while not self._closing.wait(_POLL_SECONDS):
                message = self.consumer.poll(0)
                error = None if message is None else message.error()
                if error is not None:
                    self._take_error(error)
        except BaseException as error:
            # Without this thread nobody would notice that the place was lost.
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

    def _on_assign(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        # Assigned first: a pause alone, inside this callback, does nothing. At an offset of our
        # own, so that nothing is looked up: it is never read.
        consumer.assign([TopicPartition(p.topic, p.partition, 0) for p in places])
        consumer.pause(places)
        self._owner._assigned({Partition(p.topic, p.partition) for p in places})
        self._assignment.set()

    def _gone(self, how: str) -> None:
        if not self._closing.is_set():
            self._owner._revoked(how)


def committed_positions(
    consumer: Consumer, partitions: set[Partition], timeout: float
) -> dict[int, Position | None]:
    """The group's positions as that consumer of the group sees them."""
    wanted = [TopicPartition(p.topic, p.number) for p in sorted(partitions)]
    try:
        found = consumer.committed(wanted, timeout=timeout)
    except KafkaException as error:
        raise translate(error, "Reading the committed offsets") from None
    positions: dict[int, Position | None] = {}
    for place in found:
        if place.error is not None:
            raise translate(place.error, f"Reading the committed offset of {place.topic}")
        positions[place.partition] = _position(place)
    return positions


def _position(place: TopicPartition) -> Position | None:
    if place.offset < 0 or not place.metadata:
        return None
    try:
        return decode_offset_metadata(place.offset, place.metadata)
    except InvalidRecordError as error:
        log.warning("The committed offset of %s[%d]: %s", place.topic, place.partition, error)
        return None


def _another_consumer(group: str) -> GateStoppedError:
    return GateStoppedError(
        f"The gate has stopped: another consumer uses the group {group}, which belongs to the gate "
        "alone. End that consumer, or give it a group of its own; then start the pipeline again."
    )
