"""What a stream needs, from measured constants: cores, memory, disk, brokers and network.

Every constant names its measurement. All were made on one machine with 2 cores, so a figure that
needs more than that machine is extrapolated, and says so.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MEASURED_CORES = 2
HEADROOM = 2
"""Plan for half of the rate that was measured: restarts, bursts and drains need the other half."""

GATE_RATE = {100: 1_010_000, 1_000: 145_000, 10_000: 38_400, 100_000: 3_450}
"""Events a second by event size, on 2 cores that Kafka and the load shared
(`python -m bench.growth --part gate`)."""
KEYS_SLOWDOWN = {100_000: 1.0, 1_000_000: 0.59}
"""Share of that rate by number of keys (`python -m bench.growth --part gate`)."""
HELD_SLOWDOWN = {1_000: 1.0, 10_000: 0.94, 100_000: 0.56, 1_000_000: 0.37}
"""Share of that rate by number of held keys (`python -m bench.growth --part gate`)."""
RAW_ZONE_RATE = 340_000
"""Events a second on 2 cores (`python -m bench.lake`)."""
EMBEDDED_RATE = 54_000
"""Events a second through broker, gate and raw zone of one machine (`make soak`)."""
KAFKA_BYTES = 412_000_000
"""Bytes a second that an Apache Kafka of 2 cores took in events of 1 kB
(`python -m bench.growth --part broker`)."""
PIPELINE_MB, WEB_MB, KAFKA_MB, EMBEDDED_MB = 1_575, 80, 450, 47
"""Resident memory of `holdfast up --demo`, and of brokers after a load
(`python -m bench.growth --part memory`)."""
WORKER_MB = 150
"""Resident memory of a Python worker of Spark, at most (`holdfast up --demo`)."""
HELD_KEY_BYTES = 1_700
"""Memory of the driver for each held key (a million held keys: 1.7 GB)."""
DISK_SHARE = 0.7
"""A disk should not be fuller than this: Kafka and Delta need room to compact and to delete."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What is asked: the stream, its held keys, and how long its events are kept."""

    events_per_second: float
    event_bytes: int = 200
    keys: int = 100_000
    held_keys: int = 0
    held_events: int = 0
    retention_days: float = 7.0
    raw_zone_days: float = 365.0


@dataclass(frozen=True, slots=True)
class Figure:
    """One resource: how much of it, and why."""

    resource: str
    amount: float
    unit: str
    basis: str
    extrapolated: bool


def estimate(stream: Stream) -> list[Figure]:
    embedded = stream.events_per_second * HEADROOM <= EMBEDDED_RATE
    gate = _gate_cores(stream)
    raw_zone = stream.events_per_second * HEADROOM / RAW_ZONE_RATE * MEASURED_CORES
    outside = (
        stream.event_bytes > max(GATE_RATE)
        or stream.keys > max(KEYS_SLOWDOWN)
        or stream.held_keys > max(HELD_SLOWDOWN)
        or gate + raw_zone > MEASURED_CORES
    )
    return [
        Figure("cores of the pipeline", max(1, math.ceil(gate + raw_zone)), "cores",
               "bench.growth --part gate, bench.lake; half of the measured rate", outside),
        Figure("memory of the pipeline", _pipeline_memory(stream, gate + raw_zone), "MB",
               "holdfast up --demo; 1.7 kB for each held key, 150 MB for each core",
               outside),
        Figure("memory of the web process", WEB_MB, "MB", "holdfast up --demo", False),
        *_brokers(stream, embedded),
        Figure("disk of the raw zone",
               _gigabytes(_bytes_a_day(stream) * stream.raw_zone_days / DISK_SHARE), "GB",
               f"{stream.raw_zone_days:g} days; Parquet's compression is not counted", False),
    ]  # fmt: skip


def _gate_cores(stream: Stream) -> float:
    rate = _between(GATE_RATE, stream.event_bytes)
    rate *= _between(KEYS_SLOWDOWN, stream.keys) * _between(HELD_SLOWDOWN, stream.held_keys)
    return stream.events_per_second * HEADROOM / rate * MEASURED_CORES


def _pipeline_memory(stream: Stream, cores: float) -> int:
    workers = WORKER_MB * max(1, math.ceil(cores))
    return PIPELINE_MB + workers + math.ceil(stream.held_keys * HELD_KEY_BYTES / 1e6)


def _brokers(stream: Stream, embedded: bool) -> Sequence[Figure]:
    """The embedded broker where it is enough; otherwise a cluster with three replicas."""
    in_bytes = stream.events_per_second * stream.event_bytes
    replicas = 1 if embedded else 3
    written = 2 * in_bytes * replicas
    count = 1 if embedded else max(3, math.ceil(written * HEADROOM / KAFKA_BYTES))
    kept = _bytes_a_day(stream) * stream.retention_days * 2
    kept += stream.held_events * stream.event_bytes
    sent = in_bytes * (3 + 2 * replicas)
    name = "embedded" if embedded else "Apache Kafka"
    basis = "make soak" if embedded else "bench.growth --part broker; 3 replicas"
    return [
        Figure(f"brokers ({name})", count, "processes", basis, not embedded),
        Figure("memory of each broker", EMBEDDED_MB if embedded else KAFKA_MB, "MB",
               "bench.growth --part memory, without the page cache", False),
        Figure("disk of each broker",
               _gigabytes(kept * replicas / count / DISK_SHARE), "GB",
               f"events and processed for {stream.retention_days:g} days, held events", False),
        Figure("network in all", round(sent / 1e6, 1), "MB/s",
               "written by producers and gate, replicated, read by gate, raw zone and one reader",
               False),
    ]  # fmt: skip


def _bytes_a_day(stream: Stream) -> float:
    return stream.events_per_second * stream.event_bytes * 86_400


def _gigabytes(size: float) -> int:
    return math.ceil(size / 1e9)


def _between(points: Mapping[int, float], at: float) -> float:
    """The value at a place between two measured points, on logarithmic scales. Below the first
    point it is that of the first; above the last it falls as a proportion, as bytes do."""
    xs = sorted(points)
    if at <= xs[0]:
        return points[xs[0]]
    if at >= xs[-1]:
        return points[xs[-1]] * xs[-1] / at
    high = next(i for i, x in enumerate(xs) if x >= at)
    x0, x1 = xs[high - 1], xs[high]
    share = math.log(at / x0) / math.log(x1 / x0)
    return math.exp(math.log(points[x0]) * (1 - share) + math.log(points[x1]) * share)
