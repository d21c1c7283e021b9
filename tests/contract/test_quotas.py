"""Quotas: set by admin clients, measured and enforced as in Apache Kafka."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from kafka.protocol.admin import AlterClientQuotasRequest, DescribeClientQuotasRequest
from tests.brokers import BrokerProcess
from tests.clients import create_topic, wait_until
from tests.wire import Wire, batch, batches, fetch_request, produce_request

INVALID_REQUEST = 42
UNSUPPORTED_VERSION = 35
EXACT, OF_DEFAULT, ANY = 0, 1, 2
Entity = dict[str, str | None]


@pytest.fixture
def wire(kafka: BrokerProcess) -> Iterator[Wire]:
    with Wire(kafka) as wire:
        yield wire
        described = describe(wire, [("client-id", ANY, None)], strict=False)
        described |= describe(wire, [("user", ANY, None)], strict=False)
        for entity, limits in described.items():
            assert alter(wire, dict(entity), dict.fromkeys(limits)) == 0


def alter(
    wire: Wire, entity: Entity, limits: dict[str, float | None], validate_only: bool = False
) -> int:
    """Sets limits, and removes those that are None. Returns the error code."""
    entry = AlterClientQuotasRequest.EntryData
    request = AlterClientQuotasRequest(
        version=1, validate_only=validate_only,
        entries=[entry(
            version=1,
            entity=[
                entry.EntityData(version=1, entity_type=kind, entity_name=name)
                for kind, name in entity.items()
            ],
            ops=[
                entry.OpData(version=1, key=key, value=value or 0.0, remove=value is None)
                for key, value in limits.items()
            ],
        )],
    )  # fmt: skip
    (result,) = wire.ask(request).entries
    return int(result.error_code)


def ask(wire: Wire, components: list[tuple[str, int, str | None]], strict: bool) -> Any:
    kind = DescribeClientQuotasRequest.ComponentData
    return wire.ask(
        DescribeClientQuotasRequest(
            version=1, strict=strict,
            components=[
                kind(version=1, entity_type=type_, match_type=match, match=name)
                for type_, match, name in components
            ],
        )
    )  # fmt: skip


def describe(
    wire: Wire, components: list[tuple[str, int, str | None]], strict: bool = True
) -> dict[frozenset[tuple[str, str | None]], dict[str, float]]:
    reply = ask(wire, components, strict)
    assert reply.error_code == 0, reply
    return {
        frozenset((part.entity_type, part.entity_name) for part in entry.entity): {
            value.key: value.value for value in entry.values
        }
        for entry in reply.entries
    }


def test_quotas_are_set_found_and_removed(wire: Wire) -> None:
    alice: Entity = {"user": "alice"}
    both: Entity = {"user": "alice", "client-id": "app"}
    default: Entity = {"user": None}
    for entity, limit in ((alice, 1e6), (both, 2e6), (default, 3e6)):
        assert alter(wire, entity, {"producer_byte_rate": limit, "request_percentage": 50.5}) == 0
    of_alice = ("user", EXACT, "alice")

    def found(*components: tuple[str, int, str | None], strict: bool = True) -> set[frozenset[Any]]:
        return set(describe(wire, list(components), strict))

    names = [frozenset(entity.items()) for entity in (alice, both, default)]
    wait_until(lambda: len(found(("user", ANY, None), strict=False)) == 3 or None, "quotas")
    assert found(of_alice) == {names[0]}
    assert found(of_alice, strict=False) == {names[0], names[1]}
    assert found(("user", OF_DEFAULT, None)) == {names[2]}
    assert found(("user", ANY, None)) == {names[0], names[2]}
    assert found(of_alice, ("client-id", ANY, None)) == {names[1]}
    assert found(of_alice, ("client-id", EXACT, "other")) == set()
    assert found(strict=False) >= set(names)
    (limits,) = describe(wire, [of_alice]).values()
    assert limits == {"producer_byte_rate": 1e6, "request_percentage": 50.5}
    assert alter(wire, alice, {"producer_byte_rate": None}) == 0
    wait_until(
        lambda: describe(wire, [of_alice])[names[0]] == {"request_percentage": 50.5} or None,
        "the removal",
    )
    assert alter(wire, alice, {"request_percentage": None, "consumer_byte_rate": None}) == 0
    wait_until(lambda: not found(of_alice) or None, "the removal")


def test_check_alone_changes_nothing(wire: Wire) -> None:
    assert alter(wire, {"user": "bob"}, {"producer_byte_rate": 5.0}, validate_only=True) == 0
    assert describe(wire, [("user", EXACT, "bob")]) == {}


@pytest.mark.parametrize(
    ("entity", "limits"),
    [
        ({}, {"producer_byte_rate": 5.0}),
        ({"user": ""}, {"producer_byte_rate": 5.0}),
        ({"planet": "earth"}, {"producer_byte_rate": 5.0}),
        ({"user": "bob", "ip": "127.0.0.1"}, {"producer_byte_rate": 5.0}),
        ({"ip": "127.0.0.1"}, {"producer_byte_rate": 5.0}),
        ({"user": "bob"}, {"no_such_rate": 5.0}),
        ({"user": "bob"}, {"connection_creation_rate": 5.0}),
        ({"user": "bob"}, {"producer_byte_rate": 1.5}),
    ],
)
def test_odd_quota_is_refused(wire: Wire, entity: Entity, limits: dict[str, float | None]) -> None:
    assert alter(wire, entity, limits) == INVALID_REQUEST
    assert describe(wire, [("user", EXACT, "bob")], strict=False) == {}


@pytest.mark.parametrize(
    ("components", "error"),
    [
        ([("planet", ANY, None)], UNSUPPORTED_VERSION),
        ([("", ANY, None)], INVALID_REQUEST),
        ([("user", ANY, None), ("user", ANY, None)], INVALID_REQUEST),
        ([("user", ANY, None), ("ip", ANY, None)], INVALID_REQUEST),
        ([("user", 9, None)], INVALID_REQUEST),
    ],
)
def test_odd_filter_is_refused(
    wire: Wire, components: list[tuple[str, int, str | None]], error: int
) -> None:
    assert ask(wire, components, True).error_code == error


def test_producer_over_its_quota_waits(kafka: BrokerProcess, wire: Wire, topic: str) -> None:
    create_topic(kafka, topic)
    records = batch([b"v" * 30_000])

    def produce(connection: Wire) -> tuple[int, int]:
        reply = connection.ask(produce_request(topic, records))
        return reply.responses[0].partition_responses[0].error_code, reply.throttle_time_ms

    assert alter(wire, {"user": "ANONYMOUS", "client-id": "wire"}, {"producer_byte_rate": 1e4}) == 0
    with Wire(kafka) as client:
        wait_until(lambda: describe(wire, [("user", ANY, None)], strict=False) or None, "the quota")
        delays = []
        begin = time.monotonic()
        for _ in range(5):
            error, delay = produce(client)
            assert error == 0
            delays.append(delay)
        elapsed_ms = 1000 * (time.monotonic() - begin)
    assert delays[:3] == [0, 0, 0]  # ten seconds' worth at once
    assert delays[4] > 0
    # The broker does not read the next request before the time that it has told is over.
    assert elapsed_ms >= sum(delays[:-1])


def test_reader_over_its_quota_gets_its_records_later(
    kafka: BrokerProcess, wire: Wire, topic: str
) -> None:
    create_topic(kafka, topic)
    for _ in range(4):
        wire.ask(produce_request(topic, batch([b"v" * 30_000])))
    assert alter(wire, {"client-id": "wire"}, {"consumer_byte_rate": 1e4}) == 0

    def fetch(client: Wire, offset: int) -> tuple[int, int]:
        """The number of batches, and the throttle time."""
        reply = client.ask(fetch_request(topic, offset, max_bytes=40_000))
        assert reply.error_code == 0
        found = [p for t in reply.responses for p in t.partitions]
        return sum(len(batches(p.records)) for p in found), reply.throttle_time_ms

    with Wire(kafka) as client:
        offset, throttled = 0, 0
        while offset < 4:
            count, delay = fetch(client, offset)
            assert count == 0 or delay == 0
            throttled += delay
            offset += count
    assert throttled > 0
