"""The commands by name. Only names are here: the module of a command is imported when it runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True, slots=True)
class Command:
    """A first word after `holdfast`, and the module whose `run(arguments) -> exit code` does it."""

    name: str
    module: str
    help: str

    def load(self) -> Callable[[Sequence[str]], int]:
        run: Callable[[Sequence[str]], int] = import_module(f"holdfast.cli.{self.module}").run
        return run


COMMANDS = (Command("broker", "broker", "Run the embedded broker"),)

BY_NAME = {command.name: command for command in COMMANDS}
