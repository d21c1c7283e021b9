"""`holdfast dlq`: list, group and show dead letters."""

from typing import Annotated, Any

import typer

from holdfast.cli.filters import Cursor, KeyOption, Limit, RecordOptions, SpanOptions
from holdfast.cli.options import Cluster, FlowName
from holdfast.cli.output import Format, Output, chosen, print_json, show, show_one, time_text
from holdfast.cli.program import application, note

app = application("List, group and show dead letters. 'holdfast redrive' sends them again.")

Reason = Annotated[
    str, typer.Option("--reason", "-r", metavar="CODE", help="Only with this kind of error.")
]


@app.command("ls")
def list_letters(
    flow: FlowName,
    reason: Reason = "",
    limit: Limit = 50,
    cursor: Cursor = None,
    output: Format = None,
    *,
    key: KeyOption,
    records: RecordOptions,
    span: SpanOptions,
    cluster: Cluster,
) -> None:
    """List dead letters, newest first.

    \b
    Examples:
      holdfast dlq ls orders --since 24h
      holdfast dlq ls orders --reason invalid --path '$.total' -o csv
    """
    from holdfast.control.dead_letters import letters
    from holdfast.control.exports import letter_fields

    with cluster.client() as client:
        page = letters(
            client.connection,
            client.flow(flow).describe(),
            _admin(),
            reason=reason,
            partition=records.partition,
            span=span.span,
            wanted=records.filter(key.bytes),
            limit=limit,
            cursor=cursor,
        )
    rows = [letter_fields(seen) for seen in page.records]
    if chosen(output) is Output.JSON:
        print_json({"letters": rows, "cursor": page.cursor})
        return
    if chosen(output) is Output.TABLE:
        rows = [
            {"letter": f"{row['partition']}:{row['offset']}", "time": row["time"],
             "key": row["key"] or row["key_base64"], "reason": row["reason"],
             "message": row["message"]}
            for row in rows
        ]  # fmt: skip
    show(rows, output, empty=f"No dead letter of {flow} matches.")
    if page.cursor is not None:
        note(f"There may be more: --cursor {page.cursor}")


@app.command("groups")
def list_groups(flow: FlowName, output: Format = None, *, cluster: Cluster) -> None:
    """Count dead letters by kind of error and message, most frequent first.

    Numbers and quoted texts in messages do not separate groups.

    \b
    Example:
      holdfast dlq groups orders
    """
    from holdfast.control.dead_letters import letter_groups

    with cluster.client() as client:
        groups = letter_groups(client.connection, client.flow(flow).describe(), _admin())
    rows: list[dict[str, Any]] = [
        {
            "letters": group.count,
            "reason": group.reason,
            "message": group.pattern,
            "newest": time_text(group.newest),
        }
        for group in groups.groups
    ]
    show(rows, output, empty=f"There are no dead letters in {flow}.")
    if groups.stopped_early:
        note(f"Only the newest were counted. {groups.stopped_early}")


@app.command("show")
def show_letter(
    flow: FlowName,
    letter: Annotated[
        str,
        typer.Argument(metavar="PARTITION:OFFSET", help="Its coordinates.", show_default=False),
    ],
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:
    """Show one dead letter in full.

    \b
    Example:
      holdfast dlq show orders 2:1017
    """
    from holdfast.client.positions import Partition
    from holdfast.control.exports import letter_fields
    from holdfast.control.records import read_one
    from holdfast.flows.run_specs import Coordinate

    place = Coordinate.parse(letter)
    with cluster.client() as client:
        names = client.flow(flow).describe().names
        seen = read_one(
            client.connection, Partition(names.dlq, place.partition), place.offset, (), _admin()
        )
    headers = [f"{name}={_text(value)}" for name, value in seen.record.headers]
    show_one({**letter_fields(seen), "headers": headers}, output)


def _admin() -> Any:
    """Who can read the broker sees all values: masks are those of the web process."""
    from holdfast.access.roles import Actor, Role

    return Actor("", Role.ADMIN)


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
