"""PushTelemetry: refused, because no client has a subscription."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.push_telemetry_request import PushTelemetryRequest
from holdfast.wire.protocol.generated.push_telemetry_response import PushTelemetryResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: PushTelemetryRequest, context: RequestContext
) -> PushTelemetryResponse:
    if request.metrics:
        return PushTelemetryResponse(error_code=ErrorCode.UNKNOWN_SUBSCRIPTION_ID)
    return PushTelemetryResponse()  # a client that ends
