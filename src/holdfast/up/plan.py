"""The children, with their commands and ports."""

import re
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from holdfast.client.connection import parse_addresses
from holdfast.up.child import Role
from holdfast.up.ports import LOOPBACK, choose_port
from holdfast.up.settings import UpSettings

BROKER_PORT = 9092
METRICS_PORT = 9600
WEB_PORT = 8600
_CHECK_SECONDS = 2.0
_BROKER_SECONDS = 60
_REPLACED = {3: "another pipeline has taken over, so this one is not started again"}
_NAME_TAKEN = {3: "there is another flow or guard named billing, so the demo has no guard"}


@dataclass(frozen=True, slots=True)
class Plan:
    """The children in the order of their start, and their addresses."""

    roles: tuple[Role, ...]
    kafka: str
    metrics: str
    dashboard: str | None
    """None without a dashboard."""


def make_plan(settings: UpSettings, config: Path | None = None) -> Plan:
    """Choose ports and commands. `config`: the settings file, also of the children."""
    file = ("--config", str(config)) if config else ()
    metrics = f"{LOOPBACK}:{choose_port(settings.metrics_port, METRICS_PORT, '--metrics-port')}"
    roles = []
    if settings.kafka is None:
        port = choose_port(settings.broker_port, BROKER_PORT, "--broker-port")
        kafka = f"{LOOPBACK}:{port}"
        roles.append(_broker(settings, kafka, port, file))
    else:
        kafka = ",".join(parse_addresses(settings.kafka))
    roles.append(_pipeline(settings, kafka, metrics, file))
    dashboard = None
    if settings.web:
        address = f"{LOOPBACK}:{choose_port(settings.web_port, WEB_PORT, '--web-port')}"
        roles.append(_web(kafka, address, file))
        dashboard = f"http://{address}"
    if settings.demo:
        roles += [_demo(kafka), _demo_guard(kafka)]
    return Plan(tuple(roles), kafka, f"http://{metrics}/metrics", dashboard)


def _broker(settings: UpSettings, address: str, port: int, file: Sequence[str]) -> Role:
    return Role(
        name="broker",
        command=_holdfast(
            "broker", "--listen", address, "--data-dir", str(settings.data_dir / "broker"), *file
        ),
        ready=re.compile(r"^Listening on "),
        well=_accepts(port),
    )


def _pipeline(settings: UpSettings, kafka: str, metrics: str, file: Sequence[str]) -> Role:
    master = ("--spark-master", settings.spark_master) if settings.spark_master else ()
    data = settings.data_dir
    return Role(
        name="pipeline",
        command=_holdfast(
            "pipeline", "--kafka", kafka, "--http", metrics, *master, *file,
            "--data-dir", str(data / "pipeline"), "--lake", settings.lake or str(data / "lake"),
        ),
        ready=re.compile(r"^Pipeline running on "),
        well=_answers(f"http://{metrics}/healthz"),
        stop_seconds=60.0,
        not_again=_REPLACED,
    )  # fmt: skip


def _web(kafka: str, address: str, file: Sequence[str]) -> Role:
    return Role(
        name="web",
        command=_holdfast(
            "web", "--kafka", kafka, "--listen", address, "--no-access-log", *file,
            # Certificates in the settings are for those who come from elsewhere.
            "--tls-cert", "", "--tls-key", "", "--wait", str(_BROKER_SECONDS),
        ),
        ready=re.compile(r"^Dashboard at "),
        well=_answers(f"http://{address}/healthz"),
        stop_seconds=15.0,
    )  # fmt: skip


def _demo(kafka: str) -> Role:
    return Role(
        name="demo",
        command=(sys.executable, "-m", "holdfast.up.demo", kafka),
        ready=re.compile(r"^Traffic flows"),
        stop_seconds=10.0,
    )


def _demo_guard(kafka: str) -> Role:
    return Role(
        name="guard",
        command=(sys.executable, "-m", "holdfast.up.demo_guard", kafka),
        ready=re.compile(r"^Guard billing"),
        stop_seconds=15.0,
        not_again=_NAME_TAKEN,
    )


def _holdfast(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "holdfast.cli", *arguments)


def _accepts(port: int) -> Callable[[], bool]:
    def accepts() -> bool:
        try:
            socket.create_connection((LOOPBACK, port), _CHECK_SECONDS).close()
        except OSError:
            return False
        return True

    return accepts


def _answers(url: str) -> Callable[[], bool]:
    def answers() -> bool:
        try:
            with urlopen(url, timeout=_CHECK_SECONDS) as answer:  # noqa: S310  # our own address
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    return answers
