"""Topic settings: names, defaults and checks are Kafka's, for those that this broker acts on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

FOREVER = 9223372036854775807
"""Kafka writes "never" as the largest long in some settings, and as -1 in others."""

ConfigType = Literal["BOOLEAN", "STRING", "INT", "LONG", "DOUBLE", "LIST"]


class InvalidTopicConfig(ValueError):
    """A name or value that is refused, in words for the one who sent it."""


def _setting(
    name: str, default: Any, type_: ConfigType, doc: str, **checks: Any
) -> Any:  # a dataclass field; Any as in dataclasses.field
    return field(
        default=default, metadata={"name": name, "type": type_, "doc": doc, "checks": checks}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    """Every setting of a topic, with its value in force."""

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
        "max.message.bytes", 1_048_588, "INT", "Largest record batch taken.", at_least=0
    )
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
        "Batches are stored as the producer compressed them; only `producer` is taken.",
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
    # Existing scripts set these. They are taken and shown, so that such scripts run unchanged.
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
        "Without effect: dropped files go at once, and those who read them go on.", at_least=0,
    )  # fmt: skip
    preallocate: bool = _setting(
        "preallocate", False, "BOOLEAN", "Without effect: segments grow as they are written."
    )
    segment_index_bytes: int = _setting(
        "segment.index.bytes", 10_485_760, "INT",
        "Without effect: an index grows with its segment.", at_least=4,
    )  # fmt: skip
    segment_jitter_ms: int = _setting(
        "segment.jitter.ms", 0, "LONG", "Without effect: one disk rolls no herd.", at_least=0
    )

    @property
    def compacted(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def deletes(self) -> bool:
        return "delete" in self.cleanup_policy

    @classmethod
    def of(cls, overrides: Mapping[str, str]) -> "TopicConfig":
        """The settings of a topic that gives `overrides` by their Kafka names."""
        known = {f.metadata["name"]: f for f in fields(cls)}
        values: dict[str, Any] = {}
        for name, text in overrides.items():
            if name not in known:
                raise InvalidTopicConfig(f"Unknown topic config name: {name}")
            values[known[name].name] = _parse(known[name].metadata, text)
        return cls(**values)

    def described(self) -> "dict[str, str]":
        """Kafka names and values in force, as DescribeConfigs shows them."""
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
        raise InvalidTopicConfig(
            f"Invalid value {text} for configuration {name}: Value must be no more than {limit}"
        )
    return value
