"""`holdfast flow`: list, create and describe flows."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import Format, show, show_one
from holdfast.cli.program import (
    Bootstrap,
    Config,
    application,
    note,
    open_client,
    run_application,
)

if TYPE_CHECKING:
    from holdfast.flows.registry import FlowDefinition

app = application("List, create and describe flows.")

Name = Annotated[str, typer.Argument(help="The flow's name: a-z, 0-9 and '-'.", show_default=False)]


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
    key_events: Annotated[
        int | None, typer.Option(min=1, help="Most held events of a key.")
    ] = None,
    key_bytes: Annotated[int | None, typer.Option(min=1, help="Most held bytes of a key.")] = None,
    flow_events: Annotated[int | None, typer.Option(min=1, help="Most held events in all.")] = None,
    flow_bytes: Annotated[int | None, typer.Option(min=1, help="Most held bytes in all.")] = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Create a flow: its topics, and its entry among the flows.

    \b
    Example:
      holdfast flow create orders -p 12 --overflow dead-letter
    """
    from holdfast.flows.registry import Limits

    given = {
        "key_events": key_events,
        "key_bytes": key_bytes,
        "flow_events": flow_events,
        "flow_bytes": flow_bytes,
    }
    limits = Limits(**{limit: value for limit, value in given.items() if value is not None})
    with open_client(bootstrap, config) as client:
        client.flow(name).create(
            partitions=partitions, start=start.value, overflow=overflow.value, limits=limits
        )
    note(f"Created the flow {name}: send its events to {name}.events.")


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
    }


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
