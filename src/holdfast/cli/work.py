"""`holdfast replay | backfill | redrive`: ask for work on a flow's events, and follow it."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.keys import Actor, Base64, FlowName
from holdfast.cli.output import Format, Output
from holdfast.cli.places import parse_place
from holdfast.cli.program import (
    Bootstrap,
    Config,
    Yes,
    application,
    confirm,
    open_client,
    raw_bytes,
    run_application,
)
from holdfast.flows.keys import key_from_base64
from holdfast.flows.work import (
    Backfill,
    Coordinate,
    OffsetRange,
    Redrive,
    Replay,
    Work,
    parse_json_filter,
)

if TYPE_CHECKING:
    from holdfast.client.client import Client

ORDER_CAVEAT = (
    "A redriven event goes behind the newer ones of its key: those have passed already, or wait in "
    "front of it."
)

Offsets = Annotated[
    list[str] | None,
    typer.Option("--offsets", metavar="P:START-END",
                 help="Offsets of a partition; END is not taken. May be given several times."),
]  # fmt: skip
Since = Annotated[
    str | None, typer.Option(help="Events of this time and later: a time, or 2h for 2 hours ago.")
]
Until = Annotated[str | None, typer.Option(help="Events before this time.")]
Keys = Annotated[list[str] | None, typer.Option("--key", "-k", help="Events of this key.")]
RunId = Annotated[
    str | None,
    typer.Option("--id", help="The run's id: the same id twice is one run.",
                 show_default="a new one"),
]  # fmt: skip
NoWait = Annotated[bool, typer.Option("--no-wait", help="Ask, and do not follow.")]


def replay(
    flow: FlowName,
    offsets: Offsets = None,
    since: Since = None,
    until: Until = None,
    key: Keys = None,
    base64: Base64 = False,
    where: Annotated[
        str,
        typer.Option(
            metavar="SQL",
            help="A Spark SQL filter over key, value, headers, timestamp, partition, offset.",
        ),
    ] = "",
    json: Annotated[
        list[str] | None,
        typer.Option("--json", metavar="PATH=TEXT", help="What a JSON path of the value must be."),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="Most events a second.", show_default="as fast as possible"),
    ] = None,
    with_replayed: Annotated[
        bool, typer.Option("--with-replayed", help="Also events of earlier replays.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be sent, with a sample.")
    ] = False,
    run_id: RunId = None,
    no_wait: NoWait = False,
    actor: Actor = None,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Send events of the raw zone through the flow again, so that holds apply to them.

    What is there when the run begins is sent, each event once, in the order of its key, with the
    headers holdfast-replay-run and holdfast-replay-source. Events that an earlier replay has sent
    are left out unless --with-replayed is given.

    \b
    Examples:
      holdfast replay orders --since 2h --key customer-7 --dry-run
      holdfast replay orders --offsets 0:1000-2000 --rate 500
      holdfast replay orders --where "get_json_object(value, '$.amount') > 100"
    """
    work = Replay(
        offsets=tuple(map(OffsetRange.parse, offsets or ())),
        since=milliseconds_of(since, "--since"),
        until=milliseconds_of(until, "--until"),
        keys=_keys(key, base64),
        where=where,
        json=tuple(map(parse_json_filter, json or ())),
        rate=rate,
        replayed=with_replayed,
        dry_run=dry_run,
    )
    with open_client(bootstrap, config) as client:
        _ask(client, flow, work, run_id, actor, no_wait, output)


def backfill(
    flow: FlowName,
    offsets: Offsets = None,
    since: Since = None,
    until: Until = None,
    file: Annotated[
        list[str] | None,
        typer.Option(
            "--file",
            "-f",
            metavar="PATH",
            help="Parquet or JSON lines, as the pipeline sees them; patterns are fine.",
        ),
    ] = None,
    key_from: Annotated[
        str, typer.Option(help="Where files tell the key: a column, or a JSON path.")
    ] = "",
    time_from: Annotated[
        str, typer.Option(help="Where files tell the time: a column, or a JSON path.")
    ] = "",
    run_id: RunId = None,
    no_wait: NoWait = False,
    actor: Actor = None,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Land events in the raw zone that are missing there, from the flow's topic or from files.

    What is there already is not landed again: by partition and offset, or by a file's content and
    row. Without a range, all that the topic still has is looked at.

    \b
    Examples:
      holdfast backfill orders
      holdfast backfill orders --offsets 3:1000-2000
      holdfast backfill orders --file '/in/2025-*.jsonl' --key-from '$.customer'
    """  # fmt: skip
    work = Backfill(
        offsets=tuple(map(OffsetRange.parse, offsets or ())),
        since=milliseconds_of(since, "--since"),
        until=milliseconds_of(until, "--until"),
        files=tuple(_absolute(path) for path in file or ()),
        key_from=key_from,
        time_from=time_from,
    )
    with open_client(bootstrap, config) as client:
        _ask(client, flow, work, run_id, actor, no_wait, output)


def redrive(
    flow: FlowName,
    letter: Annotated[
        list[str] | None,
        typer.Option(
            "--letter",
            "-l",
            metavar="P:OFFSET",
            help="A dead letter by its place in FLOW.dlq. May be given several times.",
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option(help="All of a reason, such as invalid, overflow or dead-lettered.")
    ] = "",
    key: Keys = None,
    base64: Base64 = False,
    everything: Annotated[bool, typer.Option("--all", help="All dead letters.")] = False,
    value: Annotated[
        str | None, typer.Option(help="Another value for the one letter that is given.")
    ] = None,
    value_file: Annotated[
        Path | None, typer.Option(help="The same from a file.", exists=True, dir_okay=False)
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also letters that were redriven before.")
    ] = False,
    run_id: RunId = None,
    no_wait: NoWait = False,
    actor: Actor = None,
    yes: Yes = False,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Send dead letters through the flow again, each once.

    A redriven event goes behind the newer ones of its key. If it fails again it comes back to the
    dead letters, with its attempt counted (holdfast-attempt). A letter that was redriven before is
    left alone unless --again is given.

    \b
    Examples:
      holdfast redrive orders --letter 2:41 --value '{"amount": 12}'
      holdfast redrive orders --reason invalid --yes
    """
    if value is not None and value_file is not None:
        raise typer.BadParameter("give a value, or a file with it, not both")
    edited = None if value is None else raw_bytes(value)
    work = Redrive(
        letters=tuple(map(Coordinate.parse, letter or ())),
        reason=reason,
        keys=_keys(key, base64),
        everything=everything,
        value=edited if value_file is None else value_file.read_bytes(),
        again=again,
    )
    with open_client(bootstrap, config) as client:
        client.flow(flow).describe()
        confirm(f"{ORDER_CAVEAT} Redrive {_meant(work)} of {flow}?", yes)
        _ask(client, flow, work, run_id, actor, no_wait, output)


def _ask(
    client: "Client",
    flow: str,
    work: Work,
    run_id: str | None,
    actor: str | None,
    no_wait: bool,
    output: Output | None,
) -> None:
    from holdfast.cli.runs import follow_run, print_run

    run = client.runs.ask(flow, work, actor=actor, run_id=run_id)
    if no_wait:
        print_run(run, output)
    else:
        follow_run(client, run, output)


def _meant(work: Redrive) -> str:
    if work.everything:
        return "all dead letters"
    parts = [f"of the reason {work.reason!r}"] if work.reason else []
    parts += [f"of {len(work.keys)} keys"] if work.keys else []
    number = "the dead letters" if not work.letters else f"{len(work.letters)} dead letters"
    return " ".join([number, *parts])


def _keys(texts: list[str] | None, base64: bool) -> tuple[bytes, ...]:
    return tuple(key_from_base64(text) if base64 else raw_bytes(text) for text in texts or ())


def milliseconds_of(text: str | None, option: str) -> int | None:
    """A time, or a duration ago, as milliseconds."""
    if text is None:
        return None
    place = parse_place(text, option)
    if isinstance(place, timedelta):
        place = datetime.now(UTC) - place
    if not isinstance(place, datetime):
        raise typer.BadParameter(
            f"{text!r} is no time: write 2026-01-31T12:00, or 2h for 2 hours ago",
            param_hint=option,
        )
    return round(place.timestamp() * 1000)


def _absolute(path: str) -> str:
    """As the pipeline, which runs in another folder, can find it."""
    return path if "://" in path else str(Path(path).absolute())


def _application(command: Callable[..., None]) -> typer.Typer:
    app = application()
    app.command(no_args_is_help=True)(command)
    return app


APPS = {
    "replay": _application(replay),
    "backfill": _application(backfill),
    "redrive": _application(redrive),
}


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(APPS[name], name, arguments)
