"""Fetch: returns records from given offsets on, and waits for them as long as the client allows.

Readers see only durable records, and with read_committed only decided ones.
"""

import asyncio
import logging
import time
from typing import TYPE_CHECKING, NamedTuple

from holdfast.broker.api.once import Once
from holdfast.broker.context import HandlerFailed, PendingReply, RequestContext
from holdfast.broker.log import CorruptRecords, OffsetOutOfRange, StorageFailed
from holdfast.broker.log.reading import MOST_BATCHES
from holdfast.broker.partition import Partition
from holdfast.broker.quotas import FETCH_RATE
from holdfast.broker.throttling import client_of
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.fetch_request import FetchPartition, FetchRequest
from holdfast.wire.protocol.generated.fetch_response import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from holdfast.wire.records.batch import HEADER_SIZE

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker
    from holdfast.wire.protocol.generated.fetch_request import FetchTopic

log = logging.getLogger(__name__)

READ_COMMITTED = 1
MOST_AT_ONCE = 16 * 1024 * 1024
"""Maximum bytes per read of a partition: reading and checking them delays other requests."""
MOST_AWAITED = MOST_BATCHES * HEADER_SIZE
"""Maximum bytes that a fetch waits for: one read of small batches may return no more."""
READ_SECONDS = 0.01
"""How long a request with records continues to read."""
MOST_WAITING = 500_000
"""Partitions of all fetches that wait. Above it, those that have waited longest are answered."""
READ_AT_ONCE = 100
"""Partitions that are read in one step. A request with more partitions is read in slices."""
TOPIC_IDS_SINCE = 13


class _Target(NamedTuple):
    """A partition of the request, or the error for it."""

    topic: "FetchTopic"
    requested: FetchPartition
    partition: Partition | None
    error_code: ErrorCode


class _Attempt(NamedTuple):
    response: FetchResponse
    size: int
    failed: bool


def handle(
    broker: "Broker", request: FetchRequest, context: RequestContext
) -> FetchResponse | PendingReply | Work[PendingReply]:
    if request.session_id != 0:
        # This broker has no sessions: with id 0 a client names all partitions in each request. This
        # session is from before a restart.
        return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    _bound_by_quota(broker, request, context)
    by_id = context.version >= TOPIC_IDS_SINCE
    if sum([len(topic.partitions) for topic in request.topics]) > READ_AT_ONCE:
        return _fetch_many(broker, request, by_id)
    once = Once()
    targets: list[_Target] = []
    for topic in request.topics:
        targets += _find_all(broker, topic, by_id, once)
    attempt = _read(broker, request, targets)
    if _is_enough(request, attempt) or not targets:
        return _counted(broker, attempt)
    return _LongPoll(broker, request, targets, attempt).reply


def _bound_by_quota(broker: "Broker", request: FetchRequest, context: RequestContext) -> None:
    """Asks for no more than the client's quota allows at all."""
    client = client_of(context) if FETCH_RATE in broker.quotas.keys else None
    if client is None:
        return
    most = broker.quotas.most_at_once(FETCH_RATE, client)
    if most < request.max_bytes:
        request.max_bytes = int(most)
        request.min_bytes = min(request.min_bytes, request.max_bytes)


def _fetch_many(broker: "Broker", request: FetchRequest, by_id: bool) -> Work[PendingReply]:
    once = Once()
    targets: list[_Target] = []
    for topic in request.topics:
        targets += _find_all(broker, topic, by_id, once)
        yield None
    return _LongPoll(broker, request, targets).reply


def _is_enough(request: FetchRequest, attempt: _Attempt) -> bool:
    return request.max_wait_ms <= 0 or attempt.failed or attempt.size >= _awaited(request)


def _awaited(request: FetchRequest) -> int:
    return min(request.min_bytes, MOST_AWAITED)


class _LongPoll:
    """Waits for enough bytes or the timeout, and only then reads again.

    Many partitions are read in slices. Bytes that arrive meanwhile count for the next read.
    """

    def __init__(
        self,
        broker: "Broker",
        request: FetchRequest,
        targets: list[_Target],
        first: _Attempt | None = None,
    ) -> None:
        self.reply = PendingReply()
        self.reply.is_long = first is None
        self.reply.on_abandon = self._stop
        self._broker = broker
        self._request = request
        self._targets = targets
        self._missing = _awaited(request)
        self._is_looking = False
        self._is_time_up = request.max_wait_ms <= 0
        self._stopped = False
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(max(0, request.max_wait_ms) / 1000, self.finish)
        broker.waiting_fetches[self] = len(targets)
        broker.waiting_partitions += len(targets)
        for target in targets:
            if target.partition is not None:
                target.partition.add_reader(self)
        if first is None:
            self._look_soon()
        else:
            self._missing -= first.size
        _bound_waiting(broker)

    def more(self, size: int) -> None:
        self._missing = self._missing - size if size else 0  # its topic is deleted
        if self._missing <= 0:
            self._look_soon()

    def _look_soon(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            self._loop.call_soon(self._look)

    def finish(self) -> None:
        """Answers with what there is."""
        self._is_time_up = True
        if not self._is_looking:
            self._is_looking = True
            self._look()

    def _look(self) -> None:
        if self._stopped:
            return
        self._missing = _awaited(self._request)
        if not self.reply.is_long:
            self._looked(_read(self._broker, self._request, self._targets))
            return
        work = _read_in_slices(self._broker, self._request, self._targets)
        attempt = self._broker.workshop.answer(work)
        if isinstance(attempt, PendingReply):
            attempt.then(self._looked)
        else:
            self._looked(attempt)

    def _looked(self, attempt: _Attempt | HandlerFailed) -> None:
        self._is_looking = False
        if self._stopped:
            return
        if isinstance(attempt, HandlerFailed):
            self._stop()
            self.reply.answer(attempt)
        elif self._is_time_up or _is_enough(self._request, attempt):
            self._stop()
            self.reply.answer(_counted(self._broker, attempt))
        else:
            self._missing -= attempt.size
            if self._missing <= 0:  # it arrived while others were read
                self._look_soon()

    def _stop(self) -> None:
        self._stopped = True
        self._timer.cancel()
        self._broker.waiting_partitions -= self._broker.waiting_fetches.pop(self, 0)
        for target in self._targets:
            if target.partition is not None:
                target.partition.remove_reader(self)


def _bound_waiting(broker: "Broker") -> None:
    excess = broker.waiting_partitions - MOST_WAITING
    oldest = []
    for fetch, partitions in broker.waiting_fetches.items():
        if excess <= 0:
            break
        excess -= partitions
        oldest.append(fetch)
    for fetch in oldest:
        fetch.finish()


def _counted(broker: "Broker", attempt: _Attempt) -> FetchResponse:
    broker.metrics.fetched_bytes += attempt.size
    return attempt.response


def _find_all(broker: "Broker", topic: "FetchTopic", by_id: bool, once: Once) -> list["_Target"]:
    name = topic.topic_id if by_id else topic.topic
    return [
        _find(broker, topic, requested, by_id)
        for requested in topic.partitions
        if once(name, requested.partition)
    ]


def _find(broker: "Broker", topic: "FetchTopic", requested: FetchPartition, by_id: bool) -> _Target:
    if by_id:
        found = broker.topics.by_id(topic.topic_id)
        if found is None:
            return _Target(topic, requested, None, ErrorCode.UNKNOWN_TOPIC_ID)
    else:
        found = broker.topics.get(topic.topic)
    if found is None or not 0 <= requested.partition < len(found.partitions):
        return _Target(topic, requested, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if requested.current_leader_epoch > 0:  # the only leader epoch is 0
        return _Target(topic, requested, None, ErrorCode.UNKNOWN_LEADER_EPOCH)
    return _Target(topic, requested, found.partitions[requested.partition], ErrorCode.NONE)


def _read(broker: "Broker", request: FetchRequest, targets: list[_Target]) -> _Attempt:
    reading = _Reading(broker, request)
    reading.read(targets)
    return reading.attempt()


def _read_in_slices(
    broker: "Broker", request: FetchRequest, targets: list[_Target]
) -> Work[_Attempt]:
    reading = _Reading(broker, request)
    for start in range(0, len(targets), READ_AT_ONCE):
        reading.read(targets[start : start + READ_AT_ONCE])
        yield None
    return reading.attempt()


class _Reading:
    """The records of one reply."""

    def __init__(self, broker: "Broker", request: FetchRequest) -> None:
        self._broker = broker
        self._room = min(request.max_bytes, broker.settings.fetch_max_bytes, broker.reply_room())
        self._committed_only = request.isolation_level == READ_COMMITTED
        self._topics: list[FetchableTopicResponse] = []
        self._topic: FetchTopic | None = None
        self._total = 0
        self._failed = False
        self._until = time.perf_counter() + READ_SECONDS

    def attempt(self) -> _Attempt:
        return _Attempt(FetchResponse(responses=self._topics), self._total, self._failed)

    def read(self, targets: list[_Target]) -> None:
        topics = self._topics
        for target in targets:
            if target.topic is not self._topic:
                self._topic = topic = target.topic
                topics.append(FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id))
            if target.partition is None:
                data = _refused(target, target.error_code)
            elif target.partition.is_gone:  # while the request waited
                data = _refused(target, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            elif self._total and time.perf_counter() > self._until:
                # Others wait. A client's next request begins with partitions that got nothing.
                data = _unread(target.partition, target.requested)
            else:
                # The first batch is returned whatever its size, so that the reader can continue.
                data = _read_partition(
                    self._broker,
                    target.partition,
                    target.requested,
                    self._room - self._total,
                    self._committed_only,
                    self._total == 0,
                )
            if data.error_code:
                self._failed = True
            elif data.records is not None:
                self._total += len(data.records)
            topics[-1].partitions.append(data)


_EMPTY = memoryview(b"")


def _refused(target: _Target, error_code: ErrorCode) -> PartitionData:
    return PartitionData(
        partition_index=target.requested.partition,
        error_code=error_code,
        high_watermark=-1,
        records=_EMPTY,
    )


def _unread(partition: Partition, requested: FetchPartition) -> PartitionData:
    return PartitionData(
        partition_index=requested.partition,
        high_watermark=partition.log.high_watermark,
        last_stable_offset=partition.log.last_stable_offset,
        log_start_offset=partition.log.log_start_offset,
        records=_EMPTY,
    )


def _read_partition(
    broker: "Broker",
    partition: Partition,
    requested: FetchPartition,
    room: int,
    committed_only: bool,
    at_least_one: bool,
) -> PartitionData:
    records = partition.log
    data = _unread(partition, requested)
    limit = records.last_stable_offset if committed_only else records.high_watermark
    try:
        data.records = records.read(
            requested.fetch_offset,
            max(0, min(room, requested.partition_max_bytes, MOST_AT_ONCE)),
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
            for a in records.aborted_in(requested.fetch_offset, data.records)
        ]
    return data
