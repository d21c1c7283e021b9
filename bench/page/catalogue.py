"""The name, the peer and the better direction of each figure."""

from dataclasses import dataclass

from bench.page.comparison import AxisText, Better


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure that is already a ratio: ours divided by the peer's. `goal` is the target."""

    what: str
    peer: str
    better: Better
    goal: float | None = None


@dataclass(frozen=True, slots=True)
class Alone:
    """A figure without a peer."""

    what: str
    unit: str = ""


OURS = "Holdfast"
KAFKA, STREAMS, ARROYO = "Apache Kafka", "Kafka Streams", "sentry-arroyo"
CONFLUENT = "bare confluent-kafka"

BENCHES: dict[str, dict[str, Ratio | Alone]] = {
    "broker": {
        "produce_os": Ratio("produce, neither system syncs", KAFKA, "more", goal=1.2),
        "produce_sync": Ratio("produce, only Holdfast syncs", KAFKA, "more"),
        "consume": Ratio("consume", KAFKA, "more"),
        "latency_os": Ratio("latency of one message, neither system syncs", KAFKA, "less"),
        "latency_sync": Ratio("latency of one message, only Holdfast syncs", KAFKA, "less"),
        "start": Ratio("time to start", KAFKA, "less"),
        "rss_idle": Ratio("memory when idle", KAFKA, "less"),
        "rss_loaded": Ratio("memory after five million messages", KAFKA, "less"),
        "rss_growth": Alone("memory after the full load, divided by memory after a tenth of it"),
        "start_1000_s": Alone("time to start with 1,000 partitions", "s"),
    },
    "gate": {
        "throughput": Ratio("throughput, exactly once", STREAMS, "more", goal=1.5),
        "latency_p50": Ratio("latency of an event, median", STREAMS, "less", goal=2),
        "latency_p99": Ratio("latency of an event, 99th percentile", STREAMS, "less"),
        "held_10000": Alone("throughput with 10,000 held keys, divided by throughput with 1,000"),
        "hold_effective_p99_s": Alone("time until a hold is effective, 99th percentile", "s"),
        "release_s": Alone("time to release 10,000 events among a million other held events", "s"),
        "up_s": Alone("time from `make run` to the first processed event", "s"),
    },
    "processing": {
        "throughput": Ratio("messages a second, default configuration", ARROYO, "more", goal=5),
        "throughput_tuned": Ratio("messages a second, tuned configuration", ARROYO, "more"),
        "pause_ms": Alone("time until all partitions are paused", "ms"),
        "resume_ms": Alone("time until a rejected message is retried", "ms"),
        "paused_cpu": Alone("CPU while paused, as a share of a core"),
    },
    "client": {
        "produce": Ratio("produce with the SDK", CONFLUENT, "more", goal=0.8),
        "consume": Ratio("consume with the SDK", CONFLUENT, "more", goal=0.8),
        "cli_start": Ratio("time of `holdfast --help`", "an empty Python program", "less", goal=4),
    },
    "lake": {
        "raw": Ratio("raw zone, events a second", "a plain Spark query", "more"),
        "raw_same_reading": Ratio(
            "raw zone, events a second, same read settings", "a plain Spark query", "more"
        ),
        "verify_s": Alone("time of `holdfast verify` for three million events", "s"),
        "verify_growth": Alone("its time for twice as many events, divided by that"),
        "replay_eps": Alone("rate of a replay without a rate limit", "events/s"),
    },
    "api": {
        "list_p99_ms": Alone("time to list 10,000 held keys, 99th percentile", "ms"),
        "sse_missed": Alone("changes missed by 200 live tabs at 100 changes a second"),
        "sse_growth_mb": Alone("memory growth of web in that minute", "MB"),
        "page_kb": Alone("size of the first page, compressed", "kB"),
        "page_raw_kb": Alone("size of the first page, uncompressed", "kB"),
        "outside_requests": Alone("requests of the first page to other hosts"),
    },
}


@dataclass(frozen=True, slots=True)
class Axis:
    """The variable of a sweep."""

    title: str
    text: AxisText


AXES = {
    "partitions": Axis("partitions", AxisText(after=" partitions")),
    "keys": Axis("keys", AxisText(after=" keys")),
    "held": Axis("held keys", AxisText(after=" held keys")),
    "size": Axis("event size", AxisText(before="events of ", size=True)),
}


@dataclass(frozen=True, slots=True)
class Swept:
    """A figure of a sweep. Higher is better."""

    what: str
    unit: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the sweep. `peer` and the keys of `ours` are names of systems in its results."""

    title: str
    peer: str
    peer_name: str
    ours: dict[str, str]
    figures: dict[str, Swept]
    axes: tuple[str, ...]
    method: str


PARTS = {
    "broker": Part(
        "The broker and Apache Kafka", "kafka", KAFKA, {"os": OURS, "sync": f"{OURS} with sync"},
        {"produce": Swept("produce", "messages/s"), "consume": Swept("consume", "messages/s")},
        ("partitions", "size"),
        "One Python client sends messages as fast as the broker acknowledges them, and then reads "
        "them back. Apache Kafka runs with its own defaults and start script. It leaves syncing to "
        "the operating system. The column “Holdfast” does the same. “Holdfast with sync” is "
        "Holdfast's default: a message is on the disk before it is acknowledged.",
    ),
    "gate": Part(
        "The gate and Kafka Streams", "streams", STREAMS, {"holdfast": OURS},
        {"events_s": Swept("throughput", "events/s")},
        ("partitions", "keys", "held", "size"),
        "Both systems process a full topic of the same Apache Kafka, exactly once. The processes "
        "are warm, and the output is read back and checked. Each table changes one setting. The "
        "others are 6 partitions, 100,000 keys with 1,000 of them held, and events of 100 B. When "
        "the number of keys changes, 1 % of them are held. Held keys beyond 1,000 have one held "
        "event each.",
    ),
    "processing": Part(
        "Processing and sentry-arroyo", "sentry-arroyo", ARROYO, {"holdfast": OURS},
        {"as_built": Swept("default rate", "messages/s"),
         "tuned": Swept("tuned rate", "messages/s")},
        ("partitions", "size"),
        "Both systems run the same strategies (RunTask, CommitOffsets) over the same topic of an "
        "Apache Kafka, from the first message to the last. The default rate uses the configuration "
        "that Arroyo's builder creates. Each partition has 40,000 messages, four times the number "
        "that librdkafka reads ahead in this configuration. The tuned rate uses explicit commits "
        "and librdkafka's full queue, with which sentry-arroyo is fastest.",
    ),
}  # fmt: skip

PAIRS = {
    "broker": ("broker", "kafka", KAFKA),
    "gate": ("gate", "streams", STREAMS),
    "processing": ("worker", "sentry-arroyo", ARROYO),
}
"""For each process of the sweep: its name, the peer's name in the results, and its title."""

PROCESSES: dict[str, tuple[str, dict[str, str]]] = {
    "memory": (
        "MB",
        {"idle_mb": "memory when idle", "loaded_mb": "memory after the load"},
    ),
    "start": ("s", {"seconds": "time from start to the first event"}),
}
"""Figures of the processes, with their unit. Lower is better."""
