"""The raw zone against the bare query that does no more than copy Kafka to Delta.

The bare query reads as Spark does unless told otherwise. Beside it the same query with the raw
zone's settings for reading: what landing itself costs, with positions and exactly once.

All are timed from the moment that their query runs: that the raw zone opens its table before, once
a start, is no part of the rate.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

import holdfast
from bench.load.events import Load, fill
from bench.load.stage import PARTITIONS, Figures, Stage
from bench.load.systems import Holdfast
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.raw_zone.table import COLUMNS
from holdfast.pipeline.raw_zone.zone import RawZone, RawZoneSettings, table_location
from holdfast.pipeline.spark.kafka_source import reading_options

FLOW = "bench-raw"
BATCH = 500_000
DEADLINE_S = 300.0


def raw(stage: Stage) -> Figures:
    """Events a second of ours over those of the bare queries: alternating, medians."""
    load = Load(BATCH if stage.quick else 3_000_000, keys=100_000, held=0)
    system = Holdfast(stage.bootstrap, stage.folder / "raw", PARTITIONS)
    system.create(FLOW)
    with holdfast.connect(stage.bootstrap) as client:
        flow = client.flow(FLOW).describe()
    fill(stage.bootstrap, flow.names.events, load.cycle, load.count, PARTITIONS)
    measures: dict[str, Callable[[Stage, FlowDefinition, Path, int], float]] = {
        "bare": bare,
        "bare, reading as we do": bare_in_bulk,
        "raw zone": ours,
    }
    for measure in measures.values():  # all warm
        measure(stage, flow, stage.folder / f"warm-{measure.__name__}", load.count)
    found: dict[str, list[float]] = {name: [] for name in measures}
    rounds = 1 if stage.quick else 5
    for number in range(rounds):
        for name in measures if number % 2 == 0 else reversed(list(measures)):
            folder = stage.folder / f"{measures[name].__name__}-{number}"
            rate = load.count / measures[name](stage, flow, folder, load.count)
            found[name].append(rate)
            print(f"  raw {number + 1}/{rounds}: {name}: {rate:,.0f} events/s", flush=True)
    system.drop(FLOW)
    medians = {name: statistics.median(rates) for name, rates in found.items()}
    landed = medians["raw zone"]
    return {
        "raw": landed / medians["bare"],
        "raw_same_reading": landed / medians["bare, reading as we do"],
        "raw_eps": landed,
    }


def bare(stage: Stage, flow: FlowDefinition, folder: Path, count: int) -> float:
    """Seconds of the plain query over the whole topic, as one writes it."""
    rows = (
        stage.session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", stage.bootstrap)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", flow.names.events)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", BATCH)
        .option("includeHeaders", "true")
        .load()
    )
    return _copy(stage, rows, folder, count)


def bare_in_bulk(stage: Stage, flow: FlowDefinition, folder: Path, count: int) -> float:
    """Seconds of the bare query with the raw zone's settings for reading."""
    starts = dict.fromkeys(range(flow.partitions), 0)
    options = reading_options(stage.connection, flow.names.events, starts, "bench-bare")
    rows = (
        stage.session.readStream.format("kafka")
        .options(**options)
        .option("maxOffsetsPerTrigger", BATCH)
        .option("includeHeaders", "true")
        .load()
    )
    return _copy(stage, rows, folder, count)


def _copy(stage: Stage, rows: DataFrame, folder: Path, count: int) -> float:
    query = (
        rows.withColumn("date", sql.to_date("timestamp"))
        .select(*COLUMNS)
        .writeStream.format("delta")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .partitionBy("date")
        .trigger(availableNow=True)
        .start(str(folder / "table"))
    )
    began = time.monotonic()
    query.awaitTermination()
    seconds = time.monotonic() - began
    _check(stage, str(folder / "table"), count)
    return seconds


def ours(stage: Stage, flow: FlowDefinition, folder: Path, count: int) -> float:
    """Seconds of the raw zone over the same topic."""
    metrics = Metrics()
    settings = RawZoneSettings(lake=str(folder), seconds=0.0, most_offsets=BATCH)
    zone = RawZone(stage.session, stage.connection, flow, settings, metrics)
    landed = metrics.events_landed.labels(flow.name)
    zone.start()
    began = time.monotonic()
    try:
        while landed._value.get() < count:
            failure = zone.failure()
            if failure is not None:
                raise failure
            if time.monotonic() - began > DEADLINE_S:
                raise TimeoutError(f"{landed._value.get():,.0f} of {count:,} landed")
            time.sleep(0.005)
        seconds = time.monotonic() - began
    finally:
        zone.stop()
    _check(stage, table_location(str(folder), flow.name), count)
    return seconds


def _check(stage: Stage, location: str, count: int) -> None:
    found = stage.session.read.format("delta").load(location).count()
    if found != count:
        raise RuntimeError(f"{found:,} of {count:,} events are in {location}")
