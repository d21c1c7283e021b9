"""Broker-wide defaults for topics: from the broker's settings, or changed by clients as it runs."""

from collections.abc import Mapping
from enum import IntEnum

from holdfast.broker.settings import BrokerSettings
from holdfast.broker.topic_config import InvalidTopicConfig, TopicConfig

TOPIC_NAMES = {
    "log.retention.ms": "retention.ms",
    "log.retention.bytes": "retention.bytes",
    "log.segment.bytes": "segment.bytes",
    "message.max.bytes": "max.message.bytes",
}
"""Kafka's names of the broker's settings, and of those of topics that they are the default of."""


class ConfigSource(IntEnum):
    """Where a value comes from."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    GROUP = 8


class TopicDefaults:
    """The value of each setting, from the most specific source that has one."""

    def __init__(self, settings: BrokerSettings) -> None:
        """Raises InvalidTopicConfig if a setting cannot be used."""
        values = {
            "log.retention.ms": settings.log_retention_ms,
            "log.retention.bytes": settings.log_retention_bytes,
            "log.segment.bytes": settings.log_segment_bytes,
            "message.max.bytes": settings.message_max_bytes,
        }
        builtin = TopicConfig().described()
        self._static = {
            name: str(value)
            for name, value in values.items()
            if str(value) != builtin[TOPIC_NAMES[name]]
        }
        self.check(self._static)
        self.sources: dict[str, ConfigSource] = {}
        """By names of topic settings. All others have Kafka's default."""
        self._values: dict[str, str] = {}
        self.load({}, {})

    def load(self, of_all: Mapping[str, str], of_this: Mapping[str, str]) -> bool:
        """Takes the settings of all brokers and of this one. Returns True if a value changed."""
        values: dict[str, str] = {}
        for source, layer in (
            (ConfigSource.STATIC_BROKER, self._static),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER, of_all),
            (ConfigSource.DYNAMIC_BROKER, of_this),
        ):
            for name, value in layer.items():
                values[TOPIC_NAMES[name]] = value
                self.sources[TOPIC_NAMES[name]] = source
        self.sources = {name: self.sources[name] for name in values}
        is_changed = values != self._values
        self._values = values
        return is_changed

    @staticmethod
    def check(overrides: Mapping[str, str]) -> None:
        """Raises InvalidTopicConfig if these settings of a broker cannot be used."""
        for name in overrides:
            if name not in TOPIC_NAMES:
                raise InvalidTopicConfig(
                    f"{name} is read when the broker starts: change its flags, HOLDFAST_BROKER_* "
                    "or holdfast.toml, and start it again. While it runs, only "
                    f"{', '.join(TOPIC_NAMES)} can be changed."
                )
        TopicConfig.of({TOPIC_NAMES[name]: value for name, value in overrides.items()})

    def under(self, overrides: Mapping[str, str]) -> dict[str, str]:
        """The settings of a topic with these overrides."""
        return {**self._values, **overrides}
