"""`holdfast doctor`: check what Holdfast needs, and show how to fix what is wrong."""

import shutil
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from holdfast.cli import FAILED
from holdfast.cli.options import Cluster
from holdfast.cli.output import Format, Output, chosen, print_json
from holdfast.cli.program import application
from holdfast.errors import ConfigError, HoldfastError
from holdfast.extras import install_command, missing
from holdfast.jars import SPARK, jars
from holdfast.java import HOW_TO_GET_IT, require_java

if TYPE_CHECKING:
    from holdfast.client.connection import Connection

app = application()

NEEDED_DISK = 1024**3


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    check: str
    fine: bool
    found: str
    fix: str = ""


@app.command()
def doctor(output: Format = None, *, cluster: Cluster) -> None:
    """Check Python, parts, JDK, jars, ports, broker and disk, and show how to fix what is wrong.

    \b
    Example:
      holdfast doctor
    """
    connection = cluster.connection(connect_timeout="3")
    address = connection.addresses[0]
    checks: list[Callable[[], Finding]] = [
        check_python,
        check_parts,
        check_java,
        lambda: check_jars(SPARK),
        lambda: check_port(address),
        lambda: check_broker(connection),
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
    version = f"Python {sys.version.split()[0]}"
    fix = "Install Python 3.11 or newer, and create the virtual environment again."
    return Finding("python", sys.version_info >= (3, 11), version, fix)


def check_java() -> Finding:
    try:
        java = require_java()
    except ConfigError as error:
        wrong = str(error).removesuffix(f" {HOW_TO_GET_IT}")
        return Finding("jdk", False, wrong, HOW_TO_GET_IT)
    return Finding("jdk", True, f"Java {java.version} ({java.program})")


def check_parts() -> Finding:
    """The extras that `holdfast up` needs."""
    absent = missing(("broker", "pipeline", "web"))
    if absent:
        found = f"not installed: {', '.join(absent)}"
        return Finding("parts", False, found, f"Run `{install_command(absent)}`.")
    return Finding("parts", True, "broker, pipeline and web are installed")


def check_jars(profile: str) -> Finding:
    try:
        found = jars(profile)
    except ConfigError as error:
        return Finding(
            "jars", False, str(error), "Run `holdfast jars`; `holdfast up` does it, too."
        )
    return Finding("jars", True, f"{len(found)} jars in {found[0].parent}")


def check_port(address: str) -> Finding:
    """A process listens at the broker's address, or the port is free."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        with socket.create_connection((host, int(port)), timeout=3):
            return Finding("port", True, f"{address} is open")
    except ConnectionRefusedError:
        return Finding("port", True, f"{address} is free")
    except OSError as error:
        fix = "Check the host's name, the network and the firewall, or give another --bootstrap."
        return Finding("port", False, f"{address}: {error}", fix)


def check_broker(connection: "Connection") -> Finding:
    from holdfast.client.cluster import describe_cluster

    fix = "`holdfast broker` starts one here; --bootstrap names another."
    try:
        connection.check()
        cluster = describe_cluster(connection)
    except HoldfastError as error:
        return Finding("broker", False, str(error), fix)
    count = len(cluster.brokers)
    return Finding("broker", True, f"cluster {cluster.id}, {count} broker{'s'[: count > 1]}")


def check_disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    fix = f"Make room on the disk of {folder}, or put data-dir elsewhere."
    return Finding("disk", free >= NEEDED_DISK, f"{free / 1024**3:.1f} GiB free", fix)


def _print(finding: Finding) -> None:
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markup import escape

        mark = "[green]ok  [/]" if finding.fine else "[red]BAD [/]"
        console = Console(highlight=False)
        console.print(f"{mark} {finding.check:<7} {escape(finding.found)}", soft_wrap=True)
        if not finding.fine:
            console.print(f"             → {escape(finding.fix)}", soft_wrap=True)
        return
    print("ok" if finding.fine else "bad", finding.check, finding.found, sep="\t")
    if not finding.fine:
        print("fix", finding.check, finding.fix, sep="\t")
