"""`holdfast hold | release | dead-letter | void | held | status`: the keys of a flow."""

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import Format, Output, chosen, print_json, show, show_one
from holdfast.cli.places import parse_duration
from holdfast.cli.program import (
    Bootstrap,
    Config,
    Yes,
    application,
    confirm,
    note,
    open_client,
    raw_bytes,
    run_application,
)
from holdfast.flows.keys import key_from_base64, key_to_json

if TYPE_CHECKING:
    from holdfast.client.flow import Flow, KeyStatus
    from holdfast.client.held import HeldEvent
    from holdfast.client.receipt import Receipt

FlowName = Annotated[str, typer.Argument(metavar="FLOW", help="The flow.", show_default=False)]
Key = Annotated[str, typer.Argument(metavar="KEY", help="The record key.", show_default=False)]
Base64 = Annotated[bool, typer.Option("--base64", help="KEY is base64, for keys that are no text.")]
Reason = Annotated[str, typer.Option("--reason", "-r", help="Why; kept in the audit.")]
Actor = Annotated[
    str | None, typer.Option("--actor", help="Who asks.", show_default="the user's name")
]
CommandId = Annotated[
    str | None,
    typer.Option("--id", help="The command's id: the same id twice is one command.",
                 show_default="a new one"),
]  # fmt: skip
Wait = Annotated[
    float | None,
    typer.Option("--wait", "-w", metavar="SECONDS", min=0,
                 help="Wait so long for the command to be effective, and print its cut."),
]  # fmt: skip


def hold(
    flow: FlowName,
    key: Key,
    reason: Reason = "",
    expires: Annotated[
        str | None, typer.Option("--expires", "-e", help="End the hold after 90s, 10m, 2h, 7d.")
    ] = None,
    base64: Base64 = False,
    actor: Actor = None,
    command_id: CommandId = None,
    wait: Wait = None,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Put a key on hold: its events are kept back, in order, until a release or the expiry.

    \b
    Examples:
      holdfast hold orders customer-7 --reason "payment disputed"
      holdfast hold orders customer-7 --expires 2h --wait 10
    """
    expires_in = None if expires is None else parse_duration(expires, "--expires")
    with open_client(bootstrap, config) as client:
        receipt = client.flow(flow).hold(
            _key(key, base64), reason=reason, expires_in=expires_in, actor=actor,
            command_id=command_id,
        )  # fmt: skip
        _report(receipt, wait, output)


def release(
    flow: FlowName,
    key: Key,
    pace: Annotated[
        float | None, typer.Option("--pace", help="Events a second.", show_default="no limit")
    ] = None,
    base64: Base64 = False,
    actor: Actor = None,
    command_id: CommandId = None,
    wait: Wait = None,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Let a key's held events out, in order; new ones queue behind.

    \b
    Example:
      holdfast release orders customer-7 --pace 100
    """
    with open_client(bootstrap, config) as client:
        receipt = client.flow(flow).release(
            _key(key, base64), pace=pace, actor=actor, command_id=command_id
        )
        _report(receipt, wait, output)


def dead_letter(
    flow: FlowName,
    key: Key,
    reason: Reason = "",
    base64: Base64 = False,
    actor: Actor = None,
    command_id: CommandId = None,
    wait: Wait = None,
    yes: Yes = False,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Send what is held of a key at this point to the dead letters, whatever follows.

    \b
    Example:
      holdfast dead-letter orders customer-7 --yes
    """
    with open_client(bootstrap, config) as client:
        client.flow(flow).describe()
        confirm(f"Send the held events of {key} to the dead letters?", yes)
        receipt = client.flow(flow).dead_letter(
            _key(key, base64), reason=reason, actor=actor, command_id=command_id
        )
        _report(receipt, wait, output)


def void(
    flow: FlowName,
    offset: Annotated[
        int,
        typer.Argument(metavar="OFFSET", min=0, help="Its place on the control log.",
                       show_default=False),
    ],
    reason: Reason = "",
    actor: Actor = None,
    wait: Wait = None,
    yes: Yes = False,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:  # fmt: skip
    """Let the gate pass a record of the control log that cannot be read.

    The gate stops at such a record, because it may have been a hold, and names its offset. Find out
    what it meant, ask for that anew, and then send this.

    \b
    Example:
      holdfast void orders 17 --reason "typed by hand, meant nothing"
    """
    with open_client(bootstrap, config) as client:
        client.flow(flow).describe()
        confirm(f"Pass offset {offset} of {flow}.control, which may have been a hold?", yes)
        receipt = client.flow(flow).void(offset, reason=reason, actor=actor)
        _report(receipt, wait, output)


def held(
    flow: FlowName,
    key: Annotated[
        str | None, typer.Argument(metavar="[KEY]", help="Only this key.", show_default=False)
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="List the events that are held of KEY.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Events in a page.")] = 100,
    after: Annotated[
        str | None,
        typer.Option("--after", metavar="PLACE", help="Begin where the page before ended.",
                     show_default="the first event"),
    ] = None,
    base64: Base64 = False,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:  # fmt: skip
    """List the keys of a flow that are held or draining, or the events that are held of one.

    \b
    Examples:
      holdfast held orders -o json
      holdfast held orders customer-7 --events
      holdfast held orders customer-7 --events --after 2:1017
    """
    wanted = None if key is None else _key(key, base64)
    if events and wanted is None:
        raise typer.BadParameter("say of which key: give KEY", param_hint="--events")
    with open_client(bootstrap, config) as client:
        if events and wanted is not None:
            _show_events(client.flow(flow), wanted, limit, after, output)
            return
        found = client.flow(flow).held()
    rows = [_row(status) for status in found if wanted in (None, status.key)]
    show(rows, output, empty=f"No key of {flow} is held." if key is None else f"{key} is active.")


def status(
    flow: FlowName,
    key: Key,
    base64: Base64 = False,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Show the state of a key.

    \b
    Example:
      holdfast status orders customer-7
    """
    with open_client(bootstrap, config) as client:
        show_one(_row(client.flow(flow).status(_key(key, base64))), output)


def _application(command: Callable[..., None]) -> typer.Typer:
    app = application()
    app.command(no_args_is_help=True)(command)
    return app


APPS = {
    "hold": _application(hold),
    "release": _application(release),
    "dead-letter": _application(dead_letter),
    "void": _application(void),
    "held": _application(held),
    "status": _application(status),
}


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(APPS[name], name, arguments)


def _key(text: str, base64: bool) -> bytes:
    return key_from_base64(text) if base64 else raw_bytes(text)


def _report(receipt: "Receipt", wait: float | None, output: Any) -> None:
    row = {
        "command": receipt.command.name,
        "id": receipt.command_id,
        "offset": receipt.offset,
        "outcome": None,
        "partition": None,
        "cut": None,
    }
    if wait is None:
        note("Requested; it is effective once the pipeline has carried it out (see --wait).")
    else:
        try:
            effect = receipt.wait(wait)
        except Exception:
            # What was asked for stands: its id and offset are worth more than the time-out.
            show_one(row, output)
            sys.stdout.flush()
            raise
        row |= {"outcome": effect.outcome.value, "partition": effect.partition, "cut": effect.cut}
    show_one(row, output)


def _row(status: "KeyStatus") -> dict[str, Any]:
    entries = [entry for _, entry in status.entries]
    first = entries[0] if entries else None
    return {
        **({"key": None, "key_base64": None} | key_to_json(status.key)),
        "state": status.state.value,
        "events": status.events,
        "bytes": status.bytes,
        "oldest": None if status.oldest is None else _time(status.oldest),
        "since": _time(first.since) if first else None,
        "expires": _time(first.expires_at) if first and first.expires_at else None,
        "actor": first.actor if first else None,
        "reason": first.reason if first else None,
    }


def _show_events(
    flow: "Flow", key: bytes, limit: int, after: str | None, output: Output | None
) -> None:
    from holdfast.client.held import Place

    start = None if after is None else Place.parse(after)
    page = flow.held_events(key, start=start, limit=limit)
    rows = [_event(event) for event in page.events]
    if chosen(output) is Output.JSON:
        print_json({"events": rows, "next": page.following and str(page.following)})
        return
    show(rows, output, empty="No event of this key is held here.")
    if page.following is not None:
        note(f"There may be more: --after {page.following}")


def _event(event: "HeldEvent") -> dict[str, Any]:
    return {
        "source": f"{event.partition}:{event.offset}",
        "time": datetime.fromtimestamp(event.timestamp / 1000, UTC).isoformat(),
        "value": event.value,
        "headers": [f"{name}={_text(value)}" for name, value in event.headers],
    }


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
