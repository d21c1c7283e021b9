"""Connections, against a broker that does what it likes."""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from holdfast.client.settings import ClientSettings
from holdfast.errors import AccessDeniedError, HoldfastError, TimedOutError, UnreachableError
from holdfast.kafka.cluster import METADATA, TRANSACTION, ClusterClient
from holdfast.kafka.connection import BrokerConnection
from holdfast.kafka.producer import PRODUCE
from holdfast.kafka.security import Security
from holdfast.wire.protocol.generated import (
    find_coordinator_response,
    metadata_request,
    metadata_response,
    produce_request,
)
from holdfast.wire.protocol.generated.find_coordinator_response import FindCoordinatorResponse
from holdfast.wire.protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from holdfast.wire.protocol.generated.metadata_response import MetadataResponse
from holdfast.wire.protocol.generated.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

PATIENCE_S = 60.0
Talk = Callable[[socket.socket], None]


@contextmanager
def serving(*talks: Talk) -> Iterator[int]:
    """A broker that has these conversations, one connection after the other. -> its port"""

    def serve() -> None:
        for talk in talks:
            theirs, _ = listener.accept()
            with theirs:
                theirs.settimeout(PATIENCE_S)
                talk(theirs)

    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        listener.settimeout(PATIENCE_S)
        served: Future[None] = pool.submit(serve)
        yield listener.getsockname()[1]
        served.result(PATIENCE_S)


def link_to(port: int, seconds: float = PATIENCE_S, **settings: str) -> BrokerConnection:
    return BrokerConnection(
        "127.0.0.1", port, client_id="test", seconds=seconds, security=Security(settings)
    )  # fmt: skip


def take(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = connection.recv(min(4096, size - len(data)))
        assert more, "the client has gone"
        data += more
    return bytes(data)


def heard(connection: socket.socket) -> bytes:
    return take(connection, int.from_bytes(take(connection, 4), "big"))


def answer(connection: socket.socket, request: bytes, body: bytes) -> None:
    connection.sendall((4 + len(body)).to_bytes(4, "big") + request[4:8] + body)


def topics(count: int) -> MetadataRequest:
    return MetadataRequest([MetadataRequestTopic(name=f"t{i}") for i in range(count)])


def brokers(number: int) -> bytes:
    """With the end of its header: no tags."""
    body = metadata_response.encode(METADATA.version, MetadataResponse(controller_id=number))
    return b"".join([b"\0", *body])


def test_answers_come_in_the_order_of_requests() -> None:
    def talk(connection: socket.socket) -> None:
        requests = [heard(connection) for _ in range(3)]
        for request in requests:
            names = metadata_request.decode(METADATA.version, request, 11 + len("test")).topics
            answer(connection, request, brokers(len(names or [])))

    with serving(talk) as port:
        link = link_to(port)
        for count in (5, 3, 4):
            link.send(METADATA, topics(count))
        assert [link.receive().controller_id for _ in range(3)] == [5, 3, 4]
        link.close()


def test_a_request_of_many_parts_arrives_whole() -> None:
    """More parts than one call takes, and more bytes than buffers hold: sent bit by bit."""
    parts = [bytes([i % 256]) * (i % 7 * 3_000) for i in range(1_200)]
    found: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        request = produce_request.decode(8, heard(connection), 10 + len("test"))
        found.extend(bytes(p.records or b"") for p in request.topic_data[0].partition_data)

    with serving(talk) as port:
        link = link_to(port)
        data = [PartitionProduceData(i, memoryview(part)) for i, part in enumerate(parts)]
        link.send(PRODUCE, ProduceRequest(None, -1, 1000, [TopicProduceData("t", data)]))
    assert found == parts
    link.close()


def closing(connection: socket.socket) -> None:
    heard(connection)


def half(connection: socket.socket) -> None:
    heard(connection)
    connection.sendall((100).to_bytes(4, "big") + bytes(50))


def to_another_request(connection: socket.socket) -> None:
    request = heard(connection)
    answer(connection, bytes(4) + (77).to_bytes(4, "big") + request, brokers(1))


def no_answer(connection: socket.socket) -> None:
    answer(connection, heard(connection), b"\xff" * 30)


def too_large(connection: socket.socket) -> None:
    heard(connection)
    connection.sendall(b"\x7f\xff\xff\xff")


@pytest.mark.parametrize("talk", [closing, half, to_another_request, no_answer, too_large])
def test_a_broker_failure_is_a_transient_error_and_closes_the_connection(
    talk: Talk,
) -> None:
    with serving(talk) as port:
        link = link_to(port)
        for _ in range(3):
            with pytest.raises(UnreachableError):
                link.ask(METADATA, topics(1))


def test_a_late_reply_is_not_taken_for_another() -> None:
    def talk(connection: socket.socket) -> None:
        request = heard(connection)
        assert connection.recv(1) == b""  # the client has given up
        answer(connection, request, brokers(1))

    with serving(talk) as port:
        link = link_to(port, seconds=0.1)
        with pytest.raises(TimedOutError):
            link.ask(METADATA, topics(1))
        with pytest.raises(UnreachableError):
            link.ask(METADATA, topics(1))


def test_an_unreachable_broker_is_a_transient_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(UnreachableError, match=str(port)):
        link_to(port)


def test_a_failed_login_closes_its_connection() -> None:
    def talk(connection: socket.socket) -> None:
        answer(connection, heard(connection), b"\0\x21" + bytes(4))
        assert connection.recv(1) == b""

    settings: dict[str, Any] = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
    }
    with serving(talk) as port, pytest.raises(AccessDeniedError):
        link_to(port, **settings)


def coordinator(port: int, code: int = 0) -> bytes:
    found = FindCoordinatorResponse(error_code=code, host="127.0.0.1", port=port)
    return b"".join(find_coordinator_response.encode(2, found))


def test_a_connection_that_its_broker_closed_while_idle_is_opened_again() -> None:
    def talk(connection: socket.socket) -> None:
        answer(connection, heard(connection), coordinator(1234))

    with serving(talk, talk) as port:
        cluster = ClusterClient(ClientSettings(bootstrap=f"127.0.0.1:{port}", client_id="test"))
        for name in ("a", "b"):
            with pytest.raises(UnreachableError, match="1234"):  # nobody is there
                cluster.coordinator(TRANSACTION, name)
            assert cluster._guide is not None
            guide = cluster._guide[1]._socket
            guide.settimeout(PATIENCE_S)
            assert guide.recv(1, socket.MSG_PEEK) == b""  # until it is closed
        cluster.forget()


def test_an_unknown_error_code_raises_a_holdfast_error() -> None:
    def talk(connection: socket.socket) -> None:
        answer(connection, heard(connection), coordinator(-1, code=999))

    with serving(talk) as port:
        cluster = ClusterClient(ClientSettings(bootstrap=f"127.0.0.1:{port}", client_id="test"))
        with pytest.raises(HoldfastError, match="999"):
            cluster.coordinator(TRANSACTION, "a")
        cluster.forget()
