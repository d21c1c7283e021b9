"""`holdfast produce`: send records from standard input."""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, BinaryIO

import typer

from holdfast.cli.program import (
    Bootstrap,
    Config,
    application,
    note,
    open_client,
    pairs,
    raw_bytes,
    run_application,
)
from holdfast.errors import InvalidArgumentError, InvalidRecordError, NotFoundError

app = application()

Line = dict[str, Any]
"""Arguments of `Producer.send`."""


@app.command(no_args_is_help=True)
def produce(
    topic: Annotated[str, typer.Argument(help="Where to.", show_default=False)],
    key: Annotated[str | None, typer.Option("--key", "-k", help="Key of every record.")] = None,
    separator: Annotated[
        str | None,
        typer.Option("--key-separator", "-K", help="A line is KEY, this, VALUE.", metavar="TEXT"),
    ] = None,
    json_lines: Annotated[
        bool,
        typer.Option("--json", "-j", help="A line is a JSON object with key, value, headers, "
                     "timestamp (ms), partition, of which all but the value may be left out; or "
                     "what 'consume -o json' prints."),
    ] = False,
    headers: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", metavar="NAME=VALUE", help="Of every record; repeatable."),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", min=0.001, help="Records a second, at most.")
    ] = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:  # fmt: skip
    """Send records from standard input, one a line, and wait until the broker has them all.

    \b
    Examples:
      echo hello | holdfast produce greetings
      holdfast produce orders -K : < orders.txt
      holdfast produce orders --json --rate 100 < orders.jsonl
      holdfast consume orders -o json | holdfast produce copy --json
    """
    if json_lines and (separator is not None or key is not None):
        raise typer.BadParameter("a JSON line has its own key", param_hint="--json")
    if separator == "":
        raise typer.BadParameter("a separator has at least one character", param_hint="-K")
    common = pairs(headers or [], "--header")
    with open_client(bootstrap, config) as client:
        _must_exist(client, topic)
        if sys.stdin.isatty():
            note("One record a line; Ctrl-D ends.")
        lines = _records(sys.stdin.buffer, key, separator, json_lines)
        sent = 0
        try:
            for record in _paced(_counted(lines), rate):
                record["headers"] = [*common.items(), *record.get("headers", ())]
                client.send(topic, **record)
                sent += 1
        finally:
            client.close()  # what was sent before a bad line, or before Ctrl-C, has been sent
            note(f"Sent {sent} record{'' if sent == 1 else 's'} to {topic}.")


def _must_exist(client: Any, topic: str) -> None:
    """A broker may make a topic of any name that it hears: a typing error must not be one."""
    try:
        client.topics.describe(topic)
    except NotFoundError as error:
        raise NotFoundError(f"{error} 'holdfast topic create {topic}' makes it.") from None


def _records(
    stream: BinaryIO, key: str | None, separator: str | None, json_lines: bool
) -> Iterator[Line]:
    fixed = None if key is None else raw_bytes(key)
    split = None if separator is None else raw_bytes(separator)
    for number, line in enumerate(stream, 1):
        text = line.removesuffix(b"\n").removesuffix(b"\r")
        if json_lines:
            if text.strip():
                yield _json_record(text, number)
        elif split is not None:
            found, there, value = text.partition(split)
            if not there:
                raise InvalidRecordError(
                    f"Line {number} has no {separator!r} between key and value."
                )
            yield {"key": found, "value": value}
        else:
            yield {"key": fixed, "value": text}


def _json_record(text: bytes, number: int) -> Line:
    from holdfast.cli.json_lines import from_line

    try:
        return from_line(text)
    except InvalidRecordError as error:
        raise InvalidRecordError(f"Line {number}: {error}.") from None


def _paced(records: Iterator[Line], rate: float | None) -> Iterator[Line]:
    if rate is None:
        yield from records
        return
    begun = time.monotonic()
    for index, record in enumerate(records):
        time.sleep(max(0.0, begun + index / rate - time.monotonic()))
        yield record


def _counted(records: Iterator[Line]) -> Iterator[Line]:
    """With a progress line, when there is somebody to see it and the input is not typed by hand."""
    if sys.stdin.isatty() or not sys.stderr.isatty():
        yield from records
        return
    from holdfast.cli.progress import track

    yield from track(records, "Sending")


def run(name: str, arguments: Sequence[str]) -> int:
    try:
        return run_application(app, name, arguments)
    except InvalidArgumentError as error:
        print(f"holdfast produce: {error}", file=sys.stderr)
        return 1
