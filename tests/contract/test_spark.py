"""Spark's Kafka connector (on the Java client 3.9): batch and streaming, reading and writing."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, create_topic, producer, read, send, transactional, values

pytestmark = pytest.mark.spark


def test_batches_are_written_and_read_with_keys_headers_and_offsets(
    kafka: BrokerProcess, topic: str, spark: SparkSession
) -> None:
    create_topic(kafka, topic, partitions=3)
    rows = spark.range(300).select(
        sql.col("id").cast("string").alias("key"),
        sql.concat(sql.lit("v"), sql.col("id")).alias("value"),
        (sql.col("id") % 3).cast("int").alias("partition"),
        sql.array(
            sql.struct(sql.lit("h").alias("key"), sql.lit("x").cast("binary").alias("value"))
        ).alias("headers"),
    )
    options = {"kafka.bootstrap.servers": kafka.bootstrap, "topic": topic, "includeHeaders": "true"}
    rows.write.format("kafka").options(**options).save()
    found = source(kafka, topic, spark).collect()
    assert {r.value for r in found} == {b"v%d" % i for i in range(300)}
    for partition in range(3):
        assert sorted(r.offset for r in found if r.partition == partition) == list(range(100))
    assert found[0].headers[0].key == "h"
    part = source(kafka, topic, spark, {
        "startingOffsets": f'{{"{topic}":{{"0":10,"1":100,"2":98}}}}',
        "endingOffsets": f'{{"{topic}":{{"0":15,"1":-1,"2":-1}}}}',
    })  # fmt: skip
    assert {(r.partition, r.offset) for r in part.collect()} == {
        *((0, o) for o in range(10, 15)), (2, 98), (2, 99),
    }  # fmt: skip


def test_a_batch_sees_only_committed_records(
    kafka: BrokerProcess, topic: str, spark: SparkSession
) -> None:
    create_topic(kafka, topic)
    writer = transactional(kafka, topic)
    for value, commit in ((b"gone", False), (b"kept", True)):
        writer.begin_transaction()
        send(writer, topic, [value] * 3)
        if commit:
            writer.commit_transaction(20)
        else:
            writer.abort_transaction(20)
    send(producer(kafka), topic, [b"plain"])
    found = source(kafka, topic, spark, {"kafka.isolation.level": "read_committed"}).collect()
    assert [r.value for r in found] == [b"kept"] * 3 + [b"plain"]


def test_stream_resumes_from_its_checkpoint(
    kafka: BrokerProcess, topic: str, spark: SparkSession, tmp_path: Path
) -> None:
    target = f"{topic}-out"
    create_topic(kafka, topic, partitions=2)
    create_topic(kafka, target)
    client = producer(kafka)

    def run_once() -> None:
        stream = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", kafka.bootstrap)
            .option("subscribe", topic)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", "50")
            .load()
        )
        query = (
            stream.select("key", "value")
            .writeStream.format("kafka")
            .option("kafka.bootstrap.servers", kafka.bootstrap)
            .option("topic", target)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(60)

    for start in (0, 100):
        for i in range(start, start + 100):
            client.produce(topic, b"%d" % i, key=b"k", partition=i % 2)
        client.flush(DEADLINE_S)
        run_once()
        through = sorted(int(v or b"-1") for v in values(read(kafka, target)))
        assert through == list(range(start + 100))


def source(
    kafka: BrokerProcess, topic: str, spark: SparkSession, options: dict[str, str] | None = None
) -> DataFrame:
    everything = {"startingOffsets": "earliest", "endingOffsets": "latest", **(options or {})}
    return (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", kafka.bootstrap)
        .option("subscribe", topic)
        .option("includeHeaders", "true")
        .options(**everything)
        .load()
    )
