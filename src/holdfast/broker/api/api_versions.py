"""ApiVersions: the APIs of this broker, and their versions."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.dispatch import PRODUCE
from holdfast.wire.protocol.apis import APIS
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.api_versions_request import ApiVersionsRequest
from holdfast.wire.protocol.generated.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

FEATURES = {"group.version": 1, "transaction.version": 2}
"""The level of each feature. Clients use what is announced, so a feature must be whole."""
FEATURES_EPOCH = 0
"""Levels never change while the broker runs."""
LEVEL_0_SINCE = 4
"""Clients of earlier versions cannot read a feature that has a level 0."""


def handle(
    broker: "Broker", request: ApiVersionsRequest, context: RequestContext
) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        api_keys=_versions(),
        supported_features=[
            SupportedFeatureKey(name, 0, level)
            for name, level in FEATURES.items()
            if context.version >= LEVEL_0_SINCE
        ],
        finalized_features_epoch=FEATURES_EPOCH,
        finalized_features=[
            FinalizedFeatureKey(name, level, level) for name, level in FEATURES.items()
        ],
    )


def unsupported() -> ApiVersionsResponse:
    """The reply to an unknown version of this request."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=_versions())


def _versions() -> list[ApiVersion]:
    return [
        ApiVersion(
            api_key=api.key,
            # For old librdkafka a minimum above 0 means a broker without compression.
            min_version=0 if api.key == PRODUCE else api.min_version,
            max_version=api.max_version,
        )
        for api in APIS.values()
    ]
