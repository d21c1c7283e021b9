"""`holdfast run`: list, show, follow and cancel runs."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from holdfast.cli import FAILED, INTERRUPTED, OK
from holdfast.cli.output import Format, Output, chosen, print_json, show, show_one
from holdfast.cli.program import (
    Bootstrap,
    Config,
    application,
    open_client,
    run_application,
)

if TYPE_CHECKING:
    from holdfast.client.client import Client
    from holdfast.flows.runs import Run

app = application("List, show, follow and cancel replays, backfills, redrives and audits.")

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.", show_default=False)]

_UNHEARD_S = 5.0
"""After so long without a word it is said that no pipeline seems to run."""
_RETELL_S = 1.0


@app.command("ls")
def list_runs(
    flow: Annotated[str | None, typer.Argument(help="Of this flow alone.")] = None,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """List runs, the newest first.

    \b
    Example:
      holdfast run ls orders
    """
    with open_client(bootstrap, config) as client:
        rows = [_row(run) for run in client.runs.list(flow)]
    show(rows, output, empty="There are no runs.")


@app.command("show")
def show_run(
    run: RunId, output: Format = None, bootstrap: Bootstrap = None, config: Config = None
) -> None:
    """Show a run: who asked for what, how far it is, and what came of it.

    \b
    Example:
      holdfast run show replay-6e52f181ab03
    """
    with open_client(bootstrap, config) as client:
        print_run(client.runs.get(run), output)


@app.command("cancel")
def cancel(
    run: RunId,
    actor: Annotated[str | None, typer.Option(help="Who asks.")] = None,
    output: Format = None,
    bootstrap: Bootstrap = None,
    config: Config = None,
) -> None:
    """End a run where it is. What it has done stays done.

    \b
    Example:
      holdfast run cancel replay-6e52f181ab03
    """
    with open_client(bootstrap, config) as client:
        print_run(client.runs.cancel(run, actor=actor), output)


@app.command("follow")
def follow(
    run: RunId, output: Format = None, bootstrap: Bootstrap = None, config: Config = None
) -> None:
    """Follow a run to its end, with a progress bar.

    \b
    Example:
      holdfast run follow replay-6e52f181ab03
    """
    with open_client(bootstrap, config) as client:
        follow_run(client, client.runs.get(run), output)


def follow_run(client: "Client", run: "Run", output: Output | None) -> NoReturn:
    """Show a run until it has ended, then what came of it; its end, and its verdict if it has one,
    is the exit code.

    Ctrl-C leaves it running, and says how to end it.
    """
    try:
        last = _watch(client, run)
    except KeyboardInterrupt:
        print(
            f"\nThe run {run.id} goes on. 'holdfast run follow {run.id}' shows it again; "
            f"'holdfast run cancel {run.id}' ends it.",
            file=sys.stderr,
        )
        raise typer.Exit(INTERRUPTED) from None
    print_run(last, output)
    raise typer.Exit(OK if last.state == "done" and last.passed is not False else FAILED)


def print_run(run: "Run", output: Output | None) -> None:
    """All that is known of a run."""
    from holdfast.flows.runs import described

    fields = described(run)
    if chosen(output) is Output.JSON:
        print_json(fields)
        return
    result = fields.pop("result")
    flat = {name: _time(value) if name.endswith("_at") else value for name, value in fields.items()}
    show_one({**flat, **{name: _told(value) for name, value in result.items()}}, output)


def _watch(client: "Client", run: "Run") -> "Run":
    if not sys.stderr.isatty():
        return client.runs.wait(run.id)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(),
        TextColumn("{task.fields[told]}"),
    )  # fmt: skip
    begun = monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(run.request.work.name, total=None, told="")
        for seen in client.runs.follow(run.id, every=_RETELL_S):
            run = seen
            fraction = run.fraction
            bar.update(
                task,
                total=None if fraction is None else 1.0,
                completed=fraction or 0.0,
                told=_told_on_the_way(run, monotonic() - begun),
            )
    return run


def _told_on_the_way(run: "Run", waited: float) -> str:
    progress = run.progress
    if progress is None:
        if waited < _UNHEARD_S:
            return "requested"
        return "waits: no pipeline has taken it up yet. 'holdfast pipeline' starts one."
    parts = [f"{progress.done:,}"]
    if progress.total is not None:
        parts = [f"{progress.done:,} of {progress.total:,} {progress.plan.get('unit', 'events')}"]
    if progress.rate:
        parts.append(f"{progress.rate:,.0f}/s")
    left = run.seconds_left
    if left is not None:
        parts.append(f"{_duration(left)} left")
    if run.cancelling:
        parts.append("is being cancelled")
    if progress.note:
        parts.append(progress.note)
    return ", ".join(parts)


def _row(run: "Run") -> dict[str, Any]:
    progress, fraction = run.progress, run.fraction
    return {
        "run": run.id,
        "work": run.request.work.name,
        "flow": run.request.flow,
        "state": "cancelling" if run.cancelling else run.state.value,
        "done": progress.done if progress else 0,
        "percent": None if fraction is None else round(100 * fraction, 1),
        "actor": run.request.actor,
        "asked": _time(run.request.at),
    }


def _told(value: Any) -> Any:
    if isinstance(value, list):
        return "\n  ".join(["", *(_told(each) for each in value)]) if value else "none"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return value


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _time(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
