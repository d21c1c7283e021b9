"""A flow's entry in the compacted topic `holdfast.flows`: key the flow's name, value JSON."""

from dataclasses import dataclass
from typing import Literal, get_args

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.checks import MAX_CHECKS, check_field, parse_check
from holdfast.flows.documents import Document, encode
from holdfast.flows.names import FlowNames, check_flow_name

Overflow = Literal["block", "dead-letter"]
Start = Literal["earliest", "latest"]

MAX_PARTITIONS = 10_000
MAX_MASKS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much may be held; checked at the start of a batch."""

    key_events: int = 1_000_000
    key_bytes: int = 1024**3
    flow_events: int = 10_000_000
    flow_bytes: int = 10 * 1024**3

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if getattr(self, name) < 1:
                raise InvalidArgumentError(f"The limit {name!r} must be at least 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowDefinition:
    """What was said of a flow when it was made."""

    name: str
    partitions: int
    created_at: int
    start: Start = "earliest"
    """Where the gate begins in events that were there before it."""
    overflow: Overflow = "block"
    limits: Limits = Limits()
    schema: str | None = None
    """Spark DDL over JSON values; without it values are opaque bytes."""
    masks: tuple[str, ...] = ()
    """JSON paths whose values viewers do not see, e.g. `$.card.number` or `$..email`."""
    event_id: str | None = None
    """The field that names an event: two with the same are one in the tables."""
    checks: tuple[str, ...] = ()
    """Checks of quality, each a line as in `flows.checks`."""

    def __post_init__(self) -> None:
        check_flow_name(self.name)
        if not 1 <= self.partitions <= MAX_PARTITIONS:
            raise InvalidArgumentError(
                f"A flow has 1 to {MAX_PARTITIONS} partitions, not {self.partitions}."
            )
        _check_choice("start", self.start, get_args(Start))
        _check_choice("overflow", self.overflow, get_args(Overflow))
        _check_masks(self.masks)
        _check_checks(self.checks)
        if self.event_id is not None:
            check_field(self.event_id)

    @property
    def names(self) -> FlowNames:
        return FlowNames(self.name)


def encode_flow(flow: FlowDefinition) -> tuple[bytes, bytes]:
    """Key and value of the flow's record in the registry."""
    return flow.name.encode(), encode(
        {
            "name": flow.name,
            "partitions": flow.partitions,
            "created_at": flow.created_at,
            "start": flow.start,
            "overflow": flow.overflow,
            "key_events": flow.limits.key_events,
            "key_bytes": flow.limits.key_bytes,
            "flow_events": flow.limits.flow_events,
            "flow_bytes": flow.limits.flow_bytes,
            "schema": flow.schema,
            "masks": list(flow.masks) or None,
            "event_id": flow.event_id,
            "checks": list(flow.checks) or None,
        }
    )


def decode_flow(key: bytes | None, value: bytes | None) -> FlowDefinition:
    """The flow in a record of the registry, or InvalidRecordError."""
    document = Document(value, "flow's definition")
    try:
        flow = FlowDefinition(
            name=document.text("name"),
            partitions=document.integer("partitions"),
            created_at=document.integer("created_at"),
            start=document.text("start"),  # type: ignore[arg-type]  # checked when made
            overflow=document.text("overflow"),  # type: ignore[arg-type]
            limits=Limits(
                key_events=document.integer("key_events"),
                key_bytes=document.integer("key_bytes"),
                flow_events=document.integer("flow_events"),
                flow_bytes=document.integer("flow_bytes"),
            ),
            schema=document.optional_text("schema"),
            masks=document.texts("masks"),
            event_id=document.optional_text("event_id"),
            checks=document.texts("checks"),
        )
    except InvalidArgumentError as error:
        raise InvalidRecordError(f"This flow's definition cannot be read: {error}") from None
    document.end()
    if key != flow.name.encode():
        raise InvalidRecordError("This flow's definition names another flow than its key.")
    return flow


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidArgumentError(f"{name!r} is one of {', '.join(choices)}, not {value!r}.")


def _check_masks(masks: tuple[str, ...]) -> None:
    if len(masks) > MAX_MASKS:
        raise InvalidArgumentError(f"A flow has at most {MAX_MASKS} masks, not {len(masks)}.")
    for mask in masks:
        if not mask.startswith("$"):
            raise InvalidArgumentError(
                f"The mask {mask!r} is not a JSON path: write it from the root, as in $.card."
            )


def _check_checks(checks: tuple[str, ...]) -> None:
    if len(checks) > MAX_CHECKS:
        raise InvalidArgumentError(f"A flow has at most {MAX_CHECKS} checks, not {len(checks)}.")
    for check in checks:
        parse_check(check)
