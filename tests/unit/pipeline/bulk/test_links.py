"""Connections, against a broker that does what it likes."""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from holdfast.client.settings import ClientSettings
from holdfast.errors import AccessDeniedError, HoldfastError, TimedOutError, UnreachableError
from holdfast.pipeline.bulk.cluster import METADATA, TRANSACTION, Cluster
from holdfast.pipeline.bulk.links import Link
from holdfast.pipeline.bulk.login import Security
from holdfast.pipeline.bulk.transactions import PRODUCE
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


def link_to(port: int, seconds: float = PATIENCE_S, **settings: str) -> Link:
    return Link(
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
def test_a_broker_that_fails_is_an_error_that_may_pass_and_the_connection_is_over(
    talk: Talk,
) -> None:
    with serving(talk) as port:
        link = link_to(port)
        for _ in range(3):
            with pytest.raises(UnreachableError):
                link.ask(METADATA, topics(1))


def test_an_answer_that_comes_too_late_is_taken_for_no_other() -> None:
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


def test_nobody_there_is_an_error_that_may_pass() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(UnreachableError, match=str(port)):
        link_to(port)


def test_who_is_not_let_in_leaves_no_connection_behind() -> None:
    def talk(connection: socket.socket) -> None:
        answer(connection, heard(connection), b"\0\x21" + bytes(4))
        assert connection.recv(1) == b""

    with serving(talk) as port, pytest.raises(AccessDeniedError):
        link_to(port, **{"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"})


def coordinator(port: int, code: int = 0) -> bytes:
    found = FindCoordinatorResponse(error_code=code, host="127.0.0.1", port=port)
    return b"".join(find_coordinator_response.encode(2, found))


def test_a_connection_that_its_broker_closed_while_it_idled_is_made_anew() -> None:
    def talk(connection: socket.socket) -> None:
        answer(connection, heard(connection), coordinator(1234))

    with serving(talk, talk) as port:
        cluster = Cluster(ClientSettings(bootstrap=f"127.0.0.1:{port}", client_id="test"))
        for name in ("a", "b"):
            with pytest.raises(UnreachableError, match="1234"):  # nobody is there
                cluster.coordinator(TRANSACTION, name)
            assert cluster._guide is not None
            cluster._guide._socket.settimeout(PATIENCE_S)
            assert cluster._guide._socket.recv(1, socket.MSG_PEEK) == b""  # until it is closed
        cluster.forget()


def test_a_code_of_a_later_broker_is_an_error_of_ours() -> None:
    def talk(connection: socket.socket) -> None:
        answer(connection, heard(connection), coordinator(-1, code=999))

    with serving(talk) as port:
        cluster = Cluster(ClientSettings(bootstrap=f"127.0.0.1:{port}", client_id="test"))
        with pytest.raises(HoldfastError, match="999"):
            cluster.coordinator(TRANSACTION, "a")
        cluster.forget()


def test_a_broker_that_says_nothing_is_asked_last() -> None:
    def silent(connection: socket.socket) -> None:
        heard(connection)
        assert connection.recv(1) == b""  # the client has given up

    def talk(connection: socket.socket) -> None:
        answer(connection, heard(connection), coordinator(1234))

    with serving(silent) as mute, serving(talk) as port:
        bootstrap = f"127.0.0.1:{mute},127.0.0.1:{port}"
        settings = ClientSettings(bootstrap=bootstrap, client_id="test", request_timeout=0.5)
        cluster = Cluster(settings)
        with pytest.raises(TimedOutError):
            cluster.coordinator(TRANSACTION, "a")
        cluster.forget()
        with pytest.raises(UnreachableError, match="1234"):  # nobody is there
            cluster.coordinator(TRANSACTION, "a")
        cluster.forget()
