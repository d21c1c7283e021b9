"""AlterConfigs: replaces all settings of a topic or group."""

from typing import TYPE_CHECKING

from holdfast.broker.configs import Configured, alter_resources
from holdfast.broker.context import RequestContext
from holdfast.broker.topic_rules import overrides_of
from holdfast.broker.work import Work
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
) -> Work[AlterConfigsResponse]:
    altered = yield from alter_resources(
        broker, request.resources, _replaced, request.validate_only
    )
    return AlterConfigsResponse(responses=[AlterConfigsResourceResponse(*a) for a in altered])


def _replaced(present: Configured, resource: AlterConfigsResource) -> dict[str, str]:
    return overrides_of(resource.configs)
