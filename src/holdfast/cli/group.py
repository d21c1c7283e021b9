"""`holdfast group`: list, describe, reset and delete consumer groups."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.options import Cluster, Yes
from holdfast.cli.output import Format, Output, chosen, print_json, show, show_one
from holdfast.cli.positions import POSITIONS, parse_position
from holdfast.cli.program import application, confirm, note
from holdfast.cli.watching import Watch, repeat

if TYPE_CHECKING:
    from holdfast.client.client import Client
    from holdfast.remote.flows import RemoteClient

app = application("List, describe, reset and delete consumer groups.")

Name = Annotated[str, typer.Argument(help="The group's name.", show_default=False)]


@app.command("ls")
def list_groups(watch: Watch = False, output: Format = None, *, cluster: Cluster) -> None:
    """List the groups, and how far each lags behind, in records.

    \b
    Examples:
      holdfast group ls
      holdfast group ls --watch
    """
    with cluster.any_client() as client:
        repeat(watch, lambda: _show(_groups(client), output))


def _show(groups: list[dict[str, Any]], output: Output | None) -> None:
    rows = [{name: g[name] for name in ("group", "state", "protocol", "lag")} for g in groups]
    show(rows, output, empty="There are no groups.", short=rows)


def _groups(client: "Client | RemoteClient") -> list[dict[str, Any]]:
    from holdfast.remote.flows import RemoteClient

    if isinstance(client, RemoteClient):
        return [{"group": group["name"], **group} for group in client.groups()]
    listed = client.groups.list()
    lags = client.groups.total_lags([group.name for group in listed])
    return [{"group": g.name, **asdict(g), "lag": lags[g.name]} for g in listed]


@app.command("describe")
def describe(name: Name, output: Format = None, *, cluster: Cluster) -> None:
    """Show a group, its members, and its lag in records and seconds.

    \b
    Example:
      holdfast group describe billing
    """
    with cluster.client() as client:
        group = client.groups.describe(name)
    lag = [asdict(lag) for lag in group.lag]
    members = [
        {"member": m.id, "client": m.client_id, "host": m.host,
         "partitions": [str(p) for p in m.partitions]}
        for m in group.members
    ]  # fmt: skip
    summary = {
        "group": group.name,
        "state": group.state,
        "protocol": group.protocol,
        "coordinator": group.coordinator,
        "members": len(group.members),
        "lag": group.total_lag,
    }
    if chosen(output) == Output.JSON:
        print_json({**summary, "members": members, "partitions": lag})
        return
    if group.total_lag is None:
        summary["lag"] = "- (nothing is committed)"
    show_one(summary, output)
    show(lag, output)
    show(members, output)


@app.command("reset")
def reset(
    name: Name,
    to: Annotated[str, typer.Option("--to", metavar="WHERE", help=f"Where to: {POSITIONS}.")],
    topics: Annotated[
        list[str] | None,
        typer.Option("--topic", "-t", help="Only this topic; may be repeated.",
                     show_default="those it has offsets of"),
    ] = None,
    partition: Annotated[int | None, typer.Option("--partition", "-p", min=0)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would do.")] = False,
    yes: Yes = False,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:  # fmt: skip
    """Move a group that has no members.

    \b
    Examples:
      holdfast group reset billing --to start --dry-run
      holdfast group reset billing --to 2h --yes
      holdfast group reset billing --to 2026-01-31T12:00 --topic orders
    """
    position = parse_position(to, "--to")
    with cluster.client() as client:
        planned = client.groups.reset(
            name, position, topics=topics, partition=partition, dry_run=True
        )
        if not dry_run:
            confirm(f"Move {name} to {to} in {len(planned)} partitions?", yes)
            planned = client.groups.reset(name, position, topics=topics, partition=partition)
    show([asdict(change) for change in planned], output)
    note("Nothing was changed." if dry_run else f"Moved {name}.")


@app.command("delete")
def delete(
    names: Annotated[list[str], typer.Argument(help="Groups to delete.", show_default=False)],
    yes: Yes = False,
    *,
    cluster: Cluster,
) -> None:
    """Delete groups that have no members, and their offsets.

    \b
    Example:
      holdfast group delete billing --yes
    """
    with cluster.client() as client:
        for name in names:
            client.groups.describe(name)
        confirm(f"Delete {', '.join(names)} with all committed offsets?", yes)
        for name in names:
            client.groups.delete(name)
            note(f"Deleted {name}.")
