"""`holdfast quality`: run the checks that a flow declares."""

from collections.abc import Sequence
from typing import Annotated

import typer

from holdfast.cli import FAILED, OK
from holdfast.cli.output import Format, Output, chosen, print_json, show
from holdfast.cli.program import Bootstrap, Config, application, open_client, run_application
from holdfast.cli.runs import follow_run
from holdfast.cli.spark_jobs import AsRun, FlowName, Lake, SparkMaster, SparkMemory, spark_job
from holdfast.flows.work import Quality

app = application()


@app.command()
def quality(
    flow: FlowName,
    days: Annotated[
        int | None,
        typer.Option(min=1, help="Look at the events of so many days.", show_default="all"),
    ] = None,
    store: Annotated[bool, typer.Option(help="Keep the report for the dashboard.")] = True,
    as_run: AsRun = False,
    output: Format = None,
    lake: Lake = None,
    spark_master: SparkMaster = None,
    spark_memory: SparkMemory = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Run the checks that a flow declares, over its events in the raw zone.

    `holdfast flow set FLOW --check ...` declares them: required fields, ranges, uniqueness,
    freshness, and volume against the days before.

    \b
    Exit codes: 0 all passed, 1 a check failed; they could not be run: 2 usage, or no checks, 3 no
    such flow or table, 4 no broker, 5 for any other reason.

    \b
    Example:
      holdfast quality orders --days 7
    """
    if as_run:
        with open_client(bootstrap, config) as client:
            follow_run(client, client.runs.ask(flow, Quality(days=days)), output)
    from holdfast.pipeline.lake.quality import QualityOptions, check_quality

    with spark_job(
        flow, bootstrap=bootstrap, config=config, lake=lake,
        spark_master=spark_master, spark_memory=spark_memory,
    ) as job:  # fmt: skip
        options = QualityOptions(lake=job.lake, days=days, store=store)
        report = check_quality(job.session, job.connection, job.flow, options, job.progress)
    if chosen(output) is Output.JSON:
        print_json(report.document())
    else:
        rows = [
            {
                "check": result.check,
                "verdict": "passed" if result.passed else "FAILED",
                "examined": result.examined,
                "failed": result.failed,
                "says": result.says,
            }
            for result in report.results
        ]
        show(rows, output)
    raise typer.Exit(OK if report.passed else FAILED)


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
