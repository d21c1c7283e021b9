"""`holdfast verify`: account for every event of a flow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import FAILED, OK
from holdfast.cli.output import Format, Output, chosen, print_json, show
from holdfast.cli.places import parse_place
from holdfast.cli.program import Bootstrap, Config, application, open_client, run_application
from holdfast.cli.runs import follow_run
from holdfast.cli.spark_jobs import AsRun, FlowName, Lake, SparkMaster, SparkMemory, spark_job
from holdfast.cli.work import milliseconds_of
from holdfast.flows.work import Verify

if TYPE_CHECKING:
    from holdfast.client.positions import Where
    from holdfast.pipeline.lake.audit.verification import Verification

app = application()


@app.command()
def verify(
    flow: FlowName,
    full: Annotated[
        bool, typer.Option("--full", help="From the first event on, whatever was verified before.")
    ] = False,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only events from this time, or so long ago.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only events before this time.")
    ] = None,
    first: Annotated[
        str | None, typer.Option("--from", metavar="OFFSET", help="Only from this source offset.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="OFFSET", help="Only below this source offset.")
    ] = None,
    raw_zone: Annotated[bool, typer.Option(help="Look at the raw zone, too.")] = True,
    examples: Annotated[
        int, typer.Option(min=1, help="Most coordinates to name of each fault.")
    ] = 20,
    as_run: AsRun = False,
    output: Format = None,
    lake: Lake = None,
    spark_master: SparkMaster = None,
    spark_memory: SparkMemory = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Account for every event of a flow, from Kafka and the raw zone alone.

    Every source coordinate must be in exactly one place, each key in order, holds honoured, the raw
    zone complete, and every command answered. The flow may run meanwhile. Goes on from what was
    verified before, unless limits or --full are given.

    \b
    Exit codes: 0 clean, 1 something is wrong; it could not be verified: 2 usage, 3 no such flow or
    table, 4 no broker, 5 for any other reason.

    \b
    Examples:
      holdfast verify orders
      holdfast verify orders --since 2h -o json
      holdfast verify orders --full
      holdfast verify orders --run
    """
    if as_run:
        if first is not None or end is not None:
            raise typer.BadParameter("a run takes --since and --until, but no offsets")
        work = Verify(
            full=full,
            since=milliseconds_of(since, "--since"),
            until=milliseconds_of(until, "--until"),
            without_raw_zone=not raw_zone,
        )
        with open_client(bootstrap, config) as client:
            follow_run(client, client.runs.ask(flow, work), output)
    from holdfast.pipeline.lake.audit.verify import VerifyOptions
    from holdfast.pipeline.lake.audit.verify import verify as audit

    begin = _limit(first, "--from", since, "--since")
    stop = _limit(end, "--to", until, "--until")
    with spark_job(
        flow, bootstrap=bootstrap, config=config, lake=lake,
        spark_master=spark_master, spark_memory=spark_memory,
    ) as job:  # fmt: skip
        options = VerifyOptions(
            lake=job.lake, raw_zone=raw_zone, full=full, start=begin, end=stop, examples=examples
        )
        found = audit(job.session, job.connection, job.flow, options, job.progress)
    _show(found, output)
    raise typer.Exit(OK if found.clean else FAILED)


def _limit(
    offset: str | None, offset_option: str, time: str | None, time_option: str
) -> "Where | None":
    if offset is not None and time is not None:
        raise typer.BadParameter(f"give {offset_option} or {time_option}, not both")
    if offset is not None:
        if not offset.isdigit():
            raise typer.BadParameter(f"{offset!r} is not an offset", param_hint=offset_option)
        return int(offset)
    return None if time is None else parse_place(time, time_option)


def _show(found: "Verification", output: Output | None) -> None:
    if chosen(output) is Output.JSON:
        print_json(found.document())
        return
    rows = [
        {
            "check": check.name,
            "examined": check.examined,
            "violations": check.violations,
            "verdict": check.not_looked_at or ("clean" if not check.violations else "VIOLATED"),
        }
        for check in found.checks
    ]
    show(rows, output)
    for line in _explained(found):
        print(line)


def _explained(found: "Verification") -> list[str]:
    """What is wrong, with the coordinates, and the verdict."""
    from holdfast.pipeline.lake.audit.verification import MEANING

    lines = []
    for check in found.checks:
        for each in check.found:
            lines.append(f"{each.fault}: {each.count:,} x {MEANING[each.fault]}")
            lines += [f"  {example}" for example in each.examples]
            if each.count > len(each.examples):
                lines.append(f"  and {each.count - len(each.examples):,} more (see --examples)")
    places = f"{found.processed:,} processed, {found.held:,} held, {found.dead:,} dead letters"
    verdict = "CLEAN" if found.clean else "NOT CLEAN"
    lines.append(
        f"{verdict}: {found.flow}, {found.events:,} events: {places}; {found.commands:,} commands"
        f" ({found.seconds:.1f} s)"
    )
    return lines


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
