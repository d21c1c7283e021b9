"""`holdfast consume`: read records."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.options import Cluster, raw_bytes
from holdfast.cli.positions import POSITIONS, parse_position
from holdfast.cli.program import application
from holdfast.errors import NotFoundError

if TYPE_CHECKING:
    from holdfast.client.client import Client
    from holdfast.client.record import Record

app = application()


class Style(StrEnum):
    TABLE = "table"
    JSON = "json"
    RAW = "raw"


def _style(text: str) -> Style:
    if text in list(Style):
        return Style(text)
    raise typer.BadParameter(
        f"{text!r} is not a form: give table, json or raw. A position is given with --from, as in "
        "'--from start' or '--from -10'."
    )


@app.command(no_args_is_help=True)
def consume(
    topics: Annotated[
        list[str],
        typer.Argument(metavar="TOPIC...", show_default=False,
                       help="The topics to read; one that begins with ^ is a regular expression."),
    ],
    start: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="WHERE", help=f"Start at: {POSITIONS}.", show_default="start"
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--to", metavar="WHERE", help="Stop before this.", show_default="end"),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=0, help="Stop after this number of records.")
    ] = None,
    partition: Annotated[
        int | None, typer.Option("--partition", "-p", min=0, help="Only this partition.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", "-g", help="Start at the offsets of this group, and commit."),
    ] = None,
    tail: Annotated[
        bool, typer.Option("--tail", "-t", help="Start at the end (or --from), and wait for more.")
    ] = False,
    template: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="FORMAT", help="As in kcat: %t topic, %p partition, "
                     "%o offset, %k key, %s value, %T timestamp, %h headers, %K %S lengths, \\n."),
    ] = None,
    style: Annotated[
        Style | None,
        typer.Option("--output", "-o", help="How to print: a table, JSON, or raw values.",
                     parser=_style, metavar="[table|json|raw]",
                     show_default="table on a terminal, raw in a pipe"),
    ] = None,
    print_headers: Annotated[
        bool, typer.Option("--print-headers", help="Put the headers and a tab before each value.")
    ] = False,
    null: Annotated[
        str | None,
        typer.Option("--null", metavar="TEXT", help="Print this for a key or value that is null.",
                     show_default="nothing; NULL with -f"),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print records only: no progress.")
    ] = False,
    *,
    cluster: Cluster,
) -> None:  # fmt: skip
    """Read the present records and stop; with --tail, read records as they come.

    \b
    Examples:
      holdfast consume orders -n 10
      holdfast consume orders --from -10
      holdfast consume orders --from 1h -o json
      holdfast consume orders payments '^audit-.*' --print-headers
      holdfast consume orders --tail -f '%p:%o %k %s\\n'
      holdfast consume orders --group billing
      holdfast consume orders -o json | holdfast produce copy --json
    """
    begin = None if start is None else parse_position(start, "--from")
    until = None if end is None else parse_position(end, "--to")
    if tail and until is not None:
        raise typer.BadParameter(
            "--tail never stops, and --to does: give one of them", param_hint="--tail/--to"
        )
    if group is not None and partition is not None:
        raise typer.BadParameter(
            "a group reads all partitions: give --group or --partition", param_hint="--partition"
        )
    render = _renderer(template, style, print_headers, null, topics)
    with cluster.client() as client:
        if begin is None:
            begin = "end" if tail and group is None else "start"
        consumer = client.consumer(
            _existing(client, topics),
            group=group,
            start="start" if group is not None else begin,
            partitions=None if partition is None else [partition],
            kafka=cluster.kafka,
        )
        with consumer:
            if group is not None and start is not None:
                consumer.seek(begin)
            bound = None if tail else (until if until is not None else "end")
            records = consumer.records(until=bound, limit=count)
            _print(records, render, live=tail, quiet=quiet)


def _existing(client: "Client", topics: Sequence[str]) -> list[str]:
    """The topics, with those that match a regular expression in its place."""
    names: list[str] = []
    for topic in topics:
        if not topic.startswith("^"):
            names.append(topic)
            continue
        try:
            pattern = re.compile(topic)
        except re.error as error:
            raise typer.BadParameter(f"{topic!r} is not a regular expression: {error}") from None
        matching = [t.name for t in client.topics.list() if pattern.search(t.name)]
        if not matching:
            raise NotFoundError(f"No topic matches {topic!r}.")
        names += matching
    return list(dict.fromkeys(names))


def _print(
    records: Iterator["Record"], render: "Callable[[Record], bytes]", *, live: bool, quiet: bool
) -> None:
    """Writes the records; a `live` stream is flushed after each."""
    out = sys.stdout.buffer
    if sys.stdout.isatty():
        live = True
    elif sys.stderr.isatty() and not quiet:
        from holdfast.cli.progress import track

        records = track(records, "Reading")
    for record in records:
        out.write(render(record))
        if live:
            out.flush()
    out.flush()


def _renderer(
    template: str | None,
    style: Style | None,
    print_headers: bool,
    null: str | None,
    topics: Sequence[str],
) -> "Callable[[Record], bytes]":
    from holdfast.cli.record_format import NULL, compile_format

    if template is not None:
        if style is not None:
            raise typer.BadParameter("give --format or --output, not both", param_hint="-f/-o")
        try:
            return compile_format(template, NULL if null is None else raw_bytes(null))
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--format") from None
    style = style or (Style.TABLE if sys.stdout.isatty() else Style.RAW)
    if style is Style.JSON:
        from holdfast.cli.json_lines import to_line

        return to_line
    if style is Style.RAW:
        before = "%h\t" if print_headers else ""
        return compile_format(f"{before}%s\n", raw_bytes(null or ""))
    several = len(topics) > 1 or topics[0].startswith("^")
    return partial(_line, several=several, print_headers=print_headers, null=null or "(null)")


def _line(record: "Record", *, several: bool, print_headers: bool, null: str) -> bytes:
    """One record in fixed columns, because records are printed as they arrive."""
    from holdfast.cli.record_format import headers_text

    time = record.timestamp
    when = f"{time.astimezone():%Y-%m-%d %H:%M:%S}" if time else "-"
    position = f"{record.partition}:{record.offset}"
    columns = [
        *([f"{record.topic:<20}"] if several else []),
        f"{position:>12}",
        when,
        f"{_text(record.key, null) or '-':<20}",
        *([_text(headers_text(record), null) or "-"] if print_headers else []),
        _text(record.value, null),
    ]
    return ("  ".join(columns) + "\n").encode()


def _text(value: bytes | None, null: str) -> str:
    return null if value is None else value.decode(errors="backslashreplace")
