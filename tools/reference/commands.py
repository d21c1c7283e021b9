"""Every command of `holdfast`: what it does, its arguments and options, examples."""

import argparse
import textwrap
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import typer
from tools.reference.layout import block, code, page, prose, table

from holdfast.cli.catalogue import GROUPS
from holdfast.cli.catalogue import Command as Entry
from holdfast.cli.program import aliases_of, command_of

_HEADS = ("option", "meaning")
_EXAMPLES = ("Example:", "Examples:")


def commands_page() -> str:
    """The page of the whole command line."""
    parts = [
        "# Commands",
        "As `holdfast COMMAND --help` tells it. What all commands share is in "
        "[the command line](../guides/cli.md).",
    ]
    for title, entries in GROUPS.items():
        parts.append(f"## {title}")
        for entry in entries:
            parts += _entry(entry)
    return page(*parts)


def _entry(entry: Entry) -> Iterator[str]:
    module = import_module(f"holdfast.cli.{entry.module}")
    if hasattr(module, "parser"):
        yield from _of_argparse(entry.name, module.parser())
        return
    app: typer.Typer = module.APPS[entry.name] if hasattr(module, "APPS") else module.app
    yield from _of_typer(f"holdfast {entry.name}", command_of(app), "###")


def _of_typer(name: str, command: Any, level: str) -> Iterator[str]:
    yield f"{level} {name}"
    yield from _help(command.help or "")
    if hasattr(command, "commands"):
        for word, sub in command.commands.items():
            yield from _of_typer(f"{name} {word}", sub, level + "#")
            for alias in aliases_of(word):
                yield f"`{name} {alias}` is the same."
        return
    context = command.make_context(name, [], resilient_parsing=True)
    yield block(f"{name} {' '.join(command.collect_usage_pieces(context))}")
    yield table(_HEADS, (_parameter(one, context) for one in command.params))


def _parameter(one: Any, context: Any) -> tuple[str, str]:
    usage, meaning = one.get_help_record(context)
    return code(usage), prose(meaning)


def _help(text: str) -> Iterator[str]:
    """A docstring's paragraphs; those behind `\\b` keep their lines, and examples are code."""
    for paragraph in textwrap.dedent(text).strip().split("\n\n"):
        lines = paragraph.split("\n")
        if lines[0].strip() != "\b":
            yield prose(" ".join(map(str.strip, lines)))
        elif lines[1].strip() in _EXAMPLES:
            yield block(textwrap.dedent("\n".join(lines[2:])))
        else:
            yield prose("\n".join(lines[1:]))


def _of_argparse(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"### holdfast {name}"
    yield parser.description or ""
    examples, _, rest = (parser.epilog or "").partition("\n\n")
    yield block(textwrap.dedent(examples.partition("\n")[2]))
    yield prose(rest.strip())
    actions = [action for action in parser._actions if action.dest != "help"]
    yield table(
        _HEADS,
        ((code(_usage(action)), prose(action.help or "")) for action in actions),
    )


def _usage(action: argparse.Action) -> str:
    value = action.metavar or "|".join(map(str, action.choices or ()))
    return f"{', '.join(action.option_strings)} {value or ''}".strip()
