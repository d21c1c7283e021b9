"""What a request costs its client, and what the client gets for it."""

from typing import Any

from tests.unit.broker.test_quotas import ALICE, Time

from holdfast.broker.api.alter_client_quotas import LONGEST_NAME
from holdfast.broker.context import RequestContext
from holdfast.broker.dynamic_file import QuotaEntity
from holdfast.broker.metrics import Metrics
from holdfast.broker.quotas import FETCH_RATE, REQUEST_PERCENTAGE, Quotas
from holdfast.broker.throttling import Charge, client_of
from holdfast.wire.protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)

FETCH = 1


class Connection:
    """A client that waits as long as it is told."""

    def __init__(self, time: Time) -> None:
        self._time = time

    def mute(self, seconds: float) -> None:
        self._time.now += seconds


def records() -> FetchResponse:
    partition = PartitionData(records=memoryview(b"r" * 1_000))
    return FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])])


def fetch(quotas: Quotas, time: Time, response: Any, seconds: float) -> Any:
    charge = Charge(quotas, Metrics(), Connection(time), ALICE, FETCH, 100)
    return charge.settle(response, seconds)


def test_reader_over_its_time_on_the_loop_goes_on() -> None:
    """Each read costs more than a second's worth, and no throttle time is longer."""
    time = Time()
    quotas = Quotas({QuotaEntity("alice"): {REQUEST_PERCENTAGE: 0.5}}, time)
    replies = [fetch(quotas, time, records(), seconds=0.01) for _ in range(30)]
    assert replies[-1].throttle_time_ms == 1_000
    assert all(reply.responses for reply in replies)


def test_reader_that_is_gone_gets_nothing() -> None:
    time = Time()
    quotas = Quotas({QuotaEntity("alice"): {FETCH_RATE: 1.0}}, time)
    assert fetch(quotas, time, None, seconds=0.01) is None


def test_long_client_id_is_not_kept() -> None:
    """Otherwise ten thousand of them take a gigabyte."""
    client = client_of(RequestContext(0, "x" * 32_000, "127.0.0.1", ("127.0.0.1", 9092)))
    assert client is not None
    assert LONGEST_NAME < len(client.client_id) <= 1_000
