"""Shared by all commands: applications, errors as exit codes, questions and notes."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

import typer
from typer.core import TyperGroup

from holdfast.cli import FAILED, INTERRUPTED, NOT_FOUND, OK, UNREACHABLE, USAGE
from holdfast.cli.catalogue import ALIASES
from holdfast.cli.failures import CommandFailed, Failure, wants_json
from holdfast.cli.options import expanded
from holdfast.errors import (
    ConfigError,
    HoldfastError,
    InvalidArgumentError,
    NotFoundError,
    TimedOutError,
    UnreachableError,
)

Command = TypeVar("Command", bound=Callable[..., None])
_UsageError: Any = typer.BadParameter.__mro__[1]
"""The base of all errors of usage, which typer does not export."""


class Verbs(TyperGroup):
    """The verbs of a command, with their aliases: `holdfast topic ls` or `list`."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        rows = [
            (", ".join([name, *aliases_of(name)]), command.get_short_help_str())
            for name, command in self.commands.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def aliases_of(verb: str) -> list[str]:
    return [alias for alias, name in ALIASES.items() if name == verb]


class Application(typer.Typer):
    """An app whose commands may take option groups (see `options`)."""

    def command(self, *names: Any, **settings: Any) -> Callable[[Command], Command]:
        register = super().command(*names, **settings)

        def expand_and_register(command: Command) -> Command:
            register(expanded(command))
            return command

        return expand_and_register


def application(help: str | None = None) -> Application:  # noqa: A002
    """An app with plain help: rich takes longer to load than the command to run."""
    return Application(
        cls=Verbs,
        help=help,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )


def command_of(app: typer.Typer) -> Any:
    """The command of an app, with words for the values of its options and arguments."""
    command: Any = typer.main.get_command(app)
    for each in [command, *getattr(command, "commands", {}).values()]:
        for parameter in each.params:
            _use_words(parameter)
    return command


def _use_words(parameter: Any) -> None:
    """`--reason REASON`, not `--reason <str>`. Choices stay: they are words already."""
    descriptor = getattr(parameter, "type_descriptor", None)  # older versions have their own words
    if descriptor is None or getattr(parameter, "is_flag", False):
        return
    if descriptor.is_choice and not descriptor.is_list:
        return
    if parameter.metavar is None:
        parameter.metavar = parameter.name.upper().replace("_", "-")
    if parameter.param_type_name == "argument":
        parameter.display_type_rich = lambda ctx: None  # `FLOW`, not `FLOW <str>`


def run_application(app: typer.Typer, name: str, arguments: Sequence[str]) -> int:
    """Runs a typer command and turns every way it can end into an exit code."""
    try:
        if wants_json(arguments):
            return _run_for_program(app, name, arguments)
        command_of(app).main(list(arguments), prog_name=f"holdfast {name}")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            return OK  # the reader, such as `head`, has seen enough
        return end.code if isinstance(end.code, int) else OK
    except CommandFailed as error:
        print(f"holdfast: {error}", file=sys.stderr)
        return error.exit_code
    except HoldfastError as error:
        for line in _lines(error):
            print(f"holdfast {name}: {line}", file=sys.stderr)
        return exit_code(error)
    return OK


def _run_for_program(app: typer.Typer, name: str, arguments: Sequence[str]) -> int:
    """Runs a command whose errors are JSON."""
    try:
        ended = command_of(app).main(
            list(arguments), prog_name=f"holdfast {name}", standalone_mode=False
        )
    except CommandFailed as error:
        return _end(str(error), error.exit_code)
    except _UsageError as error:
        return _end(error.format_message(), USAGE)
    except HoldfastError as error:
        return _end("\n".join(_lines(error)), exit_code(error))
    except typer.Abort:
        return INTERRUPTED
    return ended if isinstance(ended, int) else OK


def _end(message: str, code: int) -> int:
    print(Failure(message, code).as_json(), file=sys.stderr)
    return code


def _lines(error: HoldfastError) -> Iterator[str]:
    yield str(error)
    yield from getattr(error, "__notes__", ())


def exit_code(error: HoldfastError) -> int:
    """The exit code for the kind of failure."""
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


def confirm(question: str, yes: bool) -> None:
    """Asks before something is destroyed; `--yes` skips the question."""
    if yes:
        return
    if not sys.stdin.isatty():
        fail(
            f"{question} Standard input is not a terminal, so there is no answer: give --yes.",
            USAGE,
        )
    if not typer.confirm(question):
        print("Nothing was changed.", file=sys.stderr)
        raise typer.Exit(FAILED)


def fail(message: str, code: int = FAILED) -> NoReturn:
    """Ends the command with a message."""
    raise CommandFailed(message, code)


def note(message: str) -> None:
    """Prints a message for people: only if standard error is a terminal."""
    if sys.stderr.isatty():
        print(message, file=sys.stderr)


def single_commands(
    *commands: Callable[..., None], without_arguments: Callable[..., None] | None = None
) -> dict[str, Application]:
    """An application for each command, by the command's name. `without_arguments` is the one that
    needs none; the others then show their help."""
    apps = {command.__name__.replace("_", "-"): application() for command in commands}
    for command, app in zip(commands, apps.values(), strict=True):
        app.command(no_args_is_help=command is not without_arguments)(command)
    return apps
