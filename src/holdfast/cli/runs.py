"""`holdfast run`: list, show, follow and cancel runs."""

import sys
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from holdfast.cli import COULD_NOT, FAILED, INTERRUPTED, OK
from holdfast.cli.options import Actor, Cluster
from holdfast.cli.output import Format, Output, chosen, print_json, show, show_one, time_text
from holdfast.cli.program import application
from holdfast.clock import duration_text

if TYPE_CHECKING:
    from holdfast.client.client import Client
    from holdfast.flows.runs import Run

app = application("List, show, follow and cancel replays, backfills, redrives and audits.")

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.", show_default=False)]

_NO_PIPELINE_SECONDS = 5.0
"""After this time without progress, the user is told that no pipeline seems to run."""
_REFRESH_SECONDS = 1.0


@app.command("ls")
def list_runs(
    flow: Annotated[str | None, typer.Argument(help="Only of this flow.")] = None,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:
    """List runs, the newest first.

    \b
    Example:
      holdfast run ls orders
    """
    with cluster.client() as client:
        rows = [_row(run) for run in client.runs.list(flow)]
    show(rows, output, empty="There are no runs.")


@app.command("show")
def show_run(run: RunId, output: Format = None, *, cluster: Cluster) -> None:
    """Show a run: its request, its progress and its result.

    \b
    Example:
      holdfast run show replay-6e52f181ab03
    """
    with cluster.client() as client:
        print_run(client.runs.get(run), output)


@app.command("cancel")
def cancel(
    run: RunId,
    actor: Actor = None,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:
    """End a run where it is. Finished work stays done.

    \b
    Example:
      holdfast run cancel replay-6e52f181ab03
    """
    with cluster.client() as client:
        print_run(client.runs.cancel(run, actor=actor), output)


@app.command("follow")
def follow(run: RunId, output: Format = None, *, cluster: Cluster) -> None:
    """Follow a run to its end, with a progress bar.

    \b
    Example:
      holdfast run follow replay-6e52f181ab03
    """
    with cluster.client() as client:
        follow_run(client, client.runs.get(run), output)


def follow_run(client: "Client", run: "Run", output: Output | None) -> NoReturn:
    """Show a run until it has ended, then its result. The exit code follows from its verdict, or
    from its state if it has none.

    Ctrl-C leaves it running, and prints how to end it.
    """
    try:
        last = _watch(client, run)
    except KeyboardInterrupt:
        print(
            f"\nThe run {run.id} continues. 'holdfast run follow {run.id}' shows it again; "
            f"'holdfast run cancel {run.id}' ends it.",
            file=sys.stderr,
        )
        raise typer.Exit(INTERRUPTED) from None
    print_run(last, output)
    if last.state == "done" and last.verdict:
        raise typer.Exit(verdict_code(last.verdict))
    raise typer.Exit(OK if last.state == "done" and last.passed is not False else FAILED)


def verdict_code(verdict: str) -> int:
    """The exit code of an audit's verdict. An incomplete audit is neither clean nor faulty."""
    return {"clean": OK, "not clean": FAILED}.get(verdict, COULD_NOT)


def print_run(run: "Run", output: Output | None) -> None:
    """Prints all that is known of a run."""
    from holdfast.flows.runs import described

    fields = described(run)
    if chosen(output) is Output.JSON:
        print_json(fields)
        return
    result = fields.pop("result")
    times = {name: time_text(at) for name, at in fields.items() if name.endswith("_at")}
    show_one({**fields, **times, **{n: _format(v) for n, v in result.items()}}, output)


def _watch(client: "Client", run: "Run") -> "Run":
    if not sys.stderr.isatty():
        return client.runs.wait(run.id)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(),
        TextColumn("{task.fields[text]}"),
    )  # fmt: skip
    begun = monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(run.request.spec.name, total=None, text="")
        for seen in client.runs.follow(run.id, every=_REFRESH_SECONDS):
            run = seen
            fraction = run.fraction
            bar.update(
                task,
                total=None if fraction is None else 1.0,
                completed=fraction or 0.0,
                text=_progress_text(run, monotonic() - begun),
            )
    return run


def _progress_text(run: "Run", waited: float) -> str:
    progress = run.progress
    if progress is None:
        if waited < _NO_PIPELINE_SECONDS:
            return "requested"
        return "waiting: no pipeline has started it yet. 'holdfast pipeline' starts one."
    parts = [f"{progress.done:,}"]
    if progress.total is not None:
        parts = [f"{progress.done:,} of {progress.total:,} {progress.plan.get('unit', 'events')}"]
    if progress.rate:
        parts.append(f"{progress.rate:,.0f}/s")
    left = run.seconds_left
    if left is not None:
        parts.append(f"{duration_text(1000 * left)} left")
    if run.cancelling:
        parts.append("cancelling")
    if progress.note:
        parts.append(progress.note)
    return ", ".join(parts)


def _row(run: "Run") -> dict[str, Any]:
    progress, fraction = run.progress, run.fraction
    return {
        "run": run.id,
        "kind": run.request.spec.name,
        "flow": run.request.flow,
        "state": "cancelling" if run.cancelling else run.state.value,
        "done": progress.done if progress else 0,
        "percent": None if fraction is None else round(100 * fraction, 1),
        "actor": run.request.actor,
        "requested": time_text(run.request.at),
    }


def _format(value: Any) -> Any:
    if isinstance(value, list):
        return "\n  ".join(["", *(_format(each) for each in value)]) if value else "none"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return value
