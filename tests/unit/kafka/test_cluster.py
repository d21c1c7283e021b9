"""Finding the broker to ask, among scripted brokers that are dead, silent or wrong."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Lock, Thread
from time import sleep
from typing import Any
from uuid import UUID

import pytest

from holdfast.client import known_brokers
from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.errors import TransientError, UnavailableError, UnreachableError
from holdfast.kafka import cluster as cluster_module
from holdfast.kafka.cluster import FIND_COORDINATOR, METADATA, TRANSACTION, ClusterClient
from holdfast.kafka.connection import ApiCall, BrokerConnection
from holdfast.kafka.fetch import FETCH, read_ranges
from holdfast.kafka.producer import API_VERSIONS, INIT_PRODUCER_ID, TransactionalProducer
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.api_versions_response import (
    ApiVersionsResponse,
    FinalizedFeatureKey,
)
from holdfast.wire.protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from holdfast.wire.protocol.generated.find_coordinator_response import FindCoordinatorResponse
from holdfast.wire.protocol.generated.init_producer_id_response import InitProducerIdResponse
from holdfast.wire.protocol.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

SECONDS = 30.0
MOMENT = 0.05
"""Of a request: no test here waits for it."""
TOPIC = "t"
CALLS = {
    call.key: call for call in (METADATA, FIND_COORDINATOR, FETCH, INIT_PRODUCER_ID, API_VERSIONS)
}

Handler = Callable[[], Any]
"""Makes the answer to a request; None: there is never one."""


class ScriptedBroker:
    """Answers each API by a handler, on any number of connections. One without is left waiting."""

    def __init__(self) -> None:
        self.handlers: dict[int, Handler] = {API_VERSIONS.key: ApiVersionsResponse}
        self.requests: list[int] = []
        self._lock = Lock()
        self._connections: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def on(self, call: ApiCall, handler: Handler) -> "ScriptedBroker":
        self.handlers[call.key] = handler
        return self

    def close(self) -> None:
        """As a process that is killed: nobody listens, and connections break."""
        with self._lock:
            for each in (self._listener, *self._connections):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def asked(self, call: ApiCall) -> int:
        return self.requests.count(call.key)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._connections.append(connection)
            Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as requests:
                while size := int.from_bytes(requests.read(4), "big"):
                    request = requests.read(size)
                    key = int.from_bytes(request[:2], "big")
                    self.requests.append(key)
                    answer = self.handlers.get(key, lambda: None)()
                    if answer is not None:
                        connection.sendall(_frame(CALLS[key], request[4:8], answer))
        except (OSError, ValueError):
            pass  # closed


def _frame(call: ApiCall, number: bytes, answer: Any) -> bytes:
    codec = import_module(f"holdfast.wire.protocol.generated.{call.name}_response")
    tags = b"\0" * (call.answer_header_bytes - 4)
    body = b"".join([number, tags, *codec.encode(call.version, answer)])
    return len(body).to_bytes(4, "big") + body


@contextmanager
def scripted(count: int) -> Iterator[list[ScriptedBroker]]:
    brokers = [ScriptedBroker() for _ in range(count)]
    try:
        yield brokers
    finally:
        for broker in brokers:
            broker.close()


def metadata(
    brokers: list[ScriptedBroker], leader: ScriptedBroker | None = None, epoch: int = 0
) -> MetadataResponse:
    nodes = [MetadataResponseBroker(b.port, "127.0.0.1", b.port) for b in brokers]
    partition = MetadataResponsePartition(0, 0, leader.port if leader else -1, epoch, [], [], [])
    topic = MetadataResponseTopic(0, TOPIC, UUID(int=7), False, [partition])
    return MetadataResponse(brokers=nodes, topics=[topic])


def coordinator(broker: ScriptedBroker | None, code: int = 0) -> FindCoordinatorResponse:
    port = broker.port if broker else -1
    return FindCoordinatorResponse(error_code=code, host="127.0.0.1", port=port)


def records(code: int = 0) -> FetchResponse:
    """None, and an end to the waiting: the range of the tests ends where it begins."""
    return FetchResponse(
        responses=[FetchableTopicResponse(TOPIC, partitions=[PartitionData(0, code)])]
    )


def settings_of(*brokers: ScriptedBroker, seconds: float = SECONDS) -> ClientSettings:
    bootstrap = ",".join(broker.address for broker in brokers)
    return ClientSettings(bootstrap=bootstrap, client_id="test", request_timeout=seconds)


@pytest.mark.parametrize("death", ["killed", "silent"])
def test_learned_brokers_are_used_when_the_configured_one_is_gone(death: str) -> None:
    with scripted(2) as (first, second):
        for broker in (first, second):
            broker.on(METADATA, lambda: metadata([first, second], second))
            broker.on(FIND_COORDINATOR, lambda: coordinator(second))
        cluster = ClusterClient(settings_of(first))
        assert cluster.describe([TOPIC])
        if death == "killed":
            first.close()
        else:
            first.handlers.clear()
        assert cluster.describe([TOPIC])
        assert cluster.coordinator(TRANSACTION, "a") is cluster.leader(TOPIC, 0)
        cluster.forget()


def test_silent_broker_costs_little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failover takes what the cluster takes plus at most two seconds. Patience is counted instead
    of measured: the silent broker gets a moment, and the other one ten times its usual time."""
    usual = cluster_module._FIRST_PATIENCE_SECONDS
    monkeypatch.setattr(cluster_module, "_FIRST_PATIENCE_SECONDS", 10 * usual)
    spent: list[float] = []
    connect, ask = ClusterClient._connect, BrokerConnection.ask

    def counted_connect(cluster: ClusterClient, address: str, *patience: Any) -> BrokerConnection:
        if address == first.address:
            spent.append(patience[0] / 10)
            patience = (MOMENT, *patience[1:])
        return connect(cluster, address, *patience)

    def counted_ask(
        connection: BrokerConnection, call: ApiCall, request: Any, seconds: float | None = None
    ) -> Any:
        if connection._name == first.address:
            spent.append((SECONDS if seconds is None else seconds) / 10)
            seconds = MOMENT
        return ask(connection, call, request, seconds)

    with scripted(2) as (first, second):
        for broker in (first, second):
            broker.on(METADATA, lambda: metadata([first, second], second))
            broker.on(FIND_COORDINATOR, lambda: coordinator(second))
        cluster = ClusterClient(settings_of(first))
        cluster.describe([TOPIC])
        first.handlers.clear()
        monkeypatch.setattr(ClusterClient, "_connect", counted_connect)
        monkeypatch.setattr(BrokerConnection, "ask", counted_ask)
        for _ in range(3):
            cluster.describe([TOPIC])
            cluster.coordinator(TRANSACTION, "a")
            cluster.leader(TOPIC, 0)
        assert 0 < sum(spent) <= 2.0
        cluster.forget()


def test_a_client_made_after_the_configured_broker_died_asks_the_others() -> None:
    with scripted(2) as (first, second):
        for broker in (first, second):
            broker.on(METADATA, lambda: metadata([first, second]))
        settings = settings_of(first)
        ClusterClient(settings).describe([TOPIC])
        first.close()
        assert ClusterClient(settings).describe([TOPIC])
        assert Connection(settings).config()["bootstrap.servers"] == (
            f"{first.address},{second.address}"
        )


def test_addresses_of_a_cluster_whose_brokers_move_are_bounded() -> None:
    for number in range(1_000):
        known_brokers.learn("moving:1", [f"host-{number}:9092"])
    found = known_brokers.learned("moving:1")
    assert len(found) < 100
    assert "host-999:9092" in found


def test_a_broker_that_is_merely_slow_is_waited_for_longer_each_time() -> None:
    with scripted(1) as (only,):

        def late() -> MetadataResponse:
            if only.asked(METADATA) < 3:
                sleep(2.1)
            return metadata([only])

        only.on(METADATA, late)
        assert ClusterClient(settings_of(only)).describe([TOPIC])


def test_metadata_from_before_a_known_election_is_ignored() -> None:
    """A broker that is cut off from its cluster names the old leader for ever."""
    with scripted(3) as (cut_off, other, leader):
        cut_off.on(METADATA, lambda: metadata([cut_off, other, leader], cut_off, epoch=3))
        other.on(METADATA, lambda: metadata([cut_off, other, leader], leader, epoch=4))
        leader.on(METADATA, lambda: metadata([cut_off, other, leader], leader, epoch=4))
        cluster = ClusterClient(settings_of(other, cut_off))
        assert cluster.leader(TOPIC, 0)._name == leader.address
        cluster.forget()  # the next to be asked is the one that is cut off
        with pytest.raises(UnavailableError):
            cluster.leader(TOPIC, 0)
        cluster.forget()
        assert cluster.leader(TOPIC, 0)._name == leader.address
        cluster.forget()


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ],
)
def test_reading_continues_at_the_new_leader_after(code: ErrorCode) -> None:
    with scripted(2) as (old, new):
        old.on(FETCH, lambda: records(code))
        old.on(METADATA, lambda: metadata([old, new], new if old.asked(FETCH) else old))
        new.on(METADATA, lambda: metadata([old, new], new))
        new.on(FETCH, lambda: records(ErrorCode.OFFSET_OUT_OF_RANGE))  # enough to see who was asked
        with pytest.raises(Exception, match="has no events at offset"):
            read_ranges(ClusterClient(settings_of(old)), TOPIC, {0: (0, 1)})
        assert (old.asked(FETCH), new.asked(FETCH)) == (1, 1)


def test_a_leader_that_never_answers_is_left_when_the_cluster_has_lost_it() -> None:
    with scripted(2) as (hung, new):
        for broker in (hung, new):
            # Counted in until it was asked, as a broker is whose session has yet to end.
            broker.on(
                METADATA,
                lambda: metadata([new], new) if hung.asked(FETCH) else metadata([hung, new], hung),
            )
        new.on(FETCH, lambda: records(ErrorCode.OFFSET_OUT_OF_RANGE))
        with pytest.raises(Exception, match="has no events at offset"):
            read_ranges(ClusterClient(settings_of(hung, new)), TOPIC, {0: (0, 1)})
        assert (hung.asked(FETCH), new.asked(FETCH)) == (1, 1)


def test_a_leader_that_is_slow_is_waited_for_while_the_cluster_counts_it_in() -> None:
    with scripted(1) as (only,):

        def late() -> FetchResponse:
            sleep(2.5)
            return records(ErrorCode.OFFSET_OUT_OF_RANGE)

        only.on(METADATA, lambda: metadata([only], only)).on(FETCH, late)
        with pytest.raises(Exception, match="has no events at offset"):
            read_ranges(ClusterClient(settings_of(only)), TOPIC, {0: (0, 1)})
        assert only.asked(FETCH) == 1


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        None,
    ],
    ids=lambda code: "connection-lost" if code is None else code.name,
)
def test_a_coordinator_is_looked_up_again_after(code: ErrorCode | None) -> None:
    with scripted(2) as (old, new):

        def refuse() -> InitProducerIdResponse | None:
            if code is None:
                old.close()
                return None
            return InitProducerIdResponse(error_code=code)

        for broker in (old, new):
            broker.on(METADATA, lambda: metadata([old, new]))
            broker.on(
                FIND_COORDINATOR, lambda: coordinator(new if old.asked(INIT_PRODUCER_ID) else old)
            )
        old.on(INIT_PRODUCER_ID, refuse)
        new.on(INIT_PRODUCER_ID, lambda: InitProducerIdResponse(producer_id=5, producer_epoch=1))
        settings = settings_of(old)
        ClusterClient(settings).describe([TOPIC])
        transactions = TransactionalProducer(settings, "id", 1_000)
        transactions.renew()
        assert transactions._producer == (5, 1)
        assert (old.asked(INIT_PRODUCER_ID), new.asked(INIT_PRODUCER_ID)) == (1, 1)
        transactions.close()


def test_the_lookup_of_a_coordinator_is_repeated_until_one_is_elected() -> None:
    with scripted(1) as (only,):

        def elected() -> FindCoordinatorResponse:
            if only.asked(FIND_COORDINATOR) < 4:
                return coordinator(None, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return coordinator(only)

        only.on(FIND_COORDINATOR, elected)
        only.on(INIT_PRODUCER_ID, lambda: InitProducerIdResponse(producer_id=5, producer_epoch=1))
        transactions = TransactionalProducer(settings_of(only), "id", 1_000)
        transactions.renew()
        assert transactions._producer == (5, 1)
        transactions.close()


@pytest.mark.parametrize(("level", "version"), [(None, 1), (0, 1), (1, 1), (2, 2), (3, 2)])
def test_transactions_have_the_version_that_the_cluster_has(
    level: int | None, version: int
) -> None:
    features = [] if level is None else [FinalizedFeatureKey("transaction.version", level, level)]
    with scripted(1) as (only,):
        only.on(FIND_COORDINATOR, lambda: coordinator(only))
        only.on(API_VERSIONS, lambda: ApiVersionsResponse(finalized_features=features))
        only.on(INIT_PRODUCER_ID, lambda: InitProducerIdResponse(producer_id=5, producer_epoch=1))
        transactions = TransactionalProducer(settings_of(only), "id", 1_000)
        transactions.renew()
        assert transactions._version == version
        transactions.close()


def test_an_unreachable_cluster_is_a_transient_error() -> None:
    with scripted(2) as (first, second):
        for broker in (first, second):
            broker.on(METADATA, lambda: metadata([first, second]))
        cluster = ClusterClient(settings_of(first))
        cluster.describe([TOPIC])
    with pytest.raises(UnreachableError):
        cluster.describe([TOPIC])


def test_a_cluster_that_never_answers_is_given_up_on_within_the_time_of_a_request() -> None:
    with scripted(3) as brokers:
        cluster = ClusterClient(settings_of(*brokers, seconds=1.0))
        with pytest.raises(TransientError):
            cluster.describe([TOPIC])
        assert all(broker.asked(METADATA) for broker in brokers[:2])
