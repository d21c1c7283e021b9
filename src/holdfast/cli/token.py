"""`holdfast token`: create, list and revoke the tokens of the API and the dashboard."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.options import Cluster
from holdfast.cli.output import Format, Output, print_json, show, time_text
from holdfast.cli.positions import parse_duration
from holdfast.cli.program import application, note

if TYPE_CHECKING:
    from holdfast.access.tokens import Token

app = application("Create, list and revoke the tokens of the API and the dashboard.")

Name = Annotated[
    str, typer.Argument(help="Who it is for: the name that commands are signed with.",
                        show_default=False)
]  # fmt: skip


class RoleName(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


@app.command("create")
def create(
    name: Name,
    role: Annotated[
        RoleName,
        typer.Option(
            "--role",
            "-r",
            help="viewer: reads; operator: also acts on keys; admin: also changes flows.",
        ),
    ],
    expires: Annotated[
        str | None, typer.Option("--expires", "-e", help="End it after 90s, 10m, 2h, 7d.")
    ] = None,
    output: Format = None,
    *,
    cluster: Cluster,
) -> None:
    """Create a token, and print it. Only its hash is stored, so it is shown this once.

    It is valid in every running instance within a second. The first token ends the open mode of
    instances on loopback.

    \b
    Examples:
      holdfast token create anna --role operator
      holdfast token create wallboard --role viewer --expires 30d
    """
    from holdfast.access.roles import Role
    from holdfast.access.token_log import TokenLog
    from holdfast.client.flow import user_name

    expires_in = None if expires is None else parse_duration(expires, "--expires")
    with cluster.client() as client:
        token, text = TokenLog(client).create(
            name, Role.parse(role.value), created_by=user_name(), expires_in=expires_in
        )
    if output is Output.JSON:
        print_json({**_row(token), "token": text})
        return
    note(f"The token of {token.name} ({token.role.label}); it is not shown again:")
    sys.stderr.flush()
    print(text)


@app.command("ls")
def list_tokens(output: Format = None, *, cluster: Cluster) -> None:
    """List the tokens, without their secrets.

    \b
    Example:
      holdfast token ls
    """
    from holdfast.access.token_log import TokenLog

    with cluster.client() as client:
        rows = [_row(token) for token in TokenLog(client).tokens()]
    show(rows, output, empty="There are no tokens. 'holdfast token create NAME' makes one.")


@app.command("revoke")
def revoke(
    name: Annotated[str, typer.Argument(help="Its name or id.", show_default=False)],
    *,
    cluster: Cluster,
) -> None:
    """Revoke a token, and every browser session that it started.

    \b
    Example:
      holdfast token revoke anna
    """
    from holdfast.access.token_log import TokenLog

    with cluster.client() as client:
        token_log = TokenLog(client)
        token_log.revoke(name)
        left = token_log.tokens()
    note(f"Revoked {name}: it is not valid any more.")
    if not left:
        note("That was the last token. An instance that now starts on loopback runs open.")


def _row(token: "Token") -> dict[str, Any]:
    from holdfast.clock import now_ms

    return {
        "name": token.name,
        "role": token.role.label,
        "state": "expired" if token.expired(now_ms()) else "live",
        "created": time_text(token.created_at),
        "created by": token.created_by,
        "expires": None if token.expires_at is None else time_text(token.expires_at),
        "id": token.id,
    }
