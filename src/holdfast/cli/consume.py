"""`holdfast consume`: read records."""

import sys
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.places import PLACES, parse_place
from holdfast.cli.program import Bootstrap, Config, application, open_client, run_application

if TYPE_CHECKING:
    from holdfast.client.record import Record

app = application()


class Style(StrEnum):
    TABLE = "table"
    JSON = "json"
    RAW = "raw"


@app.command(no_args_is_help=True)
def consume(
    topic: Annotated[str, typer.Argument(help="What to read.", show_default=False)],
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="PLACE", help=f"Begin at: {PLACES}.", show_default="start"),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--to", metavar="PLACE", help="Stop before this place.", show_default="end"),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=0, help="Stop after so many records.")
    ] = None,
    partition: Annotated[
        int | None, typer.Option("--partition", "-p", min=0, help="Only this partition.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", "-g", help="Go on where this group is, and commit."),
    ] = None,
    tail: Annotated[
        bool, typer.Option("--tail", "-t", help="Begin at the end (or --from), and go on waiting.")
    ] = False,
    template: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="FORMAT", help="As in kcat: %t topic, %p partition, "
                     "%o offset, %k key, %s value, %T timestamp, %h headers, %K %S lengths, \\n."),
    ] = None,
    style: Annotated[
        Style | None,
        typer.Option("--output", "-o", help="How to print.",
                     show_default="table on a terminal, raw in a pipe"),
    ] = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:  # fmt: skip
    """Read records: what is there now, and then stop; or, with --tail, as they come.

    \b
    Examples:
      holdfast consume orders -n 10
      holdfast consume orders --from 1h -o json
      holdfast consume orders --tail -f '%p:%o %k %s\\n'
      holdfast consume orders --group billing
      holdfast consume orders -o json | holdfast produce copy --json
    """
    begin = None if start is None else parse_place(start, "--from")
    until = None if end is None else parse_place(end, "--to")
    if tail and until is not None:
        raise typer.BadParameter("one goes on, the other stops: choose", param_hint="--tail/--to")
    if group is not None and partition is not None:
        raise typer.BadParameter("a group shares all partitions", param_hint="--partition")
    render = _renderer(template, style)
    with open_client(bootstrap, config) as client:
        if begin is None:
            begin = "end" if tail and group is None else "start"
        consumer = client.consumer(
            topic,
            group=group,
            start="start" if group is not None else begin,
            partitions=None if partition is None else [partition],
        )
        with consumer:
            if group is not None and start is not None:
                consumer.seek(begin)
            bound = None if tail else (until if until is not None else "end")
            _print(consumer.records(until=bound, limit=count), render, live=tail)


def _print(records: Iterator["Record"], render: "Callable[[Record], bytes]", *, live: bool) -> None:
    """Write the records; a reader of a `live` stream gets each at once."""
    out = sys.stdout.buffer
    if sys.stdout.isatty():
        live = True
    elif sys.stderr.isatty():
        from holdfast.cli.progress import track

        records = track(records, "Reading")
    for record in records:
        out.write(render(record))
        if live:
            out.flush()
    out.flush()


def _renderer(template: str | None, style: Style | None) -> "Callable[[Record], bytes]":
    if template is not None:
        from holdfast.cli.record_format import compile_format

        if style is not None:
            raise typer.BadParameter("give a format or a style, not both", param_hint="-f/-o")
        try:
            return compile_format(template)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--format") from None
    style = style or (Style.TABLE if sys.stdout.isatty() else Style.RAW)
    if style is Style.JSON:
        from holdfast.cli.json_lines import to_line

        return to_line
    return _line if style is Style.TABLE else _raw


def _raw(record: "Record") -> bytes:
    return (record.value or b"") + b"\n"


def _line(record: "Record") -> bytes:
    """Columns that line up without knowing what comes: records are shown as they arrive."""
    time = record.timestamp
    when = f"{time.astimezone():%Y-%m-%d %H:%M:%S}" if time else "-"
    place = f"{record.partition}:{record.offset}"
    return f"{place:>12}  {when}  {_text(record.key) or '-':<20}  {_text(record.value)}\n".encode()


def _text(value: bytes | None) -> str:
    return "(null)" if value is None else value.decode(errors="backslashreplace")


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
