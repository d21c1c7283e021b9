"""What `--help` says of the values of options and arguments."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from holdfast.cli.catalogue import BY_NAME
from holdfast.cli.program import command_of

_TYPES = re.compile(
    r"<(str|int|float|path|bool|list|tuple|dict|bytes|optional|uuid|datetime|file)[^>]*>"
    r"|\b(INTEGER|FLOAT|BOOLEAN|RANGE|DATETIME|UUID)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(r"^  (?:-\w, )?--?[\w-]+ (\S+)", re.MULTILINE)


def helps() -> Iterator[tuple[str, str]]:
    """The help of every command and verb."""
    for name, entry in BY_NAME.items():
        module = import_module(f"holdfast.cli.{entry.module}")
        if hasattr(module, "parser"):
            yield name, module.parser().format_help()
            continue
        app = module.APPS[name] if hasattr(module, "APPS") else module.app
        command: Any = command_of(app)
        verbs = getattr(command, "commands", {"": command})
        for word, verb in verbs.items():
            path = f"holdfast {name} {word}".strip()
            context = verb.make_context(path, [], resilient_parsing=True)
            yield path, verb.get_help(context)


def test_values_of_every_command_are_named_by_words_and_not_by_types() -> None:
    found = list(helps())
    assert len(found) > 60
    for path, text in found:
        for value in _VALUE.findall(text):
            assert not _TYPES.fullmatch(value), f"{path}: {value}"
        assert not re.search(r"<(str|int|float|list|path)", text), path


def test_arguments_are_named_once_and_without_a_type() -> None:
    shown = dict(helps())
    assert re.search(r"^  FLOW {2,}The flow's name", shown["holdfast hold"], re.MULTILINE)
    assert "--reason REASON" in shown["holdfast hold"]
    assert "--partition PARTITION" in shown["holdfast group reset"]
