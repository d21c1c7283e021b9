"""`holdfast guard`: create, run and list guards."""

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.options import Cluster, OptionGroup
from holdfast.cli.output import Format, show, time_text
from holdfast.cli.program import application, note

if TYPE_CHECKING:
    from holdfast.guard.guard import Guard

app = application("Create, run and list guards: handlers whose failing keys wait in order.")

Name = Annotated[str, typer.Argument(help="The guard's name.", show_default=False)]


class Then(StrEnum):
    HOLD = "hold"
    DEAD_LETTER = "dead-letter"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class PolicyOptions(OptionGroup):
    """What becomes of an event that fails."""

    attempts: Annotated[
        int | None, typer.Option(min=1, help="How often an event is tried.", show_default="5")
    ] = None
    backoff: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST..LONGEST", help="Pause between attempts.", show_default="1s..10m"
        ),
    ] = None
    then: Annotated[
        Then | None, typer.Option(help="What follows the last attempt.", show_default="hold")
    ] = None


@app.command("ls")
def list_guards(output: Format = None, *, cluster: Cluster) -> None:
    """List the guards.

    \b
    Example:
      holdfast guard ls
    """
    with cluster.client() as client:
        rows = [
            {"guard": f.name, "topic": f.topic, "partitions": f.partitions,
             "attempts": f.attempts, "backoff": f.backoff, "then": f.then,
             "created": time_text(f.created_at)}
            for f in client.flows() if f.is_guard
        ]  # fmt: skip
    show(rows, output, empty="There are no guards. 'holdfast guard create NAME' makes one.")


@app.command("create")
def create(
    name: Name,
    topic: Annotated[str, typer.Option("--topic", "-t", help="The topic whose events it handles.")],
    policy: PolicyOptions,
    *,
    cluster: Cluster,
) -> None:
    """Create a guard: its topics and its registration.

    \b
    Example:
      holdfast guard create billing --topic orders.processed --attempts 5 --then hold
    """
    with cluster.client() as client:
        client.flow(name).create_guard(
            topic,
            attempts=policy.attempts,
            backoff=policy.backoff,
            then=None if policy.then is None else policy.then.value,
        )
    note(f"Created the guard {name}. 'holdfast guard run {name} MODULE:GUARD' runs it.")


@app.command("run")
def run_worker(
    name: Name,
    guard: Annotated[
        str | None,
        typer.Argument(metavar="[MODULE:GUARD]", help="Your guard.", show_default=False),
    ] = None,
    post: Annotated[
        str | None,
        typer.Option("--post", metavar="URL", help="Post each event there: 2xx is done."),
    ] = None,
    at_once: Annotated[int, typer.Option(min=1, help="Events posted side by side.")] = 64,
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="HOST:PORT", help="Where to serve /metrics and /healthz."),
    ] = None,
    *,
    cluster: Cluster,
) -> None:
    """Run a worker of a guard. As many as the topic has partitions share the work.

    \b
    Examples:
      holdfast guard run billing shop.billing:guard
      holdfast guard run billing --post http://localhost:8080/charge --http 127.0.0.1:9700
    """
    from holdfast.logs import log_to_stderr

    if (guard is None) == (post is None):
        raise typer.BadParameter("give MODULE:GUARD or --post URL", param_hint="MODULE:GUARD")
    log_to_stderr()
    if guard is not None:
        found = _load(guard)
        if found.name != name:
            raise typer.BadParameter(f"{guard} is the guard {found.name!r}, not {name!r}")
    else:
        from holdfast.guard.guard import Guard
        from holdfast.guard.post import post_to

        found = Guard(name)
        found.handler(at_once=at_once)(post_to(post or ""))
    found.http = http or found.http
    note(f"Running the guard {name}.")
    given = post or cluster.bootstrap or cluster.config
    found.run(cluster.client() if given else None)


def _load(target: str) -> "Guard":
    """The guard that `module:name` names, from this folder or from the installed packages."""
    from importlib import import_module

    from holdfast.guard.guard import Guard

    module, _, attribute = target.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), attribute or "guard")
    except (ImportError, AttributeError) as error:
        raise typer.BadParameter(f"{target} cannot be loaded: {error}") from None
    if not isinstance(found, Guard):
        raise typer.BadParameter(f"{target} is no holdfast.Guard.")
    return found
