"""Session and heartbeat times of consumer groups: of the broker, and of single groups."""

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.broker.settings import BrokerSettings
from holdfast.errors import ConfigError

SESSION_TIMEOUT, HEARTBEAT_INTERVAL = (
    "consumer.session.timeout.ms",
    "consumer.heartbeat.interval.ms",
)
NAMES = (HEARTBEAT_INTERVAL, SESSION_TIMEOUT)
DESCRIPTIONS = {
    SESSION_TIMEOUT: "A member that sends no heartbeat for this long is removed.",
    HEARTBEAT_INTERVAL: "How often members send heartbeats.",
}
LONGEST_NUMBER = 64
"""Python skips spaces and zeros around a number, and the text is kept."""


class InvalidGroupConfig(ValueError):
    """A refused name or value, with a message for the client."""


class _Times(NamedTuple):
    session_timeout_ms: int
    heartbeat_interval_ms: int


class GroupSettings:
    """The times of each group. Members use a change from their next heartbeat on."""

    def __init__(self, settings: BrokerSettings) -> None:
        """Raises ConfigError if the broker's own settings contradict each other."""
        self._defaults = _Times(
            settings.group_consumer_session_timeout_ms,
            settings.group_consumer_heartbeat_interval_ms,
        )
        self._bounds = {
            SESSION_TIMEOUT: _possible(
                settings.group_consumer_min_session_timeout_ms,
                settings.group_consumer_max_session_timeout_ms,
            ),
            HEARTBEAT_INTERVAL: _possible(
                settings.group_consumer_min_heartbeat_interval_ms,
                settings.group_consumer_max_heartbeat_interval_ms,
            ),
        }
        self._groups: dict[str, _Times] = {}
        try:
            self._check(self._defaults)
        except InvalidGroupConfig as error:
            raise ConfigError(
                f"The times of consumer groups contradict each other (group_consumer_* under "
                f"[broker]): {error}"
            ) from None

    def load(self, groups: Mapping[str, Mapping[str, str]]) -> None:
        """Overrides by group, which `check` has accepted. Bounds may have changed since then: a
        group whose values are outside has the broker's times."""
        self._groups = {}
        for group_id, overrides in groups.items():
            try:
                self._groups[group_id] = self.check(overrides)
            except InvalidGroupConfig:
                continue

    def check(self, overrides: Mapping[str, str]) -> _Times:
        """The times of a group with these overrides; raises InvalidGroupConfig."""
        for name in overrides:
            if name not in NAMES:
                raise InvalidGroupConfig(f"Unknown group config name: {name}")
        times = _Times(
            _number(overrides, SESSION_TIMEOUT, self._defaults.session_timeout_ms),
            _number(overrides, HEARTBEAT_INTERVAL, self._defaults.heartbeat_interval_ms),
        )
        self._check(times)
        return times

    def session_timeout_ms(self, group_id: str) -> int:
        return self._groups.get(group_id, self._defaults).session_timeout_ms

    def heartbeat_interval_ms(self, group_id: str) -> int:
        return self._groups.get(group_id, self._defaults).heartbeat_interval_ms

    def described(self, group_id: str | None) -> dict[str, str]:
        """Names and present values of a group; of None, the broker's."""
        times = self._defaults if group_id is None else self._groups.get(group_id, self._defaults)
        return {
            HEARTBEAT_INTERVAL: str(times.heartbeat_interval_ms),
            SESSION_TIMEOUT: str(times.session_timeout_ms),
        }

    def _check(self, times: _Times) -> None:
        for name, value in (
            (SESSION_TIMEOUT, times.session_timeout_ms),
            (HEARTBEAT_INTERVAL, times.heartbeat_interval_ms),
        ):
            least, most = self._bounds[name]
            if not least <= value <= most:
                raise InvalidGroupConfig(f"{name} must be {least} to {most}, not {value}.")
        if times.session_timeout_ms <= times.heartbeat_interval_ms:
            raise InvalidGroupConfig(f"{SESSION_TIMEOUT} must be above {HEARTBEAT_INTERVAL}.")


def _possible(least: int, most: int) -> tuple[int, int]:
    """The bounds as far as replies can have them. With 0, members would send without a pause."""
    return max(1, least), min(2**31 - 1, most)


def _number(overrides: Mapping[str, str], name: str, default: int) -> int:
    text = overrides.get(name)
    if text is None:
        return default
    try:
        if len(text) > LONGEST_NUMBER:
            raise ValueError("too long")
        return int(text)
    except ValueError:
        raise InvalidGroupConfig(
            f"Invalid value {text:.64} for configuration {name}: Not a number of type INT"
        ) from None
