"""The embedded broker with a probe in its loop: what the longest turn of the loop costs.

Turns are measured in processor time of the loop's thread. A sync or the removal of a large file
takes little of it and a long time, so the probe also names the files that were synced on the loop,
and the files of segments that were removed there.

`python -m tests.probed_broker` is `holdfast broker` with the probe. A connection to the probe's
port gets one line of JSON, about the time since the last one.
"""

import asyncio
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from tests.bombs import Innocent
from tests.brokers import EmbeddedBroker, free_ports
from tests.clients import create_topic

from holdfast.broker import server
from holdfast.broker.log import files
from holdfast.broker.settings import BrokerSettings
from holdfast.cli import main

LONGEST_TURN = 0.05
"""Seconds of processor time. No request may hold the loop for longer."""

SURELY_A_STALL = 4 * LONGEST_TURN
SLOWEST_ANSWER = 20.0
"""Seconds of a clock on the wall. A machine with a load of 40 took 12 s to answer while no turn was
longer than 5 ms; the bombs that were found took 33 s and more."""
INNOCENT_TOPIC = "innocent"

_PORT = "HOLDFAST_TEST_PROBE_PORT"
_BEAT_SECONDS = 0.001
_ATTEMPTS = 5


class Measured(NamedTuple):
    """Since the last time that it was read."""

    longest_turn: float
    """Seconds of processor time."""
    synced_on_loop: list[str]
    removed_on_loop: list[str]
    """Files of segments."""


class ProbedBroker(EmbeddedBroker):
    def __init__(self, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        (self._probe_port,) = free_ports(1)
        root = str(Path(__file__).parents[1])  # the broker runs in another folder
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {_PORT: str(self._probe_port), "PYTHONPATH": path}
        super().__init__(directory, settings, environment)

    def stays_responsive(self, action: Callable[[], object]) -> None:
        """Assert that the action holds the loop for less than `LONGEST_TURN`, and that an innocent
        client beside it is answered.

        Another process on the same processor lengthens a turn now and then, though not fourfold. So
        a turn or an answer that is `SURELY_A_STALL` or longer fails at once. One that is only too
        long must be followed by attempts that are not: the broker's own work is as long each time.
        """
        seen = []
        for _ in range(_ATTEMPTS):
            with Innocent(self.port, INNOCENT_TOPIC) as innocent:
                self.measured()
                action()
                measured = self.measured()
            assert measured.synced_on_loop == []
            assert measured.removed_on_loop == []
            seen.append((measured.longest_turn, innocent.slowest))
            report = f"longest turns (processor time) and slowest answers, in seconds: {seen}"
            assert measured.longest_turn < SURELY_A_STALL, report
            assert innocent.slowest < SLOWEST_ANSWER, report
            fine = [turn < LONGEST_TURN for turn, _ in seen]
            if fine == [True] or fine[-2:] == [True, True]:
                return
        raise AssertionError(report)

    def measured(self) -> Measured:
        with socket.create_connection(("127.0.0.1", self._probe_port), 120) as connection:
            return Measured(*json.loads(connection.makefile().read()))

    def start(self) -> Self:
        super().start()
        if not (self.data_dir / f"{INNOCENT_TOPIC}-0").exists():
            create_topic(self, INNOCENT_TOPIC)
        return self

    def _command(self) -> Sequence[str]:
        return [
            "tests.probed_broker" if word == "holdfast.cli" else word for word in super()._command()
        ]


class _Probe:
    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._last = _processor_seconds()
        self._longest = 0.0
        self._synced: list[str] = []
        self._removed: list[str] = []
        self._beat()
        _note_syncs(self._synced)
        _note_removals(self._removed)

    def _beat(self) -> None:
        self._look()
        self._loop.call_later(_BEAT_SECONDS, self._beat)

    def _look(self) -> None:
        now = _processor_seconds()
        self._longest = max(self._longest, now - self._last)
        self._last = now

    async def report(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._look()
        writer.write(json.dumps([self._longest, self._synced, self._removed]).encode())
        writer.close()
        self._longest = 0.0
        self._synced.clear()
        self._removed.clear()


def _processor_seconds() -> float:
    return time.thread_time()


def _note_syncs(synced: list[str]) -> None:
    loop_thread = threading.get_ident()
    fsync = os.fsync

    def noted(fd: int) -> None:
        if threading.get_ident() == loop_thread:
            synced.append(os.readlink(f"/proc/self/fd/{fd}"))
        fsync(fd)

    files.disk.fsync = noted  # type: ignore[assignment]


def _note_removals(removed: list[str]) -> None:
    loop_thread = threading.get_ident()
    unlink = os.unlink

    def noted(path: str) -> None:
        if threading.get_ident() == loop_thread and path.endswith((".log", ".deleted", "index")):
            removed.append(path)
        unlink(path)

    files.disk.unlink = noted  # type: ignore[assignment]


async def _serve_probed(settings: BrokerSettings) -> int:
    probe = _Probe()
    await asyncio.start_server(probe.report, "127.0.0.1", int(os.environ[_PORT]))
    return await _serve(settings)


if __name__ == "__main__":
    _serve = server._serve
    server._serve = _serve_probed
    sys.exit(main())
