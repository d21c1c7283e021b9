"""Settings of topics, groups and the broker in the admin APIs."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from holdfast.broker.dynamic_file import Dynamic, Overrides
from holdfast.broker.groups.budget import LONGEST_GROUP_ID
from holdfast.broker.groups.group_settings import (
    DESCRIPTIONS,
    GroupSettings,
    InvalidGroupConfig,
)
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.topic_config import InvalidTopicConfig, TopicConfig, definitions
from holdfast.broker.topic_defaults import TOPIC_NAMES, ConfigSource, TopicDefaults
from holdfast.broker.topic_rules import TopicError
from holdfast.broker.topics import Topic
from holdfast.broker.work import Work
from holdfast.config import settings_in
from holdfast.wire.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


log = logging.getLogger(__name__)

MOST_CONFIGURED_GROUPS = 10_000


class ResourceType(IntEnum):
    """Kafka's types of resources that have settings here."""

    TOPIC = 2
    BROKER = 4
    GROUP = 32


class ConfigType(IntEnum):
    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


class ConfigEntry(NamedTuple):
    """One setting with its present value and its default."""

    name: str
    value: str | None
    default: str | None
    source: ConfigSource
    type: ConfigType
    documentation: str
    read_only: bool = False


def topic_entries(topic: Topic, defaults: TopicDefaults) -> list[ConfigEntry]:
    config, overrides = topic.config, topic.overrides
    sources = {} if topic.internal else defaults.sources
    builtin = TopicConfig().described()
    kinds = definitions()
    return [
        ConfigEntry(
            name,
            value,
            builtin[name],
            ConfigSource.TOPIC if name in overrides else sources.get(name, ConfigSource.DEFAULT),
            ConfigType[kinds[name][0]],
            kinds[name][1],
        )
        for name, value in config.described().items()
    ]


def group_entries(
    settings: GroupSettings, group_id: str, overrides: Overrides
) -> list[ConfigEntry]:
    if not group_id:
        raise no_default_group()
    defaults = settings.described(None)
    return [
        ConfigEntry(
            name,
            value,
            defaults[name],
            ConfigSource.GROUP if name in overrides else ConfigSource.DEFAULT,
            ConfigType.INT,
            DESCRIPTIONS[name],
        )
        for name, value in settings.described(group_id).items()
    ]


def no_default_group() -> TopicError:
    return TopicError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")


_KAFKA_NAMES = {
    "listen": "listeners",
    "advertised": "advertised.listeners",
    "data_dir": "log.dirs",
    "auto_create_topics": "auto.create.topics.enable",
    "default_partitions": "num.partitions",
    "oauth_jwks": "sasl.oauthbearer.jwks.endpoint.url",
    "oauth_issuer": "sasl.oauthbearer.expected.issuer",
    "oauth_audience": "sasl.oauthbearer.expected.audience",
    "oauth_principal_claim": "sasl.oauthbearer.sub.claim.name",
    "connections_max_reauth_ms": "connections.max.reauth.ms",
    "super_users": "super.users",
    "log_retention_ms": "log.retention.ms",
    "log_retention_bytes": "log.retention.bytes",
    "log_segment_bytes": "log.segment.bytes",
    "message_max_bytes": "message.max.bytes",
    "max_connections": "max.connections",
    "max_request_bytes": "socket.request.max.bytes",
    "fetch_max_bytes": "fetch.max.bytes",
    "group_min_session_timeout_ms": "group.min.session.timeout.ms",
    "group_max_session_timeout_ms": "group.max.session.timeout.ms",
    "group_initial_rebalance_delay_ms": "group.initial.rebalance.delay.ms",
    "group_consumer_session_timeout_ms": "group.consumer.session.timeout.ms",
    "group_consumer_min_session_timeout_ms": "group.consumer.min.session.timeout.ms",
    "group_consumer_max_session_timeout_ms": "group.consumer.max.session.timeout.ms",
    "group_consumer_heartbeat_interval_ms": "group.consumer.heartbeat.interval.ms",
    "group_consumer_min_heartbeat_interval_ms": "group.consumer.min.heartbeat.interval.ms",
    "group_consumer_max_heartbeat_interval_ms": "group.consumer.max.heartbeat.interval.ms",
    "offsets_retention_minutes": "offsets.retention.minutes",
    "transaction_max_timeout_ms": "transaction.max.timeout.ms",
    "transactional_id_expiration_ms": "transactional.id.expiration.ms",
    "producer_id_expiration_ms": "producer.id.expiration.ms",
}
"""Broker settings with the same meaning in Kafka. The others are shown as `holdfast.…`."""


def broker_entries(
    settings: BrokerSettings, advertised: tuple[str, int], dynamic: Dynamic
) -> list[ConfigEntry]:
    """All settings of the broker. Few can be changed while it runs."""
    changed = {
        **{e.name: e for e in _dynamic_entries(dynamic.broker_defaults, False)},
        **{e.name: e for e in _dynamic_entries(dynamic.broker, True)},
    }
    return [changed.get(entry.name, entry) for entry in _static_entries(settings, advertised)]


def broker_default_entries(dynamic: Dynamic) -> list[ConfigEntry]:
    """Settings of all brokers that clients have changed."""
    return _dynamic_entries(dynamic.broker_defaults, False)


def _dynamic_entries(overrides: Overrides, is_of_this: bool) -> list[ConfigEntry]:
    builtin = TopicConfig().described()
    source = ConfigSource.DYNAMIC_BROKER if is_of_this else ConfigSource.DYNAMIC_DEFAULT_BROKER
    return [
        ConfigEntry(
            name,
            value,
            builtin[TOPIC_NAMES[name]],
            source,
            ConfigType.LONG,
            f"The default of {TOPIC_NAMES[name]} of topics.",
        )
        for name, value in overrides.items()
    ]


def _static_entries(settings: BrokerSettings, advertised: tuple[str, int]) -> list[ConfigEntry]:
    settings = replace(settings, advertised="{}:{}".format(*advertised))
    defaults = BrokerSettings()
    entries = []
    settable = settings_in(BrokerSettings)
    for field in fields(settings):
        value, default = getattr(settings, field.name), getattr(defaults, field.name)
        name = field.name
        origin = f"HOLDFAST_BROKER_{name.upper()}, or {name} in [broker] of holdfast.toml."
        entries.append(
            ConfigEntry(
                _KAFKA_NAMES.get(field.name) or f"holdfast.{field.name.replace('_', '.')}",
                _text(field.name, value),
                _text(field.name, default),
                ConfigSource.DEFAULT if value == default else ConfigSource.STATIC_BROKER,
                _type_of(value),
                origin if name in settable else "This value is fixed.",
                read_only=_KAFKA_NAMES.get(name) not in TOPIC_NAMES,
            )
        )
    return entries


def _text(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if name in ("listen", "advertised"):
        return ",".join(
            item if "://" in item else f"PLAINTEXT://{item}" for item in value.split(",")
        )
    return str(value)


def _type_of(value: Any) -> ConfigType:
    types = {bool: ConfigType.BOOLEAN, int: ConfigType.LONG, float: ConfigType.DOUBLE}
    return types.get(type(value), ConfigType.STRING)


def refuse_internal(topic: Topic) -> None:
    """Refuses changes of internal topics. Kafka allows them, and groups then lose their offsets."""
    if topic.internal:
        raise TopicError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"{topic.name} holds the broker's own state: it cannot be changed or deleted.",
        )


def alterable_topic(broker: "Broker", resource_type: int, name: str) -> Topic:
    """The topic whose settings a request changes; raises TopicError if it cannot."""
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


class Configured(Protocol):
    """A topic, a group or a broker, with its own settings."""

    @property
    def overrides(self) -> Mapping[str, str]: ...


class ConfiguredByClients(NamedTuple):
    overrides: Mapping[str, str]


class _Resource(Protocol):
    resource_type: int
    resource_name: str


R = TypeVar("R", bound=_Resource)


Key = tuple[int, str]
Refusals = dict[Key, TopicError]


def alter_resources(
    broker: "Broker",
    resources: Sequence[R],
    overrides_of: Callable[[Configured, R], dict[str, str]],
    validate_only: bool,
) -> Work[list[tuple[ErrorCode, str | None, int, str]]]:
    """Gives each topic, group and broker the settings that `overrides_of` returns. Returns the
    fields of a resource in the response: error code, message, type and name."""
    named = {(each.resource_type, each.resource_name): each for each in resources}
    times = Counter((each.resource_type, each.resource_name) for each in resources)
    refused: Refusals = {}
    changes: dict[str, dict[str, str]] = {}
    dynamic: dict[Key, R] = {}
    for which, resource in named.items():
        try:
            if times[which] > 1:
                raise TopicError(
                    ErrorCode.INVALID_REQUEST, "Each resource must appear at most once."
                )
            if which[0] in (ResourceType.GROUP, ResourceType.BROKER):
                dynamic[which] = resource
            else:
                topic = alterable_topic(broker, *which)
                changes[topic.name] = overrides_of(topic, resource)
        except TopicError as error:
            refused[which] = error
        yield None
    errors = yield from broker.topics.alter_all(changes, validate_only=validate_only)
    refused |= {(int(ResourceType.TOPIC), name): error for name, error in errors.items() if error}
    if dynamic:
        refused |= yield from _alter_dynamic(broker, dynamic, overrides_of, validate_only)
    response: list[tuple[ErrorCode, str | None, int, str]] = []
    for which in named:
        failure = refused.get(which)
        code, message = (failure.error_code, failure.message) if failure else (ErrorCode.NONE, None)
        response.append((code, message, *which))
    return response


def _alter_dynamic(
    broker: "Broker",
    resources: Mapping[Key, R],
    overrides_of: Callable[[Configured, R], dict[str, str]],
    validate_only: bool,
) -> Work[Refusals]:
    refused: Refusals = {}

    def edit(dynamic: Dynamic) -> Work[Dynamic]:
        changed = replace(dynamic, groups=(groups := dict(dynamic.groups)))
        for which, resource in resources.items():
            yield None
            try:
                if which[0] == ResourceType.GROUP:
                    _change_group(broker, groups, resource, overrides_of)
                else:
                    changed = _with_broker(broker, changed, resource, overrides_of)
            except TopicError as error:
                refused[which] = error
        return dynamic if validate_only else changed

    try:
        yield from broker.dynamic.change(edit)
    except OSError as error:
        log.error("Changed settings cannot be saved: %s", error)
        text = "The change cannot be saved: the disk refused it."
        return dict.fromkeys(resources, TopicError(ErrorCode.KAFKA_STORAGE_ERROR, text))
    return refused


def _change_group(
    broker: "Broker",
    groups: dict[str, Overrides],
    resource: R,
    overrides_of: Callable[[Configured, R], dict[str, str]],
) -> None:
    group_id = resource.resource_name
    overrides = overrides_of(ConfiguredByClients(groups.get(group_id, {})), resource)
    _check_group(broker, group_id, overrides, len(groups) - (group_id in groups))
    groups.pop(group_id, None)
    if overrides:
        groups[group_id] = overrides


def _with_broker(
    broker: "Broker",
    dynamic: Dynamic,
    resource: R,
    overrides_of: Callable[[Configured, R], dict[str, str]],
) -> Dynamic:
    name = resource.resource_name
    if name not in ("", str(broker.node_id)):
        raise TopicError(ErrorCode.INVALID_REQUEST, f"This is broker {broker.node_id}, not {name}.")
    present = dynamic.broker if name else dynamic.broker_defaults
    overrides = overrides_of(ConfiguredByClients(present), resource)
    try:
        TopicDefaults.check(overrides)
    except InvalidTopicConfig as error:
        raise TopicError(ErrorCode.INVALID_REQUEST, str(error)) from None
    if name:
        return replace(dynamic, broker=overrides)
    return replace(dynamic, broker_defaults=overrides)


def _check_group(broker: "Broker", group_id: str, overrides: Mapping[str, str], count: int) -> None:
    if not group_id:
        raise no_default_group()
    if len(group_id.encode()) > LONGEST_GROUP_ID:
        raise TopicError(ErrorCode.INVALID_REQUEST, "The group id is too long.")
    if overrides and count >= MOST_CONFIGURED_GROUPS:
        raise TopicError(
            ErrorCode.POLICY_VIOLATION,
            f"{MOST_CONFIGURED_GROUPS} groups have settings of their own already, the maximum.",
        )
    try:
        broker.groups.settings.check(overrides)
    except InvalidGroupConfig as error:
        raise TopicError(ErrorCode.INVALID_CONFIG, str(error)) from None
