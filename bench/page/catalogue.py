"""What the figures mean: in which words, against whom, and which way is better."""

from dataclasses import dataclass

from bench.page.comparison import AxisText, Better


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure that is ours over a peer's already. `goal`: what we want it to reach."""

    what: str
    peer: str
    better: Better
    goal: float | None = None


@dataclass(frozen=True, slots=True)
class Alone:
    """A figure that only ours has."""

    what: str
    unit: str = ""


OURS = "Holdfast"
KAFKA, STREAMS, ARROYO = "Apache Kafka", "Kafka Streams", "sentry-arroyo"
CONFLUENT = "bare confluent-kafka"

BENCHES: dict[str, dict[str, Ratio | Alone]] = {
    "broker": {
        "produce_os": Ratio("produce, neither side syncs", KAFKA, "more", goal=1.2),
        "produce_sync": Ratio("produce, only ours syncs", KAFKA, "more"),
        "consume": Ratio("consume", KAFKA, "more"),
        "latency_os": Ratio("delay of one message, neither side syncs", KAFKA, "less"),
        "latency_sync": Ratio("delay of one message, only ours syncs", KAFKA, "less"),
        "start": Ratio("time to start", KAFKA, "less"),
        "rss_idle": Ratio("memory when idle", KAFKA, "less"),
        "rss_loaded": Ratio("memory after five million messages", KAFKA, "less"),
        "rss_growth": Alone("memory after the whole load over that after a tenth of it"),
        "start_1000_s": Alone("start with 1,000 partitions", "s"),
    },
    "gate": {
        "throughput": Ratio("throughput, exactly once", STREAMS, "more", goal=1.5),
        "latency_p50": Ratio("delay of an event, median", STREAMS, "less", goal=2),
        "latency_p99": Ratio("delay of an event, 99th percentile", STREAMS, "less"),
        "held_10000": Alone("throughput with 10,000 held keys over that with 1,000"),
        "hold_effective_p99_s": Alone("until a hold is effective, 99th percentile", "s"),
        "release_s": Alone("release of 10,000 events among a million of others", "s"),
        "up_s": Alone("`make run` to the first event through the gate", "s"),
    },
    "processing": {
        "throughput": Ratio("messages a second, as Arroyo builds it", ARROYO, "more", goal=5),
        "throughput_tuned": Ratio("messages a second, tuned for Arroyo", ARROYO, "more"),
        "pause_ms": Alone("until everything is paused", "ms"),
        "resume_ms": Alone("until a refused message is taken again", "ms"),
        "paused_cpu": Alone("share of a core while paused"),
    },
    "client": {
        "produce": Ratio("SDK, produce", CONFLUENT, "more", goal=0.8),
        "consume": Ratio("SDK, consume", CONFLUENT, "more", goal=0.8),
        "cli_start": Ratio("`holdfast --help`", "a bare Python start", "less", goal=4),
    },
    "lake": {
        "raw": Ratio("raw zone, events a second", "the bare query from Kafka to Delta", "more"),
        "raw_same_reading": Ratio(
            "raw zone, events a second", "the bare query with our settings for reading", "more"
        ),
        "verify_s": Alone("`holdfast verify` of three million events", "s"),
        "verify_growth": Alone("its time for twice as many, over that"),
        "replay_eps": Alone("a replay without a limit", "events/s"),
    },
    "api": {
        "list_p99_ms": Alone("listing 10,000 held keys, 99th percentile", "ms"),
        "sse_missed": Alone("changes missed by 200 live tabs at 100 a second"),
        "sse_growth_mb": Alone("memory that they took in a minute", "MB"),
        "page_kb": Alone("the first page, as it is sent", "kB"),
        "page_raw_kb": Alone("the same before it is compressed", "kB"),
        "outside_requests": Alone("requests of it to other hosts"),
    },
}


@dataclass(frozen=True, slots=True)
class Axis:
    """What changes along a sweep."""

    title: str
    text: AxisText


AXES = {
    "partitions": Axis("partitions", AxisText(after=" partitions")),
    "keys": Axis("keys", AxisText(after=" keys")),
    "held": Axis("held keys", AxisText(after=" held keys")),
    "size": Axis("size of an event", AxisText(before="events of ", size=True)),
}


@dataclass(frozen=True, slots=True)
class Swept:
    """A figure of a sweep: more of it is better."""

    what: str
    unit: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the sweep. `peer` and the keys of `ours` are systems as its results name them."""

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
        "One Python client sends messages as fast as they are acknowledged, and reads them back. "
        "Apache Kafka runs with its own defaults and start script; it leaves syncing to the "
        "operating system, and so does Holdfast here. “With sync” is Holdfast's default: what "
        "is acknowledged is on the disk.",
    ),
    "gate": Part(
        "The gate and Kafka Streams", "streams", STREAMS, {"holdfast": OURS},
        {"events_s": Swept("throughput", "events/s")},
        ("partitions", "keys", "held", "size"),
        "Both go through a full topic of the same Apache Kafka, exactly once, in a process that is "
        "warm; what comes out is read back and checked. 6 partitions, 100,000 keys of which 1,000 "
        "are held, and events of 100 B, but for the setting that changes. With other numbers of "
        "keys, one of a hundred is held. Held keys beyond 1,000 have one held event each.",
    ),
    "processing": Part(
        "Processing and sentry-arroyo", "sentry-arroyo", ARROYO, {"holdfast": OURS},
        {"as_built": Swept("rate as Arroyo builds it", "messages/s"),
         "tuned": Swept("rate tuned for Arroyo", "messages/s")},
        ("partitions", "size"),
        "Both run the same strategies (RunTask, CommitOffsets) over the same topic of an Apache "
        "Kafka, from the first message to the last. “As Arroyo builds it”: with the configuration "
        "that Arroyo's builder makes, and 40,000 messages in each partition, four times what "
        "librdkafka reads ahead there. “Tuned for Arroyo”: with explicit commits and librdkafka's "
        "full queue, which makes sentry-arroyo fastest.",
    ),
}  # fmt: skip

PAIRS = {
    "broker": ("broker", "kafka", KAFKA),
    "gate": ("gate", "streams", STREAMS),
    "processing": ("worker", "sentry-arroyo", ARROYO),
}
"""Of the sweep's processes: what it is, and the peer as results and people name it."""

PROCESSES: dict[str, tuple[str, dict[str, str]]] = {
    "memory": (
        "MB",
        {"idle_mb": "memory when idle", "loaded_mb": "memory after the load"},
    ),
    "start": ("s", {"seconds": "start to the first event through"}),
}
"""Figures of the processes, less of which is better, and their unit."""
