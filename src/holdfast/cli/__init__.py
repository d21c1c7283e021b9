"""The command line: `holdfast <command> ...`.

Exit codes: 0 fine, 1 failed, 2 usage, 3 not found, 4 unreachable; 130 after Ctrl-C.

Typer and rich take ten times as long to import as Python takes to start. So this module reads the
first word alone, and prints the overview itself; the command's own module does the rest.
"""

import sys
from collections.abc import Sequence

from holdfast.cli.catalogue import BY_NAME, COMMANDS

OK, FAILED, USAGE, NOT_FOUND, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 4, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        print(_overview())
        return OK if arguments else USAGE
    if arguments[0] == "--version":
        from importlib.metadata import version

        print(f"holdfast {version('holdfast')}")
        return OK
    command = BY_NAME.get(arguments[0])
    if command is None:
        print(_unknown(arguments[0]), file=sys.stderr)
        return USAGE
    try:
        return command.load()(arguments[1:])
    except KeyboardInterrupt:
        return INTERRUPTED


def _overview() -> str:
    width = max(len(command.name) for command in COMMANDS)
    lines = [
        "Usage: holdfast COMMAND [ARGUMENTS]...",
        "",
        "Streams in which any key can be put on hold and let go again.",
        "",
        "Commands:",
        *(f"  {command.name:<{width}}  {command.help}" for command in COMMANDS),
    ]
    return "\n".join(lines)


def _unknown(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, BY_NAME, n=1)
    hint = f"Did you mean '{near[0]}'?" if near else "See 'holdfast --help' for those there are."
    return f"holdfast: there is no command '{word}'. {hint}"
