"""`holdfast flow`: list, create, change and describe flows."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer

from holdfast.cli import USAGE
from holdfast.cli.keys import CommandId, CommandOptions
from holdfast.cli.many_keys import report
from holdfast.cli.options import REPEATED, Cluster, OptionGroup, Reason, declared, parameter
from holdfast.cli.output import Format, Output, age_text, show, show_one, time_text
from holdfast.cli.program import application, fail, note
from holdfast.cli.watching import Watch, repeat
from holdfast.clock import now_ms
from holdfast.flows.holds import describe_hold, prefix_text

if TYPE_CHECKING:
    from dataclasses import Field

    from holdfast.flows.options import Option
    from holdfast.flows.registry import FlowDefinition

app = application("List, create, change and describe flows.")

Name = Annotated[str, typer.Argument(help="The flow's name: a-z, 0-9 and '-'.", show_default=False)]


class NewFlow(OptionGroup):
    """The options of a new flow; `given` has those that were given."""

    def __init__(self, **values: Any) -> None:
        self.given = _given(values)

    @classmethod
    def parameters(cls) -> Iterator[Parameter]:
        for field, option in _options():
            default = "" if field.type is bool else str(field.default or "")
            yield _parameter(field, option, show_default=default or None)


class Changes(OptionGroup):
    """The options of a flow that can be changed; `given` has those that were given."""

    def __init__(self, **values: Any) -> None:
        self.given = _given(values)

    @classmethod
    def parameters(cls) -> Iterator[Parameter]:
        for field, option in _options():
            if option.fixed:
                continue
            yield _parameter(field, option, show_default=False)
            if not field.default and field.type is not bool:
                name = field.name.replace("_", " ")
                remove = typer.Option(f"--no-{name.replace(' ', '-')}", help=f"Remove the {name}.")
                yield parameter(f"no_{field.name}", Annotated[bool, remove], False)


def _options() -> "Iterator[tuple[Field[Any], Option]]":
    from holdfast.flows.options import options_of
    from holdfast.flows.registry import FlowDefinition, Limits

    yield from options_of(FlowDefinition)
    yield from options_of(Limits)


def _parameter(field: "Field[Any]", option: "Option", **more: Any) -> Parameter:
    """An option that is None unless it is given."""
    kind: Any = field.type
    if get_origin(kind) is tuple:
        kind, more["hint"] = list[str], REPEATED
    elif kind is bool:
        flag = field.name.replace("_", "-")
        option = replace(option, flags=(f"--{flag}/--no-{flag}",))
    return parameter(field.name, Annotated[kind | None, declared(field, option, **more)], None)


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options to pass to the SDK, with the limits in one of them."""
    from holdfast.access.masks import parse_mask
    from holdfast.flows.registry import Limits

    given: dict[str, Any] = {}
    for field, _ in _options():
        if values.get(f"no_{field.name}"):
            given[field.name] = ""
        elif values.get(field.name) not in (None, []):
            given[field.name] = values[field.name]
    for mask in given.get("masks", ()):
        parse_mask(mask)
    limits = {name: given.pop(name) for name in Limits.__dataclass_fields__ if name in given}
    return {**given, "limits": limits} if limits else given


@app.command("ls")
def list_flows(watch: Watch = False, output: Format = None, *, cluster: Cluster) -> None:
    """List the flows.

    \b
    Examples:
      holdfast flow ls
      holdfast flow ls -o wide
    """
    with cluster.any_client() as client:
        repeat(watch, lambda: _show(client.flows(), output))


def _show(flows: "list[FlowDefinition]", output: Output | None) -> None:
    rows = [
        {"flow": f.name, "partitions": f.partitions, "overflow": f.overflow,
         "created": time_text(f.created_at)}
        for f in flows
    ]  # fmt: skip
    short = [
        {**row, "created": age_text(flow.created_at, now_ms())}
        for row, flow in zip(rows, flows, strict=True)
    ]
    empty = "There are no flows. 'holdfast flow create NAME' makes one."
    if output is Output.WIDE:
        rows = [_described(flow) for flow in flows]
    show(rows, output, empty=empty, short=short)


@app.command("create")
def create(name: Name, *, options: NewFlow, cluster: Cluster) -> None:
    """Create a flow: its topics and its registration.

    \b
    Examples:
      holdfast flow create orders -p 12 --overflow dead-letter
      holdfast flow create payments --schema 'payment STRING NOT NULL, amount DOUBLE'
    """
    with cluster.any_client() as client:
        client.flow(name).create(**options.given)
    note(f"Created the flow {name}: send its events to {name}.events.")


@app.command("set")
def change(name: Name, *, changes: Changes, cluster: Cluster) -> None:
    """Change a flow. Options that are left out stay; masks and checks replace the present ones.

    \b
    Examples:
      holdfast flow set orders --key-events 50000
      holdfast flow set orders --mask '$.card.number' --mask '$..email'
      holdfast flow set orders --check 'required order' --check 'fresh 10m'
    """
    if not changes.given:
        fail("no change is given: see 'holdfast flow set --help'.", USAGE)
    with cluster.any_client() as client:
        client.flow(name).change(**changes.given)
    note(f"Changed the flow {name}; parts that run follow within a second.")


@app.command("pause")
def pause(
    name: Name,
    reason: Reason = "",
    pause_name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", show_default="the actor",
                     help="The pause's name. A flow may have several pauses."),
    ] = None,
    command_id: CommandId = None,
    *,
    options: CommandOptions,
    cluster: Cluster,
) -> None:  # fmt: skip
    """Pause a whole flow: no events are taken. They wait in its topic of events.

    Nothing leaves 'held' for 'processed' either. Commands are applied meanwhile. The flow is paused
    until its last pause was ended.

    \b
    Example:
      holdfast flow pause orders --reason "consumers are down" --wait 10
    """
    with cluster.any_client() as client:
        receipt = client.flow(name).pause(
            reason=reason, name=pause_name, actor=options.actor, command_id=command_id
        )
        report(client.flow(name), [receipt], options.wait, options.output)


@app.command("resume")
def resume(
    name: Name,
    pause_name: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME", show_default="your own, or the only one",
                     help="The pause to end. May be repeated."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="End every pause. Needs a reason.")] = False,
    reason: Reason = "",
    command_id: CommandId = None,
    *,
    options: CommandOptions,
    cluster: Cluster,
) -> None:  # fmt: skip
    """End your pause of a flow. After the last one, events are taken again.

    \b
    Examples:
      holdfast flow resume orders
      holdfast flow resume orders --all --reason "consumers are back"
    """
    with cluster.any_client() as client:
        receipt = client.flow(name).resume(
            holds=pause_name, every=every, reason=reason, actor=options.actor,
            command_id=command_id,
        )  # fmt: skip
        report(client.flow(name), [receipt], options.wait, options.output)


@app.command("describe")
def describe(name: Name, output: Format = None, *, cluster: Cluster) -> None:
    """Show a flow, and the number of its keys that are held or draining.

    \b
    Example:
      holdfast flow describe orders
    """
    with cluster.any_client() as client:
        flow = client.flow(name)
        definition, held, pauses = flow.describe(), flow.held(), flow.pauses()
        prefixes = flow.prefixes()
    state = {
        "paused by": [describe_hold(pause) for pause in pauses] or None,
        "held prefixes": [prefix_text(each.prefix) for each in prefixes] or None,
        "keys not active": len(held),
    }
    show_one({**_described(definition), **state}, output)


def _described(flow: "FlowDefinition") -> dict[str, Any]:
    values = {**asdict(flow), **asdict(flow.limits)}
    return {
        "flow": flow.name,
        "created": time_text(flow.created_at),
        **{
            field.name.replace("_", " "): None if values[field.name] == () else values[field.name]
            for field, _ in _options()
        },
    }
