"""`holdfast size`: what a stream needs, from measured constants."""

from dataclasses import asdict
from typing import Annotated

import typer

from holdfast.cli.output import Format, Output, chosen, show
from holdfast.cli.program import application
from holdfast.cli.size_estimate import Stream, estimate

app = application()


@app.command()
def size(
    events_per_second: Annotated[
        float, typer.Option(min=0.001, max=1e7, metavar="NUMBER", help="Events a second, at most.")
    ],
    event_bytes: Annotated[
        int, typer.Option(min=1, max=16 << 20, metavar="BYTES", help="Key and value of an event.")
    ] = 200,
    keys: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Different keys.")] = 100_000,
    held: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Keys on hold at the same time.")
    ] = 0,
    held_events: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Events that wait in all.")
    ] = 0,
    retention_days: Annotated[
        float, typer.Option(min=0.01, metavar="DAYS", help="How long Kafka keeps events.")
    ] = 7,
    raw_zone_days: Annotated[
        float, typer.Option(min=0, metavar="DAYS", help="How long the raw zone keeps events.")
    ] = 365,
    output: Format = None,
) -> None:
    """Estimate cores, memory, disk, brokers and network for a stream.

    The estimate comes from measurements on a machine with 2 cores. Each line names its
    measurement, and says if it is extrapolated. It asks nobody: no broker is needed.

    \b
    Examples:
      holdfast size --events-per-second 5000
      holdfast size --events-per-second 1000000 --event-bytes 500 --held 10000 -o json
    """
    stream = Stream(
        events_per_second, event_bytes, keys, held, held_events, retention_days, raw_zone_days
    )
    figures = estimate(stream)
    short = [
        {
            "resource": figure.resource,
            "amount": f"{figure.amount:,} {figure.unit}",
            "extrapolated": "yes" if figure.extrapolated else "no",
        }
        for figure in figures
    ]
    show([asdict(figure) for figure in figures], output, short=short)
    if chosen(output) is Output.TABLE:
        print("Measured on 2 cores. -o wide names the measurement of each line.")
