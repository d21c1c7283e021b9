"""The command line: `holdfast <command> ...`.

Exit codes: 0 fine, 1 failed, 2 usage, 3 not found, 4 unreachable; 130 after Ctrl-C, 143 after
SIGTERM, which ends every command as Ctrl-C does: a consumer commits and leaves its group.

Typer and rich take ten times as long to import as Python takes to start. So this module reads the
first word only and prints the overview itself; the command's own module does the rest.

| module | content |
|---|---|
| `audit` | `holdfast audit` |
| `broker` | `holdfast broker` |
| `catalogue` | the commands by name |
| `completion` | `holdfast completion` |
| `consume` | `holdfast consume` |
| `context` | `holdfast context` |
| `dlq` | `holdfast dlq` |
| `doctor` | `holdfast doctor` |
| `failures` | why a command has failed, as text or as JSON |
| `filters` | filters of lists: spans of time, keys, texts |
| `flow` | `holdfast flow` |
| `group` | `holdfast group` |
| `guard` | `holdfast guard` |
| `health` | `holdfast health` |
| `held` | `holdfast held or status` |
| `hook` | `holdfast hook` |
| `jars` | `holdfast jars` |
| `json_lines` | records as JSON, one object per line |
| `kcat` | `holdfast kcat` |
| `kcat_consume` | the consumer of `holdfast kcat`, and how it prints records |
| `keys` | `holdfast hold or release or dead-letter or void or skip` |
| `many_keys` | the keys of a command, and what became of each |
| `mcp` | `holdfast mcp` |
| `options` | options that several commands share, in groups |
| `outcomes` | what became of a command, in one sentence |
| `output` | tables for people, JSON for scripts, plain lines for pipes |
| `pipeline` | `holdfast pipeline` |
| `positions` | positions in a topic, and durations |
| `produce` | `holdfast produce` |
| `program` | applications, errors as exit codes, questions and notes |
| `progress` | progress bars on standard error |
| `quality` | `holdfast quality` |
| `record_format` | format strings for records, with the tokens of kcat |
| `record_input` | records to send, as they stand in a stream of bytes |
| `run_options` | options of a run, as its spec declares them |
| `run_requests` | `holdfast replay or backfill or redrive` |
| `runs` | `holdfast run` |
| `sending` | sends the records of `holdfast produce` and reports failures |
| `service` | `holdfast service` |
| `size` | `holdfast size` |
| `size_estimate` | what a stream needs, from measured constants |
| `spark_jobs` | options and sessions of commands that run a job in Spark |
| `table` | `holdfast table` |
| `token` | `holdfast token` |
| `top` | `holdfast top` |
| `top_figures` | the data of `holdfast top` |
| `top_screen` | the screen of `holdfast top` |
| `topic` | `holdfast topic` |
| `up` | `holdfast up` |
| `user` | `holdfast user` |
| `verify` | `holdfast verify` |
| `watching` | `--watch` |
| `web` | `holdfast web` |
"""

import sys

from holdfast.cli.catalogue import BY_NAME, GROUPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.cli.catalogue import Command

OK, FAILED, USAGE, NOT_FOUND, UNREACHABLE, COULD_NOT = range(6)
INTERRUPTED, TERMINATED = 130, 143


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    arguments = _with_server(arguments)
    word = arguments[0] if arguments else ""
    try:
        if word in ("", "--help", "-h", "help"):
            print(_overview(), flush=True)
            return OK if word else USAGE
        if word == "--version":
            from importlib.metadata import version

            print(f"holdfast {version('holdfast')}")
            return OK
        if word not in BY_NAME:
            return _fail(arguments, _unknown(word), USAGE)
        return _run(BY_NAME[word], arguments[1:])
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stdout = None  # nothing is left to flush at exit
        return OK


def _with_server(arguments: "Sequence[str]") -> "Sequence[str]":
    """`holdfast --server URL hold ...` is `holdfast hold ... --server URL`."""
    if len(arguments) > 2 and arguments[0] in ("--server", "--context"):
        return [arguments[2], *arguments[3:], arguments[0], arguments[1]]
    return arguments


def _run(command: "Command", arguments: "Sequence[str]") -> int:
    """Runs a command with SIGTERM acting as Ctrl-C; servers install their own handlers."""
    import signal

    terminated = False

    def terminate(number: int, frame: object) -> None:
        nonlocal terminated
        terminated = True
        raise KeyboardInterrupt

    ours = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, terminate)
    try:
        code = command.load()(command.name, arguments)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except ModuleNotFoundError as error:
        code = _fail(arguments, _missing(command, error), FAILED)
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return TERMINATED if terminated and code == INTERRUPTED else code


def _fail(arguments: "Sequence[str]", message: str, code: int) -> int:
    from holdfast.cli.failures import Failure, wants_json

    json = wants_json(arguments)
    print(Failure(message, code).as_json() if json else message, file=sys.stderr)
    return code


def _missing(command: "Command", error: ModuleNotFoundError) -> str:
    """Names the extra that has the module; any other missing module is our own mistake."""
    from holdfast.extras import extra_of, install_command

    extra = extra_of(error.name or "", command.extra)
    if extra is None:
        raise error
    who = f"The {command.name}" if command.name == extra else "This"
    return (
        f"holdfast {command.name}: {who} needs `{install_command([extra])}`: the Python package "
        f"{error.name!r} is not installed."
    )


def _overview() -> str:
    width = max(map(len, BY_NAME))
    lines = [
        "Usage: holdfast COMMAND [ARGUMENTS]...",
        "",
        "Streams in which any key can be put on hold and released again.",
    ]
    for title, commands in GROUPS.items():
        lines += ["", f"{title}:"]
        lines += [f"  {command.name:<{width}}  {command.help}" for command in commands]
    return "\n".join(
        [
            *lines,
            "",
            "Examples:",
            "  holdfast up --demo                       start everything, with traffic to look at",
            "  holdfast broker                          start a broker on this machine",
            "  echo hello | holdfast produce greetings  send a record",
            "  holdfast hold orders customer-7          keep back that customer's events",
            "",
            "'holdfast COMMAND --help' says more. The broker is found at --bootstrap,",
            "HOLDFAST_CLIENT_BOOTSTRAP, or 'bootstrap' under [client] in holdfast.toml.",
            "Exit codes: 0 fine, 1 failed, 2 usage, 3 not found, 4 unreachable.",
        ]
    )


def _unknown(word: str) -> str:
    from difflib import get_close_matches

    if word.startswith("-"):
        return f"holdfast: options follow the command, as in 'holdfast topic ls {word} ...'."
    near = get_close_matches(word, BY_NAME, n=1)
    hint = f"Did you mean '{near[0]}'?" if near else "See 'holdfast --help' for those there are."
    return f"holdfast: there is no command '{word}'. {hint}"
