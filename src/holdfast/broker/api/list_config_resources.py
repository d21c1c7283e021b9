"""ListConfigResources: the topics, this broker, and groups with settings of their own."""

from typing import TYPE_CHECKING

from holdfast.broker.configs import ResourceType
from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.list_config_resources_request import (
    ListConfigResourcesRequest,
)
from holdfast.wire.protocol.generated.list_config_resources_response import (
    ConfigResource,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

TYPES_SINCE = 1
"""Version 0 lists only settings of client metrics."""
BROKER_LOGGER, CLIENT_METRICS = 8, 16
KNOWN = frozenset({*ResourceType, BROKER_LOGGER, CLIENT_METRICS})


def handle(
    broker: "Broker", request: ListConfigResourcesRequest, context: RequestContext
) -> Work[ListConfigResourcesResponse]:
    response = ListConfigResourcesResponse()
    types = frozenset(request.resource_types) or KNOWN
    if context.version < TYPES_SINCE:
        return response
    if not types <= KNOWN:
        response.error_code = ErrorCode.UNSUPPORTED_VERSION
        return response
    if ResourceType.BROKER in types:
        name = str(broker.node_id)
        response.config_resources.append(ConfigResource(name, ResourceType.BROKER))
    if ResourceType.GROUP in types:
        for group_id in broker.dynamic.entries.groups:
            response.config_resources.append(ConfigResource(group_id, ResourceType.GROUP))
    if ResourceType.TOPIC in types:
        for topic in broker.topics.all():
            response.config_resources.append(ConfigResource(topic.name, ResourceType.TOPIC))
            yield None
    return response
