"""UpdateFeatures: every feature has the one level that this release serves."""

from typing import TYPE_CHECKING

from holdfast.broker.api.api_versions import FEATURES
from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.update_features_request import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from holdfast.wire.protocol.generated.update_features_response import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

TYPES_SINCE = 1
UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


def handle(
    broker: "Broker", request: UpdateFeaturesRequest, context: RequestContext
) -> Work[UpdateFeaturesResponse]:
    updates = {update.feature: update for update in request.feature_updates}
    for update in updates.values():
        refusal = _refusal(update, context.version)
        if refusal is not None:
            return UpdateFeaturesResponse(
                error_code=ErrorCode.INVALID_UPDATE_VERSION, error_message=refusal
            )
        yield None
    return UpdateFeaturesResponse(
        error_message=None, results=[UpdatableFeatureResult(name) for name in updates]
    )


def _refusal(update: FeatureUpdateKey, version: int) -> str | None:
    level = FEATURES.get(update.feature)
    if level is None:
        return f"This broker has no feature {update.feature!r}. No feature was changed."
    types = (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)
    if version >= TYPES_SINCE and update.upgrade_type not in types:
        return f"There is no type {update.upgrade_type} of upgrades. No feature was changed."
    if update.max_version_level != level:
        return (
            f"{update.feature} has level {level} and cannot have {update.max_version_level}: the "
            "release decides it. No feature was changed."
        )
    return None
