"""`holdfast topic`: list, create, describe, configure and delete topics."""

from collections.abc import Sequence
from typing import Annotated

import typer

from holdfast.cli.output import Format, Output, chosen, print_json, show, show_one
from holdfast.cli.program import (
    Bootstrap,
    Config,
    Yes,
    application,
    confirm,
    note,
    open_client,
    pairs,
    run_application,
)

app = application("List, create, describe, configure and delete topics.")

Name = Annotated[str, typer.Argument(help="The topic's name.", show_default=False)]


@app.command("ls")
def list_topics(
    all_topics: Annotated[bool, typer.Option("--all", "-a", help="Kafka's own ones too.")] = False,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """List the topics.

    \b
    Example:
      holdfast topic ls -o json
    """
    with open_client(bootstrap, config) as client:
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
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Create a topic.

    \b
    Example:
      holdfast topic create orders -p 6 --set retention.ms=604800000
    """
    given = pairs(settings or [], "--set")
    with open_client(bootstrap, config) as client:
        client.topics.create(name, partitions=partitions, replication=replication, config=given)
    note(f"Created {name} with {partitions} partition{'s' if partitions > 1 else ''}.")


@app.command("describe")
def describe(
    name: Name, output: Format = None, bootstrap: Bootstrap = None, config: Config = None
) -> None:
    """Show a topic, what its partitions hold, and changed settings.

    \b
    Example:
      holdfast topic describe orders
    """
    with open_client(bootstrap, config) as client:
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


@app.command("delete")
def delete(
    names: Annotated[list[str], typer.Argument(help="Topics to delete.", show_default=False)],
    yes: Yes = False,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Delete topics and all their records.

    \b
    Example:
      holdfast topic delete old-orders --yes
    """
    with open_client(bootstrap, config) as client:
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
        list[str] | None, typer.Option("--set", "-s", metavar="NAME=VALUE", help="Change it.")
    ] = None,
    defaults: Annotated[
        list[str] | None, typer.Option("--unset", "-u", metavar="NAME", help="Back to default.")
    ] = None,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Show the settings of a topic, or change them.

    \b
    Examples:
      holdfast topic config orders
      holdfast topic config orders --set retention.ms=86400000 --unset segment.bytes
    """
    wanted: dict[str, str | None] = {**pairs(changes or [], "--set")}
    wanted |= dict.fromkeys(defaults or [])
    with open_client(bootstrap, config) as client:
        client.topics.describe(name)
        if wanted:
            client.topics.set_config(name, wanted)
            note(f"Changed {', '.join(wanted)} of {name}.")
            return
        settings = client.topics.config(name).values()
    rows = [{"setting": s.name, "value": s.value, "changed": s.changed} for s in settings]
    show(rows, output)


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
