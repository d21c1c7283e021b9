"""Slices: exactly once for each run, with senders that are left behind or replaced. No Spark."""

import time
import uuid

import pyarrow as pa
import pytest
from tests.brokers import BrokerProcess
from tests.clients import KEPT, create_topic

import holdfast
from holdfast.client.connection import Connection
from holdfast.client.record import Record
from holdfast.client.settings import ClientSettings
from holdfast.errors import HoldfastError
from holdfast.pipeline.runs.slices import Sending, Sent, Slice, SliceSender

NOW = round(time.time() * 1000)


class Source:
    """Rows to send, and what has arrived of them."""

    def __init__(self, broker: BrokerProcess, topic: str, **sending: object) -> None:
        self.topic = create_topic(broker, topic, 2, KEPT)
        self._connection = Connection(ClientSettings(bootstrap=broker.bootstrap))
        self._client = holdfast.connect(broker.bootstrap)
        given = {"partitions": 2, "batch_bytes": 250_000, "keeps_from": 0, "now": NOW, **sending}
        self._sending = Sending(run=uuid.uuid4().hex, topic=topic, **given)  # type: ignore[arg-type]
        self.slice = Slice(1, topic, 1, 0, 1_000)

    def sender(self) -> SliceSender:
        return SliceSender(self._connection, self._sending, self.slice)

    def rows(self, start: int, end: int, size: int = 1) -> pa.Table:
        offsets = list(range(start, end))
        return pa.table(
            {
                "offset": pa.array(offsets, pa.int64()),
                "timestamp": pa.array([1_000 + o for o in offsets], pa.int64()),
                "key": pa.array([b"k%d" % (o % 3) for o in offsets], pa.binary()),
                "value": pa.array([b"%d" % o * size for o in offsets], pa.binary()),
                "headers": pa.nulls(len(offsets), pa.string()),
            }
        )

    def arrived(self) -> list[Record]:
        with self._client.consumer(self.topic) as consumer:
            return list(consumer.records(until="end"))

    def sources(self) -> list[bytes | None]:
        return [record.header("holdfast-replay-source") for record in self.arrived()]


def test_rows_that_come_again_are_sent_once(kafka: BrokerProcess, topic: str) -> None:
    source = Source(kafka, topic)
    sender = source.sender()
    assert sender.send(source.rows(0, 10)) == Sent(10, 10)
    assert sender.send(source.rows(5, 15)) == Sent(15, 15)
    sender.close()
    later = source.sender()
    assert later.sent == Sent(15, 15), "how far it is is known to whoever comes next"
    assert later.send(source.rows(0, 20)) == Sent(20, 20)
    later.close()
    assert source.sources() == [b"1:%d" % offset for offset in range(20)]


def test_a_sender_that_was_replaced_cannot_commit_any_more(
    kafka: BrokerProcess, topic: str
) -> None:
    source = Source(kafka, topic)
    zombie = source.sender()
    zombie.send(source.rows(0, 5))
    heir = source.sender()
    with pytest.raises(HoldfastError):
        zombie.send(source.rows(5, 10))
    assert heir.send(source.rows(5, 8)) == Sent(8, 8)
    with pytest.raises(HoldfastError):
        zombie.send(source.rows(5, 10))
    assert source.sources() == [b"1:%d" % offset for offset in range(8)]
    zombie.close()
    heir.close()


def test_what_a_killed_sender_left_open_is_not_seen_and_not_lost(
    kafka: BrokerProcess, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(kafka, topic)
    left = source.sender()
    left._write(left._events(source.rows(0, 10)), ())
    left._transactions._deliver()  # all has arrived, and nothing is committed
    heir = source.sender()
    assert heir.sent == Sent(0)
    heir.send(source.rows(0, 10))
    heir.close()
    assert source.sources() == [b"1:%d" % offset for offset in range(10)]


def test_what_is_too_large_alone_is_left_out_and_counted(kafka: BrokerProcess, topic: str) -> None:
    source = Source(kafka, topic)
    rows = pa.concat_tables(
        [source.rows(0, 3), source.rows(3, 4, size=2_000_000), source.rows(4, 6)]
    )
    sender = source.sender()
    assert sender.send(rows) == Sent(6, 5, 1)
    assert sender.send(source.rows(6, 7)) == Sent(7, 6, 1)
    sender.close()
    assert source.sources() == [b"1:%d" % offset for offset in (0, 1, 2, 4, 5, 6)]


def test_an_event_that_the_topic_would_delete_is_sent_as_of_now(
    kafka: BrokerProcess, topic: str
) -> None:
    source = Source(kafka, topic, keeps_from=1_002)
    sender = source.sender()
    sender.send(source.rows(0, 4))
    sender.close()
    times = [(r.timestamp_ms, r.header("holdfast-original-timestamp")) for r in source.arrived()]
    assert times == [(NOW, b"1000"), (NOW, b"1001"), (1_002, None), (1_003, None)]
