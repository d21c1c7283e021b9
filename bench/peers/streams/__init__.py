"""The peer of the gate: Kafka Streams holding and releasing keys, as a competent team would do it.

It does less than the gate does: no limits, no journal, no status, no dead letters, no source
coordinate on what comes out; and a hold takes effect when its task comes to it, not when it was
acknowledged. What is compared is the work that both do: which keys are held is looked up for every
event, held events are kept each by itself, a release lets them out in order before newer ones, and
all of it happens exactly once.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

from bench.load.child import Child
from holdfast.jars import class_path

Guarantee = Literal["exactly_once_v2", "at_least_once"]
Store = Literal["memory", "rocksdb"]

START_DEADLINE_S = 60.0
_SOURCES = Path(__file__).parent

JVM = ["java", "-Xms1g", "-Xmx1g", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"]

# Streams' own defaults but for these. `commit.interval.ms` stays at its default, 100 with
# exactly_once_v2. Two threads went through a full topic faster than one in both of two rounds.
TUNED = {
    "num.stream.threads": "2",
    "producer.linger.ms": "5",
    "producer.batch.size": "131072",
    "main.consumer.max.poll.records": "5000",
    "buffered.records.per.partition": "5000",
}


def compile_peer(classes: Path) -> Path:
    """Compile the peer into a folder. -> the folder"""
    sources = sorted(str(source) for source in _SOURCES.glob("*.java"))
    done = subprocess.run(
        ["javac", "-cp", class_path("kafka"), "-d", str(classes), *sources],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"javac: {done.stdout}{done.stderr}")
    return classes


@dataclass(frozen=True, slots=True)
class Application:
    """One application: its name is its group, and what it has held is found again under it.

    Held events are in memory unless told otherwise, with a change log like RocksDB's: that was the
    faster of the two in both of two rounds.
    """

    name: str
    events: str
    control: str
    processed: str
    guarantee: Guarantee = "exactly_once_v2"
    store: Store = "memory"
    settings: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path, bootstrap: str) -> Path:
        """Write its settings into the folder, where its state will be, too. -> the file"""
        folder.mkdir(parents=True, exist_ok=True)
        everything = {
            "bootstrap.servers": bootstrap,
            "application.id": self.name,
            "state.dir": str(folder / "state"),
            "processing.guarantee": self.guarantee,
            "auto.offset.reset": "earliest",
            "gate.events": self.events,
            "gate.control": self.control,
            "gate.processed": self.processed,
            "gate.store": self.store,
            **TUNED,
            **self.settings,
        }
        file = folder / f"{self.name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in everything.items()))
        return file


class StreamsGate(Child):
    """The process of one application."""

    def __init__(
        self, folder: Path, classes: Path, bootstrap: str, application: Application
    ) -> None:
        file = application.write(folder, bootstrap)
        super().__init__(
            [*JVM, "-cp", f"{classes}:{class_path('kafka')}", "HoldingGate", str(file)],
            folder / f"{application.name}.log",
        )

    def start(self) -> Self:
        """Start, and return once it has its partitions."""
        super().start()
        try:
            self.wait_for("^State RUNNING$", START_DEADLINE_S)
        except BaseException:
            self.kill()
            raise
        return self


class StreamsGates(Child):
    """A process that runs one application after the other."""

    def __init__(self, folder: Path, classes: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(
            [*JVM, "-cp", f"{classes}:{class_path('kafka')}", "HoldingGates"],
            folder / "gates.log",
            listens=True,
        )
        self._closed = 0

    def run(self, file: Path) -> None:
        """Begin with the application of these settings, and do not wait for it."""
        self.tell(str(file))

    def close(self) -> None:
        """End what runs, and wait."""
        self._closed += 1
        self.tell("")
        self.wait_for(rf"(?s)(^Closed$.*){{{self._closed}}}", START_DEADLINE_S)
