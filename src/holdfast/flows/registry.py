"""A flow's entry in the compacted topic `holdfast.flows`: key the flow's name, value JSON."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from holdfast.clock import parse_duration
from holdfast.errors import ConflictError, InvalidArgumentError, InvalidRecordError
from holdfast.flows.checks import MAX_CHECKS, check_field, parse_check
from holdfast.flows.documents import Document, encode, read_fields, write_fields
from holdfast.flows.names import FlowNames, check_flow_name
from holdfast.flows.options import option, options_of
from holdfast.flows.schema import flaw_of

Overflow = Literal["block", "dead-letter"]
Start = Literal["earliest", "latest"]
Then = Literal["hold", "dead-letter", "stop"]
"""What a guard does with an event after its last attempt."""

MAX_PARTITIONS = 10_000
MAX_MASKS = 100


_LIMIT = {"ge": 1, "le": 2**53}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of held events; checked at the start of a batch."""

    key_events: int = option(1_000_000, "Maximum of held events of a key.", limits=_LIMIT)
    key_bytes: int = option(1024**3, "Maximum of held bytes of a key.", limits=_LIMIT)
    flow_events: int = option(10_000_000, "Maximum of held events of the flow.", limits=_LIMIT)
    flow_bytes: int = option(10 * 1024**3, "Maximum of held bytes of the flow.", limits=_LIMIT)

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if getattr(self, name) < 1:
                raise InvalidArgumentError(f"The limit {name!r} must be at least 1.")

    def with_changes(self, changes: Mapping[str, int]) -> "Limits":
        """These limits, with those that `changes` names replaced."""
        _check_names("limit", changes, self.__dataclass_fields__)
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowDefinition:
    """The definition of a flow: its name, its limits and its options."""

    name: str
    created_at: int
    limits: Limits = Limits()
    partitions: int = option(
        6,
        "Number of partitions. It cannot be changed later.",
        "--partitions",
        "-p",
        limits={"ge": 1, "le": MAX_PARTITIONS},
        fixed=True,
    )
    start: Start = option("earliest", "Where to start in existing events.", fixed=True)
    overflow: Overflow = option("block", "What to do when the limit is reached.")
    schema: str | None = option(
        None,
        "Schema of the values: Spark DDL over JSON. Other values become dead letters. Without it, "
        "values are any bytes.",
        metavar="DDL",
        example="id BIGINT NOT NULL, total DOUBLE",
        limits={"max_length": 100_000},
    )
    masks: tuple[str, ...] = option(
        (),
        "JSON path to hide from viewers.",
        "--mask",
        metavar="PATH",
        example="$.card.number",
        limits={"max_length": MAX_MASKS},
    )
    event_id: str | None = option(
        None,
        "Field with the event's id: tables keep one event per id.",
        metavar="FIELD",
        example="order.id",
        limits={"max_length": 500},
    )
    checks: tuple[str, ...] = option(
        (),
        "Quality check: `required FIELD`, `range FIELD LOW..HIGH`, `unique FIELD ...`, "
        "`fresh 10m` or `volume LOW..HIGH DAYS`.",
        "--check",
        metavar="CHECK",
        example="required order.id",
        limits={"max_length": MAX_CHECKS},
    )
    require_reasons: bool = option(False, "Hold, release, extend and dead-letter need a reason.")
    sending: bool = option(True, "People may send events by hand, from the dashboard and the API.")
    topic: str | None = None
    """Of a guard: the topic whose events it gives to a handler. A flow without it has a gate."""
    attempts: int | None = None
    """Of a guard: how often an event is tried."""
    backoff: str | None = None
    """Of a guard: the first and the longest pause between attempts, as in `1s..10m`."""
    then: str | None = None
    """Of a guard: see `Then`."""

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
        if self.then is not None:
            _check_choice("then", self.then, get_args(Then))
        if self.attempts is not None and self.attempts < 1:
            raise InvalidArgumentError(f"An event is tried at least once, not {self.attempts}.")
        if self.backoff is not None:
            parse_backoff(self.backoff)

    def check_reason(self, reason: str) -> None:
        """InvalidArgumentError if commands of this flow need a reason and it is empty."""
        if self.require_reasons and not reason.strip():
            raise InvalidArgumentError(f"The flow {self.name!r} requires a reason: give one.")

    def check_first(self, first: bool) -> None:
        """InvalidArgumentError if only the first event is to be dead-lettered, and nothing knows
        which one that is."""
        if first and not self.is_guard:
            raise InvalidArgumentError(
                f"{self.name!r} is not a guard: dead-letter all held events of the key."
            )

    def check_scopes(self) -> None:
        """InvalidArgumentError if prefixes cannot be held here, and the whole cannot be paused."""
        if self.is_guard:
            raise InvalidArgumentError(
                f"{self.name!r} is a guard: it holds single keys only. Hold the prefix in the flow "
                "before it, or stop its workers to pause it."
            )

    def check_event(self, value: bytes | None) -> None:
        """ConflictError if nobody may send events by hand; InvalidArgumentError if the schema
        refuses the value."""
        if not self.sending:
            raise ConflictError(
                f"Sending events by hand is switched off in the flow {self.name!r}."
            )
        self.check_value(value)

    def check_value(self, value: bytes | None) -> None:
        """InvalidArgumentError if the schema refuses the value."""
        flaw = flaw_of(self.schema, value) if self.schema else ""
        if flaw:
            raise InvalidArgumentError(
                f"The flow's schema refuses this value, and it would become a dead letter. {flaw}"
            )

    def with_options(self, options: Mapping[str, Any]) -> "FlowDefinition":
        """This definition with these options. One that is None stays. An empty schema or event id
        is removed. `limits` has the limits to change, by name, or all of them."""
        declared = {field.name: field for field, _ in options_of(FlowDefinition)}
        _check_names("option of a flow", options, ["limits", *declared])
        changes = {name: value for name, value in options.items() if value is not None}
        for name in changes.keys() & declared.keys():
            if declared[name].default is None:
                changes[name] = changes[name] or None
            elif declared[name].default == ():
                changes[name] = tuple(changes[name])
        if isinstance(limits := changes.get("limits"), Mapping):
            changes["limits"] = self.limits.with_changes(limits)
        return replace(self, **changes)

    @property
    def names(self) -> FlowNames:
        return FlowNames(self.name, self.topic or "")

    @property
    def is_guard(self) -> bool:
        """Returns True if the flow's output is a handler."""
        return self.topic is not None


def parse_backoff(text: str) -> tuple[int, int]:
    """The first and the longest pause between attempts, in milliseconds.

    >>> parse_backoff("1s..10m")
    (1000, 600000)
    """
    first, separator, longest = text.partition("..")
    pauses = [parse_duration(each) for each in ((first, longest) if separator else (text, text))]
    low, high = (round(pause.total_seconds() * 1000) for pause in pauses)
    if not 0 < low <= high:
        raise InvalidArgumentError(
            f"{text!r} is not a back-off: write the first and the longest pause, as in 1s..10m."
        )
    return low, high


def encode_flow(flow: FlowDefinition) -> tuple[bytes, bytes]:
    """Key and value of the flow's record in the registry."""
    return flow.name.encode(), encode({**write_fields(flow), **write_fields(flow.limits)})


def decode_flow(key: bytes | None, value: bytes | None) -> FlowDefinition:
    """The flow in a record of the registry, or InvalidRecordError."""
    document = Document(value, "flow's definition")
    try:
        limits = Limits(**read_fields(Limits, document))
        flow = FlowDefinition(**read_fields(FlowDefinition, document), limits=limits)
    except InvalidArgumentError as error:
        raise InvalidRecordError(f"This flow's definition cannot be read: {error}") from None
    document.end()
    if key != flow.name.encode():
        raise InvalidRecordError("This flow's definition names another flow than its key.")
    return flow


def _check_names(what: str, given: Iterable[str], names: Collection[str]) -> None:
    if unknown := sorted(set(given) - set(names)):
        raise InvalidArgumentError(
            f"There is no {what} {unknown[0]!r}. There are: {', '.join(names)}."
        )


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
