"""`holdfast table`: update the tables of a flow, or rebuild them."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from holdfast.cli.options import Cluster, FlowName
from holdfast.cli.output import Format, show
from holdfast.cli.program import application
from holdfast.cli.runs import follow_run
from holdfast.cli.spark_jobs import AsRun, FlowSession, SparkOptions, spark_job
from holdfast.flows.run_specs import Refresh

app = application("Bring the tables of a flow up to date, or make them rebuild.")


class Layer(StrEnum):
    SILVER = "silver"
    GOLD = "gold"


@app.command("refresh")
def refresh(
    flow: FlowName,
    as_run: AsRun = False,
    output: Format = None,
    *,
    spark: SparkOptions,
    cluster: Cluster,
) -> None:
    """Move newly landed events into silver, and from there into gold.

    Run it as often as you like, and kill it at any point: no event is added twice.

    \b
    Example:
      holdfast table refresh orders
    """
    if as_run:
        with cluster.client() as client:
            follow_run(client, client.runs.ask(flow, Refresh()), output)
    from holdfast.pipeline.tables.gold import tables_of

    with spark_job(flow, spark, cluster) as job:
        rows = _silver(job, rebuild=False)
        if tables_of(job.flow):
            rows += _gold(job, rebuild=False)
    show(rows, output)


@app.command("rebuild")
def rebuild(
    flow: FlowName,
    layer: Annotated[Layer, typer.Argument(help="What to rebuild, from the layer below it.")],
    output: Format = None,
    *,
    spark: SparkOptions,
    cluster: Cluster,
) -> None:
    """Rebuild a table: silver from the raw zone, gold from silver.

    Needed after the flow's schema or event id has changed.

    \b
    Example:
      holdfast table rebuild orders silver
    """
    with spark_job(flow, spark, cluster) as job:
        rows = _silver(job, rebuild=True) if layer is Layer.SILVER else _gold(job, rebuild=True)
    show(rows, output)


def _silver(job: FlowSession, *, rebuild: bool) -> list[dict[str, Any]]:
    from holdfast.pipeline.tables.delta import silver_location
    from holdfast.pipeline.tables.silver import refresh_silver

    done = refresh_silver(job.session, job.flow, job.lake, job.progress, rebuild=rebuild)
    return [
        {
            "table": silver_location(job.lake, done.flow),
            "rows": done.total,
            "added": done.rows,
            "quarantined": done.quarantined,
        }
    ]


def _gold(job: FlowSession, *, rebuild: bool) -> list[dict[str, Any]]:
    from holdfast.pipeline.tables.delta import gold_location
    from holdfast.pipeline.tables.gold import refresh_gold

    done = refresh_gold(job.session, job.flow, job.lake, job.progress, rebuild=rebuild)
    return [
        {"table": gold_location(job.lake, name), "rows": rows, "added": None, "quarantined": None}
        for name, rows in done.items()
    ]
