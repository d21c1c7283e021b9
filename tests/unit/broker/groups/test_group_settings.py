"""Session and heartbeat times of consumer groups."""

from typing import Any

import pytest
from tests.unit.broker.groups.consumers import NewConsumer, beat, group_of, settle
from tests.unit.broker.groups.world import GROUP, World

from holdfast.broker.groups.group_settings import (
    HEARTBEAT_INTERVAL,
    SESSION_TIMEOUT,
    GroupSettings,
    InvalidGroupConfig,
)
from holdfast.broker.settings import BrokerSettings
from holdfast.errors import ConfigError


@pytest.mark.parametrize(("timeout", "survives"), [(None, False), ("60000", True)])
def test_group_has_the_session_timeout_that_it_was_given(
    timeout: str | None, survives: bool
) -> None:
    with World() as world:
        world.topics.put("events", 6)
        if timeout is not None:
            world.groups.settings.load({GROUP: {SESSION_TIMEOUT: timeout}})
        one = NewConsumer("one")
        settle(world, one)
        world.advance(50_000)
        assert bool(group_of(world).members) is survives


def test_change_applies_from_the_next_heartbeat_on() -> None:
    with World() as world:
        world.topics.put("events", 6)
        one = NewConsumer("one")
        settle(world, one)
        world.groups.settings.load({GROUP: {SESSION_TIMEOUT: "60000"}})
        beat(world, one)
        world.advance(50_000)
        assert group_of(world).members
        world.groups.settings.load({})
        beat(world, one)
        world.advance(50_000)
        assert not group_of(world).members


@pytest.mark.parametrize(
    "overrides",
    [
        {SESSION_TIMEOUT: "44999"},
        {SESSION_TIMEOUT: "60001"},
        {SESSION_TIMEOUT: "soon"},
        {SESSION_TIMEOUT: ""},
        {SESSION_TIMEOUT: " " * 10_000 + "50000"},
        {HEARTBEAT_INTERVAL: "4999"},
        {HEARTBEAT_INTERVAL: "15001"},
        {"share.session.timeout.ms": "50000"},
        {"cleanup.policy": "compact"},
    ],
)
def test_odd_settings_are_refused(overrides: dict[str, str]) -> None:
    with pytest.raises(InvalidGroupConfig):
        GroupSettings(BrokerSettings()).check(overrides)


def test_session_must_outlast_a_heartbeat() -> None:
    settings = BrokerSettings(group_consumer_min_session_timeout_ms=1_000)
    with pytest.raises(InvalidGroupConfig, match="above"):
        GroupSettings(settings).check({SESSION_TIMEOUT: "5000"})


@pytest.mark.parametrize(
    "settings",
    [
        {"group_consumer_session_timeout_ms": 1_000},
        {
            "group_consumer_heartbeat_interval_ms": 0,
            "group_consumer_min_heartbeat_interval_ms": 0,
        },
        {
            "group_consumer_heartbeat_interval_ms": 2**31,
            "group_consumer_max_heartbeat_interval_ms": 2**32,
            "group_consumer_session_timeout_ms": 2**32,
            "group_consumer_max_session_timeout_ms": 2**32,
        },
    ],
)
def test_odd_settings_of_the_broker_stop_its_start(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="group_consumer"):
        GroupSettings(BrokerSettings(**settings))


def test_stored_settings_beyond_new_bounds_have_no_effect() -> None:
    settings = GroupSettings(BrokerSettings())
    settings.load({"g": {SESSION_TIMEOUT: "99999999"}, "h": {HEARTBEAT_INTERVAL: "6000"}})
    assert settings.session_timeout_ms("g") == 45_000
    assert settings.heartbeat_interval_ms("h") == 6_000
