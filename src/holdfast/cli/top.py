"""`holdfast top`: flows and held keys, live, for those on a shell."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import UNREACHABLE
from holdfast.cli.output import Format, Output, chosen, print_json, show
from holdfast.cli.program import Bootstrap, Config, application, fail, run_application
from holdfast.cli.top_figures import Order, as_document, take_figures

if TYPE_CHECKING:
    from holdfast.views.views import Views

_READY_S = 30.0
_RATES_S = 5.0
"""Rates are known after two seconds; a flow that just came may take longer."""
_POLL_S = 0.05
_REFRESH_S = 1.0

app = application()


@app.command()
def top(
    once: Annotated[bool, typer.Option("--once", help="Print the figures once, and end.")] = False,
    sort: Annotated[
        Order, typer.Option("--sort", "-s", help="What the held keys are sorted by.")
    ] = Order.EVENTS,
    flow: Annotated[
        str | None, typer.Option("--flow", "-f", help="The keys of this flow alone.")
    ] = None,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """Show flows and held keys, live: rates, lag, what is held, and how old the oldest is.

    \b
    Keys: q quits, s sorts by something else, f shows the keys of the next flow.
    In a pipe, with --once or with -o, the figures are printed once; raw lines are the flows alone.

    \b
    Examples:
      holdfast top
      holdfast top --sort oldest
      holdfast top --once -o json
    """
    from holdfast.client.connection import Connection
    from holdfast.client.settings import ClientSettings
    from holdfast.config import load
    from holdfast.views.views import Views

    given = {"bootstrap": bootstrap, "client_id": "holdfast-top"}
    connection = Connection(load(ClientSettings, "client", flags=given, file=config))
    connection.check()
    with Views(connection) as views:
        _wait_until_known(views)
        if flow is not None:
            views.flow(flow)
        if once or output or not (sys.stdin.isatty() and sys.stdout.isatty()):
            _print(views, sort, flow, output)
        else:
            _watch(views, sort, flow)


def _wait_until_known(views: "Views") -> None:
    deadline = monotonic() + _READY_S
    while not views.ready:
        if monotonic() > deadline:
            fail(f"the flows were not read within {_READY_S:.0f} s. {views.trouble}", UNREACHABLE)
        sleep(_POLL_S)


def _print(views: "Views", order: Order, only: str | None, output: Output | None) -> None:
    deadline = monotonic() + _RATES_S
    while any(len(flow.series.samples()) < 2 for flow in views.flows()) and monotonic() < deadline:
        sleep(_POLL_S)
    figures = take_figures(views, order, only=only)
    match chosen(output):
        case Output.JSON:
            print_json(as_document(figures))
        case Output.RAW:
            show(as_document(figures)["flows"], Output.RAW)
        case Output.TABLE:
            from rich.console import Console

            from holdfast.cli.top_screen import printed

            console = Console()
            console.print(printed(figures, now=_now(), order=order, only=only, width=console.width))


def _watch(views: "Views", order: Order, only: str | None) -> None:
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
                    now=_now(),
                    order=order,
                    only=only,
                    lines=console.height,
                    width=console.width,
                ),
                refresh=True,
            )
            match _pressed(_REFRESH_S):
                case "q" | "Q" | "\x03" | "\x04":
                    return
                case "s":
                    order = order.next
                case "f":
                    only = _next_flow(only, [flow.name for flow in figures.flows])


def _next_flow(only: str | None, names: list[str]) -> str | None:
    """All flows, then each alone, then all again."""
    choices = [None, *names]
    return choices[(choices.index(only) + 1) % len(choices)] if only in choices else None


@contextmanager
def _single_keys() -> Iterator[None]:
    """Keys come as they are pressed, and are not shown; the terminal is left as it was."""
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    except KeyboardInterrupt:
        return  # one way to leave as good as another
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _pressed(seconds: float) -> str:
    """The key that is pressed within so many seconds; empty if none is. At the end of the input
    it is as if somebody quit."""
    if not select.select([sys.stdin], [], [], seconds)[0]:
        return ""
    # Not by way of sys.stdin: what it reads ahead, `select` does not see.
    return os.read(sys.stdin.fileno(), 1).decode("ascii", "replace") or "q"


def _now() -> int:
    return round(time() * 1000)


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
