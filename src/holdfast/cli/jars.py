"""`holdfast jars`: fetch the jars that Spark needs, and check them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.options import Config
from holdfast.cli.program import application
from holdfast.config import load
from holdfast.jar_fetch import JarSettings, fetch

if TYPE_CHECKING:
    from holdfast.jar_fetch import Watch

app = application()


@app.command()
def jars(
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="URL|FOLDER", show_default="Maven Central",
                     help="A Maven repository (https), or a folder that has the jars."),
    ] = None,
    config: Config = None,
) -> None:  # fmt: skip
    """Fetch the jars that Spark needs, and check them. Those that are there are not fetched again.

    They are kept in your cache (~/.cache/holdfast/jars), or in the folder that HOLDFAST_JARS names.
    The first 'holdfast up' does the same. On a machine without network, copy that folder from
    another machine and name it with --from.

    \b
    Examples:
      holdfast jars
      holdfast jars --from https://maven.example.com/central
      holdfast jars --from /media/usb/jars
    """
    files = fetch_shown(source, config)
    print(f"{len(files)} jars in {files[0].parent}")


def fetch_shown(source: str | None, config: Path | None) -> list[Path]:
    """Fetch the jars, with a progress bar on a terminal. Returns their paths."""
    settings = load(JarSettings, "jars", flags={"repository": source}, file=config)
    with _progress(settings.repository) as watch:
        return fetch(settings.repository, watch)


@contextmanager
def _progress(source: str) -> Iterator["Watch"]:
    announced = False

    def announce(done: int, total: int) -> None:
        nonlocal announced
        if not announced:
            print(f"Fetching {total / 1e6:.0f} MB of jars from {source} ...", file=sys.stderr)
            announced = True

    if not sys.stderr.isatty():
        yield announce
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("jars", total=None)

        def draw(done: int, total: int) -> None:
            announce(done, total)
            bar.update(task, completed=done, total=total)

        yield draw
