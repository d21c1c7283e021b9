"""`--watch`: print a list again and again."""

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from time import sleep
from typing import Annotated

import typer

from holdfast.clock import now_ms, utc_text

_EVERY_SECONDS = 2.0
_CLEAR = "\x1b[H\x1b[2J"

Watch = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Print it again every 2 seconds; in a pipe, only if it has changed.",
    ),
]


class _Screen(StringIO):
    """Text for the terminal, drawn before it is shown, so that nothing flickers."""

    def isatty(self) -> bool:
        return sys.__stdout__ is not None and sys.__stdout__.isatty()


def repeat(watch: bool, draw: Callable[[], None]) -> None:
    """Prints once, or until Ctrl-C."""
    if not watch:
        draw()
        return
    shown, out = "", sys.stdout
    while True:
        with redirect_stdout(_Screen()) as screen:
            draw()
        text = screen.getvalue()
        if out.isatty():
            out.write(f"{_CLEAR}Every 2 s, {utc_text(now_ms())}\n\n{text}")
        elif text != shown:
            out.write(text)
        out.flush()
        shown = text
        sleep(_EVERY_SECONDS)
