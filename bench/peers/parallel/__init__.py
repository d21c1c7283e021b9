"""The peer of the guard for handlers that wait: Confluent's parallel consumer, in key order.

It commits offsets only (no records, no transactions), at its default interval, and keeps what fails
in memory. What is compared is how fast it calls handlers, one of a key at a time.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

_SOURCES = Path(__file__).parent
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
JVM = ["java", "-Xms1g", "-Xmx1g", "-XX:+UseG1GC"]


class ParallelConsumer:
    """Its jars and the compiled program, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._jars, self._classes = folder / "jars", folder / "classes"

    def install(self) -> None:
        """Copy the jars with Maven, unless they are there, and compile."""
        if not list(self._jars.glob("parallel-consumer-core-*.jar")):
            pom = str(_SOURCES / "pom.xml")
            _run(["mvn", "-q", "-B", "-f", pom, _COPY, f"-DoutputDirectory={self._jars}"])
        program = str(_SOURCES / "KeyOrder.java")
        _run(["javac", "-cp", f"{self._jars}/*", "-d", str(self._classes), program])

    def command(self, bootstrap: str, topic: str, wait_ms: int, at_once: int) -> Sequence[str]:
        class_path = os.pathsep.join([str(self._classes), f"{self._jars}/*"])
        return [*JVM, "-cp", class_path, "KeyOrder", bootstrap, topic, str(wait_ms), str(at_once)]


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stdout}{done.stderr}")
