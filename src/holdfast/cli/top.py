"""`holdfast top`: flows and held keys, live, in a terminal."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import UNREACHABLE
from holdfast.cli.options import Cluster
from holdfast.cli.output import Format, Output, chosen, print_json, show
from holdfast.cli.program import application, fail
from holdfast.cli.top_figures import SortOrder, as_document, take_figures
from holdfast.clock import now_ms

if TYPE_CHECKING:
    from holdfast.views.views import Views

_READY_SECONDS = 30.0
_RATES_SECONDS = 5.0
"""Rates are known after two seconds; a flow that just came may take longer."""
_POLL_SECONDS = 0.05
_REFRESH_SECONDS = 1.0

app = application()


@app.command()
def top(
    once: Annotated[bool, typer.Option("--once", help="Print the figures once, and end.")] = False,
    sort: Annotated[
        SortOrder, typer.Option("--sort", "-s", help="What the held keys are sorted by.")
    ] = SortOrder.EVENTS,
    flow: Annotated[
        str | None, typer.Option("--flow", "-f", help="Only the keys of this flow.")
    ] = None,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:
    """Show flows and held keys, live: rates, lag, held events, and the age of the oldest.

    \b
    Keys: q quits, s sorts by something else, f shows the keys of the next flow.
    In a pipe, with --once or with -o, the figures are printed once; raw lines are only the flows.

    \b
    Examples:
      holdfast top
      holdfast top --sort oldest
      holdfast top --once -o json
    """
    from holdfast.views.views import Views

    connection = cluster.connection(client_id="holdfast-top")
    connection.check()
    with Views(connection) as views:
        wait_until_known(views)
        if flow is not None:
            views.flow(flow)
        if once or output or not (sys.stdin.isatty() and sys.stdout.isatty()):
            _print(views, sort, flow, output)
        else:
            _watch(views, sort, flow)


def wait_until_known(views: "Views") -> None:
    deadline = monotonic() + _READY_SECONDS
    while not views.ready:
        if monotonic() > deadline:
            fail(
                f"the flows were not read within {_READY_SECONDS:.0f} s. {views.trouble}",
                UNREACHABLE,
            )
        sleep(_POLL_SECONDS)


def _print(views: "Views", order: SortOrder, only: str | None, output: Output | None) -> None:
    deadline = monotonic() + _RATES_SECONDS
    while any(len(flow.series.samples()) < 2 for flow in views.flows()) and monotonic() < deadline:
        sleep(_POLL_SECONDS)
    figures = take_figures(views, order, only=only)
    match chosen(output):
        case Output.JSON:
            print_json(as_document(figures))
        case Output.RAW:
            show(as_document(figures)["flows"], Output.RAW)
        case Output.TABLE:
            from rich.console import Console

            from holdfast.cli.top_screen import screen

            console = Console()
            console.print(
                screen(figures, now=now_ms(), order=order, only=only, width=console.width)
            )


def _watch(views: "Views", order: SortOrder, only: str | None) -> None:
    from rich.console import Console
    from rich.live import Live

    from holdfast.cli.top_screen import screen

    console = Console()
    with _single_keys(), Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            figures = take_figures(views, order, only=only)
            live.update(
                screen(
                    figures,
                    now=now_ms(),
                    order=order,
                    only=only,
                    lines=console.height,
                    width=console.width,
                ),
                refresh=True,
            )
            match _pressed(_REFRESH_SECONDS):
                case "q" | "Q" | "\x03" | "\x04":
                    return
                case "s":
                    order = order.next
                case "f":
                    only = _next_flow(only, [flow.flow for flow in figures.flows])


def _next_flow(only: str | None, names: list[str]) -> str | None:
    """All flows, then each alone, then all again."""
    choices = [None, *names]
    return choices[(choices.index(only) + 1) % len(choices)] if only in choices else None


@contextmanager
def _single_keys() -> Iterator[None]:
    """Reads single keys without echo; the terminal is restored afterwards."""
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    except KeyboardInterrupt:
        return  # any way to leave is fine
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _pressed(seconds: float) -> str:
    """The key that is pressed within this time; empty if none is. The end of the input counts as
    `q`."""
    if not select.select([sys.stdin], [], [], seconds)[0]:
        return ""
    # Not through sys.stdin: `select` does not see what it reads ahead.
    return os.read(sys.stdin.fileno(), 1).decode("ascii", "replace") or "q"
