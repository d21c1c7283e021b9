"""One child process: started, watched, stopped."""

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
    """The command of a child, and how its health is checked."""

    name: str
    command: Sequence[str]
    ready: "re.Pattern[str]"
    """Matches the line of its output that means that it is ready."""
    well: Callable[[], bool] = lambda: True
    """Returns True if it still works. Called repeatedly once it is ready; takes seconds at most."""
    stop_seconds: float = 30.0
    """The time that it may take to stop, before it is killed."""
    not_again: Mapping[int, str] = field(default_factory=dict)
    """Exit codes after which it is not started again, with their meaning."""
    environment: Mapping[str, str] = field(default_factory=dict)


class Child:
    """A running process in a role.

    It has its own session, so that a Ctrl-C in the terminal reaches only the parent, which stops
    all children in order. It gets SIGTERM when the parent dies, in whatever way.
    """

    def __init__(self, role: Role, output: Callable[[str, str], None]) -> None:
        self.role = role
        self.is_ready = False
        self.began = monotonic()
        self._output = output
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

    def terminate(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def stop(self) -> int:
        """Stop it, by SIGKILL if SIGTERM takes too long. Returns the exit code."""
        self.terminate()
        try:
            self._process.wait(self.role.stop_seconds)
        except subprocess.TimeoutExpired:
            self._output(
                self.role.name, f"does not end within {self.role.stop_seconds:.0f} s: killed"
            )
        self._kill_group()
        code = self._process.wait()
        for listener in self._listeners:
            listener.join(1.0)
        return code

    def _kill_group(self) -> None:
        """Its own children must not outlive it, as Spark's JVM might."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def _listen(self, stream: IO[str]) -> None:
        for line in stream:
            text = line.rstrip("\n")
            if not self.is_ready and self.role.ready.search(text):
                self.is_ready = True
            try:
                self._output(self.role.name, text)
            except (OSError, ValueError):
                # Our own output is closed. The child's must still be read, or the child would
                # block as soon as the pipe is full.
                continue


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
