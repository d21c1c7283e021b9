"""`holdfast replay | backfill | redrive`: request a run on a flow's events, and follow it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.options import Actor, Cluster, FlowName, OptionGroup, Yes
from holdfast.cli.output import Format
from holdfast.cli.program import confirm, single_commands
from holdfast.cli.run_options import SpecOptions
from holdfast.flows.run_specs import ORDER_CAVEAT, Backfill, Redrive, Replay, RunSpec

if TYPE_CHECKING:
    from holdfast.client.client import Client


@dataclass(frozen=True, slots=True)
class RunOptions(OptionGroup):
    """Options of every command that requests a run."""

    run_id: Annotated[
        str | None,
        typer.Option("--id", help="The run's id: the same id twice is one run.",
                     show_default="a new one"),
    ] = None  # fmt: skip
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Request it, and do not follow.")] = (
        False
    )
    actor: Actor = None
    output: Format = None


class ReplayOptions(SpecOptions[Replay]):
    kind = Replay


class BackfillOptions(SpecOptions[Backfill]):
    kind = Backfill


class RedriveOptions(SpecOptions[Redrive]):
    kind = Redrive


def replay(flow: FlowName, events: ReplayOptions, options: RunOptions, cluster: Cluster) -> None:
    """Send events of the raw zone through the flow again, so that holds apply to them.

    Events that exist when the run begins are sent, each once, in the order of their keys, with the
    headers holdfast-replay-run and holdfast-replay-source. Events that an earlier replay has sent
    are left out unless --with-replayed is given.

    \b
    Examples:
      holdfast replay orders --since 2h --key customer-7 --dry-run
      holdfast replay orders --offsets 0:1000-2000 --rate 500
      holdfast replay orders --where "get_json_object(value, '$.amount') > 100"
    """
    with cluster.client() as client:
        _request(client, flow, events.spec, options)


def backfill(
    flow: FlowName, events: BackfillOptions, options: RunOptions, cluster: Cluster
) -> None:
    """Land events in the raw zone that are missing there, from the flow's topic or from files.

    Existing events are not landed again: they are found by partition and offset, or by a file's
    content and row. Without a range, all events of the topic are checked.

    \b
    Examples:
      holdfast backfill orders
      holdfast backfill orders --offsets 3:1000-2000
      holdfast backfill orders --file '/in/2025-*.jsonl' --key-from '$.customer'
    """  # fmt: skip
    with cluster.client() as client:
        _request(client, flow, events.spec, options)


def redrive(
    flow: FlowName,
    letters: RedriveOptions,
    yes: Yes = False,
    *,
    options: RunOptions,
    cluster: Cluster,
) -> None:
    """Send dead letters through the flow again, each once.

    A redriven event goes behind the newer ones of its key. If it fails again it comes back to the
    dead letters with a higher attempt number (holdfast-attempt). Letters that were redriven before
    are left alone unless --again is given.

    \b
    Examples:
      holdfast redrive orders --letter 2:41 --value '{"amount": 12}'
      holdfast redrive orders --reason invalid --yes
    """
    with cluster.client() as client:
        client.flow(flow).describe()
        confirm(f"{ORDER_CAVEAT} Redrive {_letters_text(letters.spec)} of {flow}?", yes)
        _request(client, flow, letters.spec, options)


def _request(client: "Client", flow: str, spec: RunSpec, options: RunOptions) -> None:
    from holdfast.cli.runs import follow_run, print_run

    run = client.runs.ask(flow, spec, actor=options.actor, run_id=options.run_id)
    if options.no_wait:
        print_run(run, options.output)
    else:
        follow_run(client, run, options.output)


def _letters_text(spec: Redrive) -> str:
    if spec.everything:
        return "all dead letters"
    parts = [f"of the reason {spec.reason!r}"] if spec.reason else []
    parts += [f"of {len(spec.keys)} keys"] if spec.keys else []
    number = "the dead letters" if not spec.letters else f"{len(spec.letters)} dead letters"
    return " ".join([number, *parts])


APPS = single_commands(replay, backfill, redrive)
