"""What the commands share: options, errors as exit codes, and the connection."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from holdfast.cli import FAILED, NOT_FOUND, OK, UNREACHABLE, USAGE
from holdfast.errors import (
    ConfigError,
    HoldfastError,
    InvalidArgumentError,
    NotFoundError,
    TimedOutError,
    UnreachableError,
)

if TYPE_CHECKING:
    from holdfast.client.client import Client

_EXTRAS = {
    **dict.fromkeys(("fastapi", "jinja2", "jsonpath_ng", "starlette", "uvicorn"), "web"),
    **dict.fromkeys(("delta", "deltalake", "pandas", "pyarrow", "pyspark"), "pipeline"),
}
"""Packages that the core does without, and what to install for them."""

Bootstrap = Annotated[
    str | None,
    typer.Option("--bootstrap", "-b", metavar="HOST:PORT", help="Broker to talk to.",
                 show_default="localhost:9092"),
]  # fmt: skip
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file.", show_default="holdfast.toml"),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def application(help: str | None = None) -> typer.Typer:  # noqa: A002
    """An app that looks like the others: plain help, because rich takes longer than the work."""
    return typer.Typer(
        help=help,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )


def run_application(app: typer.Typer, name: str, arguments: Sequence[str]) -> int:
    """Run a command of typer's, and turn every way in which it can end into an exit code."""
    command = typer.main.get_command(app)
    try:
        command.main(list(arguments), prog_name=f"holdfast {name}")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            return OK  # the reader, such as `head`, has seen enough
        return end.code if isinstance(end.code, int) else OK
    except HoldfastError as error:
        print(f"holdfast {name}: {error}", file=sys.stderr)
        return exit_code(error)
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        print(
            f"holdfast {name}: this needs the Python package {error.name!r}, which is not "
            f"installed: pip install 'holdfast[{extra}]'.",
            file=sys.stderr,
        )
        return FAILED
    return OK


def exit_code(error: HoldfastError) -> int:
    """The exit code that tells a script what kind of failure it was."""
    match error:
        case UnreachableError():
            return UNREACHABLE
        case TimedOutError() if error.code is not None:  # a broker that does not answer any more
            return UNREACHABLE
        case NotFoundError():
            return NOT_FOUND
        case ConfigError() | InvalidArgumentError():
            return USAGE
    return FAILED


def open_client(bootstrap: str | None, config: Path | None = None) -> "Client":
    """A client, or an error that says what was tried."""
    from holdfast.client.client import connect

    return connect(bootstrap, config_file=config)


def confirm(question: str, yes: bool) -> None:
    """Ask before something is destroyed; `--yes` answers beforehand."""
    if yes:
        return
    if not sys.stdin.isatty():
        fail(f"{question} Nobody is there to ask: give --yes.", USAGE)
    if not typer.confirm(question):
        print("Nothing was done.", file=sys.stderr)
        raise typer.Exit(FAILED)


def fail(message: str, code: int = FAILED) -> NoReturn:
    """End with a message for people."""
    print(f"holdfast: {message}", file=sys.stderr)
    raise typer.Exit(code)


def note(message: str) -> None:
    """Tell people, not scripts: only when standard error is a terminal."""
    if sys.stderr.isatty():
        print(message, file=sys.stderr)


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """`NAME=VALUE` texts as a dict."""
    found = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise typer.BadParameter(f"{text!r} must be written as NAME=VALUE", param_hint=option)
        found[name] = value
    return found


def raw_bytes(text: str) -> bytes:
    """An argument as the bytes that the shell passed, valid UTF-8 or not."""
    return os.fsencode(text)
