"""Settings described and changed, on the wire."""

from typing import Any

import pytest
from tests.unit.broker.serving.raw import RawClient, Served

from holdfast.broker.api import incremental_alter_configs
from holdfast.broker.context import RequestContext
from holdfast.broker.groups.budget import LONGEST_GROUP_ID
from holdfast.broker.topic_defaults import TOPIC_NAMES
from holdfast.broker.work import OnThread
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated import (
    alter_configs_request,
    describe_configs_request,
    incremental_alter_configs_request,
)

TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


async def describe(
    client: RawClient,
    kind: int,
    name: str,
    keys: list[str] | None = None,
    *,
    version: int = 4,
    details: bool = False,
) -> Any:
    request = describe_configs_request.DescribeConfigsRequest(
        [describe_configs_request.DescribeConfigsResource(kind, name, keys)],
        include_synonyms=details,
        include_documentation=details,
    )
    (result,) = (await client.call("describe_configs", version, request)).results
    return result


async def change(
    client: RawClient,
    *changes: tuple[str, int, str | None],
    kind: int = TOPIC,
    name: str = "a",
    validate_only: bool = False,
    version: int = 1,
) -> Any:
    module = incremental_alter_configs_request
    request = module.IncrementalAlterConfigsRequest(
        [
            module.AlterConfigsResource(
                kind, name, [module.AlterableConfig(*change) for change in changes]
            )
        ],
        validate_only,
    )
    (result,) = (await client.call("incremental_alter_configs", version, request)).responses
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


async def replace(
    client: RawClient, settings: dict[str, str | None], version: int = 2, **fields: Any
) -> Any:
    module = alter_configs_request
    request = module.AlterConfigsRequest(
        [
            module.AlterConfigsResource(
                TOPIC, "a", [module.AlterableConfig(*item) for item in settings.items()]
            )
        ],
        **fields,
    )
    (result,) = (await client.call("alter_configs", version, request)).responses
    return result


@pytest.mark.parametrize("version", range(1, 5))
async def test_topic_settings_are_described_with_their_source(
    client: RawClient, version: int
) -> None:
    await change(client, ("retention.ms", SET, "1000"))
    result = await describe(client, TOPIC, "a", version=version)
    shown = {config.name: config for config in result.configs}
    assert (shown["retention.ms"].value, shown["retention.ms"].config_source) == ("1000", 1)
    assert (shown["cleanup.policy"].value, shown["cleanup.policy"].config_source) == ("delete", 5)
    assert not any(config.read_only or config.synonyms for config in result.configs)
    if version >= 3:
        assert (shown["retention.ms"].config_type, shown["cleanup.policy"].config_type) == (5, 7)


async def test_synonyms_show_the_default_behind_a_value(client: RawClient) -> None:
    await change(client, ("retention.ms", SET, "1000"))
    result = await describe(client, TOPIC, "a", ["retention.ms", "segment.ms"], details=True)
    first, second = sorted(result.configs, key=lambda config: config.name)
    assert [(s.value, s.source) for s in first.synonyms] == [("1000", 1), ("604800000", 5)]
    assert [(s.value, s.source) for s in second.synonyms] == [("604800000", 5)]
    assert first.documentation


@pytest.mark.parametrize("keys", [None, []])
async def test_request_without_names_describes_all_configs(
    client: RawClient, keys: list[str] | None
) -> None:
    assert len((await describe(client, TOPIC, "a", keys)).configs) > 10


async def test_the_settings_of_the_broker_are_shown_and_read_only(
    client: RawClient, served: Served
) -> None:
    result = await describe(client, BROKER, "1")
    shown = {config.name: config for config in result.configs}
    assert shown["log.dirs"].value == str(served.broker.settings.data_dir)
    assert shown["log.dirs"].config_source == 4
    assert shown["transaction.max.timeout.ms"].value == "900000"
    assert shown["auto.create.topics.enable"].value == "true"
    assert shown["advertised.listeners"].value == f"PLAINTEXT://127.0.0.1:{served.port}"
    assert shown["holdfast.flush"].value == "sync"
    assert {config.name for config in result.configs if not config.read_only} == set(TOPIC_NAMES)
    assert (await describe(client, BROKER, "")).configs == []


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        (TOPIC, "nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (BROKER, "7", ErrorCode.INVALID_REQUEST),
        (GROUP, "", ErrorCode.INVALID_REQUEST),
        (CLIENT_METRICS, "m", ErrorCode.INVALID_REQUEST),
    ],
)
async def test_resources_without_settings_are_refused(
    client: RawClient, kind: int, name: str, error: ErrorCode
) -> None:
    described = await describe(client, kind, name)
    changed = await change(client, ("retention.ms", SET, "1"), kind=kind, name=name)
    assert described.error_code == changed.error_code == error
    assert described.error_message
    assert changed.error_message


async def test_group_with_a_name_that_no_group_has_is_refused(
    client: RawClient, served: Served
) -> None:
    timeout = ("consumer.session.timeout.ms", SET, "50000")
    for length, error in ((LONGEST_GROUP_ID, 0), (LONGEST_GROUP_ID + 1, ErrorCode.INVALID_REQUEST)):
        changed = await change(client, timeout, kind=GROUP, name="g" * length)
        assert changed.error_code == error
    assert list(served.broker.dynamic.entries.groups) == ["g" * LONGEST_GROUP_ID]


async def test_change_of_many_groups_lets_other_requests_run(served: Served) -> None:
    module = incremental_alter_configs_request
    setting = module.AlterableConfig("consumer.session.timeout.ms", SET, "50000")
    resources = [module.AlterConfigsResource(GROUP, str(n), [setting]) for n in range(100)]
    request = module.IncrementalAlterConfigsRequest(resources)
    context = RequestContext(1, "test", "127.0.0.1", ("127.0.0.1", 9092))
    work = incremental_alter_configs.handle(served.broker, request, context)
    for pauses, step in enumerate(work):
        if isinstance(step, OnThread):
            assert pauses >= 2 * len(resources), "the groups are collected, and changed"
            step.run()
    assert len(served.broker.dynamic.entries.groups) == len(resources)


@pytest.mark.parametrize("version", [0, 1])
async def test_settings_are_set_reset_and_changed_as_lists(
    client: RawClient, served: Served, version: int
) -> None:
    topic = served.topic("a")
    steps = [
        (("retention.ms", SET, "5"), {"retention.ms": "5"}),
        (
            ("cleanup.policy", APPEND, "compact"),
            {"retention.ms": "5", "cleanup.policy": "delete,compact"},
        ),
        (
            ("cleanup.policy", SUBTRACT, "delete"),
            {"retention.ms": "5", "cleanup.policy": "compact"},
        ),
        (("cleanup.policy", APPEND, "compact"), {"retention.ms": "5", "cleanup.policy": "compact"}),
        (("retention.ms", DELETE, None), {"cleanup.policy": "compact"}),
        (("never.set", DELETE, None), {"cleanup.policy": "compact"}),
    ]
    for step, overrides in steps:
        assert (await change(client, step, version=version)).error_code == 0
        assert topic.overrides == overrides
    assert topic.partitions[0].log.config.compacted


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ([("retention.ms", SET, "soon")], ErrorCode.INVALID_CONFIG),
        ([("retention.ms", SET, None)], ErrorCode.INVALID_CONFIG),
        ([("no.such", SET, "1")], ErrorCode.INVALID_CONFIG),
        ([("no.such", APPEND, "1")], ErrorCode.INVALID_CONFIG),
        ([("retention.ms", APPEND, "1")], ErrorCode.INVALID_CONFIG),
        ([("cleanup.policy", SUBTRACT, "delete")], ErrorCode.INVALID_CONFIG),
        ([("cleanup.policy", 9, "delete")], ErrorCode.INVALID_REQUEST),
        ([("retention.ms", SET, "1"), ("retention.ms", DELETE, None)], ErrorCode.INVALID_REQUEST),
        ([("segment.ms", SET, "1"), ("retention.ms", SET, "soon")], ErrorCode.INVALID_CONFIG),
    ],
)
async def test_a_bad_change_leaves_everything_as_it_was(
    client: RawClient, served: Served, changes: list[tuple[str, int, str | None]], error: ErrorCode
) -> None:
    result = await change(client, *changes)
    assert result.error_code == error
    assert result.error_message
    assert served.topic("a").overrides == {}


async def test_the_brokers_own_topics_and_settings_stay(client: RawClient) -> None:
    internal = await change(client, ("retention.ms", SET, "1"), name="__consumer_offsets")
    assert internal.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    broker = await change(client, ("num.partitions", SET, "7"), kind=BROKER, name="1")
    assert broker.error_code == ErrorCode.INVALID_REQUEST
    assert "start it again" in broker.error_message


async def test_validation_alone_changes_nothing(client: RawClient, served: Served) -> None:
    good = await change(client, ("retention.ms", SET, "1"), validate_only=True)
    bad = await change(client, ("retention.ms", SET, "soon"), validate_only=True)
    assert (good.error_code, bad.error_code) == (0, ErrorCode.INVALID_CONFIG)
    assert (await replace(client, {"retention.ms": "1"}, validate_only=True)).error_code == 0
    assert served.topic("a").overrides == {}


@pytest.mark.parametrize("version", range(3))
async def test_altering_replaces_all_settings(
    client: RawClient, served: Served, version: int
) -> None:
    await replace(client, {"retention.ms": "5", "segment.ms": "6"}, version)
    await replace(client, {"retention.ms": "7"}, version)
    assert served.topic("a").overrides == {"retention.ms": "7"}
    assert (await replace(client, {"no.such": "1"}, version)).error_code == ErrorCode.INVALID_CONFIG
    missing = await replace(client, {"retention.ms": None}, version)
    assert missing.error_code == ErrorCode.INVALID_CONFIG
    assert served.topic("a").overrides == {"retention.ms": "7"}
