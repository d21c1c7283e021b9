"""Servers by name: `contexts.json` in the user's configuration folder.

The file has addresses and the paths of files with tokens, never a token.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from holdfast.errors import ConfigError, NotFoundError
from holdfast.remote.server import Server

TOKEN = "HOLDFAST_TOKEN"  # noqa: S105
SERVER = "HOLDFAST_SERVER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A server, and where its token is."""

    name: str
    url: str
    token_file: str = ""

    def server(self) -> Server:
        return Server(self.url, _token_of_environment() or self._token())

    def _token(self) -> str:
        if not self.token_file:
            return ""
        try:
            return Path(self.token_file).read_text().strip()
        except OSError as error:
            raise ConfigError(
                f"The token of the context {self.name!r} cannot be read: {error}. Set {TOKEN}, or "
                "add the context again."
            ) from None


@dataclass(frozen=True, slots=True)
class Contexts:
    """All contexts, and the name of the one in use; empty if none is."""

    all: tuple[Context, ...] = ()
    current: str = ""

    @classmethod
    def load(cls) -> "Contexts":
        path = contexts_file()
        try:
            document = json.loads(path.read_text())
            contexts = tuple(Context(**each) for each in document["contexts"])
            return cls(contexts, document["current"])
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{path} cannot be read ({error}). Fix it, or delete it.") from None

    def save(self) -> None:
        path = contexts_file()
        document = {"current": self.current, "contexts": [asdict(each) for each in self.all]}
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_suffix(".new")
        written.write_text(json.dumps(document, indent=1))
        written.replace(path)

    def get(self, name: str) -> Context:
        for each in self.all:
            if each.name == name:
                return each
        known = ", ".join(each.name for each in self.all) or "none"
        raise NotFoundError(f"There is no context {name!r}. There are: {known}.")


def contexts_file() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "holdfast" / "contexts.json"


def _token_of_environment() -> str:
    """Without the line break that a secret's file often ends with."""
    return os.environ.get(TOKEN, "").strip()


def chosen_server(url: str | None, context: str | None) -> Server | None:
    """The server of a flag, of the environment, or of the context in use; None if there is none."""
    if context is not None:
        return Contexts.load().get(context).server()
    address = url or os.environ.get(SERVER)
    if address:
        return Server(address, _token_of_environment())
    contexts = Contexts.load()
    return contexts.get(contexts.current).server() if contexts.current else None
