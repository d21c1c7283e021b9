"""The command line: `holdfast <command> ...`.

Exit codes: 0 fine, 1 failed, 2 usage, 3 not found, 4 unreachable; 130 after Ctrl-C.

Typer and rich take ten times as long to import as Python takes to start. So this module reads the
first word alone, and prints the overview itself; the command's own module does the rest.
"""

import sys

from holdfast.cli.catalogue import BY_NAME, GROUPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OK, FAILED, USAGE, NOT_FOUND, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 4, 130


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
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
            print(_unknown(word), file=sys.stderr)
            return USAGE
        return BY_NAME[word].load()(word, arguments[1:])
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stdout = None  # nothing is left to flush at exit
        return OK


def _overview() -> str:
    width = max(map(len, BY_NAME))
    lines = [
        "Usage: holdfast COMMAND [ARGUMENTS]...",
        "",
        "Streams in which any key can be put on hold and let go again.",
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
