"""`holdfast audit`: commands and their outcomes, of one flow or of all."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.filters import Cursor, KeyOption, Limit, SpanOptions, Text
from holdfast.cli.options import Cluster
from holdfast.cli.output import Format, Output, chosen, print_json, show
from holdfast.cli.program import note, single_commands
from holdfast.flows.journal import Outcome

if TYPE_CHECKING:
    from holdfast.client.client import Client
    from holdfast.remote.flows import RemoteClient
    from holdfast.views.audit import AuditQuery

_BRIEF = ("time", "flow", "key", "command", "outcome", "actor", "reason")


def audit(
    flow: Annotated[
        str | None, typer.Argument(metavar="[FLOW]", help="Only this flow.", show_default="all")
    ] = None,
    actor: Annotated[str, typer.Option("--actor", metavar="NAME", help="Who asked.")] = "",
    command: Annotated[
        str, typer.Option("--command", metavar="NAME", help="What was asked: hold, release, ...")
    ] = "",
    outcome: Annotated[
        Outcome | None, typer.Option("--outcome", metavar="NAME", help="What came of it: held, ...")
    ] = None,
    text: Text = "",
    limit: Limit = 50,
    cursor: Cursor = None,
    output: Format = None,
    *,
    key: KeyOption,
    span: SpanOptions,
    cluster: Cluster,
) -> None:
    """List commands and their outcomes, newest first.

    \b
    Examples:
      holdfast audit
      holdfast audit orders --key customer-7 --since 2h
      holdfast audit --actor ana --command release -o csv
    """
    from holdfast.views.audit import COMMANDS, AuditQuery

    if command and command not in COMMANDS:
        raise typer.BadParameter(
            f"there is no command {command!r}; there are {', '.join(COMMANDS)}",
            param_hint="--command",
        )
    times = span.span
    query = AuditQuery(
        key=key.bytes, actor=actor, command=command, outcome=outcome, search=text,
        since=times.since, until=times.until, limit=limit, cursor=cursor,
    )  # fmt: skip
    with cluster.any_client() as client:
        rows, following = _rows(client, flow, query)
    if chosen(output) is Output.JSON:
        print_json({"rows": rows, "cursor": following})
        return
    if chosen(output) is Output.TABLE:
        rows = [{name: row[name] for name in _BRIEF} for row in rows]
    show(rows, output, empty="No command or outcome matches.")
    if following is not None:
        note(f"There may be more: --cursor {following}")


APPS = single_commands(audit)


def _rows(
    client: "Client | RemoteClient", flow: str | None, query: "AuditQuery"
) -> tuple[list[dict[str, Any]], str | None]:
    from holdfast.access.roles import Actor, Role
    from holdfast.control.audit import logged_audit_of_flows
    from holdfast.control.exports import audit_fields
    from holdfast.remote.flows import RemoteClient

    if isinstance(client, RemoteClient):
        return client.audit(flow, query)
    flows = client.flows() if flow is None else [client.flow(flow).describe()]
    page = logged_audit_of_flows(client.connection, flows, query, Actor("", Role.ADMIN))
    return [audit_fields(found.flow, found.row) for found in page.rows], page.cursor
