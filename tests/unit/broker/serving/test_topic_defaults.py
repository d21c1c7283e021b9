"""Broker-wide defaults for topics, from settings and changed while the broker runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.broker.serving.raw import RawClient, produce_frame, serving

from holdfast.broker.broker import Broker
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.topic_rules import NewTopic
from holdfast.broker.topics import Topics
from holdfast.broker.work import STAY, OnThread, Work, finish
from holdfast.errors import ConfigError
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated import (
    describe_configs_request,
    incremental_alter_configs_request,
)

TOPIC, BROKER = 2, 4
SET, DELETE = 0, 1
OF_TOPIC, DYNAMIC, DYNAMIC_DEFAULT, STATIC, DEFAULT = 1, 2, 3, 4, 5


async def change(client: RawClient, name: str, config: str, value: str | None) -> int:
    module = incremental_alter_configs_request
    operation = DELETE if value is None else SET
    resource = module.AlterConfigsResource(
        BROKER, name, [module.AlterableConfig(config, operation, value)]
    )
    request = module.IncrementalAlterConfigsRequest([resource])
    (result,) = (await client.call("incremental_alter_configs", 1, request)).responses
    return int(result.error_code)


async def described(client: RawClient, kind: int, name: str, config: str) -> Any:
    module = describe_configs_request
    request = module.DescribeConfigsRequest([module.DescribeConfigsResource(kind, name, [config])])
    (result,) = (await client.call("describe_configs", 4, request)).results
    return [(each.value, each.config_source) for each in result.configs]


async def send(client: RawClient, topic: str, size: int) -> int:
    await client.send(produce_frame(topic, 0, b"v" * size))
    _, reply = await client.reply("produce", 9)
    return int(reply.responses[0].partition_responses[0].error_code)


async def test_topics_have_the_default_of_the_broker_unless_they_have_their_own(
    tmp_path: Path,
) -> None:
    async with (
        serving(tmp_path, message_max_bytes=2_000) as served,
        await served.client() as client,
    ):
        served.broker.topics.create("small", 1, {})
        served.broker.topics.create("own", 1, {"max.message.bytes": "5000"})
        assert await send(client, "small", 3_000) == ErrorCode.MESSAGE_TOO_LARGE
        assert await send(client, "own", 3_000) == 0
        name = "max.message.bytes"
        assert await described(client, TOPIC, "small", name) == [("2000", STATIC)]
        assert await described(client, TOPIC, "own", name) == [("5000", OF_TOPIC)]
        internal = await described(client, TOPIC, "__consumer_offsets", name)
        assert internal == [("1048588", DEFAULT)]


async def test_default_changes_while_the_broker_runs_and_survives_its_restart(
    tmp_path: Path,
) -> None:
    name = "message.max.bytes"
    async with serving(tmp_path) as served, await served.client() as client:
        served.broker.topics.create("t", 1, {})
        assert await send(client, "t", 3_000) == 0
        assert await change(client, "", name, "2000") == 0
        assert await send(client, "t", 3_000) == ErrorCode.MESSAGE_TOO_LARGE
        assert await described(client, BROKER, "", name) == [("2000", DYNAMIC_DEFAULT)]
        assert await change(client, "1", name, "4000") == 0
        assert await send(client, "t", 3_000) == 0
        assert await described(client, BROKER, "1", name) == [("4000", DYNAMIC)]
        assert await described(client, TOPIC, "t", "max.message.bytes") == [("4000", DYNAMIC)]
    async with serving(tmp_path) as served, await served.client() as client:
        assert await send(client, "t", 5_000) == ErrorCode.MESSAGE_TOO_LARGE
        assert await change(client, "1", name, None) == 0
        assert await send(client, "t", 3_000) == ErrorCode.MESSAGE_TOO_LARGE
        assert await change(client, "", name, None) == 0
        assert await send(client, "t", 5_000) == 0
        assert await described(client, BROKER, "", name) == []


@pytest.mark.parametrize(
    "change_of",
    [
        lambda topics: topics.create_all([NewTopic("new", 1, {})]),
        lambda topics: topics.grow_all({"old": 2}),
        lambda topics: topics.alter_all({"old": {"retention.ms": "5000"}}),
    ],
    ids=["create", "grow", "alter"],
)
async def test_default_that_changes_while_a_topic_is_saved_applies_to_it(
    tmp_path: Path, change_of: Callable[[Topics], Work[Any]]
) -> None:
    async with serving(tmp_path) as served:
        topics = served.broker.topics
        topics.create("old", 1, {})
        work = change_of(topics)
        for step in work:
            if isinstance(step, OnThread):  # the event loop is free meanwhile
                step.run()
                assert topics.defaults.load({"message.max.bytes": "2000"}, {})
                finish(topics.apply_defaults())
        for name in set(topics.names()) & {"old", "new"}:
            topic = served.topic(name)
            found = [each.log.config for each in topic.partitions]
            assert [each.max_message_bytes for each in (topic.config, *found)] == [2_000] * (
                1 + len(found)
            )


async def test_changed_default_lets_other_requests_run_between_topics(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        topics = served.broker.topics
        for name in ("a", "b", "c"):
            topics.create(name, 1, {})
        assert topics.defaults.load({"message.max.bytes": "2000"}, {})
        work = topics.apply_defaults()
        assert next(work) is STAY  # it goes on also if its client leaves
        topics.delete("b")
        finish(work)
        assert {served.topic(name).config.max_message_bytes for name in ("a", "c")} == {2_000}


@pytest.mark.parametrize(
    ("name", "config", "value", "error"),
    [
        ("", "num.partitions", "5", ErrorCode.INVALID_REQUEST),
        ("1", "no.such.setting", "5", ErrorCode.INVALID_REQUEST),
        ("", "message.max.bytes", "x", ErrorCode.INVALID_REQUEST),
        ("", "message.max.bytes", "999999999", ErrorCode.INVALID_REQUEST),
        ("7", "message.max.bytes", "5000", ErrorCode.INVALID_REQUEST),
    ],
)
async def test_odd_default_is_refused(
    tmp_path: Path, name: str, config: str, value: str, error: ErrorCode
) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        assert await change(client, name, config, value) == error
        assert not served.broker.topics.defaults.sources


async def test_odd_setting_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="log_segment_bytes"):
        Broker(BrokerSettings(data_dir=tmp_path, log_segment_bytes=1))
