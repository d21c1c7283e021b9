"""AlterClientQuotas: sets and removes the limits of users and client ids."""

import logging
import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.dynamic_file import DEFAULT, Dynamic, QuotaEntity
from holdfast.broker.quotas import KEYS, REQUEST_PERCENTAGE
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated import alter_client_quotas_response as answers
from holdfast.wire.protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntryData,
    OpData,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

USER, CLIENT_ID, IP = "user", "client-id", "ip"
MOST_ENTITIES = 10_000
LONGEST_NAME = 255


class QuotaRefused(Exception):
    """The limits of an entity are not changed. The text is for the client."""


def handle(
    broker: "Broker", request: AlterClientQuotasRequest, context: RequestContext
) -> Work[answers.AlterClientQuotasResponse]:
    refusals: list[tuple[ErrorCode, str | None]] = []

    def edit(dynamic: Dynamic) -> Work[Dynamic]:
        changed, refusals[:] = yield from _changed(dynamic, request.entries)
        return dynamic if request.validate_only else changed

    try:
        yield from broker.dynamic.change(edit)
    except OSError as error:
        log.error("The quotas cannot be saved: %s", error)
        text = "The change cannot be saved: the disk refused it."
        refusals = [(ErrorCode.KAFKA_STORAGE_ERROR, text)] * len(request.entries)
    response = answers.AlterClientQuotasResponse()
    for entry, (code, message) in zip(request.entries, refusals, strict=True):
        named = [answers.EntityData(e.entity_type, e.entity_name) for e in entry.entity]
        response.entries.append(answers.EntryData(code, message, named))
        yield None
    return response


def _changed(
    dynamic: Dynamic, entries: list[EntryData]
) -> Work[tuple[Dynamic, list[tuple[ErrorCode, str | None]]]]:
    quotas = dict(dynamic.quotas)
    times: Counter[tuple[tuple[str, str | None], ...]] = Counter()
    for entry in entries:
        times[_names(entry)] += 1
        yield None
    refusals: list[tuple[ErrorCode, str | None]] = []
    for entry in entries:
        yield None
        try:
            if times[_names(entry)] > 1:
                raise QuotaRefused("Each entity must appear at most once.")
            entity = _entity(entry)
            limits = _limits(quotas.get(entity, {}), entry.ops)
            if entity not in quotas and limits and len(quotas) >= MOST_ENTITIES:
                raise QuotaRefused(f"There are {MOST_ENTITIES} quotas already, the maximum.")
        except QuotaRefused as refusal:
            refusals.append((ErrorCode.INVALID_REQUEST, str(refusal)))
            continue
        refusals.append((ErrorCode.NONE, None))
        quotas.pop(entity, None)
        if limits:
            quotas[entity] = limits
    return (
        Dynamic(quotas, dynamic.broker_defaults, dynamic.broker, dynamic.groups),
        refusals,
    )


def _names(entry: EntryData) -> tuple[tuple[str, str | None], ...]:
    return tuple((part.entity_type, part.entity_name) for part in entry.entity)


def _entity(entry: EntryData) -> QuotaEntity:
    names: dict[str, str] = {}
    for part in entry.entity:
        if part.entity_type == IP:
            raise QuotaRefused(
                "This broker has no quotas by ip. The settings max_connections and "
                "max_connections_per_host limit connections."
            )
        if part.entity_type not in (USER, CLIENT_ID):
            raise QuotaRefused(f"Unhandled client quota entity type: {part.entity_type}")
        if part.entity_type in names:
            raise QuotaRefused(f"The entity type {part.entity_type} is named more than once.")
        if part.entity_name is not None and not 0 < len(part.entity_name) <= LONGEST_NAME:
            raise QuotaRefused(f"A {part.entity_type} has 1 to {LONGEST_NAME} characters.")
        names[part.entity_type] = part.entity_name or DEFAULT
    if not names:
        raise QuotaRefused("Invalid empty client quota entity")
    return QuotaEntity(names.get(USER), names.get(CLIENT_ID))


def _limits(present: Mapping[str, float], ops: list[OpData]) -> dict[str, float]:
    limits = dict(present)
    if len({op.key for op in ops}) < len(ops):
        raise QuotaRefused("Each quota key must appear at most once.")
    for op in ops:
        if op.remove:
            limits.pop(op.key, None)
            continue
        if op.key not in KEYS:
            raise QuotaRefused(
                f"Invalid configuration key {op.key}. This broker has {', '.join(KEYS)}."
            )
        if not math.isfinite(op.value) or op.value <= 0:
            raise QuotaRefused(f"{op.key} must be above 0.")
        if op.key != REQUEST_PERCENTAGE and op.value != int(op.value):
            raise QuotaRefused(f"Configuration {op.key} must be a Long value")
        limits[op.key] = op.value
    return limits
