"""`holdfast produce`: send records from standard input."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from holdfast.cli.options import Cluster, pairs, raw_bytes
from holdfast.cli.program import application, note, run_application
from holdfast.cli.record_format import unescaped
from holdfast.cli.record_input import split, split_key
from holdfast.cli.sending import Sender
from holdfast.errors import InvalidArgumentError, InvalidRecordError, NotFoundError

app = application()

Line = dict[str, Any]
"""Arguments of `Producer.send`."""


class Compression(StrEnum):
    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"


@app.command(no_args_is_help=True)
def produce(
    topic: Annotated[str, typer.Argument(help="The topic to send to.", show_default=False)],
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
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", show_default="standard input", exists=True,
                       dir_okay=False, help="Send each of these files as one record."),
    ] = None,
    delimiter: Annotated[
        str,
        typer.Option("--delimiter", "-D", metavar="TEXT",
                     help="What ends a record in the input.", show_default="a line break"),
    ] = "",
    null: Annotated[
        str | None,
        typer.Option("--null", metavar="TEXT", help="A key or value that is this is null."),
    ] = None,
    partition: Annotated[
        int | None,
        typer.Option("--partition", "-p", min=0, help="Send to this partition, whatever the key.",
                     show_default="the key's"),
    ] = None,
    compression: Annotated[
        Compression | None,
        typer.Option("--compression", "-z", help="Compress record batches.", show_default="none"),
    ] = None,
    headers: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", metavar="NAME=VALUE",
                     help="Header of every record; may be repeated."),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", min=0.001, help="Maximum of records per second.")
    ] = None,
    *,
    cluster: Cluster,
) -> None:  # fmt: skip
    """Send records, one per line of standard input, and wait until all are acknowledged.

    \b
    Examples:
      echo hello | holdfast produce greetings
      holdfast produce orders -K : --null NULL < orders.txt
      holdfast produce orders -k customer-7 order.json
      holdfast produce orders -D '\\x00' -z zstd -p 3 < records
      holdfast produce orders --json --rate 100 < orders.jsonl
      holdfast consume orders -o json | holdfast produce copy --json
    """
    if json_lines and (separator is not None or key is not None):
        raise typer.BadParameter(
            "a JSON line has its own key: give --json, or -k and -K", param_hint="--json"
        )
    if separator == "":
        raise typer.BadParameter(
            "the separator is empty: give at least one character", param_hint="-K"
        )
    if json_lines and (files or delimiter):
        raise typer.BadParameter(
            "JSON is read by lines: give no FILE and no -D", param_hint="--json"
        )
    common = pairs(headers or [], "--header")
    form = _Form(
        key=None if key is None else raw_bytes(key),
        separator=None if separator is None else _delimiter(separator, "-K"),
        delimiter=_delimiter(delimiter, "-D") if delimiter else None,
        null=None if null is None else raw_bytes(null),
    )
    compressed = {"compression.type": compression.value} if compression else {}
    with cluster.client() as client:
        _must_exist(client, topic, partition)
        if sys.stdin.isatty() and not files:
            note("One record per line; Ctrl-D ends.")
        records = _json_records(sys.stdin.buffer) if json_lines else form.records(files)
        producer = client.producer(kafka={**compressed, **cluster.kafka})
        sender = Sender(producer, topic, prefix="holdfast produce: ")
        try:
            with sender:
                for record in _paced(_counted(records), rate):
                    record["headers"] = [*common.items(), *record.get("headers", ())]
                    if partition is not None:
                        record["partition"] = partition
                    sender.send(**record)
        finally:
            note(f"Sent {sender.count} record{'' if sender.count == 1 else 's'} to {topic}.")


def _must_exist(client: Any, topic: str, partition: int | None) -> None:
    """Fails if the topic does not exist: a broker may create any topic that is named, even a
    misspelt one."""
    try:
        count = client.topics.describe(topic).partitions
    except NotFoundError as error:
        raise NotFoundError(f"{error} 'holdfast topic create {topic}' makes it.") from None
    if partition is not None and partition >= count:
        raise NotFoundError(f"There is no partition {partition} in {topic!r}: it has {count}.")


@dataclass(frozen=True, slots=True)
class _Form:
    """How records stand in the input."""

    key: bytes | None
    separator: bytes | None
    delimiter: bytes | None
    """None: lines, with either kind of line break."""
    null: bytes | None

    def records(self, files: Sequence[Path] | None) -> Iterator[Line]:
        for number, piece in enumerate(self._pieces(files), 1):
            key, value = self.key, piece
            if self.separator is not None:
                found, value = split_key(piece, self.separator)
                if found is None:
                    raise InvalidRecordError(
                        f"Line {number} has no {os.fsdecode(self.separator)!r} between key and "
                        "value."
                    )
                key = found
            yield {
                "key": None if key == self.null else key,
                "value": None if value == self.null else value,
            }

    def _pieces(self, files: Sequence[Path] | None) -> Iterator[bytes]:
        if files:
            yield from (file.read_bytes() for file in files)
        elif self.delimiter is None:
            for line in split(sys.stdin.buffer, b"\n"):
                yield line.removesuffix(b"\r")
        else:
            yield from split(sys.stdin.buffer, self.delimiter)


def _delimiter(text: str, option: str) -> bytes:
    try:
        return unescaped(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _json_records(stream: BinaryIO) -> Iterator[Line]:
    for number, line in enumerate(split(stream, b"\n"), 1):
        if line.strip():
            yield _json_record(line, number)


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
    """With a progress line, if standard error is a terminal and the input is not."""
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
