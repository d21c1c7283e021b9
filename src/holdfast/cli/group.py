"""`holdfast group`: list, describe, reset and delete consumer groups."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from holdfast.cli.output import Format, Output, chosen, print_json, show, show_one
from holdfast.cli.places import PLACES, parse_place
from holdfast.cli.program import (
    Bootstrap,
    Config,
    Yes,
    application,
    confirm,
    note,
    open_client,
    run_application,
)

app = application("List, describe, reset and delete consumer groups.")

Name = Annotated[str, typer.Argument(help="The group's name.", show_default=False)]


@app.command("ls")
def list_groups(output: Format = None, bootstrap: Bootstrap = None, config: Config = None) -> None:
    """List the groups.

    \b
    Example:
      holdfast group ls
    """
    with open_client(bootstrap, config) as client:
        rows = [{"group": g.name, "state": g.state} for g in client.groups.list()]
    show(rows, output, empty="There are no groups.")


@app.command("describe")
def describe(
    name: Name, output: Format = None, bootstrap: Bootstrap = None, config: Config = None
) -> None:
    """Show a group, its members, and its lag in records and seconds.

    \b
    Example:
      holdfast group describe billing
    """
    with open_client(bootstrap, config) as client:
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
        "coordinator": group.coordinator,
        "members": len(group.members),
        "lag": group.total_lag,
    }
    if chosen(output) == Output.JSON:
        print_json({**summary, "members": members, "partitions": lag})
        return
    show_one(summary, output)
    show(lag, output)
    show(members, output)


@app.command("reset")
def reset(
    name: Name,
    to: Annotated[str, typer.Option("--to", metavar="PLACE", help=f"Where to: {PLACES}.")],
    topics: Annotated[
        list[str] | None,
        typer.Option("--topic", "-t", help="Only this topic; may be repeated.",
                     show_default="those it has offsets of"),
    ] = None,
    partition: Annotated[int | None, typer.Option("--partition", "-p", min=0)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would do.")] = False,
    yes: Yes = False,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:  # fmt: skip
    """Move a group that has no members.

    \b
    Examples:
      holdfast group reset billing --to start --dry-run
      holdfast group reset billing --to 2h --yes
      holdfast group reset billing --to 2026-01-31T12:00 --topic orders
    """
    place = parse_place(to, "--to")
    with open_client(bootstrap, config) as client:
        planned = client.groups.reset(name, place, topics=topics, partition=partition, dry_run=True)
        if not dry_run:
            confirm(f"Move {name} to {to} in {len(planned)} partitions?", yes)
            planned = client.groups.reset(name, place, topics=topics, partition=partition)
    show([asdict(change) for change in planned], output)
    note("Nothing was changed." if dry_run else f"Moved {name}.")


@app.command("delete")
def delete(
    names: Annotated[list[str], typer.Argument(help="Groups to delete.", show_default=False)],
    yes: Yes = False,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Delete groups that have no members, and their offsets.

    \b
    Example:
      holdfast group delete billing --yes
    """
    with open_client(bootstrap, config) as client:
        for name in names:
            client.groups.describe(name)
        confirm(f"Delete {', '.join(names)} with all committed offsets?", yes)
        for name in names:
            client.groups.delete(name)
            note(f"Deleted {name}.")


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
