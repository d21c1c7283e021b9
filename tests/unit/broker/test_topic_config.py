"""Topic settings are parsed, checked and described by their Kafka names."""

import pytest

from holdfast.broker.topic_config import LARGEST_BATCH, InvalidTopicConfig, TopicConfig, definitions


def test_defaults_are_kafkas() -> None:
    described = TopicConfig().described()
    assert described["retention.ms"] == "604800000"
    assert described["cleanup.policy"] == "delete"
    assert described["max.message.bytes"] == "1048588"


def test_overrides_are_taken_and_described() -> None:
    config = TopicConfig.of({"cleanup.policy": "compact, delete", "retention.ms": "-1"})
    assert config.compacted
    assert config.deletes
    assert config.described()["cleanup.policy"] == "compact,delete"
    assert config.described()["retention.ms"] == "-1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("no.such.setting", "1"),
        ("retention.ms", "soon"),
        ("retention.ms", "-2"),
        ("segment.bytes", "13"),
        ("segment.bytes", "2147483648"),
        ("cleanup.policy", "keep"),
        ("cleanup.policy", ""),
        ("message.timestamp.type", "Whenever"),
        ("min.cleanable.dirty.ratio", "1.5"),
        ("preallocate", "perhaps"),
        ("compression.type", "zstd"),
    ],
)
def test_unusable_setting_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InvalidTopicConfig, match=name.replace(".", r"\.")):
        TopicConfig.of({name: value})


def test_batch_limit_above_what_one_step_may_write_is_refused_with_the_reason() -> None:
    most = {"max.message.bytes": str(LARGEST_BATCH)}
    assert TopicConfig.of(most).max_message_bytes == LARGEST_BATCH
    with pytest.raises(InvalidTopicConfig, match=f"no more than {LARGEST_BATCH}.*delay.*Split"):
        TopicConfig.of({"max.message.bytes": str(LARGEST_BATCH + 1)})


def test_unused_kafka_settings_of_scripts_are_accepted_and_shown() -> None:
    given = {"preallocate": "TRUE", "flush.messages": "1", "segment.jitter.ms": "5"}
    described = TopicConfig.of(given).described()
    assert described["preallocate"] == "true"
    assert described["flush.messages"] == "1"


def test_every_setting_is_documented() -> None:
    assert definitions().keys() == TopicConfig().described().keys()
    assert all(text for _, text in definitions().values())
