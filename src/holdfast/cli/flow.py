"""`holdfast flow`: list, create, change and describe flows."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import USAGE
from holdfast.cli.output import Format, show, show_one
from holdfast.cli.program import (
    Bootstrap,
    Config,
    application,
    fail,
    note,
    open_client,
    run_application,
)

if TYPE_CHECKING:
    from holdfast.flows.registry import FlowDefinition

app = application("List, create, change and describe flows.")

Name = Annotated[str, typer.Argument(help="The flow's name: a-z, 0-9 and '-'.", show_default=False)]


KeyEvents = Annotated[int | None, typer.Option(min=1, help="Most held events of a key.")]
KeyBytes = Annotated[int | None, typer.Option(min=1, help="Most held bytes of a key.")]
FlowEvents = Annotated[int | None, typer.Option(min=1, help="Most held events in all.")]
FlowBytes = Annotated[int | None, typer.Option(min=1, help="Most held bytes in all.")]
Schema = Annotated[
    str | None,
    typer.Option("--schema", metavar="DDL",
                 help="What values must be: Spark DDL over JSON, e.g. 'id BIGINT NOT NULL'.",
                 show_default="any bytes"),
]  # fmt: skip
Masks = Annotated[
    list[str] | None,
    typer.Option("--mask", metavar="PATH",
                 help="JSON path that viewers do not see, e.g. '$.card.number'. May be repeated."),
]  # fmt: skip
EventId = Annotated[
    str | None,
    typer.Option("--event-id", metavar="FIELD",
                 help="Field that names an event: two with the same are one in the tables."),
]  # fmt: skip
Checks = Annotated[
    list[str] | None,
    typer.Option("--check", metavar="CHECK",
                 help="Check of quality, e.g. 'required order' or 'range total 0..'. "
                      "May be repeated."),
]  # fmt: skip


class Overflow(StrEnum):
    BLOCK = "block"
    DEAD_LETTER = "dead-letter"


class Start(StrEnum):
    EARLIEST = "earliest"
    LATEST = "latest"


@app.command("ls")
def list_flows(output: Format = None, bootstrap: Bootstrap = None, config: Config = None) -> None:
    """List the flows.

    \b
    Example:
      holdfast flow ls
    """
    with open_client(bootstrap, config) as client:
        rows = [
            {"flow": f.name, "partitions": f.partitions, "overflow": f.overflow,
             "created": _time(f.created_at)}
            for f in client.flows()
        ]  # fmt: skip
    show(rows, output, empty="There are no flows. 'holdfast flow create NAME' makes one.")


@app.command("create")
def create(
    name: Name,
    partitions: Annotated[int, typer.Option("--partitions", "-p", min=1)] = 6,
    start: Annotated[
        Start, typer.Option(help="Where to begin in events that are there already.")
    ] = Start.EARLIEST,
    overflow: Annotated[
        Overflow, typer.Option(help="What to do when no more can be held.")
    ] = Overflow.BLOCK,
    key_events: KeyEvents = None,
    key_bytes: KeyBytes = None,
    flow_events: FlowEvents = None,
    flow_bytes: FlowBytes = None,
    schema: Schema = None,
    mask: Masks = None,
    event_id: EventId = None,
    check: Checks = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Create a flow: its topics, and its entry among the flows.

    \b
    Examples:
      holdfast flow create orders -p 12 --overflow dead-letter
      holdfast flow create payments --schema 'payment STRING NOT NULL, amount DOUBLE'
    """
    from holdfast.flows.registry import Limits

    limits = Limits(**_given(key_events, key_bytes, flow_events, flow_bytes))
    masks = _checked(mask or [])
    with open_client(bootstrap, config) as client:
        client.flow(name).create(
            partitions=partitions,
            start=start.value,
            overflow=overflow.value,
            limits=limits,
            schema=schema,
            masks=masks,
            event_id=event_id,
            checks=check or (),
        )
    note(f"Created the flow {name}: send its events to {name}.events.")


@app.command("set")
def change(
    name: Name,
    overflow: Annotated[
        Overflow | None, typer.Option(help="What to do when no more can be held.")
    ] = None,
    key_events: KeyEvents = None,
    key_bytes: KeyBytes = None,
    flow_events: FlowEvents = None,
    flow_bytes: FlowBytes = None,
    schema: Schema = None,
    no_schema: Annotated[bool, typer.Option("--no-schema", help="Values are any bytes.")] = False,
    mask: Masks = None,
    no_masks: Annotated[bool, typer.Option("--no-masks", help="Viewers see all.")] = False,
    event_id: EventId = None,
    check: Checks = None,
    no_checks: Annotated[bool, typer.Option("--no-checks", help="Nothing is checked.")] = False,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Change a flow. What is not given stays; masks and checks replace those there were.

    \b
    Examples:
      holdfast flow set orders --key-events 50000
      holdfast flow set orders --mask '$.card.number' --mask '$..email'
      holdfast flow set orders --check 'required order' --check 'fresh 10m'
    """
    limits = _given(key_events, key_bytes, flow_events, flow_bytes)
    masks: Sequence[str] | None = () if no_masks else _checked(mask) if mask else None
    schema = "" if no_schema else schema
    checks: Sequence[str] | None = () if no_checks else check or None
    if (
        overflow is None
        and not limits
        and all(each is None for each in (schema, masks, event_id, checks))
    ):
        fail("nothing to change was given: see 'holdfast flow set --help'.", USAGE)
    with open_client(bootstrap, config) as client:
        flow = client.flow(name)
        flow.change(
            overflow=overflow.value if overflow else None,
            limits=replace(flow.describe().limits, **limits) if limits else None,
            schema=schema,
            masks=masks,
            event_id=event_id,
            checks=checks,
        )
    note(f"Changed the flow {name}; parts that run follow within a second.")


@app.command("describe")
def describe(
    name: Name, output: Format = None, bootstrap: Bootstrap = None, config: Config = None
) -> None:
    """Show a flow, and how many of its keys are not simply active.

    \b
    Example:
      holdfast flow describe orders
    """
    with open_client(bootstrap, config) as client:
        flow = client.flow(name)
        definition, held = flow.describe(), flow.held()
    show_one({**_described(definition), "keys not active": len(held)}, output)


def _described(flow: "FlowDefinition") -> dict[str, Any]:
    return {
        "flow": flow.name,
        "partitions": flow.partitions,
        "created": _time(flow.created_at),
        "start": flow.start,
        "overflow": flow.overflow,
        **{name.replace("_", " "): limit for name, limit in asdict(flow.limits).items()},
        "schema": flow.schema,
        "masks": list(flow.masks) or None,
        "event id": flow.event_id,
        "checks": list(flow.checks) or None,
    }


def _given(
    key_events: int | None, key_bytes: int | None, flow_events: int | None, flow_bytes: int | None
) -> dict[str, int]:
    limits = {
        "key_events": key_events,
        "key_bytes": key_bytes,
        "flow_events": flow_events,
        "flow_bytes": flow_bytes,
    }
    return {limit: value for limit, value in limits.items() if value is not None}


def _checked(masks: Sequence[str]) -> Sequence[str]:
    """The masks, if each can be read."""
    from holdfast.access.masks import parse_mask

    for mask in masks:
        parse_mask(mask)
    return masks


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
