"""`holdfast mcp`: a Model Context Protocol server, for agents."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.program import application
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from holdfast.mcp.messages import Dispatcher
    from holdfast.remote.server import Server

_LOCAL = "http://127.0.0.1:8600"

app = application()


@app.command()
def mcp(
    server: Annotated[
        str | None,
        typer.Option(
            "--server", metavar="URL", help="The web server.",
            show_default=f"the context in use, or {_LOCAL}",
        ),
    ] = None,
    context: Annotated[
        str | None,
        typer.Option("--context", metavar="NAME", help="The server of `holdfast context add`."),
    ] = None,
    write: Annotated[
        bool,
        typer.Option("--write", help="Offer tools that change something."),
    ] = False,
    http: Annotated[
        str | None,
        typer.Option(
            "--http", metavar="HOST:PORT", show_default="standard input and output",
            help="Listen there, for requests with tokens of their own.",
        ),
    ] = None,
    tls_cert: Annotated[
        str, typer.Option(metavar="FILE", help="Certificate chain (PEM): serve HTTPS.")
    ] = "",
    tls_key: Annotated[str, typer.Option(metavar="FILE", help="Its private key (PEM).")] = "",
) -> None:  # fmt: skip
    """Let agents ask, and with --write act, through the REST API with the rights of a token.

    The token is HOLDFAST_TOKEN or that of the context; over HTTP it is that of each request.

    \b
    Examples:
      holdfast mcp
      holdfast mcp --write --context prod
      holdfast mcp --http 127.0.0.1:8610
    """
    from holdfast.mcp.messages import Dispatcher
    from holdfast.mcp.stdio import serve

    api, dispatcher = _api(server, context), Dispatcher(write=write)
    if http is not None:
        _listen(http, tls_cert, tls_key, dispatcher, api)
        return
    if tls_cert or tls_key:
        raise ConfigError("--tls-cert and --tls-key are for --http.")
    serve(dispatcher, api, sys.stdin.buffer, sys.stdout.buffer)


def _api(url: str | None, context: str | None) -> "Server":
    from holdfast.remote.contexts import chosen_server
    from holdfast.remote.server import Server

    return replace(chosen_server(url, context) or Server(_LOCAL), via="mcp")


def _listen(
    address: str, certificate: str, key: str, dispatcher: "Dispatcher", api: "Server"
) -> None:
    from holdfast.mcp.http import Listening, McpHttpServer

    listening = Listening(address, certificate, key)
    try:
        listener = McpHttpServer(listening, dispatcher, api)
    except OSError as error:
        raise ConfigError(f"{address} cannot be listened on: {error}.") from None
    with listener:
        print(f"Listening at {listener.url}", file=sys.stderr, flush=True)
        listener.serve_forever()
