"""Fetch: records from given offsets on, waiting for them for as long as the reader says.

Readers see what is durable, and with read_committed what is decided; never more.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

from holdfast.broker.context import PendingReply, RequestContext
from holdfast.broker.log import CorruptRecords, OffsetOutOfRange, StorageFailed
from holdfast.broker.partition import Partition
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.fetch_request import FetchPartition, FetchRequest
from holdfast.wire.protocol.generated.fetch_response import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker
    from holdfast.wire.protocol.generated.fetch_request import FetchTopic

log = logging.getLogger(__name__)

READ_COMMITTED = 1
TOPIC_IDS_SINCE = 13


class _Wanted(NamedTuple):
    """A partition that is asked for. Without a partition: why not."""

    topic: "FetchTopic"
    asked: FetchPartition
    partition: Partition | None
    error_code: ErrorCode


class _Attempt(NamedTuple):
    response: FetchResponse
    size: int
    failed: bool


def handle(
    broker: "Broker", request: FetchRequest, context: RequestContext
) -> FetchResponse | PendingReply:
    if request.session_id != 0:
        # No sessions are kept (id 0 is legal: the client then names all partitions each time);
        # this one is from an earlier life of the broker.
        return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    wanted = [
        _find(broker, topic, asked, by_id=context.version >= TOPIC_IDS_SINCE)
        for topic in request.topics
        for asked in topic.partitions
    ]
    attempt = _read(broker, request, wanted)
    if (
        request.max_wait_ms <= 0
        or attempt.failed
        or attempt.size >= request.min_bytes
        or not wanted
    ):
        return _counted(broker, attempt)
    return _LongPoll(broker, request, wanted, attempt).reply


class _LongPoll:
    """Waits until enough bytes have come or the time is up; reads again then, and not before."""

    def __init__(
        self, broker: "Broker", request: FetchRequest, wanted: list[_Wanted], first: _Attempt
    ) -> None:
        self.reply = PendingReply()
        self.reply.on_abandon = self._stop
        self._broker = broker
        self._request = request
        self._wanted = wanted
        self._missing = request.min_bytes - first.size
        self._scheduled = False
        self._stopped = False
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(request.max_wait_ms / 1000, self._finish)
        broker.waiting_fetches.add(self._finish)
        for want in wanted:
            if want.partition is not None:
                want.partition.add_reader(self)

    def more(self, size: int) -> None:
        self._missing -= size
        if (self._missing <= 0 or size == 0) and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        self._scheduled = False
        if self._stopped:
            return
        attempt = _read(self._broker, self._request, self._wanted)
        self._missing = self._request.min_bytes - attempt.size
        if self._missing <= 0 or attempt.failed:
            self._answer(attempt)

    def _finish(self) -> None:
        self._answer(_read(self._broker, self._request, self._wanted))

    def _answer(self, attempt: _Attempt) -> None:
        self._stop()
        self.reply.answer(_counted(self._broker, attempt))

    def _stop(self) -> None:
        self._stopped = True
        self._timer.cancel()
        self._broker.waiting_fetches.discard(self._finish)
        for want in self._wanted:
            if want.partition is not None:
                want.partition.remove_reader(self)


def _counted(broker: "Broker", attempt: _Attempt) -> FetchResponse:
    broker.metrics.fetched_bytes += attempt.size
    return attempt.response


def _find(broker: "Broker", topic: "FetchTopic", asked: FetchPartition, by_id: bool) -> _Wanted:
    if by_id:
        found = broker.topics.by_id(topic.topic_id)
        if found is None:
            return _Wanted(topic, asked, None, ErrorCode.UNKNOWN_TOPIC_ID)
    else:
        found = broker.topics.get(topic.topic)
    if found is None or not 0 <= asked.partition < len(found.partitions):
        return _Wanted(topic, asked, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if asked.current_leader_epoch > 0:  # there is one leader epoch here, and it is 0
        return _Wanted(topic, asked, None, ErrorCode.UNKNOWN_LEADER_EPOCH)
    return _Wanted(topic, asked, found.partitions[asked.partition], ErrorCode.NONE)


def _read(broker: "Broker", request: FetchRequest, wanted: list[_Wanted]) -> _Attempt:
    room = min(request.max_bytes, broker.settings.fetch_max_bytes, broker.reply_room())
    committed_only = request.isolation_level == READ_COMMITTED
    topics: list[FetchableTopicResponse] = []
    total = 0
    failed = False
    current: FetchTopic | None = None
    for want in wanted:
        if want.topic is not current:
            current = want.topic
            topics.append(FetchableTopicResponse(topic=current.topic, topic_id=current.topic_id))
        if want.partition is None:
            data = _refused(want, want.error_code)
        elif want.partition.is_gone:  # while the reader waited for it
            data = _refused(want, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        else:
            # The first records always come, however large: the reader must get past them.
            data = _read_partition(
                broker, want.partition, want.asked, room - total, committed_only, total == 0
            )
        if data.error_code:
            failed = True
        elif data.records is not None:
            total += len(data.records)
        topics[-1].partitions.append(data)
    return _Attempt(FetchResponse(responses=topics), total, failed)


_EMPTY = memoryview(b"")


def _refused(want: _Wanted, error_code: ErrorCode) -> PartitionData:
    return PartitionData(
        partition_index=want.asked.partition,
        error_code=error_code,
        high_watermark=-1,
        records=_EMPTY,
    )


def _read_partition(
    broker: "Broker",
    partition: Partition,
    asked: FetchPartition,
    room: int,
    committed_only: bool,
    at_least_one: bool,
) -> PartitionData:
    records = partition.log
    data = PartitionData(
        partition_index=asked.partition,
        high_watermark=records.high_watermark,
        last_stable_offset=records.last_stable_offset,
        log_start_offset=records.log_start_offset,
        records=_EMPTY,
    )
    limit = records.last_stable_offset if committed_only else records.high_watermark
    try:
        data.records = records.read(
            asked.fetch_offset,
            max(0, min(room, asked.partition_max_bytes)),
            limit=limit,
            at_least_one=at_least_one,
        )
    except OffsetOutOfRange:
        data.error_code = ErrorCode.OFFSET_OUT_OF_RANGE
    except CorruptRecords as error:
        broker.metrics.corrupt_reads += 1
        log.error("%s: %s", partition, error)
        data.error_code = ErrorCode.CORRUPT_MESSAGE
    except StorageFailed as error:
        broker.metrics.storage_failures += 1
        log.error("%s: %s", partition, error)
        data.error_code = ErrorCode.KAFKA_STORAGE_ERROR
    if committed_only and data.records is not None:
        data.aborted_transactions = [
            AbortedTransaction(producer_id=a.producer_id, first_offset=a.first_offset)
            for a in records.aborted_in(asked.fetch_offset, data.records)
        ]
    return data
