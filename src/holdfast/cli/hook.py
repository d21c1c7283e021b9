"""`holdfast hook`: URLs that are called when something happens to a key or a gate."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import FAILED
from holdfast.cli.options import Cluster
from holdfast.cli.output import Format, Output, print_json, show, time_text
from holdfast.cli.program import application, fail, note

if TYPE_CHECKING:
    from holdfast.hooks.delivery import Delivery
    from holdfast.hooks.hook import Hook

app = application("Call URLs when keys are held, and when gates stop.")

Name = Annotated[str, typer.Argument(help="The hook's name or id.", show_default=False)]


class BodyForm(StrEnum):
    JSON = "json"
    SLACK = "slack"


@app.command("add")
def add(
    url: Annotated[str, typer.Argument(help="Where to post events.", show_default=False)],
    on: Annotated[
        str,
        typer.Option(
            "--on", metavar="KIND,...", help="Of held, expired, drained, parked and stopped.",
            show_default=False,
        ),
    ],
    name: Annotated[
        str, typer.Option("--name", help="The hook's name.", show_default="the URL's host")
    ] = "",
    form: Annotated[
        BodyForm, typer.Option("--format", help="JSON, or a message for Slack.")
    ] = BodyForm.JSON,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:  # fmt: skip
    """Add a hook, and print the secret that signs its requests.

    Web processes send the requests, so one must run. Events are delivered at least once, and tried
    again for a day.

    \b
    Examples:
      holdfast hook add --on held,expired,drained,parked,stopped https://example.com/holdfast
      holdfast hook add --on stopped --format slack https://hooks.slack.com/services/T0/B0/XX
    """
    from holdfast.client.flow import user_name
    from holdfast.hooks.hook import BodyFormat
    from holdfast.hooks.hook_log import HookLog

    kinds = [kind.strip() for kind in on.split(",") if kind.strip()]
    with cluster.client() as client:
        hook = HookLog(client).add(
            url, kinds, created_by=user_name(), name=name, body_format=BodyFormat(form.value)
        )
    if output is Output.JSON:
        print_json({**_row(hook), "secret": hook.secret})
        return
    note(f"The secret of {hook.name}; it is not shown again:")
    print(hook.secret)


@app.command("ls")
def list_hooks(output: Format = None, *, cluster: Cluster) -> None:
    """List the hooks, without their secrets.

    \b
    Example:
      holdfast hook ls
    """
    from holdfast.hooks.hook_log import HookLog

    with cluster.client() as client:
        rows = [_row(hook) for hook in HookLog(client).hooks()]
    show(rows, output, empty="There are no hooks. 'holdfast hook add' makes one.")


@app.command("rm")
def remove(name: Name, *, cluster: Cluster) -> None:
    """Remove a hook and its log. Events that were not delivered yet are dropped.

    \b
    Example:
      holdfast hook rm example.com
    """
    from holdfast.hooks.hook_log import HookLog

    with cluster.client() as client:
        HookLog(client).remove(name)
    note(f"Removed {name}.")


@app.command("test")
def send_test(name: Name, output: Format = None, *, cluster: Cluster) -> None:
    """Send a test event once, from this machine, and show what the URL answers.

    \b
    Example:
      holdfast hook test example.com
    """
    from holdfast.client.flow import user_name
    from holdfast.hooks.hook_log import HookLog

    with cluster.client() as client:
        hooks = HookLog(client)
        delivery = hooks.test(hooks.get(name), user_name())
    show([_delivery_row(delivery)], output)
    if not delivery.delivered:
        fail(f"{name} did not accept the test: {delivery.error or delivery.status}.", FAILED)


@app.command("log")
def show_log(name: Name, output: Format = None, *, cluster: Cluster) -> None:
    """Show the newest 100 attempts to deliver events of a hook, the newest first.

    \b
    Example:
      holdfast hook log example.com
    """
    from holdfast.hooks.hook_log import HookLog

    with cluster.client() as client:
        hooks = HookLog(client)
        rows = [_delivery_row(each) for each in hooks.deliveries(hooks.get(name))]
    show(rows, output, empty="Nothing was sent yet.")


def _row(hook: "Hook") -> dict[str, Any]:
    return {
        "name": hook.name,
        "url": hook.origin,
        "on": ",".join(hook.on),
        "format": hook.format.value,
        "created": time_text(hook.created_at),
        "created by": hook.created_by,
        "id": hook.id,
    }


def _delivery_row(delivery: "Delivery") -> dict[str, Any]:
    return {
        "at": time_text(delivery.at),
        "event": delivery.kind,
        "flow": delivery.flow,
        "attempt": delivery.attempt,
        "status": delivery.status,
        "error": delivery.error,
        "id": delivery.event,
    }
