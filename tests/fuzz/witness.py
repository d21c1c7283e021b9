"""A well-behaved client beside the fuzzer. What it sees must never change."""

import socket
import struct
import time
from typing import Any, cast

from tests.frames import decode_response, request_frame, sized
from tests.wire import batch, batches

from holdfast.wire.protocol.apis import APIS
from holdfast.wire.protocol.generated import (
    api_versions_request,
    fetch_request,
    list_offsets_request,
    metadata_request,
    metadata_response,
    produce_request,
)

DEADLINE_S = 20.0
TOPIC = "guarded"
RECORDS = 20
API_VERSIONS, METADATA, LIST_OFFSETS, FETCH, PRODUCE = 18, 3, 2, 1, 0


def connect(port: int, timeout: float) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def read_frame(connection: socket.socket) -> bytes:
    """The next reply; raises EOFError when the other side has closed."""
    (size,) = struct.unpack(">i", _exactly(connection, 4))
    return _exactly(connection, size)


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise EOFError(f"closed after {len(parts)} of {size} bytes")
        parts += part
    return bytes(parts)


class Witness:
    """Keeps one connection and one topic, and looks whether both are still as they were."""

    def __init__(self, port: int) -> None:
        self._connection = connect(port, DEADLINE_S)
        self._correlation_id = 0
        self._port = port

    def write(self) -> None:
        """Makes the topic, by asking for it, and fills it."""
        while self._metadata().error_code != 0:
            time.sleep(0.02)
        for number in range(RECORDS):
            records = memoryview(batch([b"record %d" % number], key=b"key"))
            partition = produce_request.PartitionProduceData(0, records)
            data = [produce_request.TopicProduceData(TOPIC, [partition])]
            request = produce_request.ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=data)
            reply = self._ask(PRODUCE, 9, request).responses[0].partition_responses[0]
            assert (reply.error_code, reply.base_offset) == (0, number)

    def look(self) -> None:
        """Old and new connections are served, and the topic holds what was written."""
        request = api_versions_request.ApiVersionsRequest("fuzz", "1")
        fresh = Witness(self._port)
        assert fresh._ask(API_VERSIONS, 3, request).error_code == 0
        fresh.close()
        found = self._metadata()
        assert (found.error_code, len(found.partitions)) == (0, 1), found
        assert self._offset(-2) == 0
        assert self._offset(-1) == RECORDS
        assert self._values() == [b"record %d" % number for number in range(RECORDS)]

    def close(self) -> None:
        self._connection.close()

    def _metadata(self) -> metadata_response.MetadataResponseTopic:
        topic = metadata_request.MetadataRequestTopic(name=TOPIC)
        reply = self._ask(METADATA, 9, metadata_request.MetadataRequest([topic]))
        return cast("metadata_response.MetadataResponseTopic", reply.topics[0])

    def _offset(self, timestamp: int) -> int:
        partition = list_offsets_request.ListOffsetsPartition(0, -1, timestamp)
        topic = list_offsets_request.ListOffsetsTopic(TOPIC, [partition])
        request = list_offsets_request.ListOffsetsRequest(-1, 0, [topic])
        reply = self._ask(LIST_OFFSETS, 6, request).topics[0].partitions[0]
        assert reply.error_code == 0
        return int(reply.offset)

    def _values(self) -> list[bytes]:
        partition = fetch_request.FetchPartition(partition=0, partition_max_bytes=1 << 20)
        topic = fetch_request.FetchTopic(topic=TOPIC, partitions=[partition])
        request = fetch_request.FetchRequest(max_bytes=1 << 20, topics=[topic])
        reply = self._ask(FETCH, 12, request).responses[0].partitions[0]
        assert (reply.error_code, reply.high_watermark) == (0, RECORDS)
        return [record.value for found in batches(reply.records) for record in found]

    def _ask(self, key: int, version: int, request: Any) -> Any:
        self._correlation_id += 1
        frame = request_frame(APIS[key], version, request, correlation_id=self._correlation_id)
        started = time.monotonic()
        self._connection.sendall(sized(frame))
        try:
            reply = read_frame(self._connection)
        except (OSError, EOFError) as error:
            waited = time.monotonic() - started
            raise AssertionError(f"{APIS[key].name} unanswered after {waited:.1f} s") from error
        assert struct.unpack_from(">i", reply) == (self._correlation_id,)
        return decode_response(APIS[key], version, reply)
