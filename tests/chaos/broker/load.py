"""Load on a broker that is killed, and a ledger of its acknowledgements.

A ledger holds only what was acknowledged, and what was asked for without an answer: the verdict
compares it with what the broker has in the end.
"""

import random
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from kafka.protocol.consumer import HeartbeatRequest, OffsetCommitRequest, OffsetFetchRequest
from kafka.protocol.producer import AddOffsetsToTxnRequest, TxnOffsetCommitRequest
from tests.brokers import BrokerProcess
from tests.wire import (
    Request,
    Response,
    Wire,
    add_partitions,
    batch,
    batches,
    end_transaction,
    fetch,
    init_producer,
    join,
    produce,
    produce_request,
    sync,
)

PLAIN, TABLE, TRANSACTED = "plain", "table", "transacted"
READERS, WRITERS = "readers", "writers"
PARTITIONS = 3
KEYS = 10
MOST_IN_FLIGHT = 5 * (PARTITIONS + 1)
UNSTABLE_OFFSET_COMMIT = 88

Work = Callable[[threading.Event], None]
"""Something that is done until it is told to stop."""

# What a client meets when its broker is killed: the connection breaks, or no answer comes.
BROKER_GONE = (OSError, EOFError)


@dataclass(slots=True)
class Ledger:
    """Each field has one writer."""

    sent: dict[int, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    """Values of `plain` by partition, in the order in which they were sent."""
    acknowledged: dict[tuple[int, int], bytes] = field(default_factory=dict)
    """Values of `plain` by (partition, offset), as the broker acknowledged them."""
    table: dict[bytes, bytes] = field(default_factory=dict)
    """The last value of each key sent to `table`."""
    seen: dict[tuple[int, int], bytes] = field(default_factory=dict)
    """The records of `plain` that the group has read."""
    committed_offsets: dict[int, int] = field(default_factory=dict)
    """Of the group `readers`, as acknowledged."""
    committed: list[int] = field(default_factory=list)
    """Numbers of the transactions that are committed, in order."""
    undecided: int | None = None
    """The transaction whose commit was asked for without an answer."""
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Unanswered:
    """A batch that was sent, or is to be sent again."""

    topic: str
    partition: int
    values: list[bytes]
    request: Request


class IdempotentWriter:
    """Sends each batch with its sequence until it is acknowledged, through all kills.

    librdkafka does the same, but takes a second to come back: it would write hardly anything here.
    """

    def __init__(self, broker: BrokerProcess, ledger: Ledger, dice: random.Random) -> None:
        self._broker = broker
        self._ledger = ledger
        self._dice = dice
        self._identity: tuple[int, int] | None = None
        self._sequences: dict[tuple[str, int], int] = defaultdict(int)
        self._unanswered: deque[_Unanswered] = deque()
        self._count = 0

    def run(self, stop: threading.Event) -> None:
        """Until told to stop, or until the broker is gone."""
        try:
            with Wire(self._broker, timeout=10) as wire:
                if self._identity is None:
                    self._identity = init_producer(wire)
                for left in self._unanswered:
                    wire.send(left.request)
                while self._unanswered or not stop.is_set():
                    if not stop.is_set() and len(self._unanswered) < MOST_IN_FLIGHT:
                        self._send_next(wire)
                    else:
                        self._receive(wire)
        except BROKER_GONE:
            return

    def finish(self) -> None:
        """Every batch that was sent is acknowledged when this returns."""
        over = threading.Event()
        over.set()
        self.run(over)
        if self._unanswered:
            self._ledger.faults.append(f"{len(self._unanswered)} batches are not acknowledged")

    def _send_next(self, wire: Wire) -> None:
        # In turn, so that no partition ever has more than five in flight: what a broker remembers.
        self._count += 1
        turn = self._count % (PARTITIONS + 1)
        topic, partition = (TABLE, 0) if turn == PARTITIONS else (PLAIN, turn)
        if topic == TABLE:
            key, values = b"key-%d" % self._dice.randrange(KEYS), [b"%d" % self._count]
            self._ledger.table[key] = values[0]
        else:
            many = self._dice.randrange(1, 20)
            key, values = b"", [b"%d.%d" % (self._count, i) for i in range(many)]
            self._ledger.sent[partition] += values
        assert self._identity is not None
        records = batch(
            values, key=key, producer_id=self._identity[0], epoch=self._identity[1],
            sequence=self._sequences[topic, partition],
        )  # fmt: skip
        self._sequences[topic, partition] += len(values)
        request = produce_request(topic, records, partition=partition)
        self._unanswered.append(_Unanswered(topic, partition, values, request))
        wire.send(request)

    def _receive(self, wire: Wire) -> None:
        oldest = self._unanswered[0]
        reply = wire.receive(oldest.request).responses[0].partition_responses[0]
        _expect(0, reply.error_code)
        if oldest.topic == PLAIN:
            for index, value in enumerate(oldest.values):
                place = oldest.partition, reply.base_offset + index
                self._ledger.acknowledged[place] = value
        self._unanswered.popleft()


class GroupReader:
    """One static member through all kills: reads, and commits what it has read."""

    def __init__(self, broker: BrokerProcess, ledger: Ledger) -> None:
        self._broker = broker
        self._ledger = ledger
        self._membership: Response | None = None
        self._positions = dict.fromkeys(range(PARTITIONS), 0)

    def run(self, stop: threading.Event) -> None:
        """Until told to stop, or until the broker is gone."""
        try:
            with Wire(self._broker, timeout=10) as wire:
                if self._membership is None:
                    self._membership = self._join(wire)
                _expect(0, self._heartbeat(wire))
                while not stop.is_set():
                    for partition in range(PARTITIONS):
                        self._read(wire, partition)
                    self._commit(wire)
        except BROKER_GONE:
            return

    def _join(self, wire: Wire) -> Response:
        joined = join(wire, READERS, instance="reader", session_ms=600_000)
        _expect(0, joined.error_code)
        given = [(joined.member_id, b"")]
        _expect(0, sync(wire, READERS, joined, instance="reader", assignments=given).error_code)
        return joined

    def _heartbeat(self, wire: Wire) -> int:
        assert self._membership is not None
        reply = wire.ask(
            HeartbeatRequest(
                version=4, group_id=READERS, generation_id=self._membership.generation_id,
                member_id=self._membership.member_id, group_instance_id="reader",
            )
        )  # fmt: skip
        return int(reply.error_code)

    def _read(self, wire: Wire, partition: int) -> None:
        found = fetch(wire, PLAIN, self._positions[partition], partition=partition, max_wait_ms=10)
        _expect(0, found.error_code)
        for one in batches(found.records):
            for record in one:
                self._see((partition, record.offset), record.value)
            self._positions[partition] = one.last_offset + 1

    def _see(self, place: tuple[int, int], value: bytes) -> None:
        before = self._ledger.seen.setdefault(place, value)
        if before != value:
            self._ledger.faults.append(f"{place} held {before!r}, then {value!r}")

    def _commit(self, wire: Wire) -> None:
        assert self._membership is not None
        positions = dict(self._positions)
        topics = OffsetCommitRequest.OffsetCommitRequestTopic
        reply = wire.ask(
            OffsetCommitRequest(
                version=7, group_id=READERS,
                generation_id_or_member_epoch=self._membership.generation_id,
                member_id=self._membership.member_id, group_instance_id="reader",
                topics=[topics(version=7, name=PLAIN, partitions=[
                    topics.OffsetCommitRequestPartition(
                        version=7, partition_index=partition, committed_offset=offset,
                        committed_leader_epoch=-1, committed_metadata="",
                    )
                    for partition, offset in positions.items()
                ])],
            )
        )  # fmt: skip
        for answer in reply.topics[0].partitions:
            _expect(0, answer.error_code)
        self._ledger.committed_offsets = positions


class TransactionWriter:
    """Transaction n writes n to three partitions and commits offset n; every fourth is aborted.

    It speaks the protocol itself, so that it knows for each transaction how far it got.
    """

    def __init__(self, broker: BrokerProcess, ledger: Ledger) -> None:
        self._broker = broker
        self._ledger = ledger
        self._number = 0

    def run(self, stop: threading.Event) -> None:
        """Until told to stop, or until the broker is gone."""
        try:
            with Wire(self._broker, timeout=10) as wire:
                owner = init_producer(wire, WRITERS)
                self._resolve(wire)
                sequence = 0
                while not stop.is_set():
                    sequence += self._transact(wire, owner, sequence)
        except BROKER_GONE:
            return

    def resolve(self) -> None:
        with Wire(self._broker, timeout=10) as wire:
            init_producer(wire, WRITERS)
            self._resolve(wire)

    def _resolve(self, wire: Wire) -> None:
        """Learn from the committed offset what became of the undecided transaction."""
        ledger = self._ledger
        found = committed_offset(wire, WRITERS, TRANSACTED, 0)
        if ledger.undecided is not None and found == ledger.undecided:
            ledger.committed.append(ledger.undecided)
        ledger.undecided = None
        expected = ledger.committed[-1] if ledger.committed else -1
        if found != expected:
            ledger.faults.append(f"offset {found} is committed for {WRITERS}, not {expected}")

    def _transact(self, wire: Wire, owner: tuple[int, int], sequence: int) -> int:
        """Returns the number of records by partition."""
        self._number += 1
        number, commit = self._number, self._number % 4 != 0
        _expect(0, add_partitions(wire, WRITERS, owner, TRANSACTED, range(PARTITIONS)))
        for partition in range(PARTITIONS):
            records = batch(
                [b"%d" % number], producer_id=owner[0], epoch=owner[1], sequence=sequence,
                transactional=True,
            )  # fmt: skip
            reply = produce(
                wire, TRANSACTED, records, partition=partition, transactional_id=WRITERS
            )
            _expect(0, reply.error_code)
        _expect(0, add_offsets(wire, owner))
        _expect(0, commit_offset(wire, owner, number))
        if commit:
            self._ledger.undecided = number
        _expect(0, end_transaction(wire, WRITERS, owner, commit))
        if commit:
            self._ledger.committed.append(number)
            self._ledger.undecided = None
        return 1


def _expect(wanted: int, code: int) -> None:
    assert code == wanted, f"error {code} where {wanted} was expected"


def add_offsets(wire: Wire, owner: tuple[int, int]) -> int:
    reply = wire.ask(
        AddOffsetsToTxnRequest(
            version=3, transactional_id=WRITERS, producer_id=owner[0], producer_epoch=owner[1],
            group_id=WRITERS,
        )
    )  # fmt: skip
    return int(reply.error_code)


def commit_offset(wire: Wire, owner: tuple[int, int], offset: int) -> int:
    topics = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
    reply = wire.ask(
        TxnOffsetCommitRequest(
            version=3, transactional_id=WRITERS, group_id=WRITERS, producer_id=owner[0],
            producer_epoch=owner[1], generation_id=-1, member_id="", group_instance_id=None,
            topics=[topics(version=3, name=TRANSACTED, partitions=[
                topics.TxnOffsetCommitRequestPartition(
                    version=3, partition_index=0, committed_offset=offset,
                    committed_leader_epoch=-1, committed_metadata="",
                )
            ])],
        )
    )  # fmt: skip
    return int(reply.topics[0].partitions[0].error_code)


def committed_offset(wire: Wire, group: str, topic: str, partition: int) -> int:
    """The stable committed offset; -1: none. Waits while a transaction on it is being decided."""
    asked = OffsetFetchRequest.OffsetFetchRequestTopic
    while True:
        reply = wire.ask(
            OffsetFetchRequest(
                version=7, group_id=group, require_stable=True,
                topics=[asked(version=7, name=topic, partition_indexes=[partition])],
            )
        )  # fmt: skip
        found = reply.topics[0].partitions[0]
        if found.error_code != UNSTABLE_OFFSET_COMMIT:
            _expect(0, found.error_code)
            return int(found.committed_offset)


def guarded(work: Work, ledger: Ledger) -> Work:
    """Runs the work, and writes the error that ends it to the ledger."""

    def run(stop: threading.Event) -> None:
        try:
            work(stop)
        except Exception as error:
            ledger.faults.append(f"{work.__qualname__} died of {error!r}")

    return run
