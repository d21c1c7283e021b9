"""`holdfast health`: is it well? Every part, with reasons and an exit code."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import FAILED
from holdfast.cli.options import Cluster
from holdfast.cli.output import Format, Output, chosen, print_json, show
from holdfast.cli.program import application
from holdfast.errors import NotFoundError

if TYPE_CHECKING:
    from holdfast.client.client import Client

_WEB_SECONDS = 3.0

app = application()


@app.command()
def health(
    flow: Annotated[
        str | None,
        typer.Argument(metavar="FLOW", help="Only this flow.", show_default="all flows"),
    ] = None,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:
    """Is it well? Shows broker, web, followers and the parts of every flow, with reasons.

    The exit code is 0 if every part is well, 1 if one is not, and 4 if nobody answers.

    \b
    Examples:
      holdfast health
      holdfast health orders -o json
    """
    report_health(cluster, flow, output)


def report_health(cluster: Cluster, flow: str | None, output: Output | None) -> None:
    """Prints the health of every part, or of those of one flow. Exit code 1 if one is not well."""
    from holdfast.remote.flows import RemoteClient

    with cluster.any_client() as client:
        if isinstance(client, RemoteClient):
            rows = client.health()
        else:
            rows = _seen_from_here(client, cluster)
    if flow is not None:
        rows = [row for row in rows if row["flow"] in (None, flow)]
        if not any(row["flow"] == flow for row in rows):
            raise NotFoundError(f"There is no flow {flow!r}.")
    well = all(row["well"] for row in rows)
    if chosen(output) is Output.JSON:
        print_json({"well": well, "parts": rows})
    else:
        show(rows, output)
        _print_verdict(rows, output)
    if not well:
        raise typer.Exit(FAILED)


def _print_verdict(rows: list[dict[str, Any]], output: Output | None) -> None:
    if chosen(output) is Output.TABLE:
        bad = [row for row in rows if not row["well"]]
        print(f"{len(bad)} of {len(rows)} parts are not well." if bad else "All is well.")


def _seen_from_here(client: "Client", cluster: Cluster) -> list[dict[str, Any]]:
    """The lines from views of our own, because no web process was named."""
    from dataclasses import asdict

    from holdfast.cli.top import wait_until_known
    from holdfast.control.health import part_lines
    from holdfast.views.views import Views

    with Views(client.connection) as views:
        wait_until_known(views)
        lines = [asdict(line) for line in part_lines(client, views, {})]
    return [*lines[:1], _web(cluster), *lines[1:]]


def _web(cluster: Cluster) -> dict[str, Any]:
    """The web process of our settings. It may not be meant to run, so its absence is no failure."""
    import json
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    from holdfast.config import load
    from holdfast.web.settings import WebSettings

    settings = load(WebSettings, "web", file=cluster.config)
    connect = HTTPSConnection if settings.tls else HTTPConnection
    row: dict[str, Any] = {"part": "web", "flow": None, "state": "running", "well": True}
    try:
        connection = connect(settings.listen, timeout=_WEB_SECONDS)
        connection.request("GET", "/readyz", headers={"Host": "localhost"})
        answer = connection.getresponse()
        reason = "" if answer.status == 200 else str(json.loads(answer.read())["reason"])
    except (OSError, HTTPException, ValueError, KeyError):
        nobody = f"No web process answers at {settings.listen}. Flows work without one."
        return {**row, "state": "unknown", "reason": nobody}
    return {**row, "state": "failed" if reason else "running", "well": not reason, "reason": reason}
