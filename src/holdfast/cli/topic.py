"""`holdfast topic`: list, create, describe, configure and delete topics."""

from typing import Annotated

import typer

from holdfast.cli.options import Cluster, Yes, pairs
from holdfast.cli.output import Format, Output, chosen, print_json, show, show_one
from holdfast.cli.positions import POSITIONS, parse_position
from holdfast.cli.program import application, confirm, note

app = application("List, create, describe, configure and delete topics.")

Name = Annotated[str, typer.Argument(help="The topic's name.", show_default=False)]


@app.command("ls")
def list_topics(
    all_topics: Annotated[
        bool, typer.Option("--all", "-a", help="Include Kafka's internal topics.")
    ] = False,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:
    """List the topics.

    \b
    Example:
      holdfast topic ls -o json
    """
    with cluster.client() as client:
        rows = [
            {"topic": t.name, "partitions": t.partitions, "replication": t.replication}
            for t in client.topics.list(internal=all_topics)
        ]
    show(rows, output, empty="There are no topics. 'holdfast topic create NAME' makes one.")


@app.command("create")
def create(
    name: Name,
    partitions: Annotated[int, typer.Option("--partitions", "-p", min=1)] = 1,
    replication: Annotated[
        int | None, typer.Option("--replication", "-r", min=1, show_default="the cluster's")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="A setting; may be repeated."),
    ] = None,
    *,
    cluster: Cluster,
) -> None:
    """Create a topic.

    \b
    Example:
      holdfast topic create orders -p 6 --set retention.ms=604800000
    """
    given = pairs(settings or [], "--set")
    with cluster.client() as client:
        client.topics.create(name, partitions=partitions, replication=replication, config=given)
    note(f"Created {name} with {partitions} partition{'s' if partitions > 1 else ''}.")


@app.command("describe")
def describe(name: Name, output: Format = None, *, cluster: Cluster) -> None:
    """Show a topic, the offsets of its partitions, and its changed settings.

    \b
    Example:
      holdfast topic describe orders
    """
    with cluster.client() as client:
        topic = client.topics.describe(name)
        ranges = client.topics.ranges(name)
        changed = {s.name: s.value for s in client.topics.config(name).values() if s.changed}
    rows = [
        {"partition": r.partition, "leader": leader, "start": r.start, "end": r.end,
         "records": r.records}
        for r, leader in zip(ranges, topic.leaders, strict=True)
    ]  # fmt: skip
    summary = {
        "topic": topic.name,
        "partitions": topic.partitions,
        "replication": topic.replication,
        "settings": changed,
    }
    if chosen(output) == Output.JSON:
        print_json({**summary, "ranges": rows})
        return
    show_one({**summary, "settings": [f"{k}={v}" for k, v in changed.items()] or None}, output)
    show(rows, output)


@app.command("offsets")
def offsets(
    name: Name,
    at: Annotated[str, typer.Option("--at", metavar="WHERE", help=f"One of: {POSITIONS}.")] = "end",
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:
    """Show the offset of a position in each partition, such as the first record since a time.

    \b
    Examples:
      holdfast topic offsets orders
      holdfast topic offsets orders --at 2026-01-31T12:00
      holdfast topic offsets orders --at -10
    """
    where = parse_position(at, "--at")
    with cluster.client() as client:
        found = client.topics.offsets(name, where)
    show([{"partition": number, "offset": offset} for number, offset in found.items()], output)


@app.command("delete")
def delete(
    names: Annotated[list[str], typer.Argument(help="Topics to delete.", show_default=False)],
    yes: Yes = False,
    *,
    cluster: Cluster,
) -> None:
    """Delete topics and all their records.

    \b
    Example:
      holdfast topic delete old-orders --yes
    """
    with cluster.client() as client:
        for name in names:
            client.topics.describe(name)
        confirm(f"Delete {', '.join(names)} with all records?", yes)
        for name in names:
            client.topics.delete(name)
            note(f"Deleted {name}.")


@app.command("config")
def configure(
    name: Name,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", "-s", metavar="NAME=VALUE", help="Change a setting; may be repeated."
        ),
    ] = None,
    defaults: Annotated[
        list[str] | None,
        typer.Option("--unset", "-u", metavar="NAME", help="Reset a setting to its default."),
    ] = None,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:
    """Show the settings of a topic, or change them.

    \b
    Examples:
      holdfast topic config orders
      holdfast topic config orders --set retention.ms=86400000 --unset segment.bytes
    """
    wanted: dict[str, str | None] = {**pairs(changes or [], "--set")}
    wanted |= dict.fromkeys(defaults or [])
    with cluster.client() as client:
        client.topics.describe(name)
        if wanted:
            client.topics.set_config(name, wanted)
            note(f"Changed {', '.join(wanted)} of {name}.")
            return
        settings = client.topics.config(name).values()
    rows = [{"setting": s.name, "value": s.value, "changed": s.changed} for s in settings]
    show(rows, output)
