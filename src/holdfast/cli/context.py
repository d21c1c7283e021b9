"""`holdfast context`: servers by name, and the one that commands speak with."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.output import Format, show
from holdfast.cli.program import application, note

app = application("Choose the server that commands speak with, by REST.")

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The context's name.", show_default=False)
]


@app.command("add")
def add(
    name: Name,
    address: Annotated[
        str, typer.Argument(metavar="URL", help="The web server's address.", show_default=False)
    ],
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", exists=True, dir_okay=False,
                     help="A file with your token.", show_default="HOLDFAST_TOKEN"),
    ] = None,
) -> None:  # fmt: skip
    """Add a server, or change it. The first one is in use at once.

    \b
    Example:
      holdfast context add prod https://holdfast.example.com --token-file ~/.holdfast-token
    """
    from holdfast.remote.contexts import Context, Contexts
    from holdfast.remote.server import Server

    Server(address)  # raises if it is no address
    contexts = Contexts.load()
    added = Context(
        name=name, url=address, token_file=str(token_file.absolute()) if token_file else ""
    )
    others = tuple(each for each in contexts.all if each.name != name)
    Contexts((*others, added), contexts.current or name).save()
    note(f"Added {name}.")


@app.command("use")
def use(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The context's name.", show_default=False)
    ] = None,
    none: Annotated[
        bool, typer.Option("--none", help="No context: commands speak with the broker.")
    ] = False,
) -> None:
    """Let commands speak with this server from now on.

    \b
    Examples:
      holdfast context use prod
      holdfast context use --none
    """
    from holdfast.remote.contexts import Contexts

    if (name is None) != none:
        raise typer.BadParameter("give NAME or --none")
    contexts = Contexts.load()
    current = "" if name is None else contexts.get(name).name
    replace(contexts, current=current).save()
    note(f"In use: {current or 'none'}.")


@app.command("ls")
def list_contexts(output: Format = None) -> None:
    """List the contexts.

    \b
    Example:
      holdfast context ls
    """
    from holdfast.remote.contexts import Contexts

    contexts = Contexts.load()
    rows = [
        {"context": each.name, "server": each.url, "in use": each.name == contexts.current,
         "token file": each.token_file or None}
        for each in contexts.all
    ]  # fmt: skip
    show(rows, output, empty="There are no contexts. 'holdfast context add NAME URL' adds one.")
