"""`holdfast service`: let systemd run parts of Holdfast, as units of the user."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.program import application, fail
from holdfast.config import FILE_NAME

app = application("Let systemd run Holdfast, as units of your user.")

_KEPT = ("JAVA_HOME", "HOLDFAST_JARS")
"""Variables that say where programs are: systemd does not have those of your shell."""
_STOP_SECONDS = 120
"""Longer than `holdfast up` gives its parts."""


class Part(StrEnum):
    """What a unit runs: the command of that name."""

    UP = "up"
    BROKER = "broker"
    PIPELINE = "pipeline"
    WEB = "web"


_TITLES = {
    Part.UP: "all parts on this machine",
    Part.BROKER: "the broker",
    Part.PIPELINE: "the pipeline",
    Part.WEB: "API and dashboard",
}

Parts = Annotated[
    list[Part] | None,
    typer.Argument(metavar="PART...", show_default="up",
                   help="up (all parts on this machine), or some of broker, pipeline, web."),
]  # fmt: skip
Folder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="DIR", show_default="this one",
                 help=f"Where it runs: {FILE_NAME} and the data are there."),
]  # fmt: skip


@app.command("install")
def install(parts: Parts = None, folder: Folder = None) -> None:
    """Write a unit for each part, and print how to start it.

    \b
    Examples:
      holdfast service install
      holdfast service install broker pipeline web --folder /srv/holdfast
    """
    units = _units()
    units.mkdir(parents=True, exist_ok=True)
    written = []
    for part in parts or [Part.UP]:
        path = units / _name(part)
        path.write_text(unit(part, folder or Path.cwd()))
        written.append(path.name)
        print(path)
    print(
        f"Start it: systemctl --user daemon-reload && systemctl --user enable --now "
        f"{' '.join(written)}\n"
        "To run it from boot on, not only while you are logged in: loginctl enable-linger",
        file=sys.stderr,
    )


@app.command("show")
def show(parts: Parts = None, folder: Folder = None) -> None:
    """Print the units without writing them.

    \b
    Example:
      holdfast service show pipeline
    """
    print("\n".join(unit(part, folder or Path.cwd()) for part in parts or [Part.UP]), end="")


@app.command("uninstall")
def uninstall() -> None:
    """Remove all units that 'install' has written. Data stays.

    \b
    Example:
      holdfast service uninstall
    """
    present = [path for part in Part if (path := _units() / _name(part)).exists()]
    if not present:
        fail(f"there is no unit of Holdfast in {_units()}.")
    for path in present:
        path.unlink()
        print(path)
    print(
        f"A unit that runs is not stopped: systemctl --user stop "
        f"{' '.join(path.name for path in present)} && systemctl --user daemon-reload",
        file=sys.stderr,
    )


def unit(part: Part, folder: Path) -> str:
    """The text of the unit that runs a part in that folder, with this Python."""
    folder = folder.absolute()
    words = (sys.executable, "-m", "holdfast", part.value)
    command = " ".join(_quoted(word).replace("$", "$$") for word in words)
    kept = [f"Environment={_quoted(f'{n}={os.environ[n]}')}" for n in _KEPT if os.environ.get(n)]
    after = [] if part in (Part.UP, Part.BROKER) else [f"After={_name(Part.BROKER)}"]
    return "\n".join(
        [
            "[Unit]",
            f"Description=Holdfast: {_TITLES[part]}",
            *after,
            "",
            "[Service]",
            "Type=exec",
            f"WorkingDirectory={_escaped(str(folder))}",
            *kept,
            f"ExecStart={command}",
            "Restart=on-failure",
            "RestartSec=5",
            "# A wrong setting, and a pipeline that another one has replaced: starting it again",
            "# would not help.",
            "RestartPreventExitStatus=2 3",
            f"TimeoutStopSec={_STOP_SECONDS}",
            "KillMode=mixed",
            "NoNewPrivileges=yes",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        ]
    )


def _name(part: Part) -> str:
    return f"holdfast-{part.value}.service"


def _units() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".config"
    return root / "systemd" / "user"


def _escaped(text: str) -> str:
    if "\n" in text:
        fail(f"systemd cannot name {text!r}: it has a line break.")
    return text.replace("%", "%%")


def _quoted(word: str) -> str:
    text = _escaped(word).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
