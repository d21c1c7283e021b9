"""Requests that are small to send and large to answer, and a client that only wants to be served.

Each bomb is a list of frames. `Innocent` asks for something small all the while, on a connection of
its own, and remembers its slowest answer.
"""

import random
import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.frames import request_frame, sized

from holdfast.wire.protocol.apis import APIS
from holdfast.wire.protocol.generated import (
    create_topics_request,
    delete_records_request,
    describe_configs_request,
    describe_groups_request,
    fetch_request,
    find_coordinator_request,
    list_offsets_request,
    metadata_request,
    offset_fetch_request,
    produce_request,
)
from holdfast.wire.records.batch import (
    HEADER,
    HEADER_SIZE,
    MIN_LENGTH,
    build_batch,
    header_of,
    seal,
)
from holdfast.wire.records.compression import Compression, compress

BY_NAME = {api.name: api for api in APIS.values()}
TIMEOUT_SECONDS = 120.0
EMPTY_RECORD = bytes((12, 0, 0, 0, 0, 1, 0))
"""Seven bytes: an empty key, no value, no headers."""


def frame(name: str, version: int, request: Any) -> bytes:
    return sized(request_frame(BY_NAME[name], version, request))


def produce(topic: str, partition: int, batch: bytes | bytearray) -> bytes:
    data = produce_request.PartitionProduceData(partition, memoryview(batch))
    request = produce_request.ProduceRequest(
        acks=-1, timeout_ms=30_000, topic_data=[produce_request.TopicProduceData(topic, [data])]
    )
    return frame("produce", 9, request)


def forged_batch(count: int) -> bytearray:
    """A few kilobytes that say they are `count` records, and are."""
    body = compress(Compression.ZSTD, EMPTY_RECORD * count)
    like = build_batch([(b"k", b"v")], timestamp=_now_ms(), compression=Compression.ZSTD)
    header = header_of(like)._replace(
        batch_length=MIN_LENGTH + len(body), last_offset_delta=count - 1, record_count=count
    )
    batch = bytearray(HEADER_SIZE)
    HEADER.pack_into(batch, 0, *header)
    batch += body
    seal(batch)
    return batch


def dense_batch(count: int) -> bytearray:
    """As many records as a batch of its size may have, all of them right."""
    return build_batch([(b"k", None)] * count, timestamp=_now_ms(), compression=Compression.ZSTD)


def metadata(names: list[str]) -> bytes:
    topics = [metadata_request.MetadataRequestTopic(name=name) for name in names]
    return frame("metadata", 4, metadata_request.MetadataRequest(topics, True))


def offsets_for_times(topic: str, partitions: int, timestamp: int) -> bytes:
    asked = [
        list_offsets_request.ListOffsetsPartition(index, timestamp=timestamp)
        for index in range(partitions)
    ]
    topics = [list_offsets_request.ListOffsetsTopic(topic, asked)]
    return frame("list_offsets", 5, list_offsets_request.ListOffsetsRequest(topics=topics))


def repeated_names(topic: str, times: int) -> dict[str, bytes]:
    """Requests that name one thing many times, for each API that takes a list."""
    configs = [describe_configs_request.DescribeConfigsResource(2, topic, None)] * times
    groups = [offset_fetch_request.OffsetFetchRequestGroup("g", topics=None)] * times
    offsets = [list_offsets_request.ListOffsetsPartition(0, timestamp=0)] * times
    return {
        "metadata": metadata([topic] * times),
        "describe_configs": frame(
            "describe_configs", 4, describe_configs_request.DescribeConfigsRequest(configs)
        ),
        "describe_groups": frame(
            "describe_groups", 5, describe_groups_request.DescribeGroupsRequest(["g"] * times)
        ),
        "find_coordinator": frame(
            "find_coordinator",
            4,
            find_coordinator_request.FindCoordinatorRequest(coordinator_keys=["g"] * times),
        ),
        "offset_fetch": frame(
            "offset_fetch", 8, offset_fetch_request.OffsetFetchRequest(groups=groups)
        ),
        "list_offsets": frame(
            "list_offsets",
            5,
            list_offsets_request.ListOffsetsRequest(
                topics=[list_offsets_request.ListOffsetsTopic(topic, offsets)]
            ),
        ),
    }


def fetch(topic: str, offset: int) -> bytes:
    asked = fetch_request.FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 30)
    request = fetch_request.FetchRequest(
        min_bytes=1, max_bytes=1 << 30, topics=[fetch_request.FetchTopic(topic, partitions=[asked])]
    )
    return frame("fetch", 11, request)


def delete_records(topic: str, offset: int) -> bytes:
    partition = delete_records_request.DeleteRecordsPartition(0, offset)
    topics = [delete_records_request.DeleteRecordsTopic(topic, [partition])]
    return frame("delete_records", 1, delete_records_request.DeleteRecordsRequest(topics, 60_000))


def write_small_batches(directory: Path, count: int, latest: int) -> None:
    """A log of one-record batches, as a producer without linger makes it. The first record has the
    time `latest`; the others are earlier."""
    first, other = (build_batch([(b"k", b"v")], timestamp=t) for t in (latest, latest - 1))
    batches = (_at(other, offset) for offset in range(1, count))
    (directory / f"{0:020d}.log").write_bytes(first + b"".join(batches))


def write_segments(directory: Path, count: int) -> None:
    """A log of segments with one record each."""
    batch = build_batch([(b"k", bytes(1_024))], timestamp=_now_ms())
    for offset in range(count):
        (directory / f"{offset:020d}.log").write_bytes(_at(batch, offset))


def _at(batch: bytearray, offset: int) -> bytes:
    """The batch at this offset, which its CRC does not cover."""
    return struct.pack(">q", offset) + batch[8:]


def many_topics(count: int, stem: str = "bomb") -> bytes:
    names = [f"{stem}-{n}" for n in range(count)]
    topics = [create_topics_request.CreatableTopic(name, 1, 1, [], []) for name in names]
    return frame("create_topics", 5, create_topics_request.CreateTopicsRequest(topics, 60_000))


def any_bomb(source: random.Random, topic: str) -> bytes:
    """One of them, by chance. `topic` gets records that are as they should be."""
    kind = source.randrange(5)
    if kind == 0:
        return produce(topic, 0, forged_batch(source.randint(100_000, 4_000_000)))
    if kind == 1:
        return produce(topic, 0, dense_batch(source.randint(10_000, 50_000)))
    if kind == 2:
        return offsets_for_times(topic, 1, source.choice((0, -3)))
    if kind == 3:
        return metadata([f"{topic}-{n}" for n in range(source.randint(10, 100))])
    return source.choice(list(repeated_names(topic, 10_000).values()))


def explode(port: int, frames: bytes, answers: int = 1) -> list[bytes]:
    """Send, and wait for the answers. Fewer: the broker has closed the connection."""
    received = []
    with socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS) as connection:
        connection.sendall(frames)
        try:
            for _ in range(answers):
                (size,) = struct.unpack(">i", _exactly(connection, 4))
                received.append(_exactly(connection, size))
        except ConnectionError:
            pass
    return received


class Innocent:
    """Produces one small record after the other while the block runs."""

    def __init__(self, port: int, topic: str) -> None:
        self._port = port
        self._topic = topic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._failure: BaseException | None = None
        self.slowest = 0.0
        self.answers = 0

    def __enter__(self) -> Self:
        self._thread.start()
        _wait_for(lambda: self.answers > 0 or self._failure is not None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        before = self.answers
        _wait_for(lambda: self.answers > before or self._failure is not None)
        self._stop.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            with socket.create_connection(("127.0.0.1", self._port), TIMEOUT_SECONDS) as connection:
                while not self._stop.wait(0.005):
                    batch = build_batch([(b"k", b"v")], timestamp=_now_ms())
                    started = time.monotonic()
                    connection.sendall(produce(self._topic, 0, batch))
                    (size,) = struct.unpack(">i", _exactly(connection, 4))
                    _exactly(connection, size)
                    self.slowest = max(self.slowest, time.monotonic() - started)
                    self.answers += 1
        except BaseException as failure:
            self._failure = failure


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(1 << 20, size - len(data)))
        if not part:
            raise ConnectionError("closed")
        data += part
    return bytes(data)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.005)
