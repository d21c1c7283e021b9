"""`holdfast held | status`: the keys of a flow, and the state of one."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.options import Base64, Cluster, FlowName, key_of_argument
from holdfast.cli.output import (
    Format,
    Output,
    age_text,
    chosen,
    print_json,
    show,
    show_one,
    time_text,
)
from holdfast.cli.program import note, single_commands
from holdfast.cli.watching import Watch, repeat
from holdfast.clock import from_ms, now_ms
from holdfast.flows.holds import GUARD
from holdfast.flows.keys import key_to_json

if TYPE_CHECKING:
    from holdfast.client.client import Client
    from holdfast.client.flow import Flow
    from holdfast.client.held import HeldEvent
    from holdfast.flows.holds import StandingHold
    from holdfast.flows.registry import FlowDefinition
    from holdfast.flows.status import Entry, KeyStatus, PrefixStatus
    from holdfast.remote.flows import RemoteClient, RemoteFlow


def held(
    flow: FlowName,
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="Only this key.", show_default=False)
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="List the held events of KEY.")
    ] = False,
    prefixes: Annotated[
        bool, typer.Option("--prefixes", help="List the held prefixes, and what they hold.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Events in a page.")] = 100,
    after: Annotated[
        str | None,
        typer.Option("--after", metavar="PLACE", help="Start where the previous page ended.",
                     show_default="the first event"),
    ] = None,
    base64: Base64 = False,
    watch: Watch = False,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:  # fmt: skip
    """List the held and draining keys of a flow, or the held events of one key.

    \b
    Examples:
      holdfast held orders
      holdfast held orders -o wide --watch
      holdfast held orders customer-7 --events
      holdfast held orders customer-7 --events --after 2:1017
      holdfast held orders --prefixes
    """
    wanted = None if key is None else key_of_argument(key, base64)
    if events and wanted is None:
        raise typer.BadParameter("the events of which key? Give KEY", param_hint="--events")
    with cluster.any_client() as client:
        if events and wanted is not None:
            _show_events(client.flow(flow), wanted, limit, after, output)
            return
        if prefixes:
            repeat(watch, lambda: _show_prefixes(client.flow(flow), output))
        else:
            repeat(watch, lambda: _show_keys(client.flow(flow), wanted, output))


def status(
    flow: Annotated[
        str | None,
        typer.Argument(metavar="FLOW", help="The flow's name.", show_default="all flows"),
    ] = None,
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="The record key.", show_default=False)
    ] = None,
    base64: Base64 = False,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:
    """Show the state of a key, and when its events were seen last. Without KEY: is it well?

    Without KEY it is `holdfast health`, with its exit code: 1 if some part is not well.

    \b
    Examples:
      holdfast status orders customer-7
      holdfast status orders
      holdfast status
    """
    if flow is None or key is None:
        from holdfast.cli.health import report_health

        report_health(cluster, flow, output)
        return
    with cluster.any_client() as client:
        definition, given = client.flow(flow).describe(), key_of_argument(key, base64)
        row = _row(client.flow(flow).status(given), guard=definition.is_guard)
        show_one({**row, "seen": _seen(client, definition, given)}, output)


APPS = single_commands(held, status, without_arguments=status)


def _show_keys(flow: "Flow | RemoteFlow", wanted: bytes | None, output: Output | None) -> None:
    found, guard = flow.held(), flow.describe().is_guard
    found = [status for status in found if wanted in (None, status.key)]
    empty = f"No key of {flow.name} is held." if wanted is None else "The key is active."
    rows = [_row(status, guard=guard) for status in found]
    show(rows, output, empty=empty, short=[_short_row(status) for status in found])


def _short_row(status: "KeyStatus") -> dict[str, Any]:
    """A key in one line of a terminal."""
    from holdfast.flows.holds import held_until, reasons_of

    entries, now = [entry for _, entry in status.entries], now_ms()
    labels = [_hold_label(hold) for hold in status.holds] or [entry.actor for entry in entries]
    return {
        "key": _name(status.key),
        "state": status.state.value,
        "events": status.events,
        "since": age_text(entries[0].since, now) if entries else None,
        "ends": age_text(held_until(status.holds), now) or "never" if status.holds else None,
        "by": ", ".join(dict.fromkeys(labels)),
        "reason": reasons_of(status.holds) or (entries[0].reason if entries else None),
    }


def _name(key: bytes) -> str:
    return next(iter(key_to_json(key).values()))


def _show_prefixes(flow: "Flow | RemoteFlow", output: Output | None) -> None:
    found = flow.prefixes()
    rows = [_prefix_row(status) for status in found]
    short = [_short_prefix(status) for status in found]
    show(rows, output, empty=f"No prefix of {flow.name} is held.", short=short)


def _short_prefix(status: "PrefixStatus") -> dict[str, Any]:
    from holdfast.flows.holds import held_until

    row, now = _prefix_row(status), now_ms()
    ends = age_text(held_until(status.holds), now) or "never"
    kept = {name: row[name] for name in ("prefix", "keys", "events", "holds", "reason")}
    return {**kept, "since": age_text(status.since, now), "ends": ends}


def _row(status: "KeyStatus", *, guard: bool) -> dict[str, Any]:
    from holdfast.flows.holds import held_until, reasons_of

    entries = [entry for _, entry in status.entries]
    first = entries[0] if entries else None
    return {
        **({"key": None, "key_base64": None} | key_to_json(status.key)),
        "state": status.state.value,
        "events": status.events,
        "bytes": status.bytes,
        "oldest": time_text(status.oldest),
        "since": time_text(first.since) if first else None,
        "expires": time_text(held_until(status.holds)),
        "actor": first.actor if first else None,
        "holds": list(map(_hold_label, status.holds)) or None,
        "reason": reasons_of(status.holds) or (first.reason if first else None),
        **(_attempts(first) if guard else {}),
    }


def _seen(client: "Client | RemoteClient", flow: "FlowDefinition", key: bytes) -> str:
    from holdfast.clock import now_ms
    from holdfast.control.sightings import sightings
    from holdfast.remote.flows import RemoteClient

    if isinstance(client, RemoteClient):
        return client.flow(flow.name).seen(key)
    return sightings(client.connection, flow, key, now_ms()).sentence(now_ms())


def _attempts(entry: "Entry | None") -> dict[str, Any]:
    """What a guard knows of the key's first event."""
    tries = [hold.expires_at for hold in entry.holds if hold.name == GUARD] if entry else []
    return {
        "attempts": entry.attempts if entry else None,
        "next_try": time_text(tries[0]) if tries else None,
        "error": (entry.error or None) if entry else None,
    }


def _hold_label(hold: "StandingHold") -> str:
    from holdfast.flows.holds import prefix_text

    return f"{hold.label} (prefix {prefix_text(hold.prefix)})" if hold.prefix else hold.label


def _prefix_row(status: "PrefixStatus") -> dict[str, Any]:
    from holdfast.flows.holds import held_until, reasons_of

    held = [key for key in status.keys if any(h.prefix == status.prefix for h in key.holds)]
    return {
        **({"prefix": None, "prefix_base64": None} | key_to_json(status.prefix, "prefix")),
        "keys": len(held),
        "events": sum(key.events for key in held),
        "bytes": sum(key.bytes for key in held),
        "since": time_text(status.since),
        "expires": time_text(held_until(status.holds)),
        "holds": [hold.label for hold in status.holds],
        "reason": reasons_of(status.holds),
        "held keys": [_name(key.key) for key in held] or None,
    }


def _show_events(
    flow: "Flow | RemoteFlow", key: bytes, limit: int, after: str | None, output: Output | None
) -> None:
    from holdfast.client.held import HeldPosition

    start = None if after is None else HeldPosition.parse(after)
    page = flow.held_events(key, start=start, limit=limit)
    rows = [_event(event) for event in page.events]
    if chosen(output) is Output.JSON:
        print_json({"events": rows, "next": page.following and str(page.following)})
        return
    show(rows, output, empty="No event of this key is held.")
    if page.following is not None:
        note(f"There may be more: --after {page.following}")


def _event(event: "HeldEvent") -> dict[str, Any]:
    return {
        "source": f"{event.partition}:{event.offset}",
        "time": from_ms(event.timestamp).isoformat(),
        "value": event.value,
        "headers": [f"{name}={_text(value)}" for name, value in event.headers],
    }


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
