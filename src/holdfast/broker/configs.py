"""Settings of topics and of the broker, as admin tools see and change them."""

from collections.abc import Mapping
from dataclasses import fields, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.broker.settings import BrokerSettings
from holdfast.broker.topic_config import TopicConfig, definitions
from holdfast.broker.topics import Topic, TopicError
from holdfast.wire.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


class ResourceType(IntEnum):
    """What has settings here, of Kafka's kinds."""

    TOPIC = 2
    BROKER = 4


class ConfigSource(IntEnum):
    """Where a value comes from."""

    TOPIC = 1
    STATIC_BROKER = 4
    DEFAULT = 5


class ConfigType(IntEnum):
    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


class ConfigEntry(NamedTuple):
    """One setting with its value in force, and the one that it would have if nobody had set it."""

    name: str
    value: str | None
    default: str | None
    source: ConfigSource
    type: ConfigType
    documentation: str
    read_only: bool = False


def topic_entries(config: TopicConfig, overrides: Mapping[str, str]) -> list[ConfigEntry]:
    defaults = TopicConfig().described()
    kinds = definitions()
    return [
        ConfigEntry(
            name,
            value,
            defaults[name],
            ConfigSource.TOPIC if name in overrides else ConfigSource.DEFAULT,
            ConfigType[kinds[name][0]],
            kinds[name][1],
        )
        for name, value in config.described().items()
    ]


_KAFKA_NAMES = {
    "listen": "listeners",
    "advertised": "advertised.listeners",
    "data_dir": "log.dirs",
    "auto_create_topics": "auto.create.topics.enable",
    "default_partitions": "num.partitions",
    "max_connections": "max.connections",
    "max_request_bytes": "socket.request.max.bytes",
    "fetch_max_bytes": "fetch.max.bytes",
    "group_min_session_timeout_ms": "group.min.session.timeout.ms",
    "group_max_session_timeout_ms": "group.max.session.timeout.ms",
    "group_initial_rebalance_delay_ms": "group.initial.rebalance.delay.ms",
    "offsets_retention_minutes": "offsets.retention.minutes",
    "transaction_max_timeout_ms": "transaction.max.timeout.ms",
    "transactional_id_expiration_ms": "transactional.id.expiration.ms",
    "producer_id_expiration_ms": "producer.id.expiration.ms",
}
"""Broker settings that mean what Kafka means by these names. The others are shown as ours."""


def broker_entries(settings: BrokerSettings, advertised: tuple[str, int]) -> list[ConfigEntry]:
    """Every setting of the broker. None can be changed while it runs."""
    settings = replace(settings, advertised="{}:{}".format(*advertised))
    defaults = BrokerSettings()
    entries = []
    for field in fields(settings):
        value, default = getattr(settings, field.name), getattr(defaults, field.name)
        entries.append(
            ConfigEntry(
                _KAFKA_NAMES.get(field.name) or f"holdfast.{field.name.replace('_', '.')}",
                _text(field.name, value),
                _text(field.name, default),
                ConfigSource.DEFAULT if value == default else ConfigSource.STATIC_BROKER,
                _type_of(value),
                f"HOLDFAST_BROKER_{field.name.upper()}, or {field.name} in [broker] of "
                "holdfast.toml.",
                read_only=True,
            )
        )
    return entries


def _text(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return f"PLAINTEXT://{value}" if name in ("listen", "advertised") else str(value)


def _type_of(value: Any) -> ConfigType:
    types = {bool: ConfigType.BOOLEAN, int: ConfigType.LONG, float: ConfigType.DOUBLE}
    return types.get(type(value), ConfigType.STRING)


def refuse_internal(topic: Topic) -> None:
    """Kafka lets internal topics be deleted and changed, and groups lose their offsets by it."""
    if topic.internal:
        raise TopicError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"{topic.name} holds the broker's own state: it cannot be changed or deleted.",
        )


def alterable_topic(broker: "Broker", resource_type: int, name: str) -> Topic:
    """The topic whose settings a request wants to change, or the reason why it cannot."""
    if resource_type == ResourceType.BROKER:
        raise TopicError(
            ErrorCode.INVALID_REQUEST,
            "Settings of the broker are read when it starts. Change its flags, HOLDFAST_BROKER_* "
            "or holdfast.toml, and start it again.",
        )
    if resource_type != ResourceType.TOPIC:
        raise TopicError(
            ErrorCode.INVALID_REQUEST, f"Resource type {resource_type} has no settings."
        )
    topic = broker.topics.get(name)
    if topic is None:
        raise TopicError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
        )
    refuse_internal(topic)
    return topic
