"""DescribeClientQuotas: the quotas that match a filter."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.broker.api.alter_client_quotas import CLIENT_ID, IP, USER
from holdfast.broker.context import RequestContext
from holdfast.broker.dynamic_file import DEFAULT, QuotaEntity
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_client_quotas_request import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from holdfast.wire.protocol.generated.describe_client_quotas_response import (
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

EXACT, OF_DEFAULT, ANY = 0, 1, 2
Matches = Callable[[str | None], bool]


def handle(
    broker: "Broker", request: DescribeClientQuotasRequest, context: RequestContext
) -> Work[DescribeClientQuotasResponse]:
    filters: dict[str, Matches] = {}
    for component in request.components:
        refusal = _refusal(component, filters)
        if refusal is not None:
            return _refused(*refusal)
        filters[component.entity_type] = _matches(component)
    response = DescribeClientQuotasResponse(error_message=None, entries=[])
    entries: list[EntryData] = []
    for entity, limits in broker.dynamic.entries.quotas.items():
        parts = _parts(entity)
        is_whole = len(parts) == len(filters) or not request.strict
        if is_whole and all(t in parts and match(parts[t]) for t, match in filters.items()):
            entries.append(
                EntryData(
                    [EntityData(kind, name or None) for kind, name in parts.items()],
                    [ValueData(key, value) for key, value in limits.items()],
                )
            )
        yield None
    response.entries = entries
    return response


def _parts(entity: QuotaEntity) -> dict[str, str]:
    named = {USER: entity.user, CLIENT_ID: entity.client_id}
    return {kind: name for kind, name in named.items() if name is not None}


def _refusal(component: ComponentData, filters: dict[str, Matches]) -> tuple[ErrorCode, str] | None:
    kind = component.entity_type
    if not kind:
        return ErrorCode.INVALID_REQUEST, "A component has no entity type."
    if kind not in (USER, CLIENT_ID, IP):
        return ErrorCode.UNSUPPORTED_VERSION, f"There are no quotas by {kind!r}."
    if kind in filters:
        return ErrorCode.INVALID_REQUEST, f"The entity type {kind} is named more than once."
    if component.match_type not in (EXACT, OF_DEFAULT, ANY):
        return ErrorCode.INVALID_REQUEST, f"There is no match type {component.match_type}."
    if (component.match_type == EXACT) != (component.match is not None):
        return ErrorCode.INVALID_REQUEST, "Only an exact match has a name."
    if IP in (kind, *filters) and filters:
        return (
            ErrorCode.INVALID_REQUEST,
            "A quota by ip has no user and no client-id.",
        )
    return None


def _matches(component: ComponentData) -> Matches:
    if component.match_type == ANY:
        return lambda name: True
    wanted = DEFAULT if component.match_type == OF_DEFAULT else component.match
    return lambda name: name == wanted


def _refused(code: ErrorCode, message: str) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(error_code=code, error_message=message, entries=None)
