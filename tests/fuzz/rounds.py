"""One round: one connection, and what is thrown at it.

`REFUSED` rounds send nothing that the broker may act on. `REQUESTS` rounds send requests that it
may well act on, but never one that may touch the witness's topic.
"""

import contextlib
import random
import socket
import struct
from collections.abc import Callable

from tests.bombs import any_bomb
from tests.frames import codec, decode_response, request_body, request_frame, sized
from tests.fuzz.mutations import damaged, mutated
from tests.fuzz.requests import Requests
from tests.fuzz.witness import METADATA, PRODUCE, TOPIC, read_frame
from tests.wire import batch

from holdfast.wire.protocol.apis import APIS, Api
from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.generated import produce_request
from holdfast.wire.protocol.primitives import MOST_REQUESTED

Round = Callable[[socket.socket, random.Random, Requests], None]

REACTION_S = 20.0
BOMBED = "bombed"
"""The topic that bombs are about."""
PATIENCE_S = 0.05
"""How long a round waits for an answer that may rightly be long in coming."""

# The broker writes these itself, so they are not covered by the batch's checksum: the base
# offset, and the leader epoch.
NOT_CHECKED = (*range(8), *range(12, 16))


def is_refused(frame: bytes) -> bool:
    """Returns True if the frame cannot be a request that the broker serves."""
    if len(frame) < 10:
        return True
    key, version = struct.unpack_from(">hh", frame)
    api = APIS.get(key)
    if api is None or not api.min_version <= version <= api.max_version:
        return True
    try:
        codec(api, "request").decode(version, frame, request_body(api, version, frame))
    except MalformedMessage:
        return True
    return False


def expect_reaction(connection: socket.socket) -> None:
    """An answer or the end of the connection: silence means that the broker hangs."""
    connection.settimeout(REACTION_S)
    with contextlib.suppress(ConnectionError):
        connection.recv(65536)


def send(connection: socket.socket, data: bytes) -> None:
    """Sends what the other side takes; it may close in the midst of it."""
    with contextlib.suppress(ConnectionError):
        connection.sendall(data)


def impossible_size(connection: socket.socket, source: random.Random, _: Requests) -> None:
    size = source.choice((-1, -(2**31), 2**31 - 1, 0, 1, 7, 101 * 1024 * 1024))
    send(connection, struct.pack(">i", size) + source.randbytes(source.choice((8, 1000, 70_000))))
    expect_reaction(connection)


def garbage(connection: socket.socket, source: random.Random, _: Requests) -> None:
    frame = source.randbytes(source.choice((1, 4, 10, 14, 100, 5000, 80_000)))
    if is_refused(frame):
        send(connection, sized(frame))
        expect_reaction(connection)


def garbage_after_a_header(connection: socket.socket, source: random.Random, _: Requests) -> None:
    api = source.choice(list(APIS.values()))
    version = source.choice((source.randint(api.min_version, api.max_version), 99, -1))
    header = struct.pack(">hhih", api.key, version, source.getrandbits(31), -1)
    frame = header + source.randbytes(source.choice((0, 1, 3, 10, 100, 3000)))
    if is_refused(frame):
        send(connection, sized(frame))
        expect_reaction(connection)


def cut_request(connection: socket.socket, source: random.Random, requests: Requests) -> None:
    _, _, frame = requests.any(source)
    frame = frame[: source.randrange(len(frame))]
    if is_refused(frame):
        send(connection, sized(frame))
        expect_reaction(connection)


def unfinished_frame(connection: socket.socket, source: random.Random, requests: Requests) -> None:
    _, _, frame = requests.any(source)
    raw = sized(frame)
    send(connection, raw[: source.randrange(len(raw))])


def large_frame_that_never_ends(
    connection: socket.socket, source: random.Random, _: Requests
) -> None:
    part = source.randbytes(source.choice((100, 70_000, 500_000)))
    send(connection, struct.pack(">i", source.randint(1 << 20, 100 << 20)) + part)


def too_many_elements(connection: socket.socket, source: random.Random, _: Requests) -> None:
    """Fits a frame, but would take the broker's memory and time to decode."""
    count = MOST_REQUESTED + source.randint(1, 1000)
    header = struct.pack(">hhihi", METADATA, 0, 1, -1, count)
    send(connection, sized(header + b"\0\0" * count))
    expect_reaction(connection)


def mutated_request_that_is_none(
    connection: socket.socket, source: random.Random, requests: Requests
) -> None:
    _, _, frame = requests.any(source)
    frame = mutated(frame, source)
    if is_refused(frame):
        send(connection, sized(frame))
        expect_reaction(connection)


def damaged_batch(connection: socket.socket, source: random.Random, _: Requests) -> None:
    """Produces a batch with one wrong byte: to the witness's topic, which must not change."""
    records = damaged(batch([b"never seen"], key=b"key"), source, NOT_CHECKED)
    partition = produce_request.PartitionProduceData(0, memoryview(records))
    request = produce_request.ProduceRequest(
        acks=source.choice((-1, 0, 1)),
        timeout_ms=1000,
        topic_data=[produce_request.TopicProduceData(TOPIC, [partition])],
    )
    version = source.randint(APIS[PRODUCE].min_version, APIS[PRODUCE].max_version)
    send(connection, sized(request_frame(APIS[PRODUCE], version, request)))
    if request.acks != 0:
        connection.settimeout(REACTION_S)
        reply = decode_response(APIS[PRODUCE], version, read_frame(connection))
        code = reply.responses[0].partition_responses[0].error_code
        assert code != 0, f"a damaged batch was taken: {records.hex()}"


def random_requests(connection: socket.socket, source: random.Random, requests: Requests) -> None:
    """Well-formed requests one after the other; what answers come must be well-formed too."""
    connection.settimeout(PATIENCE_S)
    for _ in range(source.randint(1, 5)):
        api, version, frame = requests.any(source)
        send(connection, sized(frame))
        try:
            reply = read_frame(connection)
        except (TimeoutError, ConnectionError, EOFError):
            return
        check_reply(api, version, frame, reply)


def check_reply(api: Api, version: int, frame: bytes, reply: bytes) -> None:
    assert reply[:4] == frame[4:8], f"{api.name} {version}: another request's answer"
    decode_response(api, version, reply)


def mutated_requests(connection: socket.socket, source: random.Random, requests: Requests) -> None:
    for _ in range(source.randint(1, 4)):
        _, _, frame = requests.any(source)
        changed = mutated(frame, source)
        # Only intact names keep a request away from the witness's topic; chance never spells it.
        send(connection, sized(changed))
    connection.settimeout(PATIENCE_S)
    with contextlib.suppress(TimeoutError, ConnectionError):
        connection.recv(65536)


def requests_without_reading(
    connection: socket.socket, source: random.Random, requests: Requests
) -> None:
    connection.settimeout(PATIENCE_S)
    with contextlib.suppress(TimeoutError, ConnectionError):
        for _ in range(50):
            connection.sendall(sized(requests.any(source)[2]))


def bomb(connection: socket.socket, source: random.Random, _: Requests) -> None:
    """Little to send and much to answer: it is answered, or refused, and holds up nobody."""
    send(connection, any_bomb(source, BOMBED))
    expect_reaction(connection)


REFUSED: tuple[Round, ...] = (
    impossible_size,
    garbage,
    garbage_after_a_header,
    cut_request,
    unfinished_frame,
    large_frame_that_never_ends,
    too_many_elements,
    mutated_request_that_is_none,
    damaged_batch,
)
REQUESTS: tuple[Round, ...] = (random_requests, mutated_requests, requests_without_reading)
BOMBS: tuple[Round, ...] = (bomb,)
