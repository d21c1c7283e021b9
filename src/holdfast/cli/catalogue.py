"""The commands by name. Only names are here: the module of a command is imported when it runs."""

TYPE_CHECKING = False  # `typing` and `collections.abc` would take longer than the overview
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Command:
    """A first word after `holdfast`, and its module with an `app`, `APPS` by name, or a `run`.

    A plain class, because importing dataclasses would take a third of the time of the overview.
    """

    __slots__ = ("extra", "help", "module", "name")

    def __init__(
        self,
        name: str,
        module: str,
        help: str,  # noqa: A002
        extra: "str | None" = None,
    ) -> None:
        self.name = name
        self.module = module
        self.help = help
        self.extra = extra
        """The extra of the package that it needs, if the core is not enough."""

    def load(self) -> "Callable[[str, Sequence[str]], int]":
        from importlib import import_module

        module = import_module(f"holdfast.cli.{self.module}")
        if hasattr(module, "run"):
            run: Callable[[str, Sequence[str]], int] = module.run
            return run
        from holdfast.cli.program import run_application

        app = module.APPS[self.name] if hasattr(module, "APPS") else module.app
        return lambda name, arguments: run_application(app, name, arguments)


GROUPS = {
    "Run": (
        Command("up", "up", "Run everything on this machine"),
        Command("broker", "broker", "Run the embedded broker", "broker"),
        Command("pipeline", "pipeline", "Run the gate and the raw zone of every flow", "pipeline"),
        Command("web", "web", "Run the REST API and the dashboard", "web"),
        Command("service", "service", "Let systemd start it at boot, or when you log in"),
        Command("jars", "jars", "Fetch the jars that Spark needs, and check them"),
        Command("token", "token", "Create, list and revoke tokens of the API and the dashboard"),
        Command("mcp", "mcp", "Let agents ask and act, by the Model Context Protocol"),
        Command("context", "context", "Choose the server that commands speak with"),
        Command("hook", "hook", "Call URLs when keys are held, and when gates stop"),
        Command("user", "user", "Add, list and remove users of the broker"),
        Command("health", "health", "Is it well? Every part, with reasons and an exit code"),
        Command("size", "size", "Estimate cores, memory, disk and brokers for a stream"),
        Command("doctor", "doctor", "Check this machine, and show how to fix what is wrong"),
        Command("completion", "completion", "Print a completion script for your shell"),
    ),
    "Records": (
        Command("topic", "topic", "List, create, describe, configure and delete topics"),
        Command("produce", "produce", "Send records from standard input, one per line"),
        Command("consume", "consume", "Read records"),
        Command("kcat", "kcat", "Produce, consume, list and query with the flags of kcat"),
        Command("group", "group", "List, describe, reset and delete consumer groups"),
    ),
    "Flows": (
        Command("flow", "flow", "List, create, change and describe flows"),
        Command("guard", "guard", "Create, run and list guards of handlers that can fail", "guard"),
        Command("top", "top", "Watch flows and held keys, live"),
        Command("hold", "keys", "Put a key on hold"),
        Command("release", "keys", "Release a key's held events, in order"),
        Command("dead-letter", "keys", "Send a key's held events to the dead letters"),
        Command("void", "keys", "Move the gate past an unreadable command"),
        Command("skip", "keys", "Move the gate past unreadable events"),
        Command("held", "held", "List the keys that are held or draining"),
        Command("status", "held", "Show the state of a key; without one, of every part"),
        Command("audit", "audit", "List commands and their outcomes"),
        Command("dlq", "dlq", "List, group and show dead letters"),
        Command("replay", "run_requests", "Send events of the raw zone through a flow again"),
        Command("backfill", "run_requests", "Land events that are missing in the raw zone"),
        Command("redrive", "run_requests", "Send dead letters through a flow again"),
        Command("run", "runs", "List, show, follow and cancel replays, backfills and redrives"),
        Command("verify", "verify", "Account for every event", "pipeline"),
        Command("quality", "quality", "Run the checks that a flow declares", "pipeline"),
        Command("table", "table", "Update a flow's tables, or rebuild them", "pipeline"),
    ),
}

ALIASES = {"list": "ls"}
"""Aliases of verbs, in every command that has the verb: `topic list`."""

BY_NAME = {command.name: command for group in GROUPS.values() for command in group}
