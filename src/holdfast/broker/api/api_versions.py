"""ApiVersions: which APIs are served, in which versions."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.dispatch import PRODUCE
from holdfast.wire.protocol.apis import APIS
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.api_versions_request import ApiVersionsRequest
from holdfast.wire.protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

# Finalised features are left out on purpose: clients then stay on transaction version 1.


def handle(
    broker: "Broker", request: ApiVersionsRequest, context: RequestContext
) -> ApiVersionsResponse:
    return ApiVersionsResponse(api_keys=_versions())


def unsupported() -> ApiVersionsResponse:
    """The answer to a version of this very request that we do not know."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=_versions())


def _versions() -> list[ApiVersion]:
    return [
        ApiVersion(
            api_key=api.key,
            # Old librdkafka takes a minimum above 0 for a broker that cannot compress.
            min_version=0 if api.key == PRODUCE else api.min_version,
            max_version=api.max_version,
        )
        for api in APIS.values()
    ]
