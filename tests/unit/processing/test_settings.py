"""How our consumer interprets an Arroyo configuration."""

from typing import Any

import pytest
from arroyo.backends.kafka import build_kafka_consumer_configuration

from holdfast.processing.kafka_settings import KafkaSettings


def settings(**overrides: Any) -> KafkaSettings:
    named = {name.replace("_", "."): value for name, value in overrides.items()}
    base = {"enable.auto.commit": False, "enable.auto.offset.store": "false", "group.id": "g"}
    return KafkaSettings.of({**base, **named})


def test_arroyos_own_configuration_is_accepted() -> None:
    built = KafkaSettings.of(
        build_kafka_consumer_configuration({}, "g", bootstrap_servers=["127.0.0.1:1"])
    )
    assert built.auto_commit
    assert built.librdkafka["enable.auto.commit"] is True
    assert built.librdkafka["enable.auto.offset.store"] is False
    assert built.start == "earliest"
    assert built.group_id == "g"
    assert not [name for name in built.librdkafka if name.startswith("arroyo.")]


@pytest.mark.parametrize(
    ("reset", "start"),
    [("smallest", "earliest"), ("beginning", "earliest"), ("end", "latest"), ("error", "error")],
)
def test_start_offsets_are_explicit_and_librdkafka_does_not_jump(reset: str, start: str) -> None:
    made = settings(auto_offset_reset=reset)
    assert made.start == start
    assert made.librdkafka["auto.offset.reset"] == "error"


def test_offset_jumps_can_be_enabled() -> None:
    made = settings(auto_offset_reset="earliest", arroyo_strict_offset_reset=False)
    assert made.librdkafka["auto.offset.reset"] == "earliest"


@pytest.mark.parametrize(
    ("overrides", "incremental"),
    [
        ({}, False),
        ({"partition_assignment_strategy": "range,roundrobin"}, False),
        ({"partition_assignment_strategy": "cooperative-sticky"}, True),
        ({"group_protocol": "consumer"}, True),
    ],
)
def test_the_kind_of_rebalance_follows_the_configuration(
    overrides: dict[str, Any], incremental: bool
) -> None:
    assert settings(**overrides).incremental is incremental


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        ({"auto_offset_reset": "sometimes"}, "auto.offset.reset"),
        ({"enable_auto_commit": True}, "enable.auto.commit"),
        ({"enable_auto_offset_store": "1"}, "enable.auto.offset.store"),
        ({"enable_auto_commit": "perhaps"}, "perhaps"),
    ],
)
def test_unusable_configurations_are_refused(overrides: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        settings(**overrides)
