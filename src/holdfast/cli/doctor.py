"""`holdfast doctor`: check what Holdfast needs, and say how to mend each."""

import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from holdfast import config as configuration
from holdfast.cli import FAILED
from holdfast.cli.output import Format, Output, chosen, print_json
from holdfast.cli.program import Bootstrap, Config, application, run_application
from holdfast.errors import ConfigError, HoldfastError

app = application()

NEEDED_JAVA = 17
NEEDED_DISK = 1024**3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    fine: bool
    found: str
    mend: str = ""


@app.command()
def doctor(output: Format = None, bootstrap: Bootstrap = None, config: Config = None) -> None:
    """Check Python, JDK, jars, ports, broker and disk, and say how to mend what is wrong.

    \b
    Example:
      holdfast doctor
    """
    address = _address(bootstrap, config)
    checks: list[Callable[[], Finding]] = [
        check_python,
        check_java,
        lambda: check_jars("spark"),
        lambda: check_port(address),
        lambda: check_broker(address, config),
        lambda: check_disk(Path.cwd()),
    ]
    findings = []
    for check in checks:
        finding = check()
        findings.append(finding)
        if chosen(output) != Output.JSON:
            _print(finding)
    if chosen(output) == Output.JSON:
        print_json(findings)
    if not all(finding.fine for finding in findings):
        raise typer.Exit(FAILED)


def check_python() -> Finding:
    found = f"Python {sys.version.split()[0]}"
    mend = "Install Python 3.11 or newer, and make the virtual environment anew."
    return Finding("python", sys.version_info >= (3, 11), found, mend)


def check_java() -> Finding:
    mend = f"Install JDK {NEEDED_JAVA} (Debian: apt-get install openjdk-17-jdk-headless)."
    java = shutil.which("java")
    if java is None:
        return Finding("jdk", False, "no java on the path", mend)
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("jdk", False, f"{java} does not run: {error}", mend)
    version = re.search(r'version "(\d+)[^"]*"', said.stderr + said.stdout)
    if version is None:
        return Finding("jdk", False, f"{java} does not tell its version", mend)
    return Finding("jdk", int(version[1]) >= NEEDED_JAVA, f"Java {version[1]} ({java})", mend)


def check_jars(profile: str) -> Finding:
    from holdfast.jars import jars

    try:
        found = jars(profile)
    except ConfigError as error:
        return Finding("jars", False, str(error), "Run `make jars` in the project's folder.")
    return Finding("jars", True, f"{len(found)} jars in {found[0].parent}")


def check_port(address: str) -> Finding:
    """Somebody listens at the broker's address, or could."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        with socket.create_connection((host, int(port)), timeout=3):
            return Finding("port", True, f"{address} is open")
    except ConnectionRefusedError:
        return Finding("port", True, f"{address} is free")
    except OSError as error:
        mend = "Check the host's name, the network and the firewall, or give another --bootstrap."
        return Finding("port", False, f"{address}: {error}", mend)


def check_broker(address: str, config: Path | None) -> Finding:
    from holdfast.client.client import connect

    mend = "`holdfast broker` starts one here; --bootstrap names another."
    try:
        with connect(address, connect_timeout=3, config_file=config) as client:
            cluster = client.cluster()
    except HoldfastError as error:
        return Finding("broker", False, str(error), mend)
    count = len(cluster.brokers)
    return Finding("broker", True, f"cluster {cluster.id}, {count} broker{'s'[: count > 1]}")


def check_disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    mend = f"Make room on the disk of {folder}, or put data-dir elsewhere."
    return Finding("disk", free >= NEEDED_DISK, f"{free / 1024**3:.1f} GiB free", mend)


def _address(bootstrap: str | None, config: Path | None) -> str:
    from holdfast.client.connection import parse_addresses
    from holdfast.client.settings import ClientSettings

    settings = configuration.load(
        ClientSettings, "client", flags={"bootstrap": bootstrap}, file=config
    )
    return parse_addresses(settings.bootstrap)[0]


def _print(finding: Finding) -> None:
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markup import escape

        mark = "[green]ok  [/]" if finding.fine else "[red]BAD [/]"
        console = Console(highlight=False)
        console.print(f"{mark} {finding.check:<7} {escape(finding.found)}", soft_wrap=True)
        if not finding.fine:
            console.print(f"             → {escape(finding.mend)}", soft_wrap=True)
        return
    print("ok" if finding.fine else "bad", finding.check, finding.found, sep="\t")
    if not finding.fine:
        print("mend", finding.check, finding.mend, sep="\t")


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
