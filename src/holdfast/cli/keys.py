"""`holdfast hold | release | dead-letter | void | skip`: commands for the keys of a flow."""

from dataclasses import dataclass
from typing import Annotated

import typer

from holdfast.cli.many_keys import KeyArguments, builders, report
from holdfast.cli.options import (
    Actor,
    Cluster,
    FlowName,
    OptionGroup,
    Reason,
    Yes,
    key_of_argument,
)
from holdfast.cli.output import Format
from holdfast.cli.positions import parse_duration
from holdfast.cli.program import confirm, note, single_commands

CommandId = Annotated[
    str | None,
    typer.Option("--id", help="The command's id: the same id twice is one command.",
                 show_default="a new one"),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class CommandOptions(OptionGroup):
    """Options of every command that changes a flow."""

    actor: Actor = None
    wait: Annotated[
        float | None,
        typer.Option("--wait", "-w", metavar="SECONDS", min=0,
                     help="Wait up to SECONDS until it is effective, and say what happened."),
    ] = None  # fmt: skip
    output: Format = None


Prefix = Annotated[
    str | None,
    typer.Option("--prefix", metavar="PREFIX", show_default=False,
                 help="All keys that begin so, seen or not, instead of KEY."),
]  # fmt: skip


def hold(
    flow: FlowName,
    keys: KeyArguments,
    prefix: Prefix = None,
    reason: Reason = "",
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            show_default="the actor",
            help="The hold's name. A key may have several holds.",
        ),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", "-e", help="End the hold after 90s, 10m, 2h, 7d.")
    ] = None,
    command_id: CommandId = None,
    *,
    options: CommandOptions,
    cluster: Cluster,
) -> None:
    """Put keys on hold: their events are kept back, in order, until a release or the expiry.

    A key may have several holds, each with a name: it is held until the last one has ended. A hold
    of the same name changes that one only.

    \b
    Examples:
      holdfast hold orders customer-7 --reason "payment disputed"
      holdfast hold orders customer-7 --expires 2h --wait 10
      holdfast hold orders customer-7 --name fraud-team --reason "fraud check"
      holdfast hold orders customer-7 customer-8 --keys more.txt
      holdfast hold orders --prefix tenant-7/ --reason "their endpoint is down"
    """
    expires_in = None if expires is None else parse_duration(expires, "--expires")
    named = keys.required() if prefix is None else _prefix_alone(keys, prefix)
    with cluster.any_client() as client:
        one = client.flow(flow)
        one.describe().check_reason(reason)
        if prefix is not None:
            receipt = one.hold_prefix(
                named[0], reason=reason, expires_in=expires_in, name=name, actor=options.actor,
                command_id=command_id,
            )  # fmt: skip
            report(client.flow(flow), [receipt], options.wait, options.output)
            return
        commands = [
            builder.hold(key, reason=reason, expires_in=expires_in, name=name)
            for key, builder in builders(named, one.actor(options.actor), command_id)
        ]
        report(one, one.request(commands), options.wait, options.output)


def release(
    flow: FlowName,
    keys: KeyArguments,
    prefix: Prefix = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="NAME",
            show_default="your own, or the only one",
            help="The hold to end. May be repeated.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="End every hold of the key. Needs a reason.")
    ] = False,
    reason: Reason = "",
    pace: Annotated[
        float | None, typer.Option("--pace", help="Events a second.", show_default="no limit")
    ] = None,
    command_id: CommandId = None,
    *,
    options: CommandOptions,
    cluster: Cluster,
) -> None:
    """End your hold of keys. With the last hold of a key its held events leave in order.

    New events queue behind the held ones. With --name and no KEY: the keys of that hold.

    \b
    Examples:
      holdfast release orders customer-7 --pace 100
      holdfast release orders customer-7 --name fraud-team --reason "cleared"
      holdfast release orders --name fraud-team --reason "cleared"
      holdfast release orders customer-7 --all --reason "held by mistake"
      holdfast release orders --prefix tenant-7/ --pace 50
    """
    from holdfast.flows.holds import ChooseHoldError, holds_of_key, own_or_only

    if prefix is not None:
        [begins_with] = _prefix_alone(keys, prefix)
        with cluster.any_client() as client:
            receipt = client.flow(flow).release_prefix(
                begins_with, pace=pace, holds=name, every=every, reason=reason, actor=options.actor,
                command_id=command_id,
            )  # fmt: skip
            report(client.flow(flow), [receipt], options.wait, options.output)
        return
    given = keys.all() if name else keys.required()
    with cluster.any_client() as client:
        one = client.flow(flow)
        one.describe().check_reason(reason)
        standing = {status.key: holds_of_key(status.holds) for status in one.held()}
        named = given or [
            key
            for key, holds in standing.items()
            if any(label in (name or ()) for hold in holds for label in (hold.name, hold.label))
        ]
        if not named:
            note("No key has a hold of that name.")
            return
        commands, refused = [], []
        for key, builder in builders(named, one.actor(options.actor), command_id):
            holds = name
            try:
                if holds is None and not every:
                    meant = own_or_only(standing.get(key, ()), builder.actor)
                    holds = [hold.name for hold in meant] or None
            except ChooseHoldError as error:
                refused.append(f"{_text(key)}: {error}")
                continue
            commands.append(
                builder.release(key, pace=pace, holds=holds, every=every, reason=reason)
            )
        if commands:
            report(one, one.request(commands), options.wait, options.output)
        if refused:
            raise ChooseHoldError("\n".join(refused))


def dead_letter(
    flow: FlowName,
    keys: KeyArguments,
    reason: Reason = "",
    first: Annotated[
        bool, typer.Option("--first", help="Only the first event, which a guard could not handle.")
    ] = False,
    command_id: CommandId = None,
    yes: Yes = False,
    *,
    options: CommandOptions,
    cluster: Cluster,
) -> None:
    """Move the held events of keys to the dead letters. Later commands do not change that.

    \b
    Examples:
      holdfast dead-letter orders customer-7 --yes
      holdfast dead-letter billing customer-7 --first --yes
    """
    named = keys.required()
    with cluster.any_client() as client:
        one = client.flow(flow)
        one.describe().check_reason(reason)
        one.describe().check_first(first)
        whose = _text(named[0]) if len(named) == 1 else f"{len(named)} keys"
        what = "first held event" if first else "held events"
        confirm(f"Send the {what} of {whose} to the dead letters?", yes)
        commands = [
            builder.dead_letter(key, reason=reason, first=first)
            for key, builder in builders(named, one.actor(options.actor), command_id)
        ]
        report(one, one.request(commands), options.wait, options.output)


def void(
    flow: FlowName,
    offset: Annotated[
        int,
        typer.Argument(metavar="OFFSET", min=0, help="Its offset on the control log.",
                       show_default=False),
    ],
    reason: Reason = "",
    yes: Yes = False,
    *,
    options: CommandOptions,
    cluster: Cluster,
) -> None:  # fmt: skip
    """Move the gate past an unreadable record of the control log.

    The gate stops at such a record, because it may have been a hold, and reports its offset. Find
    out what the record meant, send that command again, and then void the record.

    \b
    Example:
      holdfast void orders 17 --reason "typed by hand, meant nothing"
    """
    with cluster.any_client() as client:
        client.flow(flow).describe()
        confirm(f"Void offset {offset} of {flow}.control, which may have been a hold?", yes)
        receipt = client.flow(flow).void(offset, reason=reason, actor=options.actor)
        report(client.flow(flow), [receipt], options.wait, options.output)


def skip(
    flow: FlowName,
    partition: Annotated[
        int,
        typer.Argument(metavar="PARTITION", min=0, help="Of the flow's events.",
                       show_default=False),
    ],
    first: Annotated[
        int,
        typer.Argument(metavar="FIRST", min=0, help="The first offset to skip.",
                       show_default=False),
    ],
    last: Annotated[
        int,
        typer.Argument(metavar="LAST", min=0, help="The last offset to skip.", show_default=False),
    ],
    reason: Reason = "",
    command_id: CommandId = None,
    yes: Yes = False,
    *,
    options: CommandOptions,
    cluster: Cluster,
) -> None:  # fmt: skip
    """Move the gate past events that it cannot read. They are lost, and the journal records it.

    The gate stops at a batch that it cannot read, and reports its partition and offsets. Other
    offsets have no effect.

    \b
    Example:
      holdfast skip orders 3 1200 1249 --reason "written by a broken producer"
    """
    with cluster.any_client() as client:
        client.flow(flow).describe()
        confirm(f"Give up events {first} to {last} of {flow}.events, partition {partition}?", yes)
        receipt = client.flow(flow).skip(
            partition, first, last, reason=reason, actor=options.actor, command_id=command_id
        )
        report(client.flow(flow), [receipt], options.wait, options.output)


APPS = single_commands(hold, release, dead_letter, void, skip)


def _prefix_alone(keys: KeyArguments, prefix: str) -> list[bytes]:
    if keys.all():
        raise typer.BadParameter("give KEY or --prefix, not both", param_hint="--prefix")
    return [key_of_argument(prefix, keys.base64)]


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
