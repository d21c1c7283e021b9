"""One child process: started, listened to, asked whether it is well, stopped."""

import ctypes
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Thread
from time import monotonic
from typing import IO

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """What a child is for, and how one sees that it does it."""

    name: str
    command: Sequence[str]
    ready: "re.Pattern[str]"
    """The line on its standard output that says that it serves."""
    well: Callable[[], bool] = lambda: True
    """Whether it still does. Asked from time to time, once it is ready; returns within seconds."""
    stop_seconds: float = 30.0
    """How long it may take to end what it is at."""
    not_again: Mapping[int, str] = field(default_factory=dict)
    """Exit codes after which it is not started again, and what they mean."""
    environment: Mapping[str, str] = field(default_factory=dict)


class Child:
    """A running process in a role.

    It has a session of its own, so that a Ctrl-C in the terminal reaches its parent alone, who
    stops all in order; and it is told to end when the parent dies, however that happens.
    """

    def __init__(self, role: Role, hear: Callable[[str, str], None]) -> None:
        self.role = role
        self.is_ready = False
        self.began = monotonic()
        self._hear = hear
        self._process = subprocess.Popen(
            role.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **role.environment},
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock here
            text=True,
            errors="replace",
        )
        self._listeners = [
            Thread(target=self._listen, args=(stream,), name=f"{role.name}-output", daemon=True)
            for stream in (self._process.stdout, self._process.stderr)
        ]
        for listener in self._listeners:
            listener.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def ask_to_end(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def end(self) -> int:
        """Ask it to end, and make it end if it does not in time. -> exit code"""
        self.ask_to_end()
        try:
            self._process.wait(self.role.stop_seconds)
        except subprocess.TimeoutExpired:
            self._hear(
                self.role.name, f"does not end within {self.role.stop_seconds:.0f} s: killed"
            )
        self._kill_group()
        code = self._process.wait()
        for listener in self._listeners:
            listener.join(1.0)
        return code

    def _kill_group(self) -> None:
        """What it has started itself must not outlive it, as Spark's JVM might."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def _listen(self, stream: IO[str]) -> None:
        for line in stream:
            text = line.rstrip("\n")
            if not self.is_ready and self.role.ready.search(text):
                self.is_ready = True
            self._hear(self.role.name, text)


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
