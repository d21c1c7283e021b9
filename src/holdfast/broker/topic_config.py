"""Topic settings, with Kafka's names, defaults and checks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

FOREVER = 9223372036854775807
"""Kafka writes "never" as the largest long in some settings, and as -1 in others."""

LARGEST_BATCH = 16 * 1024 * 1024
"""Upper bound of `max.message.bytes`. A batch is checked and written in one step of the event loop:
16 MiB take about 35 ms of CPU, and no request may hold the loop for more than 50 ms."""
_MAX_MESSAGE_BYTES = "max.message.bytes"

ConfigType = Literal["BOOLEAN", "STRING", "INT", "LONG", "DOUBLE", "LIST"]


class InvalidTopicConfig(ValueError):
    """A refused name or value, with a message for the client."""


def _setting(
    name: str, default: Any, type_: ConfigType, doc: str, **checks: Any
) -> Any:  # a dataclass field; Any as in dataclasses.field
    return field(
        default=default, metadata={"name": name, "type": type_, "doc": doc, "checks": checks}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    """All settings of a topic, with their present values."""

    cleanup_policy: frozenset[str] = _setting(
        "cleanup.policy", frozenset({"delete"}), "LIST",
        "delete: drop old segments; compact: keep the last record of each key; or both.",
        among={"delete", "compact"},
    )  # fmt: skip
    retention_ms: int = _setting(
        "retention.ms", 604_800_000, "LONG", "Age past which segments are dropped; -1: never.",
        at_least=-1,
    )  # fmt: skip
    retention_bytes: int = _setting(
        "retention.bytes", -1, "LONG", "Size past which old segments are dropped; -1: never.",
        at_least=-1,
    )  # fmt: skip
    segment_bytes: int = _setting(
        "segment.bytes", 1_073_741_824, "INT", "Size of a segment file.",
        at_least=14, at_most=2_147_483_647,
    )  # fmt: skip
    segment_ms: int = _setting(
        "segment.ms", 604_800_000, "LONG", "Age at which a segment is closed.", at_least=1
    )
    index_interval_bytes: int = _setting(
        "index.interval.bytes", 4096, "INT", "Bytes between two index entries.", at_least=0
    )
    max_message_bytes: int = _setting(
        _MAX_MESSAGE_BYTES, 1_048_588, "INT", "Largest record batch accepted, in bytes.",
        at_least=0, at_most=LARGEST_BATCH,
        hint="This broker writes a batch in one step, and a larger one would delay all other "
        "clients. Split large messages, or store them elsewhere and send a reference.",
    )  # fmt: skip
    message_timestamp_type: str = _setting(
        "message.timestamp.type", "CreateTime", "STRING",
        "Whether records keep the producer's time or get the broker's.",
        among={"CreateTime", "LogAppendTime"},
    )  # fmt: skip
    message_timestamp_before_max_ms: int = _setting(
        "message.timestamp.before.max.ms", FOREVER, "LONG",
        "How far a record's time may lie in the past.", at_least=0,
    )  # fmt: skip
    message_timestamp_after_max_ms: int = _setting(
        "message.timestamp.after.max.ms", 3_600_000, "LONG",
        "How far a record's time may lie in the future.", at_least=0,
    )  # fmt: skip
    compression_type: str = _setting(
        "compression.type", "producer", "STRING",
        "Batches are stored as the producer compressed them; only `producer` is accepted.",
        among={"producer"},
    )  # fmt: skip
    delete_retention_ms: int = _setting(
        "delete.retention.ms", 86_400_000, "LONG",
        "How long compaction keeps tombstones and markers.", at_least=0,
    )  # fmt: skip
    min_cleanable_dirty_ratio: float = _setting(
        "min.cleanable.dirty.ratio", 0.5, "DOUBLE",
        "Share of a log that must be new before it is compacted.", at_least=0, at_most=1,
    )  # fmt: skip
    min_compaction_lag_ms: int = _setting(
        "min.compaction.lag.ms", 0, "LONG", "Age below which records are not compacted.",
        at_least=0,
    )  # fmt: skip
    max_compaction_lag_ms: int = _setting(
        "max.compaction.lag.ms", FOREVER, "LONG", "Age at which records must be compacted.",
        at_least=1,
    )  # fmt: skip
    # Existing scripts set these. They are accepted and shown, so that such scripts work unchanged.
    min_insync_replicas: int = _setting(
        "min.insync.replicas", 1, "INT", "Without effect: there is one replica.", at_least=1
    )
    unclean_leader_election_enable: bool = _setting(
        "unclean.leader.election.enable", False, "BOOLEAN", "Without effect: there is one replica."
    )
    flush_messages: int = _setting(
        "flush.messages", FOREVER, "LONG",
        "Without effect: the broker's setting `flush` decides.", at_least=1,
    )  # fmt: skip
    flush_ms: int = _setting(
        "flush.ms", FOREVER, "LONG",
        "Without effect: the broker's setting `flush` decides.", at_least=0,
    )  # fmt: skip
    file_delete_delay_ms: int = _setting(
        "file.delete.delay.ms", 60_000, "LONG",
        "Without effect: dropped files are removed at once, and running reads finish.", at_least=0,
    )  # fmt: skip
    preallocate: bool = _setting(
        "preallocate", False, "BOOLEAN", "Without effect: segments grow as they are written."
    )
    segment_index_bytes: int = _setting(
        "segment.index.bytes", 10_485_760, "INT",
        "Without effect: an index grows with its segment.", at_least=4,
    )  # fmt: skip
    segment_jitter_ms: int = _setting(
        "segment.jitter.ms", 0, "LONG", "Without effect: there is one disk.", at_least=0
    )

    @property
    def compacted(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def deletes(self) -> bool:
        return "delete" in self.cleanup_policy

    @classmethod
    def of(cls, overrides: Mapping[str, str]) -> "TopicConfig":
        """The settings of a topic with these overrides, by their Kafka names."""
        known = {f.metadata["name"]: f for f in fields(cls)}
        values: dict[str, Any] = {}
        for name, text in overrides.items():
            if name not in known:
                raise InvalidTopicConfig(f"Unknown topic config name: {name}")
            values[known[name].name] = _parse(known[name].metadata, text)
        return cls(**values)

    def described(self) -> "dict[str, str]":
        """Kafka names and present values, as in DescribeConfigs."""
        return {f.metadata["name"]: _text(getattr(self, f.name)) for f in fields(self)}


def definitions() -> "dict[str, tuple[ConfigType, str]]":
    """Type and description of each setting, by Kafka name."""
    return {
        f.metadata["name"]: (f.metadata["type"], f.metadata["doc"]) for f in fields(TopicConfig)
    }


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(sorted(value)) if isinstance(value, frozenset) else str(value)


def _parse(metadata: Mapping[str, Any], text: str) -> Any:
    name, kind, checks = metadata["name"], metadata["type"], metadata["checks"]
    try:
        value: Any
        if kind == "LIST":
            value = frozenset(word.strip() for word in text.split(",") if word.strip())
        elif kind in ("INT", "LONG"):
            value = int(text)
        elif kind == "DOUBLE":
            value = float(text)
        elif kind == "BOOLEAN":
            value = {"true": True, "false": False}[text.strip().lower()]
        else:
            value = text
    except (ValueError, TypeError, KeyError):
        raise InvalidTopicConfig(
            f"Invalid value {text} for configuration {name}: Not of type {kind}"
        ) from None
    among = checks.get("among")
    if among is not None and not (set(value) if kind == "LIST" else {value}) <= among:
        raise InvalidTopicConfig(
            f"Invalid value {text} for configuration {name}: must be of {', '.join(sorted(among))}"
        )
    if among is not None and not value:
        raise InvalidTopicConfig(f"Invalid value for configuration {name}: must not be empty")
    if "at_least" in checks and value < checks["at_least"]:
        raise InvalidTopicConfig(
            f"Invalid value {text} for configuration {name}: Value must be at least "
            f"{checks['at_least']}"
        )
    limit = checks.get("at_most", 2_147_483_647 if kind == "INT" else FOREVER)
    if kind in ("INT", "LONG", "DOUBLE") and value > limit:
        hint = f". {checks['hint']}" if "hint" in checks else ""
        raise InvalidTopicConfig(
            f"Invalid value {text} for configuration {name}: Value must be no more than "
            f"{limit}{hint}"
        )
    return value


def within_limits(overrides: Mapping[str, str]) -> dict[str, str]:
    """Returns stored overrides with a batch limit that this version accepts.

    Earlier versions accepted a `max.message.bytes` above LARGEST_BATCH.
    """
    try:
        is_above = int(overrides.get(_MAX_MESSAGE_BYTES, 0)) > LARGEST_BATCH
    except ValueError:  # `TopicConfig.of` refuses it with a clear error
        is_above = False
    return {**overrides, _MAX_MESSAGE_BYTES: str(LARGEST_BATCH)} if is_above else dict(overrides)
