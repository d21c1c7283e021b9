"""The peer of the guard for handlers that do nothing: Quix Streams, in an environment of its own.

It commits offsets only, every five seconds, and an event that fails ends it. What is compared is
how fast it calls a Python function for each event.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

VERSION = "3.28.1"

_PROGRAM = """
import sys, time
from quixstreams import Application
bootstrap, topic = sys.argv[1:]
app = Application(broker_address=bootstrap, consumer_group=f"quix-{topic}", loglevel="ERROR",
                  auto_offset_reset="earliest", auto_create_topics=False)
calls = 0
def handle(value):
    global calls
    calls += 1
    if calls % 1000 == 0:
        print(calls, time.monotonic(), flush=True)
source = app.topic(topic, key_deserializer="bytes", value_deserializer="bytes")
app.dataframe(source).update(handle)
app.run()
"""


class QuixStreams:
    """Its environment, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._python = folder / "bin" / "python"
        self._folder = folder

    def install(self) -> None:
        """Make the environment with pip, unless it is there."""
        probe = [str(self._python), "-c", "import quixstreams; print(quixstreams.__version__)"]
        if self._python.exists():
            said = subprocess.run(probe, capture_output=True, text=True, check=False).stdout
            if said.strip() == VERSION:
                return
        subprocess.run([sys.executable, "-m", "venv", str(self._folder)], check=True)
        pip = [str(self._python), "-m", "pip", "install", "-q"]
        subprocess.run([*pip, f"quixstreams=={VERSION}"], check=True)

    def command(self, bootstrap: str, topic: str) -> Sequence[str]:
        return [str(self._python), "-c", _PROGRAM, bootstrap, topic]
