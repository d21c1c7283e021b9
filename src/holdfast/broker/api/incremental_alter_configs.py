"""IncrementalAlterConfigs: sets or resets single settings of a topic or group, or changes lists."""

from enum import IntEnum
from typing import TYPE_CHECKING

from holdfast.broker.configs import Configured, alter_resources
from holdfast.broker.context import RequestContext
from holdfast.broker.topic_config import definitions
from holdfast.broker.topic_rules import TopicError, value_of
from holdfast.broker.topics import Topic
from holdfast.broker.work import Work
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
) -> Work[IncrementalAlterConfigsResponse]:
    altered = yield from alter_resources(broker, request.resources, _changed, request.validate_only)
    return IncrementalAlterConfigsResponse(
        responses=[AlterConfigsResourceResponse(*each) for each in altered]
    )


def _changed(present: Configured, resource: AlterConfigsResource) -> dict[str, str]:
    names = [change.name for change in resource.configs]
    if len(set(names)) < len(names):
        raise TopicError(ErrorCode.INVALID_REQUEST, "A setting is named more than once.")
    overrides = dict(present.overrides)
    for change in resource.configs:
        if change.config_operation == Operation.DELETE:
            overrides.pop(change.name, None)
        elif change.config_operation == Operation.SET:
            overrides[change.name] = value_of(change)
        else:
            overrides[change.name] = _changed_list(present, change, value_of(change))
    return overrides


def _changed_list(present: Configured, change: AlterableConfig, value: str) -> str:
    if change.config_operation not in (Operation.APPEND, Operation.SUBTRACT):
        raise TopicError(
            ErrorCode.INVALID_REQUEST, f"There is no operation {change.config_operation}."
        )
    operation = Operation(change.config_operation)
    kind = definitions().get(change.name)
    if kind is None or not isinstance(present, Topic):
        raise TopicError(ErrorCode.INVALID_CONFIG, f"{change.name} is not a list.")
    if kind[0] != "LIST":
        raise TopicError(
            ErrorCode.INVALID_CONFIG,
            f"Can't {operation.name} to key {change.name} because its type is not LIST.",
        )
    words = [word.strip() for word in value.split(",")]
    listed = [word for word in present.config.described()[change.name].split(",") if word]
    if operation is Operation.APPEND:
        return ",".join(dict.fromkeys([*listed, *words]))
    return ",".join(word for word in listed if word not in words)
