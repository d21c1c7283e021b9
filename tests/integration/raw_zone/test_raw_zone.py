"""The raw zone: every event in Delta, exactly once."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewPartitions
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess, EmbeddedBroker
from tests.clients import admin, create_topic, done, producer, send, transactional, wait_until
from tests.integration.raw_zone.conftest import Zone
from tests.wire import Wire, batch, produce

from holdfast.errors import ConflictError, EventsLostError, StaleStateError
from holdfast.kafka.topic_ids import Topic, TopicIds
from holdfast.pipeline.raw_zone import table as raw_table
from holdfast.pipeline.raw_zone.table import RawTable

pytestmark = pytest.mark.spark

MakeZone = Callable[..., Zone]
NEW_YEAR = datetime(2024, 1, 1, tzinfo=UTC)
EPOCH = datetime.fromtimestamp(0, UTC)
MS = round(NEW_YEAR.timestamp() * 1000)


def test_every_event_lands_unchanged_and_dated_by_its_own_time(
    kafka: BrokerProcess, spark: SparkSession, make_zone: MakeZone
) -> None:
    zone = make_zone(kafka, partitions=2)
    client = producer(kafka)
    headers = [("trace", b"\x00\xff"), ("trace", b"again"), ("none", None)]
    send(client, zone.topic, [b"v0"], key=b"k", timestamp=MS, headers=headers)
    send(client, zone.topic, [None], key=b"\xff\x00", timestamp=MS - 1)
    send(client, zone.topic, [b""], partition=1, timestamp=MS)
    with Wire(kafka) as wire:  # librdkafka would take 0 for now
        assert produce(wire, zone.topic, batch([b"1970"], timestamp=0), partition=1).error_code == 0
    zone.run_until(spark, 4)
    first, second, third, fourth = zone.rows()
    assert first == {
        "topic": zone.topic,
        "partition": 0,
        "offset": 0,
        "timestamp": NEW_YEAR,
        "key": b"k",
        "value": b"v0",
        "headers": [{"key": k, "value": v} for k, v in headers],
        "date": date(2024, 1, 1),
    }
    assert (second["key"], second["value"], second["headers"]) == (b"\xff\x00", None, None)
    assert second["date"] == date(2023, 12, 31)
    assert (third["partition"], third["key"], third["value"]) == (1, None, b"")
    assert (fourth["timestamp"], fourth["date"]) == (EPOCH, date(1970, 1, 1))
    protocol = DeltaTable(zone.location).protocol()
    assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)
    assert set(DeltaTable(zone.location).metadata().partition_columns) == {"date"}
    landed = zone.metrics.registry.get_sample_value(
        "holdfast_events_landed_total", {"flow": zone.flow.name}
    )
    assert landed == 4


def test_aborted_events_never_land_and_ranges_with_only_markers_are_passed(
    kafka: BrokerProcess, spark: SparkSession, make_zone: MakeZone
) -> None:
    zone = make_zone(kafka)
    writer = transactional(kafka, zone.topic)
    for value, commit in ((b"gone", False), (b"kept", True), (b"gone", False)):
        writer.begin_transaction()
        send(writer, zone.topic, [value] * 2)
        if commit:
            writer.commit_transaction(20)
        else:
            writer.abort_transaction(20)
    wait_until(lambda: zone.end() == 9, "all markers, which Apache Kafka writes after its answer")
    zone.run_until(spark, 2)
    assert [row["value"] for row in zone.rows()] == [b"kept"] * 2
    table = RawTable(spark, zone.location)
    landed = table.open()
    table.close()
    assert landed.positions == {0: 9}, "the end of the range, not of the rows"
    zone.run_until(spark, 2)
    assert [row["value"] for row in zone.rows()] == [b"kept"] * 2


def test_raw_zone_resumes_from_its_table_alone(
    embedded_broker: EmbeddedBroker, spark: SparkSession, make_zone: MakeZone
) -> None:
    zone = make_zone(embedded_broker, partitions=2)
    client = producer(embedded_broker)
    for count in (10, 20, 30):
        for partition in (0, 1):
            send(client, zone.topic, [b"v"] * 5, partition=partition)
        zone.run_until(spark, count, most_offsets=4)
    assert zone.offsets() == [(p, o) for p in (0, 1) for o in range(15)]


def test_a_new_partition_lands_while_the_raw_zone_runs(
    embedded_broker: EmbeddedBroker, spark: SparkSession, make_zone: MakeZone
) -> None:
    zone = make_zone(embedded_broker)
    client = producer(embedded_broker)
    send(client, zone.topic, [b"v"])
    part = zone.part(spark)
    try:
        part.start()
        zone.wait_for(part, 1)
        operator = admin(embedded_broker)
        done(operator.create_partitions([NewPartitions(zone.topic, 2)]))
        fresh = producer(embedded_broker)
        wait_until(lambda: len(fresh.list_topics(zone.topic, 5).topics[zone.topic].partitions) == 2,
                   "two partitions")  # fmt: skip
        send(fresh, zone.topic, [b"v"] * 2, partition=1)
        zone.wait_for(part, 3)
    finally:
        part.stop()
    assert zone.offsets() == [(0, 0), (1, 0), (1, 1)]


def test_a_second_writer_is_refused_while_the_first_one_runs(
    embedded_broker: EmbeddedBroker, spark: SparkSession, make_zone: MakeZone
) -> None:
    zone = make_zone(embedded_broker)
    first, second = zone.part(spark), zone.part(spark)
    try:
        first.start()
        with pytest.raises(ConflictError, match="second pipeline"):
            second.start()
    finally:
        second.stop()
        first.stop()
    third = zone.part(spark)
    third.start()
    third.stop()


def test_a_late_writer_adds_nothing_and_gets_an_error(
    embedded_broker: EmbeddedBroker, spark: SparkSession, make_zone: MakeZone
) -> None:
    """Delta itself leaves such a commit out without a word."""
    zone = make_zone(embedded_broker)
    send(producer(embedded_broker), zone.topic, [b"v"] * 3)
    late = RawTable(spark, zone.location)
    before = late.open()
    late.close()
    zone.run_until(spark, 3)
    rows = spark.read.format("delta").load(zone.location).localCheckpoint()
    with pytest.raises(StaleStateError):
        late.append(rows, before, {0: 3}, "another topic")
    assert zone.offsets() == [(0, 0), (0, 1), (0, 2)]


def test_positions_survive_foreign_commits_and_expired_history(
    embedded_broker: EmbeddedBroker,
    spark: SparkSession,
    make_zone: MakeZone,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    zone = make_zone(embedded_broker, partitions=2)
    client = producer(embedded_broker)
    send(client, zone.topic, [b"v"] * 3)
    zone.run_until(spark, 3)
    spark.sql(f"ALTER TABLE delta.`{zone.location}` SET TBLPROPERTIES ('a' = 'b')")
    send(client, zone.topic, [b"v"] * 2, partition=1)
    zone.run_until(spark, 5)
    spark.sql(f"ALTER TABLE delta.`{zone.location}` SET TBLPROPERTIES ('a' = 'c')")
    monkeypatch.setattr(raw_table, "_RECENT", 1)  # no commit with a position is in sight
    table = RawTable(spark, zone.location)
    landed = table.open()
    table.close()
    assert landed.positions == {0: 3, 1: 2}
    send(client, zone.topic, [b"v"])
    zone.run_until(spark, 6)
    assert zone.offsets() == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)]


def test_deleted_unread_events_stop_the_raw_zone_until_the_loss_is_accepted(
    embedded_broker: EmbeddedBroker, spark: SparkSession, make_zone: MakeZone
) -> None:
    zone = make_zone(embedded_broker)
    client = producer(embedded_broker)
    send(client, zone.topic, [b"v"] * 2)
    zone.run_until(spark, 2)
    send(client, zone.topic, [b"v"] * 4)
    operator = admin(embedded_broker)
    done(operator.delete_records([TopicPartition(zone.topic, 0, 5)]))
    part = zone.part(spark)
    with pytest.raises(EventsLostError, match=r"Events 2 to 4 .* --accept-loss flow-"):
        part.start()
    part.stop()
    zone.run_until(spark, 3, loss_accepted=frozenset({zone.flow.name}))
    assert zone.offsets() == [(0, 0), (0, 1), (0, 5)]


def test_log_that_a_new_leader_has_cut_back_stops_the_raw_zone(
    embedded_broker: EmbeddedBroker,
    spark: SparkSession,
    make_zone: MakeZone,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The log has grown again past what had landed, so offsets alone do not show it."""
    zone = make_zone(embedded_broker)
    events = producer(embedded_broker)
    send(events, zone.topic, [b"v"] * 3)
    zone.run_until(spark, 3)
    send(events, zone.topic, [b"v"] * 3)
    look_up = TopicIds.look_up

    def elected(ids: TopicIds, topics: Collection[str]) -> dict[str, Topic]:
        found = look_up(ids, topics)
        return {
            name: replace(topic, epochs=(1,) * topic.partitions) for name, topic in found.items()
        }

    monkeypatch.setattr(TopicIds, "look_up", elected)
    monkeypatch.setattr(TopicIds, "end_of_epoch", lambda *_: 1)
    with pytest.raises(ConflictError, match="back to offset 1"):
        zone.run_until(spark, 6)
    monkeypatch.setattr(TopicIds, "end_of_epoch", lambda *_: 3)
    zone.run_until(spark, 6)


def test_a_recreated_topic_stops_the_raw_zone(
    embedded_broker: EmbeddedBroker, spark: SparkSession, make_zone: MakeZone
) -> None:
    zone = make_zone(embedded_broker)
    send(producer(embedded_broker), zone.topic, [b"v"])
    zone.run_until(spark, 1)
    operator = admin(embedded_broker)
    done(operator.delete_topics([zone.topic]))
    create_topic(embedded_broker, zone.topic)
    send(producer(embedded_broker), zone.topic, [b"other"])
    part = zone.part(spark)
    with pytest.raises(ConflictError, match="created again"):
        part.start()
    part.stop()
    assert [row["value"] for row in zone.rows()] == [b"v"]
