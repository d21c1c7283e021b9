"""AlterConfigs: these settings, and no others, are what a topic has."""

from typing import TYPE_CHECKING

from holdfast.broker.configs import alterable_topic
from holdfast.broker.context import RequestContext
from holdfast.broker.topics import TopicError
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.alter_configs_request import (
    AlterConfigsRequest,
    AlterConfigsResource,
)
from holdfast.wire.protocol.generated.alter_configs_response import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: AlterConfigsRequest, context: RequestContext
) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        responses=[_alter(broker, r, request.validate_only) for r in request.resources]
    )


def _alter(
    broker: "Broker", resource: AlterConfigsResource, validate_only: bool
) -> AlterConfigsResourceResponse:
    response = AlterConfigsResourceResponse(
        ErrorCode.NONE, None, resource.resource_type, resource.resource_name
    )
    try:
        topic = alterable_topic(broker, resource.resource_type, resource.resource_name)
        overrides = {}
        for config in resource.configs:
            if config.value is None:
                raise TopicError(ErrorCode.INVALID_CONFIG, f"{config.name} has no value.")
            overrides[config.name] = config.value
        broker.topics.alter(topic.name, overrides, validate_only=validate_only)
    except TopicError as error:
        response.error_code, response.error_message = error.error_code, error.message
    return response
