"""`holdfast quality`: run the checks that a flow declares."""

from typing import Annotated

import typer

from holdfast.cli import FAILED, OK
from holdfast.cli.options import Cluster, FlowName
from holdfast.cli.output import Format, Output, chosen, print_json, show
from holdfast.cli.program import application
from holdfast.cli.run_options import SpecOptions
from holdfast.cli.runs import follow_run
from holdfast.cli.spark_jobs import AsRun, SparkOptions, spark_job
from holdfast.flows.run_specs import Quality

app = application()


class Scope(SpecOptions[Quality]):
    kind = Quality


@app.command()
def quality(
    flow: FlowName,
    scope: Scope,
    store: Annotated[bool, typer.Option(help="Keep the report for the dashboard.")] = True,
    as_run: AsRun = False,
    output: Format = None,
    *,
    spark: SparkOptions,
    cluster: Cluster,
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
        with cluster.client() as client:
            follow_run(client, client.runs.ask(flow, scope.spec), output)
    from holdfast.pipeline.tables.quality import QualityOptions, check_quality

    with spark_job(flow, spark, cluster) as job:
        options = QualityOptions(lake=job.lake, days=scope.spec.days, store=store)
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
