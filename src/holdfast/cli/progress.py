"""Progress bars on standard error, for long work on a terminal."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

T = TypeVar("T")

_EVERY = 100
"""Records between two updates: drawing must not slow the work down."""


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a bar (a counter, if the total is not known) that vanishes at the end."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        for count, item in enumerate(items):
            yield item
            if count % _EVERY == 0:
                progress.update(task, completed=count + 1)
