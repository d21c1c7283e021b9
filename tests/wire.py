"""Raw requests over one connection, for what no client library can be made to send.

The messages are kafka-python's, an implementation of the protocol that shares nothing with ours.
"""

import itertools
import socket
import struct
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from kafka.protocol.consumer import (
    FetchRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)
from kafka.protocol.metadata import FindCoordinatorRequest
from kafka.protocol.producer import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    ProduceRequest,
    TxnOffsetCommitRequest,
)
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S

# kafka-python builds its messages from schemas at run time: they have no static types.
Request = Any
Response = Any

CONCURRENT_TRANSACTIONS = 51
NOT_COORDINATOR_YET = (14, 15, 16)


class Wire:
    """One connection. `ask` sends a request in the version named and returns the reply."""

    def __init__(self, broker: BrokerProcess, timeout: float = DEADLINE_S) -> None:
        self._socket = socket.create_connection(("127.0.0.1", broker.port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation = itertools.count(1)

    def ask(self, request: Request) -> Response:
        self.send(request)
        return self.receive(request)

    def send(self, request: Request) -> None:
        request.with_header(correlation_id=next(self._correlation), client_id="wire")
        self._socket.sendall(request.encode(header=True, framed=True))

    def receive(self, request: Request) -> Response:
        """The next reply, which must be the one to `request`."""
        response_class = request.header.get_response_class()
        reply = response_class.decode(self.frame(), header=True)
        assert reply.header.correlation_id == request.header.correlation_id
        return reply

    def send_bytes(self, data: bytes) -> None:
        self._socket.sendall(data)

    def frame(self) -> bytes:
        """The next frame as it came, without its size."""
        (size,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(size)

    def closed_by_peer(self) -> bool:
        """Read until the other side closes; False if it stays open and silent."""
        try:
            while self._socket.recv(65536):
                pass
        except TimeoutError:
            return False
        except ConnectionError:
            pass
        return True

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(size - len(parts))
            if not part:
                raise ConnectionError(f"closed after {len(parts)} of {size} bytes")
            parts += part
        return bytes(parts)


def batch(
    values: Iterable[bytes | None],
    *,
    producer_id: int = -1,
    epoch: int = -1,
    sequence: int = -1,
    transactional: bool = False,
    key: bytes | None = b"k",
    timestamp: int | None = None,
    codec: int = 0,
) -> bytes:
    """One record batch of format v2."""
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=codec, is_transactional=transactional, producer_id=producer_id,
        producer_epoch=epoch, base_sequence=sequence, batch_size=1 << 30,
    )  # fmt: skip
    when = timestamp if timestamp is not None else int(time.time() * 1000)
    for index, value in enumerate(values):
        builder.append(index, when, key, value, [])
    return bytes(builder.build())


def produce(
    wire: Wire,
    topic: str,
    records: bytes,
    *,
    partition: int = 0,
    acks: int = -1,
    transactional_id: str | None = None,
    version: int = 9,
) -> Response:
    """Produce to one partition. -> its part of the reply"""
    request = produce_request(
        topic, records, partition=partition, acks=acks,
        transactional_id=transactional_id, version=version,
    )  # fmt: skip
    return wire.ask(request).responses[0].partition_responses[0]


def produce_request(
    topic: str,
    records: bytes,
    *,
    partition: int = 0,
    acks: int = -1,
    transactional_id: str | None = None,
    version: int = 9,
) -> Request:
    data = ProduceRequest.TopicProduceData
    return ProduceRequest(
        version=version, transactional_id=transactional_id, acks=acks, timeout_ms=10_000,
        topic_data=[data(
            version=version, name=topic,
            partition_data=[data.PartitionProduceData(
                version=version, index=partition, records=records,
            )],
        )],
    )  # fmt: skip


def fetch(
    wire: Wire,
    topic: str,
    offset: int,
    *,
    partition: int = 0,
    isolation: int = 0,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1 << 20,
    version: int = 11,
) -> Response:
    """Fetch from one partition, outside a session. -> its part of the reply"""
    request = fetch_request(
        topic, offset, partition=partition, isolation=isolation, max_wait_ms=max_wait_ms,
        min_bytes=min_bytes, max_bytes=max_bytes, version=version,
    )  # fmt: skip
    reply = wire.ask(request)
    assert reply.error_code == 0
    return reply.responses[0].partitions[0]


def fetch_request(
    topic: str,
    offset: int,
    *,
    partition: int = 0,
    isolation: int = 0,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1 << 20,
    version: int = 11,
) -> Request:
    wanted = FetchRequest.FetchTopic
    return FetchRequest(
        version=version, replica_id=-1, max_wait_ms=max_wait_ms, min_bytes=min_bytes,
        max_bytes=max_bytes, isolation_level=isolation, session_id=0, session_epoch=-1,
        topics=[wanted(version=version, topic=topic, partitions=[wanted.FetchPartition(
            version=version, partition=partition, current_leader_epoch=-1, fetch_offset=offset,
            log_start_offset=-1, partition_max_bytes=max_bytes,
        )])],
        forgotten_topics_data=[], rack_id="",
    )  # fmt: skip


def batches(records: bytes | memoryview | None) -> list[DefaultRecordBatch]:
    """The whole record batches in a reply; a cut one at the end is left out, as clients do."""
    found = []
    rest = bytes(records or b"")
    while len(rest) >= 12:
        size = 12 + struct.unpack_from(">i", rest, 8)[0]
        if size > len(rest):
            break
        found.append(DefaultRecordBatch(rest[:size]))
        rest = rest[size:]
    return found


def find_coordinator(wire: Wire, key: str, kind: int) -> None:
    """Wait until there is one for a group (0) or a transactional id (1).

    Asking is what makes Apache Kafka create the coordinators' topics.
    """
    end = time.monotonic() + 30
    while wire.ask(FindCoordinatorRequest(version=2, key=key, key_type=kind)).error_code != 0:
        assert time.monotonic() < end, f"no coordinator for {key}"
        time.sleep(0.05)


def load_group(wire: Wire, group: str) -> None:
    """Wait until the group's coordinator answers for it, and not that it is still loading."""
    find_coordinator(wire, group, 0)
    stranger = HeartbeatRequest(version=0, group_id=group, generation_id=1, member_id="nobody")
    end = time.monotonic() + 30
    while wire.ask(stranger).error_code in NOT_COORDINATOR_YET:
        assert time.monotonic() < end, f"the coordinator of {group} does not load"
        time.sleep(0.05)


def init_producer(
    wire: Wire, transactional_id: str | None = None, timeout_ms: int = 60_000
) -> tuple[int, int]:
    """Returns producer id and epoch. Waits while the coordinator is still busy with the id."""
    while True:
        reply = wire.ask(
            InitProducerIdRequest(
                version=4, transactional_id=transactional_id, transaction_timeout_ms=timeout_ms,
                producer_id=-1, producer_epoch=-1,
            )
        )  # fmt: skip
        if reply.error_code not in (CONCURRENT_TRANSACTIONS, *NOT_COORDINATOR_YET):
            assert reply.error_code == 0, reply
            return reply.producer_id, reply.producer_epoch
        if reply.error_code in NOT_COORDINATOR_YET:
            find_coordinator(wire, transactional_id or "", 1)
        time.sleep(0.02)


def add_partitions(
    wire: Wire,
    transactional_id: str,
    producer: tuple[int, int],
    topic: str,
    partitions: Sequence[int] = (0,),
) -> int:
    """Returns the error code of the first partition. Waits for an earlier transaction."""
    topics = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
    while True:
        reply = wire.ask(
            AddPartitionsToTxnRequest(
                version=3, v3_and_below_transactional_id=transactional_id,
                v3_and_below_producer_id=producer[0], v3_and_below_producer_epoch=producer[1],
                v3_and_below_topics=[topics(version=3, name=topic, partitions=list(partitions))],
            )
        )  # fmt: skip
        result = reply.results_by_topic_v3_and_below[0].results_by_partition[0]
        if result.partition_error_code != CONCURRENT_TRANSACTIONS:
            return int(result.partition_error_code)
        time.sleep(0.02)


def end_transaction(
    wire: Wire, transactional_id: str, producer: tuple[int, int], commit: bool
) -> int:
    """Returns the error code."""
    reply = wire.ask(
        EndTxnRequest(
            version=3, transactional_id=transactional_id, producer_id=producer[0],
            producer_epoch=producer[1], committed=commit,
        )
    )  # fmt: skip
    return int(reply.error_code)


def transactional_batch(
    owner: tuple[int, int], values: list[bytes | None], sequence: int = 0
) -> bytes:
    return batch(
        values, producer_id=owner[0], epoch=owner[1], sequence=sequence, transactional=True
    )


def produce_in(
    wire: Wire,
    transactional_id: str | None,
    topic: str,
    records: bytes,
    partition: int = 0,
    version: int = 9,
) -> int:
    """Produce inside a transaction; while an earlier one is being completed, try again."""
    code = CONCURRENT_TRANSACTIONS
    while code == CONCURRENT_TRANSACTIONS:
        reply = produce(
            wire, topic, records, partition=partition, transactional_id=transactional_id,
            version=version,
        )  # fmt: skip
        code = int(reply.error_code)
    return code


def txn_commit(
    wire: Wire,
    transactional_id: str,
    owner: tuple[int, int],
    group: str,
    offset: int,
    version: int = 3,
) -> int:
    """Commit an offset of partition 0 of the topic that has the transactional id's name."""
    topics = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
    reply = wire.ask(
        TxnOffsetCommitRequest(
            version=version, transactional_id=transactional_id, group_id=group,
            producer_id=owner[0], producer_epoch=owner[1], generation_id=-1, member_id="",
            group_instance_id=None,
            topics=[topics(version=version, name=transactional_id, partitions=[
                topics.TxnOffsetCommitRequestPartition(
                    version=version, partition_index=0, committed_offset=offset,
                    committed_leader_epoch=-1, committed_metadata="",
                )
            ])],
        )
    )  # fmt: skip
    return int(reply.topics[0].partitions[0].error_code)


def offset_of(wire: Wire, group: str, topic: str, stable: bool) -> tuple[int, int]:
    """Returns the error code and the committed offset of partition 0."""
    asked = OffsetFetchRequest.OffsetFetchRequestTopic
    reply = wire.ask(
        OffsetFetchRequest(
            version=7, group_id=group, require_stable=stable,
            topics=[asked(version=7, name=topic, partition_indexes=[0])],
        )
    )  # fmt: skip
    if reply.error_code != 0:
        return int(reply.error_code), -1
    (partition,) = reply.topics[0].partitions
    return int(partition.error_code), int(partition.committed_offset)


def join(
    wire: Wire,
    group: str,
    *,
    member: str = "",
    instance: str | None = None,
    session_ms: int = 10_000,
    protocols: Sequence[tuple[str, bytes]] = (("range", b""),),
) -> Response:
    """Join a group, in the two steps that a new dynamic member takes."""
    kind = JoinGroupRequest.JoinGroupRequestProtocol

    def attempt(member: str) -> Response:
        return wire.ask(
            JoinGroupRequest(
                version=7, group_id=group, session_timeout_ms=session_ms,
                rebalance_timeout_ms=10_000, member_id=member, group_instance_id=instance,
                protocol_type="consumer",
                protocols=[kind(version=7, name=n, metadata=m) for n, m in protocols],
            )
        )  # fmt: skip

    reply = attempt(member)
    while reply.error_code in NOT_COORDINATOR_YET:
        find_coordinator(wire, group, 0)
        reply = attempt(member)
    if reply.error_code == 79:  # MEMBER_ID_REQUIRED: the id came with the answer
        reply = attempt(reply.member_id)
    return reply


def sync(
    wire: Wire,
    group: str,
    joined: Response,
    *,
    instance: str | None = None,
    assignments: Sequence[tuple[str, bytes]] = (),
) -> Response:
    kind = SyncGroupRequest.SyncGroupRequestAssignment
    return wire.ask(
        SyncGroupRequest(
            version=5, group_id=group, generation_id=joined.generation_id,
            member_id=joined.member_id, group_instance_id=instance, protocol_type="consumer",
            protocol_name=joined.protocol_name,
            assignments=[kind(version=5, member_id=m, assignment=a) for m, a in assignments],
        )
    )  # fmt: skip
