"""Options that several commands share, in groups that a command takes as one parameter."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from holdfast.errors import ConfigError
from holdfast.flows.keys import key_from_base64

if TYPE_CHECKING:
    from dataclasses import Field

    from holdfast.client.client import Client
    from holdfast.client.connection import Connection
    from holdfast.flows.options import Option
    from holdfast.remote.flows import RemoteClient
    from holdfast.remote.server import Server

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
FlowName = Annotated[
    str, typer.Argument(metavar="FLOW", help="The flow's name.", show_default=False)
]
Reason = Annotated[str, typer.Option("--reason", "-r", help="Why; kept in the audit.")]
Actor = Annotated[
    str | None,
    typer.Option("--actor", help="The name that signs the command.", show_default="your user name"),
]
REPEATED = " May be repeated."
Base64 = Annotated[
    bool, typer.Option("--base64", help="Keys are given as base64, for keys that are not text.")
]


Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file.", show_default="holdfast.toml"),
]


class OptionGroup:
    """The base of dataclasses whose fields are options or arguments of a command."""

    @classmethod
    def parameters(cls) -> Iterator[Parameter]:
        hints = get_type_hints(cls, include_extras=True)
        for each in fields(cls):  # type: ignore[arg-type]
            default = Parameter.empty if each.default is MISSING else each.default
            yield parameter(each.name, hints[each.name], default)


def parameter(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def declared(field: "Field[Any]", option: "Option", *, hint: str = "", **more: Any) -> Any:
    """A typer option, as a field of a run's spec or of a flow's definition declares it."""
    return typer.Option(
        *option.flags or (f"--{field.name.replace('_', '-')}",),
        metavar=option.metavar,
        help=option.help + hint,
        min=option.limits.get("ge"),
        max=option.limits.get("le"),
        **more,
    )


@dataclass(frozen=True, slots=True)
class Cluster(OptionGroup):
    """The cluster to connect to."""

    bootstrap: Annotated[
        str | None,
        typer.Option("--bootstrap", "-b", metavar="HOST:PORT", help="Broker to connect to.",
                     show_default="localhost:9092"),
    ] = None  # fmt: skip
    config: Config = None
    properties: Annotated[
        list[str] | None,
        typer.Option("-X", metavar="NAME=VALUE",
                     help="Property of librdkafka, as in kcat; may be repeated."),
    ] = None  # fmt: skip

    server: Annotated[
        str | None,
        typer.Option("--server", metavar="URL", help="Speak with this web server, by REST.",
                     show_default="the context in use, if there is one"),
    ] = None  # fmt: skip
    context: Annotated[
        str | None,
        typer.Option("--context", metavar="NAME", help="The server of `holdfast context add`."),
    ] = None

    def any_client(self) -> "Client | RemoteClient":
        """A client of the server that was chosen, or else of the broker."""
        server = self._server()
        if server is None:
            return self.client()
        from holdfast.remote.flows import RemoteClient

        return RemoteClient(server)

    def _server(self) -> "Server | None":
        if self.bootstrap is not None and self.server is None and self.context is None:
            return None  # a flag says more than the environment
        from holdfast.remote.contexts import chosen_server

        return chosen_server(self.server, self.context)

    def client(self) -> "Client":
        """A client, or an error that lists the addresses that were tried."""
        from holdfast.client.client import Client

        server = self._server()
        if server is not None:
            raise ConfigError(
                f"This command speaks with the broker, and {server.url} is chosen. Give "
                "--bootstrap, or `holdfast context use --none`."
            )
        connection = self.connection()
        connection.check()
        return Client(connection)

    def connection(self, **settings: str) -> "Connection":
        """A connection that has not been used yet. `settings` are those of `[client]`."""
        from holdfast.client.connection import Connection
        from holdfast.client.settings import ClientSettings
        from holdfast.config import load

        flags = {"bootstrap": self.bootstrap, **settings}
        loaded = load(ClientSettings, "client", flags=flags, file=self.config)
        return Connection(replace(loaded, kafka={**loaded.kafka, **self.kafka}))

    @property
    def kafka(self) -> dict[str, str]:
        """The properties of librdkafka that were given."""
        return pairs(self.properties or [], "-X")


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """`NAME=VALUE` texts as a dict."""
    values = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise typer.BadParameter(f"{text!r} must be written as NAME=VALUE", param_hint=option)
        values[name] = value
    return values


def key_of_argument(text: str, base64: bool) -> bytes:
    """A key from the command line: base64, or the bytes that the shell passed."""
    return key_from_base64(text) if base64 else raw_bytes(text)


def raw_bytes(text: str) -> bytes:
    """An argument as the bytes that the shell passed, valid UTF-8 or not."""
    return os.fsencode(text)


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its option groups as parameters, which is what typer reads."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {
        name: hint
        for name, hint in hints.items()
        if isinstance(hint, type) and issubclass(hint, OptionGroup)
    }
    if not groups:
        return command

    @wraps(command)
    def call(**values: Any) -> None:
        for name, group in groups.items():
            names = [each.name for each in group.parameters()]
            values[name] = group(**{each: values.pop(each) for each in names})
        command(**values)

    def parameters() -> Iterator[Parameter]:
        for each in signature(command).parameters.values():
            if each.name in groups:
                yield from groups[each.name].parameters()
            else:
                yield each.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[each.name])

    expansion = Signature(list(parameters()))
    call.__signature__ = expansion  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in expansion.parameters.values()}
    return call
