"""IncrementalAlterConfigs: single settings of a topic are set, reset, or changed as lists."""

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from holdfast.broker.configs import alterable_topic
from holdfast.broker.context import RequestContext
from holdfast.broker.topic_config import definitions
from holdfast.broker.topics import Topic, TopicError
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from holdfast.wire.protocol.generated.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


class Operation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


def handle(
    broker: "Broker", request: IncrementalAlterConfigsRequest, context: RequestContext
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
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
        overrides = _changed(topic, resource.configs)
        broker.topics.alter(topic.name, overrides, validate_only=validate_only)
    except TopicError as error:
        response.error_code, response.error_message = error.error_code, error.message
    return response


def _changed(topic: Topic, changes: Sequence[AlterableConfig]) -> dict[str, str]:
    names = [change.name for change in changes]
    if len(set(names)) < len(names):
        raise TopicError(ErrorCode.INVALID_REQUEST, "A setting is named more than once.")
    overrides = dict(topic.overrides)
    for change in changes:
        if change.config_operation == Operation.DELETE:
            overrides.pop(change.name, None)
        elif change.value is None:
            raise TopicError(ErrorCode.INVALID_CONFIG, f"{change.name} has no value.")
        elif change.config_operation == Operation.SET:
            overrides[change.name] = change.value
        else:
            overrides[change.name] = _changed_list(topic, change, change.value)
    return overrides


def _changed_list(topic: Topic, change: AlterableConfig, value: str) -> str:
    if change.config_operation not in (Operation.APPEND, Operation.SUBTRACT):
        raise TopicError(
            ErrorCode.INVALID_REQUEST, f"There is no operation {change.config_operation}."
        )
    operation = Operation(change.config_operation)
    kind = definitions().get(change.name)
    if kind is None:
        raise TopicError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {change.name}")
    if kind[0] != "LIST":
        raise TopicError(
            ErrorCode.INVALID_CONFIG,
            f"Can't {operation.name} to key {change.name} because its type is not LIST.",
        )
    given = [word.strip() for word in value.split(",")]
    present = [word for word in topic.config.described()[change.name].split(",") if word]
    if operation is Operation.APPEND:
        return ",".join(dict.fromkeys([*present, *given]))
    return ",".join(word for word in present if word not in given)
