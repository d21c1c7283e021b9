"""Brokers under test, each a process of its own: a real Apache Kafka, and the embedded broker.

Both keep their port and data directory through `restart`, so that clients find again what they
left. The processes die with the one that started them, however that one ends.
"""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from holdfast.jars import class_path

START_DEADLINE_S = 180.0
STOP_DEADLINE_S = 120.0

# The kernel kills the child when the thread that started it ends: start brokers on a thread that
# lives as long as the run does (pytest's own is one).
DIES_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]

# Quick to start and small, at the cost of peak speed, which no test here measures.
JVM = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]


class BrokerFailedError(Exception):
    """A broker did not start, or ended when it should not have. Carries the end of its log."""


def free_ports(count: int) -> list[int]:
    """Ports on loopback that are not in use, different from each other.

    None is from the range that the kernel gives to outgoing connections: one of those could have
    the port before the server of a test listens on it, or while that restarts.
    """
    ports = random.SystemRandom().sample(range(10_000, 32_000), count)
    return ports if all(map(_is_free, ports)) else free_ports(count)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class BrokerProcess(ABC):
    """One broker: start, stop, kill, and start again where it was."""

    kind: str

    def __init__(self, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        self.directory = directory
        self.data_dir = directory / "data"
        self.settings = {name: _text(value) for name, value in (settings or {}).items()}
        self.port = 0
        self._log = directory / "broker.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start, and return once it serves."""
        mark = self.launch()
        try:
            self._wait_until_serving(mark)
        except BaseException:
            self.kill()
            raise
        return self

    def launch(self) -> int:
        """Start, and do not wait for anything. -> where in the log this start begins"""
        assert not self.running, "already running"
        self.directory.mkdir(parents=True, exist_ok=True)
        self._prepare()
        mark = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*DIES_WITH_PARENT, *self._command()],
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=self._environment(),
                cwd=self.directory,
            )
        return mark

    def stop(self) -> int:
        """Ask it to end, as an operator would (SIGTERM), and wait. -> exit code"""
        self.terminate()
        try:
            return self.wait()
        except subprocess.TimeoutExpired:
            self.kill()
            raise BrokerFailedError(
                f"still there {STOP_DEADLINE_S} s after SIGTERM{self._tail()}"
            ) from None

    def terminate(self) -> None:
        """Ask it to end (SIGTERM), and do not wait."""
        assert self._process is not None, "not started"
        self._process.send_signal(signal.SIGTERM)

    def wait(self, timeout: float = STOP_DEADLINE_S) -> int:
        """Wait until it has ended by itself. -> exit code"""
        assert self._process is not None, "not started"
        return self._process.wait(timeout)

    def kill(self) -> None:
        """End it without a word to it (SIGKILL). Nothing happens if it has ended already."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def restart(self) -> Self:
        """Stop if it runs, and start on the same port and data directory."""
        if self.running:
            self.stop()
        return self.start()

    def log_text(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    @abstractmethod
    def _command(self) -> Sequence[str]: ...

    @abstractmethod
    def _wait_until_serving(self, mark: int) -> None:
        """`mark`: where in the log this start begins."""

    def _prepare(self) -> None:
        return

    def _environment(self) -> dict[str, str]:
        return dict(os.environ)

    def _tail(self) -> str:
        return "; its log ends:\n" + "\n".join(self.log_text().splitlines()[-40:])

    def _deadline(self) -> "_Deadline":
        return _Deadline(self)


class _Deadline:
    """Turns of a wait for a start: ends when the broker ends, or when it takes too long."""

    def __init__(self, broker: BrokerProcess) -> None:
        self._broker = broker
        self._end = time.monotonic() + START_DEADLINE_S

    def turn(self) -> None:
        broker = self._broker
        if not broker.running:
            raise BrokerFailedError(f"{broker.kind} ended while starting{broker._tail()}")
        if time.monotonic() > self._end:
            raise BrokerFailedError(f"{broker.kind} does not serve in time{broker._tail()}")
        time.sleep(0.02)


class ApacheKafka(BrokerProcess):
    """Apache Kafka 4.x in KRaft mode, broker and controller in one process."""

    kind = "apache"

    def __init__(self, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        super().__init__(directory, settings)
        self.port, self._controller_port = free_ports(2)
        self._properties = directory / "server.properties"

    def prepare(self) -> None:
        """Write settings and format the data directory, unless that was done before."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._prepare()

    def wait_until_serving(self) -> None:
        self._wait_until_serving(0)

    def _prepare(self) -> None:
        if self._properties.exists():
            return
        self._properties.write_text(
            "".join(f"{name}={value}\n" for name, value in self._all_settings().items())
        )
        formatted = subprocess.run(
            [*JVM, "-cp", class_path("kafka"), "kafka.tools.StorageTool", "format",
             "-t", "aG9sZGZhc3QtdGVzdHMtMQ", "-c", str(self._properties)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if formatted.returncode != 0:
            raise BrokerFailedError(f"storage format: {formatted.stdout}{formatted.stderr}")

    def _all_settings(self) -> dict[str, str]:
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "listeners": f"PLAINTEXT://{self.bootstrap},"
            f"CONTROLLER://127.0.0.1:{self._controller_port}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"1@127.0.0.1:{self._controller_port}",
            "log.dirs": str(self.data_dir),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "share.coordinator.state.topic.num.partitions": "1",
            "group.initial.rebalance.delay.ms": "0",
            "group.max.session.timeout.ms": "1800000",
            # Background work comes round in seconds, not minutes.
            "log.initial.task.delay.ms": "500",
            "log.retention.check.interval.ms": "500",
            "log.cleaner.backoff.ms": "300",
            "log.cleaner.dedupe.buffer.size": "4194304",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": "300",
            # A killed broker is let in again only when its old session has ended.
            "broker.session.timeout.ms": "3000",
            "broker.heartbeat.interval.ms": "300",
            # Small: it shares two cores with everything else.
            "num.network.threads": "2",
            "num.io.threads": "3",
            "num.recovery.threads.per.data.dir": "2",
            "background.threads": "2",
            **self.settings,
        }

    def _command(self) -> Sequence[str]:
        return [*JVM, "-Xms256m", "-Xmx512m", "-cp", class_path("kafka"),
                "kafka.Kafka", str(self._properties)]  # fmt: skip

    def _wait_until_serving(self, mark: int) -> None:
        deadline = self._deadline()
        while not _accepts(self.port):
            deadline.turn()
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        while True:
            try:
                if admin.list_topics(timeout=1.0).brokers:
                    return
            except KafkaException:
                pass
            deadline.turn()


class KafkaNode(ApacheKafka):
    """One broker of a `KafkaCluster`. The first one is the controller as well."""

    def __init__(
        self, directory: Path, number: int, controller_port: int, settings: Mapping[str, object]
    ) -> None:
        super().__init__(directory, settings)
        self.number = number
        self._controller_port = controller_port

    def _all_settings(self) -> dict[str, str]:
        settings = {**super()._all_settings(), "node.id": str(self.number)}
        if self.number != 1:
            settings["process.roles"] = "broker"
            settings["listeners"] = f"PLAINTEXT://{self.bootstrap}"
        return settings

    def _command(self) -> Sequence[str]:
        return [*JVM, "-Xms96m", "-Xmx256m", "-cp", class_path("kafka"),
                "kafka.Kafka", str(self._properties)]  # fmt: skip


class KafkaCluster:
    """Three brokers of Apache Kafka. The first one is the only controller, so leave it running:
    after any of the others has died, the cluster elects leaders within about three seconds."""

    def __init__(self, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        (controller_port,) = free_ports(1)
        shared = {
            "offsets.topic.replication.factor": 3,
            "transaction.state.log.replication.factor": 3,
            "share.coordinator.state.topic.replication.factor": 3,
            # Coordinators on every broker.
            "offsets.topic.num.partitions": 6,
            "transaction.state.log.num.partitions": 6,
            "default.replication.factor": 3,
            # A broker that comes back leads again what it led.
            "leader.imbalance.check.interval.seconds": 1,
            "leader.imbalance.per.broker.percentage": 0,
            # A dead follower may hold up writes for this long.
            "replica.lag.time.max.ms": 2_000,
            "broker.session.timeout.ms": 2_000,
            "replica.fetch.wait.max.ms": 100,
            **(settings or {}),
        }
        self.nodes = [
            KafkaNode(directory / f"node-{n}", n, controller_port, shared) for n in (1, 2, 3)
        ]

    @property
    def bootstrap(self) -> str:
        return ",".join(node.bootstrap for node in self.nodes)

    def node(self, number: int) -> KafkaNode:
        return self.nodes[number - 1]

    def start(self) -> Self:
        """Start the nodes that do not run, and return once all serve."""
        idle = [node for node in self.nodes if not node.running]
        try:
            with ThreadPoolExecutor(len(self.nodes)) as pool:
                list(pool.map(KafkaNode.prepare, idle))
            for node in idle:  # on this thread: they end with it
                node.launch()
            for node in idle:
                node.wait_until_serving()
            self._wait_for_all()
        except BaseException:
            self.kill()
            raise
        return self

    def kill(self) -> None:
        for node in self.nodes:
            node.kill()

    def log_text(self) -> str:
        return "\n".join(f"node {n.number}:\n{n.log_text()[-4000:]}" for n in self.nodes)

    def _wait_for_all(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        deadline = time.monotonic() + START_DEADLINE_S
        while len(admin.list_topics(timeout=START_DEADLINE_S).brokers) < len(self.nodes):
            if time.monotonic() > deadline:
                raise BrokerFailedError(f"the cluster is not complete in time:\n{self.log_text()}")
            time.sleep(0.05)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()


class EmbeddedBroker(BrokerProcess):
    """`holdfast broker` with loopback listener. `settings` are names of `BrokerSettings`."""

    kind = "embedded"

    def __init__(
        self,
        directory: Path,
        settings: Mapping[str, object] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(directory, settings)
        (self.port,) = free_ports(1)
        self._more_environment = dict(environment or {})

    _READY = re.compile(r"^Listening on (?P<host>\S+):(?P<port>\d+)$", re.MULTILINE)

    def _command(self) -> Sequence[str]:
        settings = {
            "listen": self.bootstrap,
            "data_dir": str(self.data_dir),
            # Background work comes round in seconds, not minutes.
            "housekeeping_seconds": "0.5",
            **self.settings,
        }
        flags = [flag for name, value in settings.items() for flag in ("--set", f"{name}={value}")]
        return [sys.executable, "-m", "holdfast.cli", "broker", *flags]

    def _environment(self) -> dict[str, str]:
        ours = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_BROKER_")}
        return {**ours, "PYTHONUNBUFFERED": "1", **self._more_environment}

    def _wait_until_serving(self, mark: int) -> None:
        deadline = self._deadline()
        while (ready := self._READY.search(self._log.read_bytes()[mark:].decode())) is None:
            deadline.turn()
        self.port = int(ready["port"])


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
