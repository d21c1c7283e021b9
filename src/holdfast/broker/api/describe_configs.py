"""DescribeConfigs: settings of topics, groups and this broker, with the source of each value."""

from typing import TYPE_CHECKING

from holdfast.broker.api.once import Once
from holdfast.broker.configs import (
    ConfigEntry,
    ResourceType,
    broker_default_entries,
    broker_entries,
    group_entries,
    topic_entries,
)
from holdfast.broker.context import RequestContext
from holdfast.broker.topic_defaults import ConfigSource
from holdfast.broker.topic_rules import TopicError
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from holdfast.wire.protocol.generated.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: DescribeConfigsRequest, context: RequestContext
) -> Work[DescribeConfigsResponse]:
    response = DescribeConfigsResponse()
    once = Once()
    for resource in request.resources:
        if once(resource.resource_type, resource.resource_name):
            response.results.append(_describe(broker, resource, request, context))
        yield None
    return response


def _describe(
    broker: "Broker",
    resource: DescribeConfigsResource,
    request: DescribeConfigsRequest,
    context: RequestContext,
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        error_message=None,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
    try:
        entries = _entries(broker, resource, context)
    except TopicError as error:
        result.error_code, result.error_message = error.error_code, error.message
        return result
    names = frozenset(resource.configuration_keys or ())  # null and an empty list both mean all
    result.configs = [
        _shown(entry, request) for entry in entries if not names or entry.name in names
    ]
    return result


def _entries(
    broker: "Broker", resource: DescribeConfigsResource, context: RequestContext
) -> list[ConfigEntry]:
    name = resource.resource_name
    if resource.resource_type == ResourceType.TOPIC:
        topic = broker.topics.get(name)
        if topic is None:
            raise TopicError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
            )
        return topic_entries(topic, broker.topics.defaults)
    if resource.resource_type == ResourceType.GROUP:
        overrides = broker.dynamic.entries.groups.get(name, {})
        return group_entries(broker.groups.settings, name, overrides)
    if resource.resource_type == ResourceType.BROKER:
        if not name:
            return broker_default_entries(broker.dynamic.entries)
        if name != str(broker.node_id):
            raise TopicError(
                ErrorCode.INVALID_REQUEST, f"This is broker {broker.node_id}, not {name}."
            )
        return broker_entries(broker.settings, context.listener, broker.dynamic.entries)
    raise TopicError(
        ErrorCode.INVALID_REQUEST, f"Resource type {resource.resource_type} has no settings."
    )


def _shown(entry: ConfigEntry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        entry.name,
        entry.value,
        entry.read_only,
        entry.source,
        synonyms=_synonyms(entry) if request.include_synonyms else [],
        config_type=entry.type,
        documentation=entry.documentation if request.include_documentation else None,
    )


def _synonyms(entry: ConfigEntry) -> list[DescribeConfigsSynonym]:
    """The present value, and the default behind it."""
    default = DescribeConfigsSynonym(entry.name, entry.default, ConfigSource.DEFAULT)
    if entry.source is ConfigSource.DEFAULT:
        return [default]
    return [DescribeConfigsSynonym(entry.name, entry.value, entry.source), default]
