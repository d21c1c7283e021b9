"""The commands by name. Only names are here: the module of a command is imported when it runs."""

TYPE_CHECKING = False  # `typing` and `collections.abc` would take longer than the overview
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Command:
    """A first word after `holdfast`, and the module whose `run(name, arguments)` does it.

    A plain class, because dataclasses would take a third of the time in which the overview must
    be on the screen.
    """

    __slots__ = ("help", "module", "name")

    def __init__(self, name: str, module: str, help: str) -> None:  # noqa: A002
        self.name = name
        self.module = module
        self.help = help

    def load(self) -> "Callable[[str, Sequence[str]], int]":
        from importlib import import_module

        run: Callable[[str, Sequence[str]], int] = import_module(f"holdfast.cli.{self.module}").run
        return run


GROUPS = {
    "Run": (
        Command("up", "up", "Run everything on this machine"),
        Command("broker", "broker", "Run the embedded broker"),
        Command("pipeline", "pipeline", "Run the gate and the raw zone of every flow"),
        Command("web", "web", "Run the REST API and the dashboard"),
        Command("token", "token", "Create, list and revoke tokens of the API and the dashboard"),
        Command("doctor", "doctor", "Check this machine, and say how to mend what is wrong"),
        Command("completion", "completion", "Print a completion script for your shell"),
    ),
    "Records": (
        Command("topic", "topic", "List, create, describe, configure and delete topics"),
        Command("produce", "produce", "Send records, one a line, from standard input"),
        Command("consume", "consume", "Read records"),
        Command("group", "group", "List, describe, reset and delete consumer groups"),
    ),
    "Flows": (
        Command("flow", "flow", "List, create, change and describe flows"),
        Command("top", "top", "Watch flows and held keys, live"),
        Command("hold", "keys", "Put a key on hold"),
        Command("release", "keys", "Let a key's held events out, in order"),
        Command("dead-letter", "keys", "Send a key's held events to the dead letters"),
        Command("void", "keys", "Pass a command that the gate cannot read"),
        Command("held", "keys", "List the keys that are not simply active"),
        Command("status", "keys", "Show the state of a key"),
        Command("replay", "work", "Send events of the raw zone through a flow again"),
        Command("backfill", "work", "Land what is missing in the raw zone"),
        Command("redrive", "work", "Send dead letters through a flow again"),
        Command("run", "runs", "List, show, follow and cancel replays, backfills and redrives"),
        Command("verify", "verify", "Account for every event, and prove that nothing is lost"),
        Command("quality", "quality", "Run the checks that a flow declares"),
        Command("table", "table", "Bring a flow's tables up to date, or make them anew"),
    ),
}

BY_NAME = {command.name: command for group in GROUPS.values() for command in group}
