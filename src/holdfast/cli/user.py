"""`holdfast user`: add, list and remove the users that log in to the broker."""

import secrets
import sys
from typing import Annotated

import typer

from holdfast.cli.options import Cluster, Yes
from holdfast.cli.output import Format, show
from holdfast.cli.program import application, confirm, note

app = application("Add, list and remove the users that log in to the broker.")

Name = Annotated[str, typer.Argument(help="The user's name.", show_default=False)]


@app.command("add")
def add(
    name: Name,
    generate: Annotated[
        bool, typer.Option("--generate", help="Make a random password, and print it.")
    ] = False,
    *,
    cluster: Cluster,
) -> None:
    """Add a user, or give them another password.

    The password is read from the terminal, or from standard input. Only its salted form is sent.
    A new user may do nothing until an access control list permits it.

    \b
    Examples:
      holdfast user add anna --config secure/holdfast.toml
      holdfast user add loader --generate
    """
    from holdfast.client.users import Users

    password = secrets.token_urlsafe(24) if generate else _read_password()
    with cluster.client() as client:
        Users(client.connection).add(name, password)
    note(f"Added the user {name}.")
    if generate:
        print(password)


@app.command("ls")
def list_users(output: Format = None, *, cluster: Cluster) -> None:
    """List the users, and the mechanisms that they can log in with.

    \b
    Example:
      holdfast user ls
    """
    from holdfast.client.users import Users

    with cluster.client() as client:
        rows = [
            {"user": user.name, "mechanisms": ", ".join(user.mechanisms)}
            for user in Users(client.connection).list()
        ]
    show(rows, output, empty="There are no users.")


@app.command("rm")
def remove(name: Name, yes: Yes = False, *, cluster: Cluster) -> None:
    """Remove a user. Their open connections stay until they end.

    \b
    Example:
      holdfast user rm anna
    """
    from holdfast.client.users import Users

    confirm(f"Remove the user {name}?", yes)
    with cluster.client() as client:
        Users(client.connection).remove(name)
    note(f"Removed the user {name}.")


def _read_password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
