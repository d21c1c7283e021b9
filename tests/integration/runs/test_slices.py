"""Slices: exactly once for each run, with senders that are left behind or replaced. No Spark."""

import json
import time
import uuid
from base64 import b64encode

import pyarrow as pa
import pytest
from tests.brokers import BrokerProcess
from tests.clients import KEPT, committed_records, create_topic

import holdfast
from holdfast.client.connection import Connection
from holdfast.client.record import Record
from holdfast.client.settings import ClientSettings
from holdfast.errors import HoldfastError
from holdfast.pipeline.runs.slices import SendOptions, Slice, SliceProgress, SliceSender

NOW = round(time.time() * 1000)


class Source:
    """Rows to send, and what has arrived of them."""

    def __init__(self, broker: BrokerProcess, topic: str, **sending: object) -> None:
        self._broker = broker
        self.topic = create_topic(broker, topic, 2, KEPT)
        self._connection = Connection(ClientSettings(bootstrap=broker.bootstrap))
        self._client = holdfast.connect(broker.bootstrap)
        given = {"partitions": 2, "keeps_from": 0, "now": NOW, **sending}
        self._sending = SendOptions(run=uuid.uuid4().hex, topic=topic, **given)  # type: ignore[arg-type]
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

    def set_limit(self, size: int) -> None:
        self._client.topics.set_config(self.topic, {"max.message.bytes": str(size)})

    def arrived(self) -> list[Record]:
        return committed_records(self._broker.bootstrap, self.topic)

    def sources(self) -> list[bytes | None]:
        return [record.header("holdfast-replay-source") for record in self.arrived()]


def test_repeated_rows_are_sent_once(kafka: BrokerProcess, topic: str) -> None:
    source = Source(kafka, topic)
    sender = source.sender()
    assert sender.send(source.rows(0, 10)) == SliceProgress(10, 10)
    assert sender.send(source.rows(5, 15)) == SliceProgress(15, 15)
    sender.close()
    later = source.sender()
    assert later.sent == SliceProgress(15, 15), "the next sender knows the progress"
    assert later.send(source.rows(0, 20)) == SliceProgress(20, 20)
    later.close()
    assert source.sources() == [b"1:%d" % offset for offset in range(20)]


def test_a_replaced_sender_cannot_commit(kafka: BrokerProcess, topic: str) -> None:
    source = Source(kafka, topic)
    zombie = source.sender()
    zombie.send(source.rows(0, 5))
    heir = source.sender()
    with pytest.raises(HoldfastError):
        zombie.send(source.rows(5, 10))
    assert heir.send(source.rows(5, 8)) == SliceProgress(8, 8)
    with pytest.raises(HoldfastError):
        zombie.send(source.rows(5, 10))
    assert source.sources() == [b"1:%d" % offset for offset in range(8)]
    zombie.close()
    heir.close()


def test_events_of_a_killed_sender_are_neither_visible_early_nor_lost(
    kafka: BrokerProcess, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(kafka, topic)
    left = source.sender()
    left._write(left._rows(left._events(source.rows(0, 10))), ())
    left._transactions._deliver()  # all has arrived, and nothing is committed
    heir = source.sender()
    assert heir.sent == SliceProgress(0)
    heir.send(source.rows(0, 10))
    heir.close()
    assert source.sources() == [b"1:%d" % offset for offset in range(10)]


def test_only_events_above_the_size_limit_are_left_out_and_counted(
    kafka: BrokerProcess, topic: str
) -> None:
    source = Source(kafka, topic)
    rows = pa.concat_tables(
        [source.rows(0, 3), source.rows(3, 4, size=2_000_000), source.rows(4, 6)]
    )
    sender = source.sender()
    assert sender.send(rows) == SliceProgress(6, 5, 1)
    assert sender.send(source.rows(6, 7)) == SliceProgress(7, 6, 1)
    sender.close()
    assert source.sources() == [b"1:%d" % offset for offset in (0, 1, 2, 4, 5, 6)]


def test_an_event_that_fits_without_the_added_headers_is_sent(
    kafka: BrokerProcess, topic: str
) -> None:
    source = Source(kafka, topic)
    large = json.dumps([{"key": "h", "value": b64encode(b"x" * 2_000_000).decode()}])
    rows = source.rows(0, 2).set_column(3, "value", pa.array([b"same"] * 2, pa.binary()))
    rows = rows.set_column(2, "key", pa.array([b"k"] * 2, pa.binary()))
    rows = rows.set_column(4, "headers", pa.array([large, None], pa.string()))
    sender = source.sender()
    assert sender.send(rows) == SliceProgress(2, 1, 1)
    sender.close()
    assert source.sources() == [b"1:1"]


def test_a_lowered_size_limit_costs_one_more_attempt(kafka: BrokerProcess, topic: str) -> None:
    source = Source(kafka, topic)
    sender = source.sender()
    sender.send(source.rows(0, 3))
    source.set_limit(20_000)
    rows = pa.concat_tables(
        [source.rows(3, 20, size=1_000), source.rows(20, 21, size=50_000), source.rows(21, 25)]
    )
    renewals, renew = [], sender._transactions.renew
    sender._transactions.renew = lambda: renewals.append(1) or renew()  # type: ignore[method-assign, func-returns-value]
    assert sender.send(rows) == SliceProgress(25, 24, 1)
    assert len(renewals) == 1
    sender.close()
    rest = [b"1:%d" % offset for offset in range(25) if offset != 20]
    assert source.sources() == rest


def test_an_event_older_than_retention_is_sent_with_the_current_time(
    kafka: BrokerProcess, topic: str
) -> None:
    source = Source(kafka, topic, keeps_from=1_002)
    sender = source.sender()
    sender.send(source.rows(0, 4))
    sender.close()
    times = [(r.timestamp_ms, r.header("holdfast-original-timestamp")) for r in source.arrived()]
    assert times == [(NOW, b"1000"), (NOW, b"1001"), (1_002, None), (1_003, None)]
