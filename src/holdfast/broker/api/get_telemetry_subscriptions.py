"""GetTelemetrySubscriptions: this broker takes no metrics of its clients."""

import uuid
from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.wire.protocol.generated.get_telemetry_subscriptions_request import (
    GetTelemetrySubscriptionsRequest,
)
from holdfast.wire.protocol.generated.get_telemetry_subscriptions_response import (
    GetTelemetrySubscriptionsResponse,
)
from holdfast.wire.protocol.primitives import ZERO_UUID

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

PUSH_INTERVAL_MS = 300_000
"""After this time a client asks again. The default of Kafka."""
MAX_BYTES = 1_048_576
NO_SUBSCRIPTION = 0


def handle(
    broker: "Broker", request: GetTelemetrySubscriptionsRequest, context: RequestContext
) -> GetTelemetrySubscriptionsResponse:
    named = request.client_instance_id
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=uuid.uuid4() if named == ZERO_UUID else named,
        subscription_id=NO_SUBSCRIPTION,
        push_interval_ms=PUSH_INTERVAL_MS,
        telemetry_max_bytes=MAX_BYTES,
        delta_temporality=True,
    )
