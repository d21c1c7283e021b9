"""`holdfast table`: bring the tables of a flow up to date, or make them anew."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from holdfast.cli.output import Format, show
from holdfast.cli.program import Bootstrap, Config, application, run_application
from holdfast.cli.spark_jobs import FlowName, Job, Lake, SparkMaster, SparkMemory, spark_job

app = application("Bring the tables of a flow up to date, or make them anew.")


class Layer(StrEnum):
    SILVER = "silver"
    GOLD = "gold"


@app.command("refresh")
def refresh(
    flow: FlowName,
    output: Format = None,
    lake: Lake = None,
    spark_master: SparkMaster = None,
    spark_memory: SparkMemory = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Take what has landed since the last time into silver, and from there into gold.

    Can be run as often as wanted, and be killed at any point: nothing is taken in twice.

    \b
    Example:
      holdfast table refresh orders
    """
    from holdfast.pipeline.lake.gold import TABLES

    with spark_job(
        flow, bootstrap=bootstrap, config=config, lake=lake,
        spark_master=spark_master, spark_memory=spark_memory,
    ) as job:  # fmt: skip
        rows = _silver(job, anew=False)
        if flow in TABLES:
            rows += _gold(job, anew=False)
    show(rows, output)


@app.command("rebuild")
def rebuild(
    flow: FlowName,
    layer: Annotated[Layer, typer.Argument(help="What to make anew, from the layer below it.")],
    output: Format = None,
    lake: Lake = None,
    spark_master: SparkMaster = None,
    spark_memory: SparkMemory = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Make a table anew: silver from the raw zone, gold from silver.

    Needed after the flow's schema or event id has changed.

    \b
    Example:
      holdfast table rebuild orders silver
    """
    with spark_job(
        flow, bootstrap=bootstrap, config=config, lake=lake,
        spark_master=spark_master, spark_memory=spark_memory,
    ) as job:  # fmt: skip
        rows = _silver(job, anew=True) if layer is Layer.SILVER else _gold(job, anew=True)
    show(rows, output)


def _silver(job: Job, *, anew: bool) -> list[dict[str, Any]]:
    from holdfast.pipeline.lake.silver import refresh_silver
    from holdfast.pipeline.lake.tables import silver_location

    done = refresh_silver(job.session, job.flow, job.lake, job.progress, anew=anew)
    return [
        {
            "table": silver_location(job.lake, done.flow),
            "rows": done.total,
            "added": done.rows,
            "quarantined": done.quarantined,
        }
    ]


def _gold(job: Job, *, anew: bool) -> list[dict[str, Any]]:
    from holdfast.pipeline.lake.gold import refresh_gold
    from holdfast.pipeline.lake.tables import gold_location

    done = refresh_gold(job.session, job.flow.name, job.lake, job.progress, anew=anew)
    return [
        {"table": gold_location(job.lake, name), "rows": rows, "added": None, "quarantined": None}
        for name, rows in done.items()
    ]


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
